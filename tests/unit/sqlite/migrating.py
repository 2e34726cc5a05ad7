"""Stores of older formats, and the programs that open them; no test tools are imported here."""

from __future__ import annotations

import gzip
import os
import shutil
import signal
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw

import manent
from tests.processes import ready

GOLDEN = Path(__file__).parents[2] / "golden" / "format-1" / "conversations.db.gz"

BACK_TO_FORMAT_1 = """
DROP INDEX conversations_by_activity;
ALTER TABLE conversations DROP COLUMN resumable;
ALTER TABLE conversations DROP COLUMN imported;
ALTER TABLE conversations DROP COLUMN spawned;
ALTER TABLE conversations DROP COLUMN ended;
CREATE INDEX conversations_by_activity ON conversations (workspace, activity_seq);
DROP TABLE links;
DROP TABLE owners;
ALTER TABLE streams DROP COLUMN deleted;
UPDATE store SET clock = clock;
PRAGMA user_version = 1;
"""
"""Makes a store of format 1 of one of format 2, for what format 1 can hold."""


def unpack_format_1(path: Path) -> Path:
    """A store that the first format wrote."""
    path.write_bytes(gzip.decompress(GOLDEN.read_bytes()))
    return path


def structure_of(path: Path) -> dict[str, Any]:
    """What SQLite says of each table of a closed store: columns, indexes and references."""
    with closing(apsw.Connection(str(path))) as connection:
        tables = [row[1] for row in connection.execute("PRAGMA table_list") if row[0] == "main"]
        return {table: _table(connection, table) for table in sorted(tables)}


def _table(connection: apsw.Connection, table: str) -> dict[str, Any]:
    indexes = {row[1]: row[2:] for row in _asked(connection, "index_list", table)}
    return {
        "columns": _asked(connection, "table_xinfo", table),
        "references": _asked(connection, "foreign_key_list", table),
        "indexes": {name: (row, _asked(connection, "index_xinfo", name)) for name, row in indexes.items()},
        "kind": [row[2:] for row in _asked(connection, "table_list", table)],
    }


def _asked(connection: apsw.Connection, pragma: str, name: str) -> Sequence[tuple[Any, ...]]:
    return list(connection.execute(f"PRAGMA {pragma}({name})"))


def format_of(path: Path) -> int:
    """The format that a closed store says it has."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        return int(connection.pragma("user_version"))


def take_back(path: Path) -> None:
    """Make a closed store one of format 1."""
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)) as connection, connection:
        for _ in connection.execute(BACK_TO_FORMAT_1):
            pass


def open_and_count(path: str) -> list[Any]:
    """Open a store together with others; whether it verifies, and its conversations."""
    ready()
    with manent.open(path, workspace=None, wait=30.0) as store:
        return [store.verify().ok, len(store.list())]


def die_at_each_statement(old: str, folder: str) -> int:
    """
    Open copies of an old store, each in a process that is killed at a later statement than the one before.

    Returns:
        How many were killed: their stores are `1.db`, `2.db`, … in the folder. The next one lived.
    """
    number = 0
    while True:
        number += 1
        path = shutil.copy(old, Path(folder, f"{number}.db"))
        pid = os.fork()
        if pid == 0:
            _open_and_die(path, number)
        _, status = os.waitpid(pid, 0)
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            return number - 1


def _open_and_die(path: str | Path, number: int) -> None:
    left = number

    def count(_cursor: apsw.Cursor, _sql: str, _values: object) -> bool:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = count

    apsw.connection_hooks.append(watch)
    manent.open(path).close()
    os._exit(0)
