"""Peer: the log store of `llm`, as it comes: a chain of messages addressed by content."""

from __future__ import annotations

from pathlib import Path

import sqlite_utils
from llm.logs import LogStore
from llm.parts import Message, TextPart


class Contender:
    """One thread; every message is made unlike the others, since equal ones are stored once."""

    def __init__(self, folder: Path) -> None:
        self._store = LogStore(sqlite_utils.Database(str(folder / "logs.db")))
        self._tip: str | None = None
        self._thread = self._store.create_thread(name="bench")

    def append(self, question: str, answer: str) -> None:
        """Append a turn and move the thread to it."""
        messages = [
            Message(role="user", parts=[TextPart(question)]),
            Message(role="assistant", parts=[TextPart(answer)]),
        ]
        self._tip = self._store.ensure_chain(messages, parent=self._tip)
        self._store.db["threads"].update(self._thread, {"tip_message_hash": self._tip})

    def load(self) -> int:
        """Load the chain as objects; return how many messages."""
        return len(self._store.load_chain(self._tip))

    def close(self) -> None:
        """Release everything."""
        self._store.db.conn.close()
