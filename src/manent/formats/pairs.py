"""Which result answers which call on a branch, so that both can be written together or neither."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from manent.model.parts import ToolCallPart, ToolResultPart
from manent.model.records import StoredMessage


class Spot(NamedTuple):
    """Where a part stands: the place of its message on the branch, and its own in that."""

    message: int
    part: int


class Pair(NamedTuple):
    """
    A call of the assistant and the first result that it got.

    `call_id`: the source's own, or one that was made; no two pairs of a branch share one.
    """

    call_id: str
    call: ToolCallPart
    result: ToolResultPart
    result_at: Spot


def find_pairs(branch: Sequence[StoredMessage]) -> dict[Spot, Pair]:
    """
    The pairs of a branch, by the place of the call, in the order of the results.

    A result belongs to the latest open call of its id before it; one without an id to the oldest open call
    without one, of its name if it has a name.
    """
    opened: dict[Spot, ToolCallPart] = {}
    pairs: dict[Spot, Pair] = {}
    taken: set[str] = set()
    for place, message in enumerate(branch):
        for number, part in enumerate(message.parts):
            here = Spot(place, number)
            if isinstance(part, ToolCallPart) and message.role == "assistant":
                opened[here] = part
            elif isinstance(part, ToolResultPart) and (called := _find_call(part, opened)) is not None:
                call = opened.pop(called)
                pairs[called] = Pair(_free_id(call.call_id, called, taken), call, part, here)
    return pairs


def _find_call(result: ToolResultPart, opened: dict[Spot, ToolCallPart]) -> Spot | None:
    same = [spot for spot, call in opened.items() if call.call_id == result.call_id]
    if result.call_id is not None:
        return same[-1] if same else None
    return next((spot for spot in same if result.name in (None, opened[spot].name)), None)


def _free_id(own: str | None, spot: Spot, taken: set[str]) -> str:
    """The call's own id, unless it has none or another call of the branch has the same."""
    call_id = own or f"call_{spot.message}_{spot.part}"
    while call_id in taken:
        call_id += f"_{spot.message}_{spot.part}"
    taken.add(call_id)
    return call_id
