"""The backend: opening, transactions, snapshots, and who writes."""

from __future__ import annotations

import logging
import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

import apsw

from manent.codec.chain import writer_id
from manent.codec.sealing import NewSalts
from manent.errors import (
    DamagedStoreError,
    NotAStoreError,
    NotFoundError,
    ReadOnlyError,
    StoreBusyError,
    StoreError,
)
from manent.storage.installation import Installation, Place, Seen, make_owner_only
from manent.storage.port import Capabilities
from manent.storage.sql import load_script
from manent.storage.sqlite import engine
from manent.storage.sqlite.blobs import SqliteBlobs, SqliteDrafts
from manent.storage.sqlite.place import PlaceDetector, is_local
from manent.storage.sqlite.pool import Pool
from manent.storage.sqlite.reader import SQL, SqliteReader
from manent.storage.sqlite.transaction import SqliteTransaction

WAIT_S = 5.0
"""How long a writer waits for the lock unless told otherwise (D-5)."""

REMEMBERED_S = 1.0
"""
How old the installation's memory of a store's clock may grow while a handle writes. A copy that was taken
after it, and is put back when the process was killed, could not be told from the file itself.
"""

_REMOTE_WAIT_FACTOR = 4
_log = logging.getLogger("manent")
_told: set[str] = set()
T = TypeVar("T")


class SqliteBackend:
    """
    A store in one SQLite file.

    Args:
        path: the file; it and its folder are made when absent.
        installation: who writes from this machine; the user's own by default.
        durability: `full` survives a power cut, `process` a killed process (D-1).
        wait_s: how long a writer waits for the lock before StoreBusyError.
        read_only: never write, not even to create.
        vfs: the name of a registered SQLite VFS, for tests.
        on_local_place: says whether the place can carry WAL.
        new_salts: gives random bytes; tests give it a seed.

    Raises:
        FaultyEngineError, NotAStoreError, NewerStoreError, DamagedStoreError, NotFoundError (read-only and
        absent), StoreBusyError (another process kept it locked while it was being made).
    """

    capabilities = Capabilities(durable=True, processes=True, keeps_files=True, reads_beside_writes=True)

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        installation: Installation | None = None,
        durability: engine.Durability = "full",
        wait_s: float = WAIT_S,
        read_only: bool = False,
        vfs: str | None = None,
        on_local_place: PlaceDetector = is_local,
        new_salts: NewSalts = secrets.token_bytes,
    ) -> None:
        self.path = os.path.abspath(path)  # noqa: PTH100 - SQLite and the fork child need it whole
        self.url = os.fspath(path)
        self.notice: str | None = None
        self._installation = installation
        self._durability = durability
        self._wait_s = wait_s
        self._read_only = read_only
        self._vfs = vfs
        self._new_salts = new_salts
        self._writer: str | None = None
        self._incarnation = ""
        self._remember_at = 0.0
        self._journal = "wal"
        self._is_guest = self._frozen = False
        self._pool = Pool(self.url, self.path, self._connect)
        engine.refuse_faulty_engine(self.url)
        self._open(on_local_place(self.path))
        self.blobs = SqliteBlobs(self)
        self.drafts = SqliteDrafts(self)

    # --- opening

    def _open(self, local: bool) -> None:
        if not local:
            self._wait_s *= _REMOTE_WAIT_FACTOR
        self._find_or_make_file()
        self._is_guest = not engine.can_write_beside(self.path)
        self._frozen = engine.is_frozen(self.path)
        deadline = time.monotonic() + self._wait_s
        with self._pool.using(), engine.translated(self.url):
            connection = self._open_connection()
            try:
                with engine.translated(self.url, connection):
                    self._prepare(connection, local, deadline)
            finally:
                connection.close(True)

    def _find_or_make_file(self) -> None:
        file = Path(self.path)
        try:
            # The log first: while others make a store, its file is filled before its log.
            if engine.size_bytes(f"{self.path}-wal") and not engine.size_bytes(self.path):
                raise DamagedStoreError(store=self.url, detail="empty or absent beside a log that is not")
            if file.exists():
                if not file.is_file():
                    raise NotAStoreError(store=self.url, detail="a folder or another thing that is no file")
                return
            if self._read_only:
                raise NotFoundError("store", self.url, "Open it without read_only to create it.")
            make_owner_only(file.parent)
            engine.create_owner_only(file)
        except OSError as error:
            raise engine.translate_os_error(error, self.url) from error

    def _prepare(self, connection: apsw.Connection, local: bool, deadline: float) -> None:
        """Make the store unless it is there; change nothing of one that is."""
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        fresh = self._retry(lambda: engine.is_new(connection), deadline)
        if fresh and self._read_only:
            raise DamagedStoreError(store=self.url, detail="the file is empty")
        if not fresh:
            self._retry(lambda: engine.check_format(connection, self.url), deadline)
        self._retry(lambda: self._choose_journal(connection, local), deadline)
        if fresh:
            self._retry(lambda: self._create_schema(connection), deadline)

    def _choose_journal(self, connection: apsw.Connection, local: bool) -> None:
        if connection.readonly("main"):
            self._journal = str(connection.pragma("journal_mode"))
            return
        if engine.is_new(connection):
            connection.pragma("page_size", engine.PAGE_SIZE)
        granted = engine.let_readers_and_writer_overlap(connection) if local else "not a local file system"
        self._journal = granted
        if granted != "wal":
            engine.use_rollback_journal(connection)
            self._journal = "delete"
            self._tell(granted)

    def _tell(self, granted: str) -> None:
        """Keep the notice for the caller, and log it once for each store in a process."""
        self.notice = (
            f"{self.url} is in a place that cannot carry a write-ahead log ({granted}); it uses a "
            "rollback journal: safe, with one writer or several readers at a time."
        )
        if self.path not in _told:
            _told.add(self.path)
            _log.warning("%s", self.notice)

    def _create_schema(self, connection: apsw.Connection) -> None:
        engine.keep_commits(connection, "full", self._journal)  # a store that is there stays there
        connection.execute(SQL["begin_write"])
        try:
            if connection.pragma("user_version") == 0:
                for _ in connection.execute(load_script("manent.storage.sqlite", "schema.sql")):
                    pass
                connection.execute(SQL["create_store"], _new_identities())
                connection.pragma("application_id", engine.APPLICATION_ID)
                connection.pragma("user_version", engine.FORMAT)
            connection.execute(SQL["commit"])
        except BaseException:
            _roll_back(connection)
            raise

    def _open_connection(self) -> apsw.Connection:
        return engine.open_connection(
            self.path, read_only=self._read_only, frozen=self._frozen, vfs=self._vfs
        )

    def _thaw(self) -> None:
        """
        Where the folder could not be written, look again whether that is so (D-3): no failure is remembered.

        What is read as frozen is opened anew each time, since others may be able to write it.
        """
        if self._is_guest:
            frozen = engine.is_frozen(self.path)
            if frozen or self._frozen:
                self._pool.drop_idle()
            self._frozen = frozen

    def _connect(self) -> apsw.Connection:
        """A connection for the pool; a process that closes the last one may be in the way for a moment."""
        deadline = time.monotonic() + self._wait_s
        with engine.translated(self.url):
            connection = self._open_connection()
        try:
            with engine.translated(self.url, connection):
                self._retry(lambda: self._set_up(connection), deadline)
        except BaseException:
            connection.close(True)
            raise
        return connection

    def _set_up(self, connection: apsw.Connection) -> None:
        engine.set_up(connection)
        engine.keep_commits(connection, self._durability, self._journal)

    # --- waiting

    def _retry(self, attempt: Callable[[], T], deadline: float) -> T:
        """
        Try until the lock is free.

        Raises:
            StoreBusyError: it was not before `deadline`.
        """
        started = time.monotonic()
        while True:
            try:
                return attempt()
            except (apsw.BusyError, apsw.LockedError):
                now = time.monotonic()
                if now >= deadline:
                    raise self._busy(now - started) from None
                time.sleep(min(engine.pause_s(started), deadline - now))

    def _wait_for(self, attempt: Callable[[], bool], deadline: float) -> None:
        """
        Try until another thread of this process is done.

        Raises:
            StoreBusyError: it was not before `deadline`.
        """
        started = time.monotonic()
        while not attempt():
            now = time.monotonic()
            if now >= deadline:
                raise StoreBusyError(store=self.url, waited_s=now - started, holder="this process")
            time.sleep(min(engine.pause_s(started), deadline - now))

    def _busy(self, waited_s: float) -> StoreBusyError:
        return StoreBusyError(store=self.url, waited_s=waited_s, holder=engine.lock_holder(self.path))

    # --- transactions and snapshots

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """
        A connection inside a write transaction; commits at the end of the block, or rolls all back.

        Raises:
            StoreBusyError, ReadOnlyError, StorageFullError.
        """
        if self._read_only:
            raise ReadOnlyError(store=self.url, why="it was opened read-only")
        self._thaw()
        if self._frozen:
            raise ReadOnlyError(store=self.url, why="its folder cannot be written")
        deadline = time.monotonic() + self._wait_s
        with self._pool.using() as use:
            self._wait_for(lambda: self._pool.turns.take(use), deadline)
            with self._lend() as connection:
                self._retry(lambda: connection.execute(SQL["begin_write"]), deadline)
                yield connection
                self._pool.refuse_if_inherited()
                self._retry(lambda: connection.execute(SQL["commit"]), deadline)

    @contextmanager
    def transaction(self) -> Iterator[SqliteTransaction]:
        """See `port.Backend.transaction`."""
        with self.writing() as connection:
            writer = self._writer or self._find_writer(connection)
            yield SqliteTransaction(connection, writer=writer, new_salts=self._new_salts)
            if time.monotonic() >= self._remember_at:
                info = SqliteReader(connection).info()
                self._remember(info.store_id, info.clock)
        self._writer = writer

    @contextmanager
    def reading(self) -> Iterator[SqliteReader]:
        """See `port.Backend.reading`."""
        self._thaw()
        deadline = time.monotonic() + self._wait_s
        with self._lend() as connection:
            self._retry(lambda: _begin_read(connection), deadline)
            yield SqliteReader(connection)

    @contextmanager
    def _lend(self) -> Iterator[apsw.Connection]:
        """A connection that leaves no transaction behind, whatever happens in the block."""
        with self._pool.lend() as connection, engine.translated(self.url, connection):
            pid = os.getpid()
            try:
                yield connection
            finally:
                if pid == os.getpid():
                    _roll_back(connection)

    # --- the writer

    @property
    def writer(self) -> str | None:
        """See `port.Backend.writer`."""
        return self._writer or self._recall_writer()

    def _installed(self) -> Installation:
        if self._installation is None:
            self._installation = Installation.here()
        return self._installation

    def _recall_writer(self) -> str | None:
        installation = self._installed()
        with self.reading() as reader:
            info = reader.info()
            incarnation = reader.find_incarnation(installation.fingerprint)
        if incarnation is None or not self._is_same_file(info.store_id, incarnation, info.clock):
            return None
        return writer_id(installation.fingerprint, incarnation)

    def _is_same_file(self, store_id: str, incarnation: str, clock: int) -> bool:
        """Whether this installation has written to this very file, and not to a later state of it."""
        seen = self._installed().recall(store_id, Place.of(self.path))
        return seen is not None and seen.incarnation == incarnation and seen.clock <= clock

    def _find_writer(self, connection: apsw.Connection) -> str:
        """
        This installation's writer in this file, renewed where the file was copied or restored (L-4).

        The memory is written before the commit: whoever then finds the incarnation also finds it known.
        Where it cannot be written, nobody could tell a restored file later, so every handle is a new writer.
        """
        reader = SqliteReader(connection)
        info = reader.info()
        fingerprint = self._installed().fingerprint
        incarnation = reader.find_incarnation(fingerprint)
        if incarnation is not None and self._is_same_file(info.store_id, incarnation, info.clock):
            self._incarnation = incarnation
            if self._remember(info.store_id, info.clock):
                return writer_id(fingerprint, incarnation)
        if incarnation is not None:
            connection.execute(SQL["renew_generation"], {"generation": secrets.token_bytes(16)})
        self._incarnation = secrets.token_hex(16)
        values = {"fingerprint": fingerprint, "incarnation": self._incarnation}
        connection.execute(SQL["put_incarnation"], values)
        self._remember(info.store_id, info.clock)
        return writer_id(fingerprint, self._incarnation)

    def _remember(self, store_id: str, clock: int) -> bool:
        """Keep the clock in the installation's memory: by it an older copy in this place is known as one."""
        self._remember_at = time.monotonic() + REMEMBERED_S
        return self._installed().remember(store_id, Place.of(self.path), Seen(self._incarnation, clock))

    # --- the end

    def close(self) -> None:
        """See `port.Backend.close`. Keeps the clock in the installation's memory, to know a restored file."""
        try:
            if self._writer is not None:
                with suppress(StoreError, OSError):
                    with self.reading() as reader:
                        info = reader.info()
                    self._remember(info.store_id, info.clock)
        finally:
            self._writer = None
            self._pool.close()


def _begin_read(connection: apsw.Connection) -> None:
    """Begin a snapshot: the first read fixes it and takes what lock the journal mode needs."""
    if not connection.in_transaction:
        connection.execute(SQL["begin_read"])
    connection.execute(SQL["read_clock"]).fetchall()


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:
        connection.execute(SQL["rollback"])


def _new_identities() -> dict[str, bytes]:
    return {
        "store_id": secrets.token_bytes(16),
        "generation": secrets.token_bytes(16),
        "source_key": secrets.token_bytes(32),
    }
