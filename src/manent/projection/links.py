"""Links: how a conversation relates to others, so that resuming never lands in a wrong one."""

from __future__ import annotations

from collections.abc import Iterator

from manent.model.changes import Change, ConversationSpawned, LinkPut
from manent.model.events import FORKED_FROM, SPAWNED_BY, ConversationForked, ConversationLinked
from manent.model.log import StoredEvent
from manent.model.rows import LinkRow
from manent.projection.view import View


def project_links(stored: StoredEvent, _view: View) -> Iterator[Change]:
    """Put a link; a conversation that another one runs is marked."""
    stamp = stored.header.stamp
    match stored.event:
        case ConversationForked(from_uid=uid, from_message_id=message_id):
            yield LinkPut(LinkRow(*stamp, FORKED_FROM, uid, message_id))
        case ConversationLinked(relation=relation, to_uid=uid, message_id=message_id):
            yield LinkPut(LinkRow(*stamp, relation, uid, message_id))
            if relation == SPAWNED_BY:
                yield ConversationSpawned(stamp)
        case _:
            return
