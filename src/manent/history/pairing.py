"""Pairing: which messages belong together because one calls a tool and another one has the result (X-2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from manent.model.parts import AnyPart, FilePart, ToolCallPart, ToolResultPart, visible_text
from manent.model.records import StoredMessage


class _Spot(NamedTuple):
    """Where a part stands: the place of its message, and its own in it."""

    message: int
    part: int


def paired(messages: Sequence[StoredMessage]) -> list[tuple[StoredMessage, ...]]:
    """
    Messages as groups that must not be parted, each in the order given, by their first message.

    A call without a result falls away, a result without a call before it too, and a message of which nothing
    is left. A call id may come again later: a result belongs to the latest open call of its id. Where there
    are no ids, it belongs to the oldest open call, by its name if it has one.
    """
    answers = _answers(messages)
    matched = {*answers, *answers.values()}
    firsts = _firsts(answers)
    groups: dict[int, list[StoredMessage]] = {}
    for place, message in enumerate(messages):
        parts = tuple(part for spot, part in _spots(place, message) if spot in matched or not _is_tool(part))
        if any(map(_says_something, parts)):
            groups.setdefault(_first(firsts, place), []).append(msgspec.structs.replace(message, parts=parts))
    return [tuple(group) for group in groups.values()]


def _firsts(answers: dict[_Spot, _Spot]) -> dict[int, int]:
    """From the place of a message to that of an earlier one of its group; the first one leads nowhere."""
    firsts: dict[int, int] = {}
    for result, call in answers.items():
        earlier, later = sorted((_first(firsts, result.message), _first(firsts, call.message)))
        if earlier != later:
            firsts[later] = earlier
    return firsts


def _first(firsts: dict[int, int], place: int) -> int:
    while place in firsts:
        place = firsts[place]
    return place


def _answers(messages: Sequence[StoredMessage]) -> dict[_Spot, _Spot]:
    """Each result that has a call before it, with that call."""
    open_calls: dict[_Spot, ToolCallPart] = {}
    answers: dict[_Spot, _Spot] = {}
    for place, message in enumerate(messages):
        for spot, part in _spots(place, message):
            if isinstance(part, ToolCallPart):
                open_calls[spot] = part
            elif isinstance(part, ToolResultPart) and (call := _call_of(part, open_calls)):
                answers[spot] = call
                del open_calls[call]
    return answers


def _call_of(result: ToolResultPart, open_calls: dict[_Spot, ToolCallPart]) -> _Spot | None:
    same = [spot for spot, call in open_calls.items() if call.call_id == result.call_id]
    if result.call_id is not None:
        return same[-1] if same else None
    return next((spot for spot in same if result.name in (None, open_calls[spot].name)), None)


def _spots(place: int, message: StoredMessage) -> Iterator[tuple[_Spot, AnyPart]]:
    return ((_Spot(place, number), part) for number, part in enumerate(message.parts))


def _is_tool(part: AnyPart) -> bool:
    return isinstance(part, ToolCallPart | ToolResultPart)


def _says_something(part: AnyPart) -> bool:
    return isinstance(part, FilePart | ToolResultPart) or bool(visible_text((part,)).strip())
