"""Rows and leaves put together: the messages and turns that readers get."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from manent.codec.leaves import leaf_to_part, leaf_to_text
from manent.codec.sealing import open_event
from manent.errors import EncodingError
from manent.history.runtime import Target
from manent.model.events import Event, MessageAdded, TurnAppended, TurnState
from manent.model.ids import Stamp, answer_id, question_id
from manent.model.log import StoredEvent
from manent.model.paging import place_to_cursor
from manent.model.parts import AnyPart, TextPart, plain_text, visible_text
from manent.model.records import StoredMessage, Turn
from manent.model.rows import MessageEntry, Place, TurnRow
from manent.storage.port import Reader, Span

_STATES = {state.value: state for state in TurnState}
_PLAIN = frozenset(("content", "new_content", "question", "answer"))


def entry_parts(entry: MessageEntry) -> tuple[AnyPart, ...]:
    """
    The parts of a message; erased ones are left out.

    Raises:
        EncodingError: a leaf is not what it should be; names the message's place.
    """
    try:
        return tuple(
            TextPart(leaf_to_text(data)) if name in _PLAIN else leaf_to_part(name, data)
            for name, data in entry.leaves
            if data is not None
        )
    except ValueError as error:
        raise EncodingError("a part is not JSON of its kind", event=f"{entry.seq}@{entry.writer}") from error


def entry_text(entry: MessageEntry) -> str:
    """The words of a message; the common single text goes the short way."""
    if len(entry.leaves) == 1:
        ((name, data),) = entry.leaves
        if name in _PLAIN and data is not None:
            return leaf_to_text(data)
    return plain_text(entry_parts(entry))


def entry_visible_text(entry: MessageEntry) -> str:
    """Everything in a message that a reader can see."""
    return visible_text(entry_parts(entry))


def is_erased(entry: MessageEntry) -> bool:
    """Whether any of a message's leaves is gone."""
    return None in [data for _, data in entry.leaves]


def to_message(reader: Reader, target: Target, entry: MessageEntry) -> StoredMessage:
    """A message as readers get it; one whose event tells more costs one more read."""
    details = _message_details(reader, target.uid, entry) if entry.has_details else {}
    return StoredMessage(
        id=entry.message_id,
        conversation_id=target.id,
        role=entry.role,
        parts=entry_parts(entry),
        parent_id=entry.parent_id,
        seq=entry.seq,
        writer=entry.writer,
        turn_seq=entry.turn_seq,
        claim_ns=entry.claim_ns,
        state=entry.state,
        hidden=entry.hidden,
        cursor=place_to_cursor(entry.place),
        erased=is_erased(entry),
        **details,
    )


def _message_details(reader: Reader, uid: str, entry: MessageEntry) -> dict[str, Any]:
    match _event_at(reader, uid, Stamp(entry.seq, entry.writer)):
        case MessageAdded(author=author, usage=usage, metadata=metadata):
            return {"author": author, "usage": usage, "metadata": metadata}
        case TurnAppended(author=author) if entry.role == "user":
            return {"author": author}
        case TurnAppended(usage=usage):
            return {"usage": usage}
        case _:
            return {}


def _event_at(reader: Reader, uid: str, stamp: Stamp) -> Event | None:
    entry = reader.find_entry(uid, stamp)
    return open_event(entry.position, entry).event if entry else None


def to_turns(
    reader: Reader, target: Target, rows: Sequence[TurnRow], entries: Iterable[MessageEntry]
) -> list[Turn]:
    """
    Turns as readers get them, in the order of `rows`.

    Args:
        rows: turns by stamp.
        entries: the messages to take their words from, each turn's in causal order.
    """
    groups: dict[tuple[int | None, str | None], list[MessageEntry]] = {}
    for entry in entries:
        groups.setdefault((entry.turn_seq, entry.turn_writer), []).append(entry)
    shared = _shared_seqs(reader, target.uid, rows)
    return [
        _turn(reader, target, row, groups.get((row.seq, row.writer), []), row.seq in shared) for row in rows
    ]


def _shared_seqs(reader: Reader, uid: str, rows: Sequence[TurnRow]) -> set[int]:
    """The seqs at which turns of two writers began; a conversation of one writer has none."""
    if len(reader.read_tips(uid)) < 2:
        return set()
    spans = {row.seq: Span(Place(row.seq, "", -1), Place(row.seq + 1, "", -1), limit=2) for row in rows}
    return {seq for seq, span in spans.items() if len(reader.read_turns(uid, span)) > 1}


def to_fresh_turn(target: Target, stored: StoredEvent, turn: TurnAppended) -> Turn:
    """A turn that was just appended, without reading it again."""
    header = stored.header
    return Turn(
        conversation_id=target.id,
        seq=header.seq,
        writer=header.writer,
        question=turn.question,
        answer=turn.answer,
        state=TurnState.COMPLETE,
        claim_ns=header.claim_ns,
        message_ids=(question_id(header.stamp), answer_id(header.stamp)),
        tool_events=turn.tool_events,
        citations=turn.citations,
        usage=turn.usage,
        phantom_reaches=turn.phantom_reaches,
        author=turn.author,
    )


def _turn(
    reader: Reader,
    target: Target,
    row: TurnRow,
    entries: list[MessageEntry],
    ambiguous: bool,
) -> Turn:
    details = _turn_details(reader, target.uid, row) if row.has_details else {}
    return Turn(
        conversation_id=target.id,
        seq=row.seq,
        writer=row.writer,
        question=_question(entries),
        answer=_answer(entries),
        state=_STATES[row.state],
        claim_ns=entries[0].claim_ns if entries else None,
        message_ids=tuple([entry.message_id for entry in entries]),
        erased=any(map(is_erased, entries)),
        ambiguous=ambiguous,
        **details,
    )


def _question(entries: list[MessageEntry]) -> str:
    for entry in entries:
        if entry.role == "user" and not entry.hidden:
            return entry_text(entry)
    return ""


def _answer(entries: list[MessageEntry]) -> str:
    for entry in reversed(entries):
        if entry.role == "assistant" and (text := entry_text(entry)):
            return text
    return ""


def _turn_details(reader: Reader, uid: str, row: TurnRow) -> dict[str, Any]:
    event = _event_at(reader, uid, row.stamp)
    if not isinstance(event, TurnAppended):
        return {}
    return {
        "tool_events": event.tool_events,
        "citations": event.citations,
        "usage": event.usage,
        "phantom_reaches": event.phantom_reaches,
        "author": event.author,
    }
