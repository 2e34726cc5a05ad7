"""
The floor: raw SQLite through the same binding, with the same durability and page size.

One table of messages with an index, two plain inserts a turn: what nobody can go below and still keep
the same bytes.
"""

from __future__ import annotations

from pathlib import Path

import apsw

SYNCHRONOUS = "full"


class Contender:
    """One conversation in a bare table."""

    synchronous = SYNCHRONOUS

    def __init__(self, folder: Path) -> None:
        self._db = apsw.Connection(str(folder / "floor.db"))
        self._db.pragma("page_size", 8192)
        self._db.pragma("journal_mode", "wal")
        self._db.pragma("synchronous", self.synchronous)
        self._db.execute("create table if not exists messages (conversation, seq, role, content)")
        self._db.execute("create index if not exists by_seq on messages (conversation, seq)")
        self._seq = self._db.execute("select count(*) from messages").get

    def append(self, question: str, answer: str) -> None:
        """Append a turn."""
        self._db.execute("begin immediate")
        for role, content in (("user", question), ("assistant", answer)):
            self._seq += 1
            self._db.execute("insert into messages values (1, ?, ?, ?)", (self._seq, role, content))
        self._db.execute("commit")

    def load(self) -> int:
        """Load every message as a row; return how many."""
        query = "select role, content from messages where conversation = 1 order by seq"
        return len(list(self._db.execute(query)))

    def close(self) -> None:
        """Release everything."""
        self._db.close()
