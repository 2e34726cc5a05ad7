"""The engine: which SQLite is trusted, how a connection is set up, and what its errors mean to us."""

from __future__ import annotations

import contextlib
import errno
import os
import random
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import apsw

from manent.errors import (
    AlreadyExistsError,
    DamagedStoreError,
    FaultyEngineError,
    NewerStoreError,
    NotAStoreError,
    ReadOnlyError,
    StorageFullError,
    StoreBusyError,
    StoreError,
)
from manent.storage.sql import load_queries

Durability = Literal["full", "process"]

_SQL = load_queries("manent.storage.sqlite")

APPLICATION_ID = 0x6D6E6E74
"""`mnnt`: marks the file as ours."""

FORMAT = 2
"""The store format that this release writes, kept in the file's user_version."""

PAGE_SIZE = 8192
_TAKEN = (apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY)
_FIRST_PAUSES_S = (0.0002, 0.001)
_LATER_PAUSES_S = (0.001, 0.005)
_EAGER_S = 0.25


def refuse_faulty_engine(store: str, version: str | None = None) -> None:
    """
    Refuse the releases with the WAL-reset fault (D-8).

    SQLite 3.7.0 to 3.51.2 can corrupt a database when two connections write and checkpoint at the same
    moment; 3.50.7 and 3.44.6 have the mend.

    Raises:
        FaultyEngineError: `version`, by default that of the library in use, has the fault.
    """
    version = version or apsw.sqlite_lib_version()
    numbers = tuple(int(piece) for piece in version.split(".")[:3])
    mended = numbers >= (3, 51, 3) or (3, 50, 7) <= numbers < (3, 51, 0) or (3, 44, 6) <= numbers < (3, 45, 0)
    if not mended:
        raise FaultyEngineError(store=store, version=version)


@contextlib.contextmanager
def translated(store: str, connection: apsw.Connection | None = None) -> Iterator[None]:
    """Turn SQLite's errors into ours; anything that means damage or a bug in us stays visible."""
    try:
        yield
    except apsw.Error as error:
        raise _translate(error, store, connection) from error


def _translate(error: apsw.Error, store: str, connection: apsw.Connection | None) -> Exception:
    number = connection.system_errno if connection is not None else 0
    full = isinstance(error, apsw.FullError) or (
        isinstance(error, apsw.IOError) and number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    )
    match error:
        case _ if full:
            return StorageFullError(store=store)
        case apsw.BusyError() | apsw.LockedError():
            return StoreBusyError(store=store, waited_s=0.0)
        case apsw.ReadOnlyError() | apsw.PermissionsError() | apsw.AuthError():
            return ReadOnlyError(store=store, why="the file or its folder cannot be written")
        case apsw.NotADBError():
            return NotAStoreError(store=store, detail="not an SQLite database, or encrypted")
        case apsw.CorruptError():
            return DamagedStoreError(store=store, detail="SQLite calls it malformed")
        case apsw.CantOpenError():
            return StoreError(f"Cannot open {store}: {_reason(number)}.", store=store)
        case apsw.IOError():
            return StoreError(f"The system refused to read or write {store}: {_reason(number)}.", store=store)
        case apsw.ConstraintError() if getattr(error, "extendedresult", 0) in _TAKEN:
            return AlreadyExistsError("event, id or key", "of this call")
        case _:
            return error


def translate_os_error(error: OSError, store: str) -> Exception:
    """What an error of the system means for making a store."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StorageFullError(store=store)
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return ReadOnlyError(store=store, why="its folder cannot be written")
    return StoreError(f"Cannot make {store}: {_reason(error.errno or 0)}.", store=store)


def _reason(number: int) -> str:
    return os.strerror(number) if number else "no further reason was given"


def create_owner_only(path: Path) -> None:
    """
    Make an empty file that only its owner can read, unless there is one (N-2).

    Where the system can, it is made without being opened: another thread may have it open by the time
    that it is closed, and closing it would drop that thread's locks (D-7). SQLite gives the -wal and -shm
    files the same rights.
    """
    with contextlib.suppress(FileExistsError):
        if not _make_unopened(path):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))


def _make_unopened(path: Path) -> bool:
    if sys.platform != "linux":
        return False
    try:
        os.mknod(path, 0o600)
    except FileExistsError:
        raise
    except OSError:
        return False  # some file systems cannot; whatever else it is, opening meets it too
    return True


def size_bytes(path: str) -> int:
    """The size of a file, 0 when it is absent."""
    try:
        return os.stat(path).st_size  # noqa: PTH116 - `path` is SQLite's own string
    except (FileNotFoundError, NotADirectoryError):
        return 0


def can_write_beside(path: str) -> bool:
    """Whether this process may make files in a store's folder."""
    return os.access(Path(path).parent, os.W_OK)


def is_frozen(path: str) -> bool:
    """
    Whether nobody can write where the store is, and all of it stands in its one file.

    A write-ahead log needs a file beside the store even to read; on a read-only disk SQLite can do without
    only if it is told that nothing changes.
    """
    return not can_write_beside(path) and size_bytes(f"{path}-wal") == 0


def open_connection(
    path: str, *, read_only: bool, frozen: bool = False, vfs: str | None = None
) -> apsw.Connection:
    """Open a file that exists, without waiting for anybody, and change nothing."""
    flags = apsw.SQLITE_OPEN_READONLY if read_only or frozen else apsw.SQLITE_OPEN_READWRITE
    name = f"{Path(path).as_uri()}?immutable=1" if frozen else path
    connection = apsw.Connection(name, flags=flags | (apsw.SQLITE_OPEN_URI if frozen else 0), vfs=vfs)
    connection.set_busy_timeout(0)
    return connection


def is_new(connection: apsw.Connection) -> bool:
    """Whether nobody has made anything of the file yet: no mark and no table."""
    if connection.pragma("user_version") or connection.pragma("application_id"):
        return False
    return bool(connection.execute(_SQL["count_tables"]).get == 0)


def check_format(connection: apsw.Connection, store: str) -> None:
    """
    Refuse what is not ours and what is newer than we are.

    Raises:
        NotAStoreError: another program's database.
        DamagedStoreError: a store that does not say which format it has.
        NewerStoreError: a store of a newer release.
    """
    if connection.pragma("application_id") != APPLICATION_ID:
        raise NotAStoreError(store=store, detail="an SQLite database of another program")
    found = connection.pragma("user_version")
    if found < 1:
        raise DamagedStoreError(store=store, detail="it does not say which format it has")
    if found > FORMAT:
        raise NewerStoreError(store=store, found=found, supported=FORMAT)


def let_readers_and_writer_overlap(connection: apsw.Connection) -> str:
    """Ask for WAL and return the journal mode that SQLite granted, or why it could not."""
    try:
        return str(connection.pragma("journal_mode", "wal"))
    except (apsw.IOError, apsw.CantOpenError, apsw.ProtocolError) as error:
        return str(error)


def use_rollback_journal(connection: apsw.Connection) -> None:
    """For places that cannot share memory: readers and the writer take turns."""
    connection.pragma("journal_mode", "delete")


def keep_commits(connection: apsw.Connection, durability: Durability, journal: str) -> None:
    """
    Set how far a commit reaches (D-1).

    `full` syncs at each commit, in a rollback journal the folder too; `process` leaves the last commits
    to the system, which a killed process does not lose and a power cut may.
    """
    full = "full" if journal == "wal" else "extra"
    connection.pragma("synchronous", full if durability == "full" else "normal")


def set_up(connection: apsw.Connection) -> None:
    """What every connection needs whatever it does: references hold, deleted bytes are overwritten."""
    connection.pragma("foreign_keys", True)
    connection.pragma("secure_delete", True)


def pause_s(started: float) -> float:
    """
    How long to sleep before the next try: short and random at first, longer after a quarter second.

    SQLite's own back-off lets some writers starve; equal random pauses keep eight of them within a
    factor of two of each other (D-5).
    """
    low, high = _FIRST_PAUSES_S if time.monotonic() - started < _EAGER_S else _LATER_PAUSES_S
    return random.uniform(low, high)


def lock_holder(path: str) -> str | None:
    """
    Who holds the write lock of a WAL store on this machine, as far as the system tells.

    Read from the system's table of locks: opening the file to ask would drop our own (D-7).
    """
    try:
        inode = os.stat(f"{path}-shm").st_ino  # noqa: PTH116 - `path` is SQLite's own string
        table = Path("/proc/locks").read_text(encoding="ascii")
    except OSError:
        return None
    for line in table.splitlines():
        words = line.split()
        # WAL_WRITE_LOCK is byte 120 of the -shm file (SQLite's WAL-index format).
        if len(words) >= 8 and words[3] == "WRITE" and words[5].endswith(f":{inode}") and words[6] == "120":
            return f"process {words[4]}"
    return None
