"""Steps from one store format to the next, each a script named by the format that it gives."""

from __future__ import annotations

import apsw

from manent.codec.canonical import escape_name, loads


def register_functions(connection: apsw.Connection) -> None:
    """Give a connection what the scripts call beyond SQL."""
    connection.create_scalar_function("name_in", _name_in, 2, deterministic=True)


def _name_in(*values: apsw.SQLiteValue) -> apsw.SQLiteValue:
    """
    A text in a skeleton as ids and names are kept, or None where there is none.

    SQLite's own JSON would lose NUL and lone surrogates, and refuse the whole store for one broken skeleton.
    """
    skeleton, field = values
    try:
        found = loads(skeleton) if isinstance(skeleton, bytes) else None
    except (ValueError, RecursionError):
        return None
    text = found.get(field) if isinstance(found, dict) else None
    return escape_name(text) if isinstance(text, str) else None
