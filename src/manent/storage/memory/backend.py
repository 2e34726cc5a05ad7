"""The backend: one committed state, one writer at a time, and readers that keep the state they found."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from manent.codec.chain import writer_id
from manent.codec.sealing import NewSalts
from manent.errors import StoreBusyError, StoreClosedError
from manent.storage.memory.blobs import MemoryBlobs, MemoryDrafts
from manent.storage.memory.reader import MemoryReader
from manent.storage.memory.state import State, copied
from manent.storage.memory.transaction import MemoryTransaction
from manent.storage.port import Capabilities

WAIT_S = 5.0
"""How long a writer waits for the lock unless told otherwise (D-5)."""


class MemoryBackend:
    """
    A store that ends with the process.

    A transaction copies the store's outer dictionaries and each stream that it writes: slower than it
    could be, and plainly whole or absent. Ten thousand conversations cost a write about a millisecond.

    Args:
        writer: who its appends are by, 16 hexadecimal characters; somebody new when None.
        wait_s: how long a writer waits for another one before StoreBusyError.
        new_salts: gives random bytes; tests give it a seed.
        name: what it is called in errors.
    """

    capabilities = Capabilities(durable=False, processes=False, keeps_files=False, reads_beside_writes=True)

    def __init__(
        self,
        *,
        writer: str | None = None,
        wait_s: float = WAIT_S,
        new_salts: NewSalts = secrets.token_bytes,
        name: str = "memory:",
    ) -> None:
        self.url = name
        self.writer = writer or writer_id(secrets.token_hex(32), secrets.token_hex(16))
        self.notice: str | None = None
        self.blobs = MemoryBlobs(self)
        self.drafts = MemoryDrafts(self)
        self._wait_s = wait_s
        self._new_salts = new_salts
        self._lock = threading.Lock()
        self._closed = False
        self._state = State(secrets.token_hex(16), secrets.token_hex(16), secrets.token_bytes(32))

    def check_open(self) -> None:
        """
        Refuse a store that was closed.

        Raises:
            StoreClosedError: it was.
        """
        if self._closed:
            raise StoreClosedError(store=self.url)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """
        Be the only writer for the `with` block.

        Raises:
            StoreBusyError: somebody else was, longer than this backend waits.
        """
        self.check_open()
        started = time.monotonic()
        if not self._lock.acquire(timeout=self._wait_s):
            waited_s = time.monotonic() - started
            raise StoreBusyError(store=self.url, waited_s=waited_s, holder="this process")
        try:
            self.check_open()
            yield
        finally:
            self._lock.release()

    @contextmanager
    def changing(self) -> Iterator[State]:
        """A copy of the state, in place at the end of the block; an exception leaves all as it was."""
        with self.writing():
            state = copied(self._state)
            yield state
            self._state = state

    @contextmanager
    def transaction(self) -> Iterator[MemoryTransaction]:
        """See `port.Backend.transaction`."""
        with self.changing() as state:
            tx = MemoryTransaction(state, writer=self.writer, new_salts=self._new_salts)
            yield tx
            self.drafts.forget(tx.deleted)

    @property
    def state(self) -> State:
        """
        What was committed last.

        Raises:
            StoreClosedError: the store was closed.
        """
        self.check_open()
        return self._state

    @contextmanager
    def reading(self) -> Iterator[MemoryReader]:
        """See `port.Backend.reading`."""
        yield MemoryReader(self.state)

    def close(self) -> None:
        """See `port.Backend.close`."""
        self._closed = True
