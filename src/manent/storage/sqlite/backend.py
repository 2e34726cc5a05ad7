"""The backend: opening, transactions, snapshots, and who writes."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import apsw

from manent.codec.sealing import NewSalts
from manent.errors import DamagedStoreError, ReadOnlyError, StoreError
from manent.storage.installation import Installation, Place
from manent.storage.port import Capabilities
from manent.storage.sqlite import engine, making
from manent.storage.sqlite.blobs import SqliteBlobs, SqliteDrafts
from manent.storage.sqlite.identity import Identity
from manent.storage.sqlite.patience import Patience
from manent.storage.sqlite.place import PlaceDetector, is_local
from manent.storage.sqlite.pool import Pool
from manent.storage.sqlite.reader import SQL, SqliteReader
from manent.storage.sqlite.transaction import SqliteTransaction

WAIT_S = 5.0
"""How long a writer waits for the lock unless told otherwise (D-5)."""

_REMOTE_WAIT_FACTOR = 4


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
        self._durability = durability
        self._patience = Patience(self.url, self.path, wait_s)
        self._identity = Identity(self.path, installation)
        self._read_only = read_only
        self._vfs = vfs
        self._new_salts = new_salts
        self._writer: str | None = None
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
            self._patience.wait_s *= _REMOTE_WAIT_FACTOR
        making.find_or_make_file(self.path, self.url, read_only=self._read_only)
        self._is_guest = not engine.can_write_beside(self.path)
        self._frozen = engine.is_frozen(self.path)
        with self._pool.using(), engine.translated(self.url):
            connection = self._open_connection()
            try:
                with engine.translated(self.url, connection):
                    self._prepare(connection, local)
            finally:
                connection.close(True)
        self._place = Place.of(self.path)

    def _prepare(self, connection: apsw.Connection, local: bool) -> None:
        """Make the store unless it is there; change nothing of one that is."""
        retry, deadline = self._patience.retry, self._patience.deadline()
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        fresh = retry(lambda: engine.is_new(connection), deadline)
        if fresh and self._read_only:
            raise DamagedStoreError(store=self.url, detail="the file is empty")
        if not fresh:
            retry(lambda: engine.check_format(connection, self.url), deadline)
        self._journal, why = retry(lambda: making.choose_journal(connection, local=local), deadline)
        if why:
            self.notice = making.notice_of(self.url, self.path, why)
        if fresh:
            retry(lambda: making.create_schema(connection, self._journal), deadline)
        else:
            retry(lambda: making.migrate(connection, self.url), deadline)

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
        with engine.translated(self.url):
            connection = self._open_connection()
        try:
            with engine.translated(self.url, connection):
                self._patience.retry(lambda: self._set_up(connection), self._patience.deadline())
        except BaseException:
            connection.close(True)
            raise
        return connection

    def _set_up(self, connection: apsw.Connection) -> None:
        engine.set_up(connection)
        engine.keep_commits(connection, self._durability, self._journal)

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
        deadline = self._patience.deadline()
        with self._pool.using() as use:
            self._refuse_other_file()
            self._patience.wait_for(lambda: self._pool.turns.take(use), deadline)
            with self._lend() as connection:
                self._patience.retry(lambda: connection.execute(SQL["begin_write"]), deadline)
                yield connection
                self._pool.refuse_if_inherited()
                self._patience.retry(lambda: connection.execute(SQL["commit"]), deadline)

    def _refuse_other_file(self) -> None:
        """A file that was removed or replaced under an open store takes no writes: nobody would find them."""
        try:
            same = Place.of(self.path) == self._place
        except FileNotFoundError:
            same = False
        if not same:
            raise StoreError(
                f"{self.url} was removed or replaced while it was open. Nothing was written. "
                "Close this handle and open the store again.",
                store=self.url,
            )

    @contextmanager
    def transaction(self) -> Iterator[SqliteTransaction]:
        """See `port.Backend.transaction`."""
        with self.writing() as connection:
            writer = self._writer or self._identity.find(connection)
            yield SqliteTransaction(connection, writer=writer, new_salts=self._new_salts)
            self._identity.remember_now_and_then(connection)
        self._writer = writer

    @contextmanager
    def reading(self) -> Iterator[SqliteReader]:
        """See `port.Backend.reading`."""
        self._thaw()
        deadline = self._patience.deadline()
        with self._lend() as connection:
            self._patience.retry(lambda: _begin_read(connection), deadline)
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
                    making.roll_back(connection)

    # --- the writer

    @property
    def writer(self) -> str | None:
        """See `port.Backend.writer`."""
        if self._writer is not None:
            return self._writer
        with self.reading() as reader:
            return self._identity.recall(reader)

    # --- the end

    def close(self) -> None:
        """See `port.Backend.close`. Keeps the clock in the installation's memory, to know a restored file."""
        try:
            if self._writer is not None:
                with suppress(StoreError, OSError), self.reading() as reader:
                    self._identity.remember(reader)
        finally:
            self._writer = None
            self._pool.close()


def _begin_read(connection: apsw.Connection) -> None:
    """Begin a snapshot: the first read fixes it and takes what lock the journal mode needs."""
    if not connection.in_transaction:
        connection.execute(SQL["begin_read"])
    connection.execute(SQL["read_clock"]).fetchall()
