"""Links: how a conversation relates to others, so that resuming never lands in a wrong one."""

from __future__ import annotations

from collections.abc import Iterator

from manent.model.changes import Change, ConversationSpawned, LinkPut
from manent.model.events import CONTENT_KINDS, FORKED_FROM, SPAWNED_BY, ConversationForked, ConversationLinked
from manent.model.log import StoredEvent
from manent.model.rows import LinkRow
from manent.projection.view import View


def project_links(stored: StoredEvent, view: View) -> Iterator[Change]:
    """Put a link; a conversation that another one runs is marked, at its beginning if that is told before."""
    stamp, uid = stored.header.stamp, stored.header.uid
    match stored.event:
        case ConversationForked(from_uid=other, from_message_id=message_id):
            yield LinkPut(LinkRow(*stamp, FORKED_FROM, other, message_id))
        case ConversationLinked(relation=relation, to_uid=other, message_id=message_id):
            yield LinkPut(LinkRow(*stamp, relation, other, message_id))
            if relation == SPAWNED_BY:
                yield ConversationSpawned(stamp)
        case _ if stored.header.kind in CONTENT_KINDS and view.find_row(uid) is None:
            if any(link.relation == SPAWNED_BY for link in view.read_links(uid)):
                yield ConversationSpawned(stamp)
        case _:
            return
