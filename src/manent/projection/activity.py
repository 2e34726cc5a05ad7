"""Activity and idempotency keys: what every event does whatever its kind."""

from __future__ import annotations

from collections.abc import Iterator

from manent.codec.chain import hash_fields
from manent.model.changes import Change, ConversationTouched, KeyClaimed
from manent.model.events import CONTENT_KINDS, Attributed, HeadMoved, MessageEdited, MessageRemoved
from manent.model.log import StoredEvent
from manent.projection.view import View

_SAYS_NOTHING = frozenset(cls.KIND for cls in (HeadMoved, MessageEdited, MessageRemoved))


def project_activity(stored: StoredEvent, _view: View) -> Iterator[Change]:
    """Content events move activity; metadata, archives, redactions and reads do not (L-8)."""
    if stored.header.kind in CONTENT_KINDS:
        yield ConversationTouched(stored.header.stamp, stored.header.claim_ns, _is_imported(stored))


def _is_imported(stored: StoredEvent) -> bool | None:
    """Whether an event says something from elsewhere, by the names of its leaves; None if it says nothing."""
    if stored.header.kind in _SAYS_NOTHING:
        return None
    return any(leaf.name in ("origin", "source") for leaf in stored.leaves)


def project_key(stored: StoredEvent, _view: View) -> Iterator[Change]:
    """An idempotency key stands for its event from now on (L-7)."""
    event = stored.event
    if isinstance(event, Attributed) and event.idempotency_key is not None:
        yield KeyClaimed(key_digest(stored.header.uid, event.idempotency_key), stored.header.stamp)


def key_digest(uid: str, key: str) -> bytes:
    """What the read model keeps of an idempotency key: 16 bytes, different in each conversation."""
    return hash_fields(b"manent.key.1", uid.encode(), key.encode("utf-8", "surrogatepass"))[:16]
