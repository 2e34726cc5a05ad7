"""Making a store where there is none, and refusing what is none; one that is there is not changed."""

from __future__ import annotations

import logging
import secrets
from pathlib import Path

import apsw

from manent.errors import DamagedStoreError, NotAStoreError, NotFoundError, ReadOnlyError
from manent.storage.installation import make_owner_only
from manent.storage.sql import load_queries, load_script
from manent.storage.sqlite import engine
from manent.storage.sqlite.migrations import register_functions

PACKAGE = "manent.storage.sqlite"
HEADER_BYTES = 100
"""What every SQLite file begins with."""

SQL = load_queries(PACKAGE)
_log = logging.getLogger("manent")
_told: set[str] = set()


def find_or_make_file(path: str, url: str, *, read_only: bool) -> None:
    """
    See that there is a file, of its owner's only, and that it is one.

    Raises:
        DamagedStoreError: it is empty or absent beside a log that is not.
        NotAStoreError: a folder, or another thing that is no file.
        NotFoundError: read-only, and there is none.
        StorageFullError, ReadOnlyError, StoreError: the system refused to make it.
    """
    file = Path(path)
    try:
        # The log first: while others make a store, its file is filled before its log.
        if engine.size_bytes(f"{path}-wal") and not engine.size_bytes(path):
            raise DamagedStoreError(store=url, detail="empty or absent beside a log that is not")
        if file.exists():
            _refuse_odd_file(file, url)
            return
        if read_only:
            raise NotFoundError("store", url, "Open it without read_only to create it.")
        make_owner_only(file.parent)
        engine.create_owner_only(file)
    except OSError as error:
        raise engine.translate_os_error(error, url) from error


def _refuse_odd_file(file: Path, url: str) -> None:
    status = file.stat()
    if not file.is_file():
        raise NotAStoreError(store=url, detail="a folder or another thing that is no file")
    if 0 < status.st_size < HEADER_BYTES:
        raise NotAStoreError(store=url, detail="a file too short to be one")
    if status.st_nlink > 1:
        detail = "it has several names (hard links), and a log beside each would tear it; copy it instead"
        raise NotAStoreError(store=url, detail=detail)


def choose_journal(connection: apsw.Connection, *, local: bool) -> tuple[str, str]:
    """
    Take WAL where the place can carry it, else a rollback journal.

    Returns:
        The journal mode, and why it is not WAL ("" when it is).
    """
    if connection.readonly("main"):
        return str(connection.pragma("journal_mode")), ""
    if engine.is_new(connection):
        connection.pragma("page_size", engine.PAGE_SIZE)
    granted = engine.let_readers_and_writer_overlap(connection) if local else "not a local file system"
    if granted == "wal":
        return granted, ""
    engine.use_rollback_journal(connection)
    return "delete", granted


def notice_of(url: str, path: str, why: str) -> str:
    """What to tell the user about a place without WAL; logged once for each store in a process."""
    notice = (
        f"{url} is in a place that cannot carry a write-ahead log ({why}); it uses a "
        "rollback journal: safe, with one writer or several readers at a time."
    )
    if path not in _told:
        _told.add(path)
        _log.warning("%s", notice)
    return notice


def create_schema(connection: apsw.Connection, journal: str) -> None:
    """Make the tables unless another process has; synced at any level: a store that is there stays there."""
    engine.keep_commits(connection, "full", journal)
    connection.execute(SQL["begin_write"])
    try:
        if connection.pragma("user_version") == 0:
            for _ in connection.execute(load_script(PACKAGE, "schema.sql")):
                pass
            connection.execute(SQL["create_store"], _new_identities())
            connection.pragma("application_id", engine.APPLICATION_ID)
            connection.pragma("user_version", engine.FORMAT)
        connection.execute(SQL["commit"])
    except BaseException:
        roll_back(connection)
        raise
    if journal == "wal":
        # So that the file says what it is: without its log it must never look like a new one (D-9).
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)


def migrate(connection: apsw.Connection, url: str) -> None:
    """
    Bring an older store to this format: all steps at once, or none (M-1, M-2).

    Raises:
        ReadOnlyError: it cannot be written here, so that it stays as it is.
    """
    if connection.pragma("user_version") == engine.FORMAT:
        return
    if connection.readonly("main"):
        why = "an older format is brought up to date first; open it once for writing, or a copy of it"
        raise ReadOnlyError(store=url, why=why)
    engine.keep_commits(connection, "full", str(connection.pragma("journal_mode")))
    register_functions(connection)
    connection.execute(SQL["begin_write"])
    try:
        for format in range(connection.pragma("user_version") + 1, engine.FORMAT + 1):
            for _ in connection.execute(load_script(f"{PACKAGE}.migrations", f"{format}.sql")):
                pass
            connection.pragma("user_version", format)
        connection.execute(SQL["commit"])
    except BaseException:
        roll_back(connection)
        raise


def roll_back(connection: apsw.Connection) -> None:
    """Leave no transaction open."""
    if connection.in_transaction:
        connection.execute(SQL["rollback"])


def _new_identities() -> dict[str, bytes]:
    return {
        "store_id": secrets.token_bytes(16),
        "generation": secrets.token_bytes(16),
        "source_key": secrets.token_bytes(32),
    }
