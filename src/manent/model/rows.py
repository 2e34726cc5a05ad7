"""The rows of the read model, which fold the log and are rebuilt from it at any time."""

from __future__ import annotations

from typing import NamedTuple

from manent.model.ids import Stamp
from manent.model.log import Register


class Content(NamedTuple):
    """Where a message's words stand: `leaves` of them, from leaf `first` of the event at `position`."""

    position: int
    first: int
    leaves: int


class ConversationRow(NamedTuple):
    """
    The fold of one conversation as a whole.

    `activity` is the stamp of its last content event. `linear`: every message follows the one before,
    so that the active branch is simply all of them. Claims are nanoseconds since 1970 UTC.
    `imported`: what was said last was not said here. `spawned`: another conversation runs this one.
    `workspace`: the uid of that in whose lists it stands.
    """

    uid: str
    activity: Stamp
    head: str | None
    head_stamp: Stamp
    linear: bool
    claim_first_ns: int | None
    claim_max_ns: int | None
    imported: bool = False
    spawned: bool = False
    workspace: str = ""


class MessageState:
    """Where a message stands in the tree."""

    PRESENT = "present"
    REMOVED = "removed"
    DETACHED = "detached"


class MessageRow(NamedTuple):
    """
    One message of the tree; the place of its first appearance is (seq, writer, ordinal).

    `has_details`: its event tells an author, usage or metadata beside the words.
    """

    seq: int
    writer: str
    ordinal: int
    message_id: str
    parent_id: str | None
    role: str
    turn_seq: int | None
    turn_writer: str | None
    content: Content
    content_stamp: Stamp
    state: str
    hidden: bool
    has_details: bool
    claim_ns: int | None


class TurnRow(NamedTuple):
    """
    One turn; (seq, writer) is the stamp of the event that began it.

    An implicit turn was begun by a user's message rather than by `turn_started`: it is complete as soon
    as an assistant says something. `has_details`: its event has leaves beside question and answer.
    """

    seq: int
    writer: str
    turn_id: str
    position: int
    state: str
    state_stamp: Stamp
    implicit: bool
    has_details: bool

    @property
    def stamp(self) -> Stamp:
        """The stamp of the event that began the turn."""
        return Stamp(self.seq, self.writer)


class KeyRow(NamedTuple):
    """An idempotency key that was used: its digest and the event that it stands for."""

    key_digest: bytes
    seq: int
    writer: str


class LinkRow(NamedTuple):
    """
    A relation of this conversation to another one, told by the event at (seq, writer).

    `message_id`: the message of the other conversation that it is about, if any.
    """

    seq: int
    writer: str
    relation: str
    to_uid: str
    message_id: str | None


class Measures(NamedTuple):
    """
    Counts over one conversation or many.

    `messages` by role and `turns` by state: what is in the tree. `tokens`: of each field of usage that a
    provider reported at all, how many reports there are and their sum. Claims: nanoseconds or None.
    """

    conversations: int
    messages: dict[str, int]
    turns: dict[str, int]
    tokens: dict[str, tuple[int, float]]
    claim_first_ns: int | None
    claim_max_ns: int | None


class MessageEntry(NamedTuple):
    """A message row with its words, as the read model hands it out."""

    seq: int
    writer: str
    ordinal: int
    message_id: str
    parent_id: str | None
    role: str
    turn_seq: int | None
    turn_writer: str | None
    state: str
    hidden: bool
    has_details: bool
    claim_ns: int | None
    leaves: tuple[tuple[str, bytes | None], ...]

    @property
    def place(self) -> Place:
        """Where the message stands in causal order."""
        return Place(self.seq, self.writer, self.ordinal)


class Place(NamedTuple):
    """A message's place in the causal order of its conversation."""

    seq: int
    writer: str
    ordinal: int


class ConversationEntry(NamedTuple):
    """A conversation as lists show it. `rank` is the activity as of the moment the listing began."""

    uid: str
    id: str
    workspace: str
    row: ConversationRow
    rank: int
    registers: tuple[Register, ...]
