"""manent at `durability="process"`."""

from __future__ import annotations

from pathlib import Path

import manent
from benchmarks.contenders.manent_full import Contender as FullContender


class Contender(FullContender):
    """The same conversation at the other level."""

    def __init__(self, folder: Path) -> None:
        self._store = manent.open(folder / "conversations.db", workspace="bench", durability="process")
        self._conversation = self._store.conversation(key="bench", create=True)
