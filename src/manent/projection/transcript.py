"""Messages: where they stand in the tree and where their words are."""

from __future__ import annotations

from collections.abc import Iterator

from manent.model.changes import Change, MessageContentSet, MessagePut, MessageStateSet
from manent.model.events import MessageAdded, MessageEdited, MessageRemoved, TurnAppended
from manent.model.ids import Stamp, answer_id, question_id
from manent.model.log import Leaf, StoredEvent
from manent.model.rows import Content, MessageRow, MessageState, Place
from manent.projection.view import View


def project_messages(stored: StoredEvent, view: View) -> Iterator[Change]:
    """Put, edit and remove messages. A target that is not there changes nothing."""
    match stored.event:
        case TurnAppended() as event:
            yield from _put_turn(stored, event, view)
        case MessageAdded() as event:
            yield from _put_message(stored, event, view)
        case MessageEdited(message_id=message_id):
            if view.find_message(stored.header.uid, message_id):
                content = locate(stored, ("new_content", "new_text.", "new_part."))
                yield MessageContentSet(message_id, content, stored.header.stamp)
        case MessageRemoved(message_id=message_id):
            for row in subtree(view, stored.header.uid, message_id):
                yield MessageStateSet(row.message_id, MessageState.REMOVED, stored.header.stamp)
        case _:
            return


def locate(stored: StoredEvent, names: tuple[str, ...]) -> Content:
    """Where the leaves stand whose names begin with one of `names`; they follow each other."""
    found = [number for number, leaf in enumerate(stored.leaves) if _is_named(leaf, names)]
    return Content(stored.position, found[0] if found else 0, len(found))


def _is_named(leaf: Leaf, names: tuple[str, ...]) -> bool:
    return leaf.name.startswith(names)


def has_leaf(stored: StoredEvent, *names: str) -> bool:
    """Whether an event has a leaf of one of these names, erased or not: erasing changes no row (P-1)."""
    return any(leaf.name in names for leaf in stored.leaves)


def parent_is_gone(view: View, uid: str, parent_id: str | None) -> bool:
    """Whether a named parent is absent or no longer in the tree, so that nothing can hang under it."""
    row = view.find_row(uid)
    if parent_id is None or (row is not None and row.head == parent_id):
        return False
    parent = view.find_message(uid, parent_id)
    return parent is None or parent.state != MessageState.PRESENT


def turn_of(stored: StoredEvent, event: MessageAdded, view: View) -> Stamp | None:
    """
    The turn that a message belongs to, by the stamp of the event that began it.

    A turn that it names; else a user's message begins one, and any other joins its parent's.
    """
    uid = stored.header.uid
    if event.turn_id is not None:
        turn = view.find_turn(uid, event.turn_id)
        return turn.stamp if turn else stored.header.stamp
    if event.role == "user" and not event.hidden:
        return stored.header.stamp
    parent = view.find_message(uid, event.parent_id) if event.parent_id is not None else None
    if parent is None or parent.turn_seq is None or parent.turn_writer is None:
        return None
    return Stamp(parent.turn_seq, parent.turn_writer)


def subtree(view: View, uid: str, message_id: str) -> Iterator[MessageRow]:
    """A message and everything under it that is still in the tree; a child stands after its parent."""
    top = view.find_message(uid, message_id)
    if top is None or top.state != MessageState.PRESENT:
        return
    yield top
    reached = {message_id}
    for row in view.read_rows_after(uid, Place(top.seq, top.writer, top.ordinal)):
        if row.parent_id in reached and row.state == MessageState.PRESENT:
            reached.add(row.message_id)
            yield row


def _put_turn(stored: StoredEvent, event: TurnAppended, view: View) -> Iterator[Change]:
    header = stored.header
    gone = parent_is_gone(view, header.uid, event.parent_id)
    state = MessageState.DETACHED if gone else MessageState.PRESENT
    asked, answered = question_id(header.stamp), answer_id(header.stamp)
    places = (
        (asked, event.parent_id, "user", "question", has_leaf(stored, "author")),
        (answered, asked, "assistant", "answer", has_leaf(stored, "usage")),
    )
    for ordinal, (message_id, parent_id, role, leaf, has_details) in enumerate(places):
        yield MessagePut(
            MessageRow(
                header.seq,
                header.writer,
                ordinal,
                message_id,
                parent_id,
                role,
                header.seq,
                header.writer,
                locate(stored, (leaf,)),
                header.stamp,
                state,
                False,
                has_details,
                header.claim_ns,
            )
        )


def _put_message(stored: StoredEvent, event: MessageAdded, view: View) -> Iterator[Change]:
    header = stored.header
    content = locate(stored, ("content", "text.", "part."))
    if view.find_message(header.uid, event.message_id):
        yield MessageContentSet(event.message_id, content, header.stamp)
        return
    gone = parent_is_gone(view, header.uid, event.parent_id)
    turn = turn_of(stored, event, view)
    yield MessagePut(
        MessageRow(
            header.seq,
            header.writer,
            0,
            event.message_id,
            event.parent_id,
            event.role,
            turn.seq if turn else None,
            turn.writer if turn else None,
            content,
            header.stamp,
            MessageState.DETACHED if gone else MessageState.PRESENT,
            event.hidden,
            has_leaf(stored, "author", "usage", "metadata"),
            header.claim_ns,
        )
    )
