"""Connections: as many as are in use, a few kept warm, none taken over a fork."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

from manent.errors import StoreClosedError, StoreError
from manent.storage.sqlite.forking import GATE

IDLE_MAX = 4
"""Connections kept open while nobody uses them."""

_INHERITED: list[object] = []
"""Connections of a parent process: neither used nor closed here, since both would touch its file locks."""


class Pool:
    """
    Lends connections, the last returned first, so that its prepared statements are warm.

    Handles follow present use: a thread that ends leaves nothing behind.

    Args:
        store: the store's name for people.
        path: its file.
        connect: opens a connection.
        idle_max: how many are kept open while nobody uses them.
    """

    def __init__(
        self, store: str, path: str, connect: Callable[[], apsw.Connection], *, idle_max: int = IDLE_MAX
    ) -> None:
        self.file = os.path.realpath(path)
        self.idle_max = idle_max
        self._store = store
        self._connect = connect
        self._closed = False
        self._start()
        GATE.watch(self)

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        self.write_lock = threading.Lock()

    @contextmanager
    def using(self) -> Iterator[None]:
        """
        Hold off forks while connections to the file are opened, used or closed.

        Raises:
            StoreError: this process was forked off while the file was in use.
        """
        use = GATE.enter(self.file)
        try:
            self.refuse_if_inherited()
            yield
        finally:
            GATE.leave(use)

    def refuse_if_inherited(self) -> None:
        """
        Keep a child away from what its parent had in hand, a transaction that was open at the fork too.

        Raises:
            StoreError: this process was forked off while the file was in use.
        """
        if GATE.is_refused(self.file):
            raise StoreError(
                f"{self._store} was in use while this process was forked off, so its locks cannot be "
                "trusted here. Fork when no call is under way, or start a fresh process.",
                store=self._store,
            )

    @contextmanager
    def lend(self) -> Iterator[apsw.Connection]:
        """
        A connection for the `with` block.

        Raises:
            StoreClosedError: the pool is closed.
            StoreError: this process was forked off while the file was in use.
        """
        use = GATE.enter(self.file)
        try:
            connection = self._take()
            try:
                yield connection
            finally:
                if use.pid == os.getpid():
                    self._give_back(connection)
                else:
                    _keep_for_ever([connection])
        finally:
            GATE.leave(use)

    def _take(self) -> apsw.Connection:
        self.refuse_if_inherited()
        with self._lock:
            if self._closed:
                raise StoreClosedError(store=self._store)
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def _give_back(self, connection: apsw.Connection) -> None:
        with self._lock:
            wanted = not self._closed and len(self._idle) < self.idle_max
            if wanted and connection.in_transaction is False:
                self._idle.append(connection)
                return
        connection.close(True)

    def close(self) -> None:
        """Close what is idle now, and what is lent when it comes back."""
        self._closed = True
        use = GATE.enter(self.file)
        try:
            self.drop_idle()
        finally:
            GATE.leave(use)

    # --- around a fork; see `forking.Resting`

    @property
    def has_idle(self) -> bool:
        """See `forking.Resting`."""
        return bool(self._idle)

    def drop_idle(self) -> None:
        """See `forking.Resting`."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close(True)

    def begin_anew(self) -> None:
        """See `forking.Resting`."""
        _keep_for_ever(self._idle)
        self._start()


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
