"""Hypothesis strategies: any text, any part, any message, any event."""

from __future__ import annotations

import types
from collections.abc import Mapping, Sequence
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec
from hypothesis import strategies as st

from manent.model.events import (
    COPIED_FROM,
    KINDS,
    SPAWNED_BY,
    ConversationCreated,
    ConversationForked,
    ConversationLinked,
    Event,
    HeadMoved,
    MessageAdded,
    MessageCompleted,
    MessageEdited,
    MessageRemoved,
    SummaryRecorded,
    TurnAppended,
    TurnEnded,
    TurnStarted,
    TurnState,
)
from manent.model.parts import (
    AnyPart,
    Citation,
    FilePart,
    NoticePart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from manent.model.records import Message

AWKWARD = (
    "",
    "\x00",
    "\ud83d",
    "\ude00",
    "\ud83d\ude00",  # two lone surrogates, which are not the next one
    "\U0001f600",
    "\\ud83d\\ude00",
    "\\",
    "\\\ud83d",
    "\\0",
    '"',
    "\u2028\u2029\x85",
    "\r\n",
    "e\u0301\u202e",
    "\ufeff",
    "\U0010ffff",
    " ",
)
"""Text that some store or other does not give back as it was."""

_USAGE = st.builds(
    Usage,
    input_tokens=st.sampled_from((None, 0, 7, (1 << 63) - 1)),
    output_tokens=st.sampled_from((None, 3, -(1 << 63))),
    cost=st.sampled_from((None, 1, 0.25)),  # sums of these are the same in whatever order
    model=st.sampled_from((None, "\ud83d")),
)
_INTEGERS = st.integers(-(1 << 63), (1 << 63) - 1)


def any_text(*, min_size: int = 0, max_size: int = 20) -> st.SearchStrategy[str]:
    """Any Python string: every code point, NUL and lone surrogates included, and awkward ones often."""
    character = st.characters(exclude_categories=())
    pieces = st.lists(st.one_of(st.text(character, max_size=5), st.sampled_from(AWKWARD)), max_size=4)
    return pieces.map("".join).filter(lambda text: min_size <= len(text)).map(lambda text: text[:max_size])


def names() -> st.SearchStrategy[str]:
    """Any text that can be an id, key or alias: not blank."""
    return any_text(min_size=1).filter(lambda text: bool(text.strip()))


def json_values(*, max_leaves: int = 6) -> st.SearchStrategy[Any]:
    """Any value that JSON can carry, with string keys and finite numbers."""
    scalars = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        any_text(max_size=8),
    )
    return st.recursive(
        scalars,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(any_text(max_size=5), inner, max_size=3)
        ),
        max_leaves=max_leaves,
    )


def json_objects() -> st.SearchStrategy[dict[str, Any]]:
    """Any JSON object."""
    return st.dictionaries(any_text(max_size=5), json_values(), max_size=3)


def parts() -> st.SearchStrategy[AnyPart]:
    """A part of any kind."""
    kinds = (
        TextPart,
        ReasoningPart,
        ToolCallPart,
        ToolResultPart,
        FilePart,
        Citation,
        NoticePart,
        OpaquePart,
    )
    return st.one_of([structs(kind) for kind in kinds])


def messages() -> st.SearchStrategy[Message]:
    """A message to append, of any role."""
    return st.builds(
        Message,
        role=names(),
        parts=st.one_of(any_text(), st.lists(parts(), min_size=1, max_size=3)),
        author=st.none() | any_text(),
        usage=st.none() | structs(Usage),
        metadata=st.none() | json_objects(),
        hidden=st.booleans(),
    )


def events(kind: str | None = None) -> st.SearchStrategy[Event]:
    """An event of a kind, or of any that this release writes."""
    kinds = [KINDS[kind]] if kind else list(KINDS.values())
    return st.one_of([structs(each) for each in kinds])


def tree_events(
    messages: Sequence[str], turns: Sequence[str], keys: Sequence[str] = (), others: Sequence[str] = ("",)
) -> st.SearchStrategy[Event]:
    """
    An event that does something to a tree, or nothing where what it names is not there.

    Args:
        messages, turns: the ids to choose from, few enough that events meet.
        keys: idempotency keys to choose from.
        others: uids of conversations that links lead to, or what stands in their place.
    """
    message, turn, text = st.sampled_from(messages), st.sampled_from(turns), any_text(max_size=6)
    some_message, some_key = st.none() | message, st.sampled_from((None, *keys))
    mark = st.sampled_from((None, None, {"format": "f"}))
    some_parts = st.lists(st.builds(TextPart, text) | st.builds(ToolCallPart, text), max_size=3).map(tuple)
    added: dict[str, st.SearchStrategy[Any]] = {
        "message_id": message,
        "role": st.sampled_from(("user", "assistant", "tool")),
        "parent_id": some_message,
        "turn_id": st.none() | turn,
        "hidden": st.booleans(),
        "parts": some_parts,
        "author": st.none() | text,
        "usage": st.none() | _USAGE,
        "source": mark,
        "idempotency_key": some_key,
    }
    whole: dict[str, st.SearchStrategy[Any]] = {
        "parent_id": some_message,
        "question": text,
        "answer": text,
        "usage": st.none() | _USAGE,
        "idempotency_key": some_key,
    }
    return st.one_of(
        st.builds(MessageAdded, **added),
        st.builds(MessageAdded, **added),
        st.builds(MessageCompleted, **added),
        st.builds(TurnAppended, **whole),
        st.builds(MessageEdited, message_id=message, new_parts=some_parts),
        st.builds(MessageRemoved, message_id=message),
        st.builds(HeadMoved, message_id=some_message),
        st.builds(TurnStarted, turn_id=turn),
        st.builds(TurnEnded, turn_id=turn, state=st.sampled_from(TurnState)),
        st.builds(ConversationCreated, origin=mark),
        _links(st.sampled_from(others), some_message),
        st.builds(SummaryRecorded, first_seq=st.just(1), last_seq=st.just(1), summary=text),
    )


def _links(
    other: st.SearchStrategy[str], some_message: st.SearchStrategy[str | None]
) -> st.SearchStrategy[Event]:
    relation = st.sampled_from(("continues", SPAWNED_BY, COPIED_FROM, "\\\ud83d"))
    return st.one_of(
        st.builds(ConversationLinked, relation=relation, to_uid=other, message_id=some_message),
        st.builds(ConversationForked, from_uid=other, from_message_id=some_message),
    )


def structs(cls: type[Any]) -> st.SearchStrategy[Any]:
    """Any value of a Struct: each field is drawn by its type."""
    hints = get_type_hints(cls)
    return st.builds(cls, **{field.name: of_type(hints[field.name]) for field in msgspec.structs.fields(cls)})


def of_type(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of a type that stands in a model."""
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return structs(hint)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return st.one_of([of_type(each) for each in arguments])
    if origin is tuple and arguments[-1] is Ellipsis:
        return st.lists(of_type(arguments[0]), max_size=3).map(tuple)
    if origin is tuple:
        return st.tuples(*(of_type(each) for each in arguments))
    if origin is dict:
        return json_objects()
    raise TypeError(f"No strategy for {hint!r}; give it one in manent.testing.strategies.")


_SIMPLE: Mapping[Any, st.SearchStrategy[Any]] = {
    str: any_text(),
    int: _INTEGERS,
    bool: st.booleans(),
    float: st.floats(allow_nan=False, allow_infinity=False),
    type(None): st.none(),
    Any: json_values(),
    TurnState: st.sampled_from(TurnState),
}
