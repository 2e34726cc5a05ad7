"""
Changes: what a projection may ask of a read model. A closed set; a backend maps each to one query.

Every change names the stamp that causes it. A row remembers the stamp that set it, and a change with a
lower one loses: folding the same events in order always gives the same rows (P-1).
"""

from __future__ import annotations

from typing import NamedTuple

from manent.model.ids import Stamp
from manent.model.rows import Content, LinkRow, MessageRow, TurnRow


class ConversationTouched(NamedTuple):
    """
    Activity moves to `stamp`; the claims' first and running maximum take `claim_ns` in.

    `imported`: whether what was said came from elsewhere; None says nothing about that.
    """

    stamp: Stamp
    claim_ns: int | None
    imported: bool | None = None


class MessagePut(NamedTuple):
    """A message appears, or nothing happens when its id is there."""

    row: MessageRow


class MessageContentSet(NamedTuple):
    """A message's words are now at `content`, unless something later set them."""

    message_id: str
    content: Content
    stamp: Stamp


class MessageStateSet(NamedTuple):
    """A message is removed."""

    message_id: str
    state: str
    stamp: Stamp


class HeadSet(NamedTuple):
    """The active branch ends at `head`; `linear` says whether it is simply all messages."""

    head: str | None
    linear: bool
    stamp: Stamp


class TurnPut(NamedTuple):
    """A turn begins, or nothing happens when its id is there."""

    row: TurnRow


class TurnStateSet(NamedTuple):
    """A turn's state is now `state`, unless something later set it."""

    turn_id: str
    state: str
    stamp: Stamp


class LinkPut(NamedTuple):
    """A relation to another conversation appears, or nothing happens when its event has told one."""

    row: LinkRow


class ConversationSpawned(NamedTuple):
    """Another conversation runs this one; nothing takes that back."""

    stamp: Stamp


class KeyClaimed(NamedTuple):
    """An idempotency key stands for the event at `stamp`; the first one keeps it."""

    key_digest: bytes
    stamp: Stamp


Change = (
    ConversationTouched
    | MessagePut
    | MessageContentSet
    | MessageStateSet
    | HeadSet
    | TurnPut
    | TurnStateSet
    | LinkPut
    | ConversationSpawned
    | KeyClaimed
)
