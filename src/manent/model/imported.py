"""What a format reads out of another tool's file, before anything is stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from manent.model.parts import AnyPart, Usage

ReadBytes = Callable[[], Iterator[bytes]]
"""Gives the bytes of a file in pieces, when they are wanted. May raise FormatError: they cannot be read."""


class ImportedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """
    One message of a source.

    Args:
        native_id: the source's own id, unique in the conversation; None where it has none.
        parent_native_id: the native id of the parent; None is a root. Without `native_id`s the parent is
            the message before.
        follows: the parent is simply the message before (sources that are plain lists).
        role: ours, or the source's word where we have none.
        parts: what it says.
        claim_ns: the source's time, nanoseconds since 1970 UTC; None where it states none.
        hidden: injected or of no person (instructions, snapshots, settings).
        native: the raw record, byte for byte; several lines where one message is several records.
        metadata: what the source says about the message and is no part of it, such as feedback.
        files: for file parts whose bytes the source has: the place among `parts`, and what reads them.
        records: how many records of the source it stands for.
        place: file and line, for reports.
    """

    role: str
    parts: tuple[AnyPart, ...]
    native: bytes
    place: str
    native_id: str | None = None
    parent_native_id: str | None = None
    follows: bool = False
    claim_ns: int | None = None
    hidden: bool = False
    usage: Usage | None = None
    author: str | None = None
    metadata: dict[str, Any] | None = None
    files: tuple[tuple[int, ReadBytes], ...] = ()
    records: int = 1


class ImportedLink(msgspec.Struct, frozen=True, kw_only=True):
    """
    How a conversation of a source came from another one of the same format.

    Args:
        relation: `continues`, `spawned_by` or `copied_from`.
        native_id: the other conversation's; it may come later, or never.
        message_native_id: the message of the other one where this one begins, if the source tells.
    """

    relation: str
    native_id: str
    message_native_id: str | None = None


class ImportedConversation(msgspec.Struct, frozen=True, kw_only=True):
    """
    One conversation of a source, messages in the source's order.

    `native_id` is None where the source has no ids: then its messages' raw bytes identify it, so that
    a longer copy of it is known as its growth. `head_native_id` names the leaf that the source shows.
    """

    format: str
    messages: tuple[ImportedMessage, ...]
    place: str
    native_id: str | None = None
    title: str | None = None
    project: str | None = None
    head_native_id: str | None = None
    details: dict[str, Any] | None = None
    links: tuple[ImportedLink, ...] = ()


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """One record that could not be read: where it stands and why. Its neighbours are kept."""

    place: str
    reason: str
    raw: bytes = b""


class ImportReport(msgspec.Struct, frozen=True, kw_only=True):
    """
    What an import did. It adds up.

    `records` = `messages` + `merged_records`; `messages` = `added_messages` + `known_messages`, of which
    `changed_messages` said something else than before;
    `conversations` = `new_` + `grown_` + `unchanged_` + `deleted_conversations` (those were deleted here and
    stay so; their messages count as known); refused records stand beside them.
    `secrets` counts what was masked, by kind; those of the kinds in `allowed_secrets` were left as they are.
    `attachments` = `stored_attachments` + `kept_references`: of the messages that were added or changed, the
    files whose bytes the source has; one that could not be read is kept as a reference and has a refusal.
    `links` = `recorded_links` + `known_links` + `pending_links`: what the source tells of how conversations
    came from each other; a pending one waits for its other end, or that was deleted here.
    `import_id` names the record of the import; None when nothing was written.
    """

    format: str
    files: int
    records: int
    messages: int
    conversations: int
    new_conversations: int
    grown_conversations: int
    unchanged_conversations: int
    deleted_conversations: int
    added_messages: int
    known_messages: int
    changed_messages: int
    merged_records: int
    secrets: dict[str, int]
    refusals: tuple[Refusal, ...]
    attachments: int = 0
    stored_attachments: int = 0
    kept_references: int = 0
    links: int = 0
    recorded_links: int = 0
    known_links: int = 0
    pending_links: int = 0
    allowed_secrets: tuple[str, ...] = ()
    import_id: str | None = None

    @property
    def ok(self) -> bool:
        """Nothing was refused."""
        return not self.refusals
