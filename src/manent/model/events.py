"""
Events: the facts of the log, in the past tense. The complete list of kinds.

Every event is written as a skeleton (identities, roles, order: no words of anybody) and leaves (the
words). Which fields are leaves stands in `codec.leaves`; every other field belongs to the skeleton.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any, ClassVar

import msgspec

from manent.model.parts import AnyPart, Citation, PhantomReach, ToolEvent, Usage


class TurnState(StrEnum):
    """Where a turn stands. Only `OPEN` may still change."""

    OPEN = "open"
    COMPLETE = "complete"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    ABANDONED = "abandoned"


class Event(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The base of all events. `KIND` is the name on disk, `SCHEMA_VERSION` that of its fields."""

    KIND: ClassVar[str] = ""
    SCHEMA_VERSION: ClassVar[int] = 1


class Attributed(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An event that a person may have caused and that may be repeated safely under a key."""

    author: str | None = None
    idempotency_key: str | None = None


def _parent() -> Any:
    """A message's parent, under the editor log's name; None is a root."""
    return msgspec.field(default=None, name="parent_message_id")


class ConversationCreated(Attributed, frozen=True, kw_only=True, omit_defaults=True):
    """A conversation began. `origin` says where an imported one came from: format, id, place."""

    KIND: ClassVar[str] = "conversation_created"
    origin: dict[str, Any] | None = None


class TurnAppended(Attributed, frozen=True, kw_only=True, omit_defaults=True):
    """A whole turn: what was asked, what was answered, and what happened in between."""

    KIND: ClassVar[str] = "turn_appended"
    parent_id: str | None = _parent()
    question: str = ""
    answer: str = ""
    tool_events: tuple[ToolEvent, ...] = ()
    citations: tuple[Citation, ...] = ()
    usage: Usage | None = None
    phantom_reaches: tuple[PhantomReach, ...] = ()
    native: str | None = None


class TurnStarted(Attributed, frozen=True, kw_only=True, omit_defaults=True):
    """A turn is open; messages join it by naming `turn_id`."""

    KIND: ClassVar[str] = "turn_started"
    turn_id: str


class TurnEnded(Attributed, frozen=True, kw_only=True, omit_defaults=True):
    """A turn ended in `state` (never `open`)."""

    KIND: ClassVar[str] = "turn_ended"
    turn_id: str
    state: TurnState = TurnState.COMPLETE
    reason: str | None = None


class MessageAdded(Attributed, frozen=True, kw_only=True, omit_defaults=True):
    """
    A message stands in the tree under `parent_id`.

    A hidden message was injected by a program (instructions, reminders): kept, never shown as
    somebody's words, and it begins no turn. `source` identifies the record it was imported from. The
    first message of a batch under an idempotency key says how many were appended with it.
    """

    KIND: ClassVar[str] = "message_added"
    message_id: str
    role: str
    parent_id: str | None = _parent()
    turn_id: str | None = None
    thread_id: str | None = None
    hidden: bool = False
    batch_size: int = 1
    parts: tuple[AnyPart, ...] = ()
    usage: Usage | None = None
    metadata: dict[str, Any] | None = None
    source: dict[str, Any] | None = None
    native: str | None = None


class MessageCompleted(MessageAdded, frozen=True, kw_only=True, omit_defaults=True):
    """A message that was being written is whole. It keeps its place; its content is this one's."""

    KIND: ClassVar[str] = "message_completed"


class MessageEdited(Attributed, frozen=True, kw_only=True, omit_defaults=True):
    """New content for a message; the old one stays in the log."""

    KIND: ClassVar[str] = "message_edited"
    message_id: str
    new_parts: tuple[AnyPart, ...] = ()
    reason: str | None = None


class MessageRemoved(Attributed, frozen=True, kw_only=True, omit_defaults=True):
    """A message and everything under it left the tree; the head moved to its parent."""

    KIND: ClassVar[str] = "message_removed"
    message_id: str
    reason: str | None = None


class HeadMoved(Attributed, frozen=True, kw_only=True, omit_defaults=True):
    """The active branch now ends at `message_id`; None: before every message."""

    KIND: ClassVar[str] = "head_moved"
    message_id: str | None = None


class ConversationForked(Event, frozen=True, kw_only=True, omit_defaults=True):
    """This conversation goes on from a message of another one; nothing was copied."""

    KIND: ClassVar[str] = "conversation_forked"
    from_uid: str
    from_message_id: str | None = None


CONTINUES = "continues"
"""A relation: this conversation goes on where the other one stopped."""

SPAWNED_BY = "spawned_by"
"""A relation: the other conversation runs this one, as a helper."""

COPIED_FROM = "copied_from"
"""A relation: this conversation began as a copy of the other one."""

FORKED_FROM = "forked_from"
"""A relation: this conversation goes on from a message of the other one (`conversation_forked`)."""

RELATIONS = frozenset((CONTINUES, SPAWNED_BY, COPIED_FROM))
"""What `conversation_linked` may say."""


class ConversationLinked(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A relation to another conversation: `continues`, `spawned_by` or `copied_from`."""

    KIND: ClassVar[str] = "conversation_linked"
    relation: str
    to_uid: str
    message_id: str | None = None


class ClarificationBatchOpened(Attributed, frozen=True, kw_only=True, omit_defaults=True):
    """Questions to the user, asked together."""

    KIND: ClassVar[str] = "clarification_batch_opened"
    batch_id: str
    prompts: tuple[dict[str, Any], ...] = ()


class ClarificationAnswerSubmitted(Attributed, frozen=True, kw_only=True, omit_defaults=True):
    """The user's answers, by item id."""

    KIND: ClassVar[str] = "clarification_answer_submitted"
    batch_id: str
    answers: dict[str, Any] | None = None


class ClarificationBatchDismissed(Attributed, frozen=True, kw_only=True, omit_defaults=True):
    """The questions were put away without an answer."""

    KIND: ClassVar[str] = "clarification_batch_dismissed"
    batch_id: str


class ContentRedacted(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Leaves of an earlier event are gone; `replacement` is what readers see instead."""

    KIND: ClassVar[str] = "content_redacted"
    target_seq: int
    target_writer: str
    target_leaves: tuple[str, ...] = ()
    reason_code: str = ""
    replacement: str | None = None


class RangeArchived(Event, frozen=True, kw_only=True, omit_defaults=True):
    """Leaves of a range of one writer's events moved to a segment; `root` is over their digests."""

    KIND: ClassVar[str] = "range_archived"
    archived_writer: str
    first_seq: int
    last_seq: int
    count: int
    root: str


class RangeRestored(Event, frozen=True, kw_only=True, omit_defaults=True):
    """An archived range is back in the live log."""

    KIND: ClassVar[str] = "range_restored"
    archived_writer: str
    first_seq: int
    last_seq: int


class SummaryRecorded(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A summary of exactly the events from `first_seq` to `last_seq`, both included."""

    KIND: ClassVar[str] = "summary_recorded"
    first_seq: int
    last_seq: int
    summary: str | None = None


class SourceUpdated(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The source that a message was imported from says something else now."""

    KIND: ClassVar[str] = "source_updated"
    message_id: str
    diff: dict[str, Any] | None = None
    source: dict[str, Any] | None = None
    native: str | None = None


class ConversationDeleted(Event, frozen=True, kw_only=True, omit_defaults=True):
    """
    A conversation of this workspace is gone for good. In the workspace's own stream.

    `tips` are its last (writer, seq, hash in hex), so that nothing can bring it back unnoticed.
    """

    KIND: ClassVar[str] = "conversation_deleted"
    uid: str
    tips: tuple[tuple[str, int, str], ...] = ()
    reason: str | None = None


class HoldPlaced(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A conversation must not be removed until the hold is lifted. In the workspace's own stream."""

    KIND: ClassVar[str] = "hold_placed"
    hold_id: str
    uid: str
    reason: str | None = None


class HoldLifted(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A hold ended. In the workspace's own stream."""

    KIND: ClassVar[str] = "hold_lifted"
    hold_id: str
    reason: str | None = None


class Found(Event, frozen=True, kw_only=True, omit_defaults=True):
    """The base of kinds that the editor log's files hold and that we keep as found."""

    found: dict[str, Any] | None = None


class ThreadForked(Found, frozen=True, kw_only=True, omit_defaults=True):
    """From the editor log: a thread began from a message of another."""

    KIND: ClassVar[str] = "thread_forked"


class MessageRangeRelated(Found, frozen=True, kw_only=True, omit_defaults=True):
    """From the editor log: a range of messages relates to something."""

    KIND: ClassVar[str] = "message_range_related"


class MessageStreamDelta(Found, frozen=True, kw_only=True, omit_defaults=True):
    """From the editor log: a piece of streamed text; declared there, never written."""

    KIND: ClassVar[str] = "message_stream_delta"


class UnknownEvent(Event, frozen=True, kw_only=True, omit_defaults=True):
    """A kind or schema version of a newer release: kept, skipped, counted and reported."""

    kind: str
    schema_version: int


AnyEvent = (
    ConversationCreated
    | TurnAppended
    | TurnStarted
    | TurnEnded
    | MessageAdded
    | MessageCompleted
    | MessageEdited
    | MessageRemoved
    | HeadMoved
    | ConversationForked
    | ConversationLinked
    | ClarificationBatchOpened
    | ClarificationAnswerSubmitted
    | ClarificationBatchDismissed
    | ContentRedacted
    | RangeArchived
    | RangeRestored
    | SummaryRecorded
    | SourceUpdated
    | ConversationDeleted
    | HoldPlaced
    | HoldLifted
    | ThreadForked
    | MessageRangeRelated
    | MessageStreamDelta
    | UnknownEvent
)

KINDS: dict[str, type[Event]] = {
    cls.KIND: cls
    for cls in (
        ConversationCreated,
        TurnAppended,
        TurnStarted,
        TurnEnded,
        MessageAdded,
        MessageCompleted,
        MessageEdited,
        MessageRemoved,
        HeadMoved,
        ConversationForked,
        ConversationLinked,
        ClarificationBatchOpened,
        ClarificationAnswerSubmitted,
        ClarificationBatchDismissed,
        ContentRedacted,
        RangeArchived,
        RangeRestored,
        SummaryRecorded,
        SourceUpdated,
        ConversationDeleted,
        HoldPlaced,
        HoldLifted,
        ThreadForked,
        MessageRangeRelated,
        MessageStreamDelta,
    )
}
"""Every kind that this release writes or reads, by its name on disk."""

CONTENT_KINDS = frozenset(
    cls.KIND
    for cls in (
        ConversationCreated,
        TurnAppended,
        TurnStarted,
        TurnEnded,
        MessageAdded,
        MessageCompleted,
        MessageEdited,
        MessageRemoved,
        HeadMoved,
        ClarificationBatchOpened,
        ClarificationAnswerSubmitted,
        ClarificationBatchDismissed,
        SourceUpdated,
    )
)
"""The kinds that move a conversation's activity (L-8); the rest leaves lists as they are."""
