"""Connections: as many as are in use, a few kept warm, none taken over a fork."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from weakref import ReferenceType, ref

import apsw

from manent.errors import StoreClosedError, StoreError
from manent.storage.sqlite.forking import GATE, Use

IDLE_MAX = 4
"""Connections kept open while nobody uses them."""

SURPLUS_MAX = 4
"""
Connections closed beside others before all are closed once nobody uses any. SQLite keeps the descriptor of
a closed connection while another one of the process has a lock on the file, as every one has with a log.
"""

_INHERITED: list[object] = []
"""Connections of a parent process: neither used nor closed here, since both would touch its file locks."""


class Turns:
    """
    Whose turn it is to write, among the threads of this process.

    A turn ends with the use that it was taken for; nobody has to give it back, and so nobody can fail to.
    """

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._holder: ReferenceType[Use] | None = None

    def take(self, use: Use) -> bool:
        """Take the turn, unless somebody else has it."""
        with self._mutex:
            holder = self._holder() if self._holder else None
            if holder is not None and not holder.has_ended:
                return False
            self._holder = ref(use)
            return True


class Pool:
    """
    Lends connections, the last returned first, so that its prepared statements are warm.

    Handles follow present use: a thread that ends leaves nothing behind.

    Args:
        store: the store's name for people.
        path: its file.
        connect: opens a connection.
    """

    def __init__(self, store: str, path: str, connect: Callable[[], apsw.Connection]) -> None:
        self.file = os.path.realpath(path)
        self._store = store
        self._connect = connect
        self._closed = False
        self._start()
        GATE.watch(self)

    def _start(self) -> None:
        self._lock = threading.Lock()
        self._idle: list[apsw.Connection] = []
        self._lent = 0
        self._surplus = 0
        self.turns = Turns()

    @contextmanager
    def using(self) -> Iterator[Use]:
        """
        Hold off forks while connections to the file are opened, used or closed.

        Raises:
            StoreError: this process was forked off while the file was in use.
        """
        use = GATE.enter(self.file)
        try:
            self.refuse_if_inherited()
            yield use
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
        doomed = []
        with self._lock:
            self._lent -= 1
            wanted = not self._closed and len(self._idle) < IDLE_MAX
            if wanted and _is_at_rest(connection):
                self._idle.append(connection)
            else:
                self._surplus += 1
                doomed.append(connection)
            if self._lent == 0 and self._surplus >= SURPLUS_MAX:
                doomed += self._idle
                self._idle, self._surplus = [], 0
        for each in doomed:
            each.close(True)

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


def _is_at_rest(connection: apsw.Connection) -> bool:
    """
    Whether a connection holds no snapshot and no lock.

    A cursor that an interrupt left half read outlives the rollback: the connection then says that it is in no
    transaction, and still reads the old snapshot.
    """
    return not connection.in_transaction and connection.txn_state("main") == apsw.SQLITE_TXN_NONE


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
