"""The head: where the active branch ends, and whether the tree has branches at all."""

from __future__ import annotations

from collections.abc import Iterator

from manent.model.changes import Change, HeadSet
from manent.model.events import HeadMoved, MessageAdded, MessageRemoved, TurnAppended
from manent.model.ids import BEFORE_ALL, answer_id
from manent.model.log import StoredEvent
from manent.model.rows import ConversationRow, MessageState
from manent.projection.transcript import parent_is_gone, subtree
from manent.projection.view import View


def project_head(stored: StoredEvent, view: View) -> Iterator[Change]:
    """
    A new message becomes the head; a removed head gives way to its parent.

    A message whose parent is gone neither becomes a root nor moves the head.
    """
    match stored.event:
        case TurnAppended(parent_id=parent_id):
            yield from _advance(stored, view, parent_id, answer_id(stored.header.stamp))
        case MessageAdded(message_id=message_id, parent_id=parent_id):
            if not view.find_message(stored.header.uid, message_id):
                yield from _advance(stored, view, parent_id, message_id)
        case MessageRemoved(message_id=message_id):
            yield from _retreat(stored, view, message_id)
        case HeadMoved(message_id=message_id):
            yield from _move(stored, view, message_id)
        case _:
            return


def _row(stored: StoredEvent, view: View) -> ConversationRow:
    uid = stored.header.uid
    return view.find_row(uid) or ConversationRow(uid, BEFORE_ALL, None, BEFORE_ALL, True, None, None)


def _advance(stored: StoredEvent, view: View, parent_id: str | None, message_id: str) -> Iterator[Change]:
    row = _row(stored, view)
    if not parent_is_gone(view, stored.header.uid, parent_id):
        yield HeadSet(message_id, row.linear and parent_id == row.head, stored.header.stamp)


def _retreat(stored: StoredEvent, view: View, message_id: str) -> Iterator[Change]:
    row = _row(stored, view)
    removed = {gone.message_id: gone.parent_id for gone in subtree(view, stored.header.uid, message_id)}
    if row.head in removed:
        yield HeadSet(removed[message_id], row.linear, stored.header.stamp)


def _move(stored: StoredEvent, view: View, message_id: str | None) -> Iterator[Change]:
    row = _row(stored, view)
    target = view.find_message(stored.header.uid, message_id) if message_id is not None else None
    if message_id is None or (target and target.state == MessageState.PRESENT):
        yield HeadSet(message_id, row.linear and message_id == row.head, stored.header.stamp)
