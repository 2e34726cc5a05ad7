"""Memory addresses: the names under which tools hand a model what it may fetch later."""

from __future__ import annotations

from typing import NamedTuple

from manent.errors import AddressError
from manent.model.ids import Address, check_text, parse_address

MEMORY_KINDS = frozenset(("turn", "message", "note", "spill", "compaction", "prompt"))
"""What a memory address may lead to; turns and messages are in the record, the rest are a tool's own."""

_IN_THE_RECORD = frozenset(("turn", "message"))


class MemoryAddress(NamedTuple):
    """
    A typed name: `turn:<conversation>#<seq>`, `message:<conversation>#<id>`, or `<kind>:<ref>`.

    `address` is where a turn or message stands; None for the kinds that the record does not hold.
    """

    kind: str
    ref: str
    address: Address | None = None

    def __str__(self) -> str:
        return f"{self.kind}:{self.ref}"


def parse_memory_address(text: str) -> MemoryAddress:
    """
    Read a memory address.

    Raises:
        AddressError: an unknown kind, nothing behind it, or a turn or message of another shape.
    """
    kind, colon, ref = check_text(text, "memory address").partition(":")
    if not (colon and ref.strip()) or kind not in MEMORY_KINDS:
        raise AddressError(text)
    return MemoryAddress(kind, ref, parse_address(text) if kind in _IN_THE_RECORD else None)
