"""Peer: the SQLite session of `openai-agents`, as it comes."""

from __future__ import annotations

import asyncio
from pathlib import Path

from agents import SQLiteSession


class Contender:
    """One session; its coroutines run on one loop."""

    def __init__(self, folder: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._session = SQLiteSession("bench", str(folder / "session.db"))

    def append(self, question: str, answer: str) -> None:
        """Append a turn."""
        items = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
        self._loop.run_until_complete(self._session.add_items(items))

    def load(self) -> int:
        """Load every item as a dictionary; return how many."""
        return len(self._loop.run_until_complete(self._session.get_items()))

    def close(self) -> None:
        """Release everything."""
        self._session.close()
        self._loop.close()
