"""The floor at the other level of durability."""

from __future__ import annotations

from benchmarks.contenders.floor_full import Contender as FullContender


class Contender(FullContender):
    """The same table, synchronous=NORMAL."""

    synchronous = "normal"
