"""Turns: when they begin and how they end. An unanswered or failed turn is a state, never a gap (D-4)."""

from __future__ import annotations

from collections.abc import Iterator

from manent.codec.leaves import SKELETON
from manent.model.changes import Change, TurnPut, TurnStateSet
from manent.model.events import MessageAdded, TurnAppended, TurnEnded, TurnStarted, TurnState
from manent.model.ids import made_place, turn_id_of
from manent.model.log import StoredEvent
from manent.model.rows import TurnRow
from manent.projection.transcript import turn_of
from manent.projection.view import View

_IN_MESSAGES = frozenset((SKELETON, "question", "answer"))


def project_turns(stored: StoredEvent, view: View) -> Iterator[Change]:
    """Begin, complete and end turns."""
    match stored.event:
        case TurnAppended():
            details = any(leaf.name not in _IN_MESSAGES for leaf in stored.leaves)
            yield _put(
                stored,
                turn_id_of(stored.header.stamp),
                TurnState.COMPLETE,
                implicit=False,
                has_details=details,
            )
        case TurnStarted(turn_id=turn_id):
            yield _put(stored, turn_id, TurnState.OPEN, implicit=False)
        case TurnEnded(turn_id=turn_id, state=state):
            if view.find_turn(stored.header.uid, turn_id):
                yield TurnStateSet(turn_id, state, stored.header.stamp)
        case MessageAdded() as event:
            yield from _follow_message(stored, event, view)
        case _:
            return


def _put(
    stored: StoredEvent, turn_id: str, state: TurnState, *, implicit: bool, has_details: bool = False
) -> TurnPut:
    header = stored.header
    row = TurnRow(
        header.seq,
        header.writer,
        turn_id,
        stored.position,
        state.value,
        header.stamp,
        implicit,
        has_details,
    )
    return TurnPut(row)


def _has_words(stored: StoredEvent) -> bool:
    """Whether a message says something, by the names of its leaves: erasing changes no row (P-1)."""
    return any(leaf.name == "content" or leaf.name.startswith("text.") for leaf in stored.leaves)


def _follow_message(stored: StoredEvent, event: MessageAdded, view: View) -> Iterator[Change]:
    """A message may begin an implicit turn, and an assistant's words complete one."""
    uid = stored.header.uid
    known = view.find_message(uid, event.message_id)
    stamp = (known.turn_seq, known.turn_writer) if known else turn_of(stored, event, view)
    answers = event.role == "assistant" and _has_words(stored)
    if stamp == stored.header.stamp:
        state = TurnState.COMPLETE if answers else TurnState.OPEN
        named = event.turn_id if event.turn_id and not made_place(event.turn_id) else None
        yield _put(stored, named or turn_id_of(stored.header.stamp), state, implicit=True)
    elif answers and stamp is not None and stamp[0] is not None:
        turn = view.find_turn_at(uid, stored.header.stamp._replace(seq=stamp[0], writer=str(stamp[1])))
        if turn and turn.implicit and turn.state == TurnState.OPEN:
            yield TurnStateSet(turn.turn_id, TurnState.COMPLETE, stored.header.stamp)
