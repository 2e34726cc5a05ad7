"""Changes made to the rows of one stream: a row set by a greater stamp stays."""

from __future__ import annotations

from typing import assert_never

from manent.model.changes import (
    Change,
    ConversationSpawned,
    ConversationTouched,
    HeadSet,
    KeyClaimed,
    LinkPut,
    MessageContentSet,
    MessagePut,
    MessageStateSet,
    TurnPut,
    TurnStateSet,
)
from manent.model.ids import BEFORE_ALL, Stamp
from manent.model.rows import ConversationRow
from manent.storage.memory.state import Stream


def make_change(stream: Stream, change: Change) -> None:
    """Make one change; a target that is not there changes nothing."""
    match change:
        case ConversationTouched():
            stream.row = _touched(stream, change)
        case MessagePut(message):
            stream.messages.setdefault(message.message_id, message)
        case TurnPut(turn):
            stream.turns.setdefault(turn.turn_id, turn)
        case LinkPut(link):
            stream.links.setdefault(Stamp(link.seq, link.writer), link)
        case ConversationSpawned():
            if stream.row is not None:
                stream.row = stream.row._replace(spawned=True)
        case KeyClaimed(key_digest, stamp):
            stream.keys.setdefault(key_digest, stamp)
        case MessageContentSet():
            _set_content(stream, change)
        case MessageStateSet(message_id, state, _):
            if (row := stream.messages.get(message_id)) is not None:
                stream.messages[message_id] = row._replace(state=state)
        case TurnStateSet(turn_id, state, stamp):
            if (turn_row := stream.turns.get(turn_id)) is not None and stamp > turn_row.state_stamp:
                stream.turns[turn_id] = turn_row._replace(state=str(state), state_stamp=stamp)
        case HeadSet(head, linear, stamp):
            if stream.row is not None and stamp > stream.row.head_stamp:
                stream.row = stream.row._replace(head=head, linear=linear, head_stamp=stamp)
        case _:
            assert_never(change)


def _touched(stream: Stream, change: ConversationTouched) -> ConversationRow | None:
    row, claims = stream.row, [] if change.claim_ns is None else [change.claim_ns]
    if row is None:
        return _begun(stream, change)
    if change.stamp <= row.activity:
        return row
    return row._replace(
        activity=change.stamp,
        claim_first_ns=change.claim_ns if row.claim_first_ns is None else row.claim_first_ns,
        claim_max_ns=max([*claims, *([] if row.claim_max_ns is None else [row.claim_max_ns])], default=None),
        imported=row.imported if change.imported is None else change.imported,
    )


def _begun(stream: Stream, change: ConversationTouched) -> ConversationRow | None:
    """A first row, unless this is no conversation."""
    if stream.info.id is None:
        return None
    return ConversationRow(
        uid=stream.info.uid,
        activity=change.stamp,
        head=None,
        head_stamp=BEFORE_ALL,
        linear=True,
        claim_first_ns=change.claim_ns,
        claim_max_ns=change.claim_ns,
        imported=bool(change.imported),
        workspace=stream.info.workspace,
    )


def _set_content(stream: Stream, change: MessageContentSet) -> None:
    row = stream.messages.get(change.message_id)
    if row is not None and change.stamp > row.content_stamp:
        changed = row._replace(content=change.content, content_stamp=change.stamp)
        stream.messages[change.message_id] = changed
