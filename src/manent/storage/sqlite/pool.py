"""Connections: as many as are in use, a few kept warm, none taken over a fork."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from manent.errors import StoreClosedError

IDLE_MAX = 4
"""Connections kept open while nobody uses them."""

_INHERITED: list[object] = []
"""Connections of a parent process: neither used nor closed here, since both would touch its file locks."""


class Pool:
    """
    Lends connections, the last returned first, so that its prepared statements are warm.

    Handles follow present use: a thread that ends leaves nothing behind.
    """

    def __init__(self, store: str, connect: Callable[[], apsw.Connection]) -> None:
        self._store = store
        self._connect = connect
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        self._lent = 0
        self._closed = False
        self.write_lock = threading.Lock()

    def refresh_after_fork(self) -> None:
        """In a forked child: leave the parent's connections alone and begin anew."""
        if self._pid != os.getpid():
            _keep_for_ever(self._idle)
            closed = self._closed
            self._start()
            self._closed = closed

    @contextmanager
    def lend(self) -> Iterator[apsw.Connection]:
        """
        A connection for the `with` block.

        Raises:
            StoreClosedError: the pool is closed.
        """
        self.refresh_after_fork()
        connection = self._take()
        try:
            yield connection
        finally:
            self._give_back(connection)

    def _take(self) -> apsw.Connection:
        with self._lock:
            if self._closed:
                raise StoreClosedError(store=self._store)
            self._lent += 1
            if self._idle:
                return self._idle.pop()
        try:
            return self._connect()
        except BaseException:
            with self._lock:
                self._lent -= 1
            raise

    def _give_back(self, connection: apsw.Connection) -> None:
        if self._pid != os.getpid():
            _keep_for_ever([connection])
            return
        with self._lock:
            self._lent -= 1
            if not self._closed and len(self._idle) < IDLE_MAX and connection.in_transaction is False:
                self._idle.append(connection)
                return
        connection.close(True)

    def drop_idle(self) -> None:
        """Close what is idle, so that whoever comes next gets a new connection."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close(True)

    def close(self) -> None:
        """Close what is idle now, and what is lent when it comes back."""
        self.refresh_after_fork()
        with self._lock:
            self._closed = True
        self.drop_idle()


def _keep_for_ever(connections: list[apsw.Connection]) -> None:
    """
    Keep a parent's connections from being closed by this process, even while it ends.

    SQLite forbids both using and closing a connection after a fork; a reference that nobody gives back
    is the only way to say so to the interpreter.
    """
    if not connections:
        return
    import ctypes

    _INHERITED.extend(connections)
    for connection in connections:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(connection))
