"""All projections, in the order in which a backend applies their changes."""

from __future__ import annotations

from manent.model.changes import Change
from manent.model.events import MessageAdded, TurnStarted, UnknownEvent
from manent.model.ids import made_place
from manent.model.log import StoredEvent
from manent.projection.activity import project_activity, project_key
from manent.projection.links import project_links
from manent.projection.transcript import project_messages
from manent.projection.tree import project_head
from manent.projection.turns import project_turns
from manent.projection.view import View

_OF_ANY_EVENT = (project_activity, project_key)
INLINE = (*_OF_ANY_EVENT, project_messages, project_head, project_turns, project_links)
"""The projections that commit with the event (P-2). Each reads the rows as they were before it."""


def project(stored: StoredEvent, view: View) -> tuple[Change, ...]:
    """
    What one event changes in the read model.

    Pure: the same event and the same rows give the same changes. Events must be folded in (seq, writer)
    order; an event that arrives late refolds its conversation.
    """
    if isinstance(stored.event, UnknownEvent):
        return ()
    projections = _OF_ANY_EVENT if _takes_made_id(stored, view) else INLINE
    return tuple(change for projection in projections for change in projection(stored, view))


def _takes_made_id(stored: StoredEvent, view: View) -> bool:
    """
    Whether a new message or turn is named in the form that is made of a stamp, which nobody may choose.

    It is kept in the log and stands in no tree: else two rows could have one id.
    """
    match stored.event:
        case MessageAdded(message_id=message_id):
            return made_place(message_id) is not None and not view.find_message(stored.header.uid, message_id)
        case TurnStarted(turn_id=turn_id):
            return made_place(turn_id) is not None
        case _:
            return False
