"""What was masked, remembered as registers of the conversation: kind, place and number, never the secret."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from manent.model.events import MessageAdded
from manent.model.log import Register
from manent.model.parts import AnyPart, TextPart, ToolResultPart
from manent.storage.port import Transaction

MASKED_FIELD = "masked:"
"""Before the seq of what was written together: a register that tells what was masked there."""


class MaskedAt(NamedTuple):
    """What was masked in one message: its id, or "" where it is no message, and how often each kind."""

    message_id: str
    kinds: dict[str, int]


class MaskedTogether(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was masked in what was written together, as a register keeps it."""

    claim_ns: int
    found: tuple[MaskedAt, ...]
    import_id: str | None = None


def remember(tx: Transaction, uid: str, seq: int, masked: MaskedTogether) -> None:
    """Keep what was masked in the events from `seq` on, beside them."""
    tx.put_metadata(uid, f"{MASKED_FIELD}{seq}", msgspec.to_builtins(masked))


def to_masked(register: Register) -> MaskedTogether | None:
    """What a register tells; None of a damaged one, and of one that was unset."""
    try:
        return None if register.value is None else msgspec.convert(register.value, MaskedTogether)
    except msgspec.ValidationError:
        return None


def is_output(event: MessageAdded, part: AnyPart) -> bool:
    """Whether a part is what a tool gave back."""
    return isinstance(part, ToolResultPart) or (event.role == "tool" and isinstance(part, TextPart))
