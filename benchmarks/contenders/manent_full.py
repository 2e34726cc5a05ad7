"""manent at `durability="full"`, its default."""

from __future__ import annotations

from pathlib import Path

import manent


class Contender:
    """One conversation in a store of its own."""

    def __init__(self, folder: Path) -> None:
        self._store = manent.open(folder / "conversations.db", workspace="bench", durability="full")
        self._conversation = self._store.conversation(key="bench", create=True)

    def append(self, question: str, answer: str) -> None:
        """Append a turn."""
        self._conversation.append_turn(question, answer)

    def load(self) -> int:
        """Load every turn as an object; return how many messages they hold."""
        return 2 * len(self._conversation.turns())

    def close(self) -> None:
        """Release everything."""
        self._store.close()
