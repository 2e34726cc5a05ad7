"""
Changes a closed store behind its back, from a process of its own.

    python tests/tamper.py conversations.db < statements.sql

A store's files are touched by one SQLite library in a process only (D-7), so a test that wants to change
one asks a child. Statements may call `flipped(value)`: the same value with one bit, digit or letter changed.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import apsw


def tamper(path: Path, sql: str) -> None:
    """Run statements in a child process; none of them may miss."""
    subprocess.run([sys.executable, __file__, str(path)], input=sql, encoding="utf-8", check=True)


def flipped(*values: apsw.SQLiteValue) -> apsw.SQLiteValue:
    """Another value of the same type: one bit of the middle byte, one letter in the middle, one more."""
    (value,) = values
    match value:
        case bytes() | str() if len(value) == 0:
            return value * 0
        case bytes():
            middle = len(value) // 2
            return value[:middle] + bytes([value[middle] ^ 1]) + value[middle + 1 :]
        case str():
            middle = len(value) // 2
            return value[:middle] + chr(ord(value[middle]) ^ 1) + value[middle + 1 :]
        case int():
            return value + 1
        case _:
            raise ValueError(f"nothing to flip in {value!r}")


def _main(path: str, sql: str) -> None:
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READWRITE)
    connection.create_scalar_function("flipped", flipped, 1, deterministic=True)
    before = connection.total_changes()
    with connection:
        for _ in connection.execute(sql):
            pass
    changed = connection.total_changes() - before
    connection.close()
    if not changed:
        raise SystemExit(f"nothing was changed by {sql}")


if __name__ == "__main__":
    _main(sys.argv[1], sys.stdin.buffer.read().decode("utf-8"))
