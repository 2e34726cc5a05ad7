"""Records: what applications hand in, and what readers get."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from manent.errors import InputError
from manent.model.events import TurnState
from manent.model.ids import Address, message_address, turn_address
from manent.model.parts import AnyPart, Citation, PhantomReach, TextPart, ToolEvent, Usage, plain_text


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """
    A message to append.

    Args:
        role: `system`, `user`, `assistant`, `tool`, or another program's own word.
        parts: its ordered parts; a string stands for one text part.
        id: a name unique in the conversation; a random one when None.
        author: whose words these are; erasing a person goes by it.
        metadata: any JSON object of the caller's own.
        hidden: injected by a program, not anybody's words.
    """

    role: str
    parts: Sequence[AnyPart] | str
    id: str | None = None
    author: str | None = None
    usage: Usage | None = None
    metadata: dict[str, Any] | None = None
    hidden: bool = False

    def ordered_parts(self) -> tuple[AnyPart, ...]:
        """
        The parts as a tuple of parts.

        Raises:
            InputError: they are neither text nor a sequence.
        """
        parts = self.parts
        if isinstance(parts, str):
            return (TextPart(parts),)
        if isinstance(parts, list | tuple):
            return tuple(parts)
        raise InputError(f"parts is text, a list or a tuple of parts, not {type(parts).__name__}.")


class StoredMessage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A message as it was read: where it stands, who said what, and when by the writer's own claim."""

    id: str
    conversation_id: str
    role: str
    parts: tuple[AnyPart, ...]
    parent_id: str | None
    seq: int
    writer: str
    turn_seq: int | None
    claim_ns: int | None
    state: str
    hidden: bool
    cursor: str
    author: str | None = None
    usage: Usage | None = None
    metadata: dict[str, Any] | None = None
    erased: bool = False

    @property
    def text(self) -> str:
        """The words of the message, without tool calls, reasoning and files."""
        return plain_text(self.parts)

    @property
    def address(self) -> Address:
        """The address of its turn, or its own outside any turn."""
        if self.turn_seq is None:
            return message_address(self.conversation_id, self.id)
        return turn_address(self.conversation_id, self.turn_seq)


class Turn(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """
    A turn as it was read: from a user's input until the agent yields.

    `question` and `answer` are the words of its first user message and its last assistant message on
    the branch that was read; either is "" when there is none, and `state` says why.
    """

    conversation_id: str
    seq: int
    writer: str
    question: str
    answer: str
    state: TurnState
    claim_ns: int | None
    message_ids: tuple[str, ...] = ()
    tool_events: tuple[ToolEvent, ...] = ()
    citations: tuple[Citation, ...] = ()
    usage: Usage | None = None
    phantom_reaches: tuple[PhantomReach, ...] = ()
    author: str | None = None
    reason: str | None = None
    erased: bool = False
    ambiguous: bool = False

    @property
    def address(self) -> Address:
        """`turn:<conversation>#<seq>`, with the writer where two turns share the seq."""
        return turn_address(self.conversation_id, self.seq, self.writer if self.ambiguous else "")


class ConversationSummary(msgspec.Struct, frozen=True, kw_only=True):
    """
    A conversation in a list.

    `activity_seq` orders lists; `started_ns` and `last_ns` are claims of time, for display only, None
    when no event states one.
    """

    id: str
    workspace: str
    title: str
    persona: str | None
    key: str | None
    project: str | None
    end_reason: str | None
    activity_seq: int
    started_ns: int | None
    last_ns: int | None
    tags: tuple[str, ...] = ()
    pinned: bool = False


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """
    A relation between two conversations: `continues`, `spawned_by`, `copied_from` or `forked_from`.

    `conversation_id` is the other one; `message_id` the message of it that the relation is about, if any.
    """

    relation: str
    conversation_id: str
    message_id: str | None = None


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """
    Counts over a conversation, a workspace or a whole store, by query: nothing drifts.

    Args:
        conversations: how many of them.
        turns: by state, `open` to `abandoned`; 0 for a state that no turn has.
        messages: by role; 0 for a role that nobody has. What was removed does not count.
        first_ns, last_ns: the first and the greatest claim of time; None when nobody states one.
        tokens: of each measure that a provider reported at all, the sum: `input_tokens`, `output_tokens`,
            `cost` and so on. A measure that nobody reported is not there: unknown is not zero.
        reports: how many times each was reported.
    """

    conversations: int
    turns: dict[str, int]
    messages: dict[str, int]
    first_ns: int | None
    last_ns: int | None
    tokens: dict[str, float]
    reports: dict[str, int]

    @property
    def turns_total(self) -> int:
        """Turns of every state."""
        return sum(self.turns.values())

    @property
    def messages_total(self) -> int:
        """Messages of every role."""
        return sum(self.messages.values())

    @property
    def input_tokens(self) -> int | None:
        """Tokens that went in, or None when no provider said."""
        return self._whole("input_tokens")

    @property
    def output_tokens(self) -> int | None:
        """Tokens that came out, or None when no provider said."""
        return self._whole("output_tokens")

    def _whole(self, name: str) -> int | None:
        return int(self.tokens[name]) if name in self.tokens else None


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """
    A message that a search found.

    `snippet` is text as it was written, `highlights` are [start, end) offsets in it; there are no
    markers that content could imitate. A greater `score` is better.
    """

    conversation_id: str
    title: str
    address: Address
    message_id: str
    role: str
    score: float
    snippet: str
    highlights: tuple[tuple[int, int], ...]
    cut_before: bool
    cut_after: bool
    claim_ns: int | None


class FindingKind:
    """The kinds of finding that `verify` reports."""

    CONTENT = "content"
    ORDER = "order"
    LINK = "link"
    GENESIS = "genesis"
    TIP = "tip"
    CUT_TAIL = "cut_tail"
    UNKNOWN_ENCODING = "unknown_encoding"
    UNREADABLE = "unreadable"
    CLOCK = "clock"
    READ_MODEL = "read_model"
    ORPHAN = "orphan"
    RECEIPT = "receipt"


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One undeclared change: its kind, where it is, and what is wrong, never what was said."""

    kind: str
    address: str
    detail: str


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What `verify` looked at and found. `unknown_kinds` counts events of a newer release."""

    findings: tuple[Finding, ...]
    streams: int
    events: int
    erased_leaves: int
    unknown_kinds: int

    @property
    def ok(self) -> bool:
        """No finding."""
        return not self.findings


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """
    A small statement of all tips as of a position, to be kept outside the store (C-4).

    `root` is over (uid, writer, seq, hash) of every tip, sorted; `count` is the number of events.
    """

    store_id: str
    position: int
    count: int
    root: str
    claim_ns: int
    encoding: int

    def to_json(self) -> str:
        """The receipt as one line of JSON."""
        return msgspec.json.encode(self).decode()

    @classmethod
    def from_json(cls, text: str | bytes) -> Receipt:
        """
        Read what `to_json` wrote.

        Raises:
            InputError: the text is no receipt.
        """
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.MsgspecError, ValueError) as error:
            raise InputError("This is no receipt; give the text that store.receipt() returned.") from error
