"""What an export hands to a format, one conversation at a time, and what it says in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import msgspec

from manent.model.records import ConversationSummary, StoredMessage, Turn
from manent.model.rows import MessageState

LINES_NAME = "manent.ndjson"
"""The first file of an archive: the lines of our NDJSON."""

ReadFile = Callable[[str], Iterable[bytes]]
"""Gives the bytes of an attachment of the conversation by its digest, in pieces."""


class ExportedConversation(msgspec.Struct, frozen=True, kw_only=True):
    """
    One conversation, whole, as of one moment.

    Args:
        uid: its inner identity: 32 hexadecimal characters, fit for the name of a file.
        summary: id, title, project and so on, as lists show it.
        head: the message at which the active branch ends.
        messages: of every branch, in causal order, what was removed too.
        turns: for what rides along with them.
        links: how many relations to other conversations it has.
        native_records: how many events have a record of another tool beside them.
        edits: how many times a message got new words.
        registers: the names of its metadata that are set, beside those of `summary`.
        files: the digests of those of its attachments whose bytes are here.
        read_file: gives their bytes.
    """

    uid: str
    summary: ConversationSummary
    head: str | None
    messages: tuple[StoredMessage, ...]
    turns: tuple[Turn, ...]
    links: int
    native_records: int
    edits: int
    registers: tuple[str, ...]
    files: frozenset[str]
    read_file: ReadFile

    def present(self) -> list[StoredMessage]:
        """The messages that are in the tree, of all branches, in causal order."""
        return [message for message in self.messages if message.state == MessageState.PRESENT]

    def active(self) -> list[StoredMessage]:
        """The messages from the root to the head."""
        by_id = {message.id: message for message in self.present()}
        branch: list[StoredMessage] = []
        at = self.head
        while at is not None and (message := by_id.pop(at, None)) is not None:
            branch.append(message)
            at = message.parent_id
        return branch[::-1]


def blob_name(digest: str) -> str:
    """Where a blob stands in an archive: `blobs/<aa>/<digest>`."""
    return f"blobs/{digest[:2]}/{digest}"


class Entry(NamedTuple):
    """One file of an export: its name, with `/` between folders, and its bytes, to be read in order."""

    name: str
    pieces: Iterable[bytes]


class Choices(NamedTuple):
    """
    What was asked of a format.

    Args:
        hidden: also what programs injected, where the format can mark it or must mix it in.
        files: files may stand beside the conversations: a folder or a zip takes them.
    """

    hidden: bool = False
    files: bool = False


class ExportReport(msgspec.Struct, frozen=True, kw_only=True):
    """
    What an export did.

    `left_out` counts what the format could not carry, by the names in `WORDS`; it is empty when
    everything is in it. `messages` is None where events are written rather than messages. `lines` counts the
    lines of NDJSON, 0 in other formats; `size_bytes` is that of all files.
    """

    format: str
    conversations: int
    messages: int | None
    attachments: int
    lines: int
    size_bytes: int
    left_out: dict[str, int]

    @property
    def is_whole(self) -> bool:
        """Nothing was left out."""
        return not self.left_out

    def describe(self) -> str:
        """What was left out, in words: `reasoning of 12 messages, 3 other branches`; "" for nothing."""
        return ", ".join(_in_words(name, count) for name, count in self.left_out.items())


class Tally:
    """What an export has done so far; formats count into it."""

    def __init__(self) -> None:
        self.conversations = 0
        self.messages: int | None = None
        self.attachments = 0
        self.lines = 0
        self.size_bytes = 0
        self._left_out: Counter[str] = Counter()

    def wrote(self, messages: int) -> None:
        """One more conversation, of so many messages, is in the export."""
        self.conversations += 1
        self.messages = (self.messages or 0) + messages

    def leave_out(self, name: str, count: int = 1) -> None:
        """Something could not be carried so many times; `name` is one of `WORDS`."""
        if name not in WORDS:
            raise KeyError(name)
        if count:
            self._left_out[name] += count

    def measured(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """The same pieces, with their size counted."""
        for piece in pieces:
            self.size_bytes += len(piece)
            yield piece

    def report(self, format: str) -> ExportReport:
        """What was done, as a value."""
        return ExportReport(
            format=format,
            conversations=self.conversations,
            messages=self.messages,
            attachments=self.attachments,
            lines=self.lines,
            size_bytes=self.size_bytes,
            left_out={name: self._left_out[name] for name in WORDS if self._left_out[name]},
        )


def count_beside(conversation: ExportedConversation, tally: Tally) -> None:
    """Count what no format but our own carries: what stands beside the words of a conversation."""
    summary = conversation.summary
    beside = (summary.persona, summary.key, summary.end_reason, summary.pinned, summary.tags)
    tally.leave_out("metadata", len(conversation.registers) + sum(map(bool, beside)))
    tally.leave_out("links", conversation.links)
    tally.leave_out("earlier_wordings", conversation.edits)
    tally.leave_out("native_records", conversation.native_records)
    for message in conversation.messages:
        tally.leave_out("message_metadata", message.metadata is not None)
        tally.leave_out("erased", message.erased)
        tally.leave_out("removed", message.state == MessageState.REMOVED)
        tally.leave_out("detached", message.state == MessageState.DETACHED)
    for turn in conversation.turns:
        tally.leave_out("turn_details", bool(turn.tool_events or turn.phantom_reaches))
        tally.leave_out("citations", len(turn.citations))


def count_other_branches(conversation: ExportedConversation, tally: Tally) -> None:
    """Count the ends of branches beside the active one; what is hidden is no branch."""
    active = {message.id for message in conversation.active()}
    shown = [message for message in conversation.present() if not message.hidden]
    continued = {message.parent_id for message in shown}
    ends = [message for message in shown if message.id not in active and message.id not in continued]
    tally.leave_out("other_branches", len(ends))


WORDS: dict[str, tuple[str, str, str]] = {
    "other_branches": ("", "other branch", "other branches"),
    "hidden": ("", "hidden message", "hidden messages"),
    "removed": ("", "removed message", "removed messages"),
    "detached": ("", "message on no branch", "messages on no branch"),
    "erased": ("what was erased in ", "message", "messages"),
    "other_roles": ("", "message of another role", "messages of other roles"),
    "empty": ("", "message without words", "messages without words"),
    "reasoning": ("reasoning of ", "message", "messages"),
    "signatures": ("the signature of ", "piece of reasoning", "pieces of reasoning"),
    "unpaired_calls": ("", "tool call without result", "tool calls without result"),
    "unpaired_results": ("", "tool result without call", "tool results without call"),
    "call_ids": ("the id of ", "tool call", "tool calls"),
    "failed_results": ("the failure of ", "tool result", "tool results"),
    "attachments": ("", "attachment", "attachments"),
    "citations": ("", "citation", "citations"),
    "notices": ("", "notice", "notices"),
    "opaque": ("", "part of an unknown kind", "parts of unknown kinds"),
    "usage": ("usage of ", "message", "messages"),
    "authors": ("the author of ", "message", "messages"),
    "times": ("the time of ", "message", "messages"),
    "titles": ("the title of ", "conversation", "conversations"),
    "projects": ("the project of ", "conversation", "conversations"),
    "message_metadata": ("metadata of ", "message", "messages"),
    "turn_details": ("tool events of ", "turn", "turns"),
    "metadata": ("", "other value of metadata", "other values of metadata"),
    "links": ("", "link", "links"),
    "earlier_wordings": ("", "earlier wording", "earlier wordings"),
    "native_records": ("", "native record", "native records"),
}
"""What a format may be unable to carry: its name in reports → what stands before the count, and behind it."""


def _in_words(name: str, count: int) -> str:
    before, one, many = WORDS[name]
    return f"{before}{count:,} {one if count == 1 else many}"
