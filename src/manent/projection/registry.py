"""All projections, in the order in which a backend applies their changes."""

from __future__ import annotations

from manent.model.changes import Change
from manent.model.events import UnknownEvent
from manent.model.records import StoredEvent
from manent.projection.activity import project_activity, project_key
from manent.projection.transcript import project_messages
from manent.projection.tree import project_head
from manent.projection.turns import project_turns
from manent.projection.view import View

INLINE = (project_activity, project_key, project_messages, project_head, project_turns)
"""The projections that commit with the event (P-2). Each reads the rows as they were before it."""


def project(stored: StoredEvent, view: View) -> tuple[Change, ...]:
    """
    What one event changes in the read model.

    Pure: the same event and the same rows give the same changes. Events must be folded in (seq, writer)
    order; an event that arrives late refolds its conversation.
    """
    if isinstance(stored.event, UnknownEvent):
        return ()
    return tuple(change for projection in INLINE for change in projection(stored, view))
