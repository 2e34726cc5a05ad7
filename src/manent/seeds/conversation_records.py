"""What `ConversationStore` hands out, under the names of the fields that its callers know."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from manent.history import turns
from manent.history.messages import Window
from manent.history.resolving import to_target
from manent.model.log import Register, StreamInfo
from manent.model.metadata import read_metadata
from manent.model.owners import Claimed, Owner
from manent.model.parts import PhantomReach, ToolEvent
from manent.model.plans import Plan, PlanSnapshot, Roadmap, RoadmapSummary, Subtask
from manent.model.records import Turn
from manent.model.rows import ConversationEntry
from manent.storage.port import Reader

__all__ = [
    "DISPLAY_FIELD",
    "ClaimOutcome",
    "Claimed",
    "ConversationRecord",
    "ConversationSummary",
    "ConversationTurn",
    "HeldBy",
    "PhantomReach",
    "Plan",
    "PlanSnapshot",
    "Roadmap",
    "RoadmapSummary",
    "SearchHit",
    "StoredOwner",
    "Subtask",
    "ToolEvent",
    "read_record",
    "to_summary",
    "to_turn",
]

DISPLAY_FIELD = "display_ns"
"""The register that holds when a conversation was last renamed or ended: shown, never ordered by."""

StoredOwner = Owner
"""The recorded owner of a conversation, alive or not."""


class HeldBy(msgspec.Struct, frozen=True):
    """Another process that lives owns the conversation: its machine, and its number there."""

    host: str
    pid: int


ClaimOutcome = Claimed | HeldBy
"""What `claim` gives."""


class ConversationTurn(msgspec.Struct, frozen=True, kw_only=True):
    """
    A question and its answer.

    `tokens_in` and `tokens_out` are what a provider reported; None is "not reported". (`writer_fingerprint`,
    `seq`) is the turn's place; `ts_claim` the time that its writer stated, in nanoseconds since 1970 UTC.
    """

    user: str
    assistant: str
    events: tuple[ToolEvent, ...] = ()
    phantom_reaches: tuple[PhantomReach, ...] = ()
    tokens_in: int | None = None
    tokens_out: int | None = None
    seq: int
    writer_fingerprint: str
    ts_claim: int | None


class ConversationRecord(msgspec.Struct, frozen=True, kw_only=True):
    """
    A whole conversation, its turns in causal order.

    `workspace` is the folder, `workspace_id` the random identity that the store has for it. Times are claims,
    in nanoseconds since 1970 UTC; None where nobody states one.
    """

    id: str
    title: str
    workspace: str
    workspace_id: str
    persona: str | None
    turns: tuple[ConversationTurn, ...]
    scratchpad: dict[str, str]
    plan: PlanSnapshot
    roadmap_id: str | None
    node_id: str | None
    created_at_unix_nanos: int | None
    updated_at_unix_nanos: int | None


class ConversationSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in a list; `updated_at_unix_nanos` is for display, and orders nothing."""

    id: str
    title: str
    persona: str | None
    turn_count: int
    updated_at_unix_nanos: int | None
    end_reason: str | None


class SearchHit(msgspec.Struct, frozen=True, kw_only=True):
    """
    A turn that a search found.

    Args:
        snippet: a piece of it, the matches between `>>>` and `<<<`, with `…` where the text goes on.
        rank: the smaller the better; below 0.
        excerpt, highlights: the same piece as it was written, and [start, end) offsets of the matches in it:
            text that holds `>>>` itself can be told from a mark by these.
        writer: of the turn, where it is known.
    """

    conversation_id: str
    title: str
    seq: int
    snippet: str
    rank: float
    excerpt: str
    highlights: tuple[tuple[int, int], ...]
    writer: str = ""


def to_turn(turn: Turn) -> ConversationTurn:
    """A turn under the old names."""
    return ConversationTurn(
        user=turn.question,
        assistant=turn.answer,
        events=turn.tool_events,
        phantom_reaches=turn.phantom_reaches,
        tokens_in=turn.usage.input_tokens if turn.usage else None,
        tokens_out=turn.usage.output_tokens if turn.usage else None,
        seq=turn.seq,
        writer_fingerprint=turn.writer,
        ts_claim=turn.claim_ns,
    )


def read_record(reader: Reader, info: StreamInfo, folder: str) -> ConversationRecord:
    """
    A whole conversation, from one moment of the store.

    Raises:
        EncodingError: a turn or a register cannot be read; no half of a record is handed out.
    """
    target, row = to_target(info), reader.find_row(info.uid)
    registers = reader.read_registers(info.uid)
    metadata = read_metadata(registers, of=f"conversation {target.id}")
    page = turns.read_page(reader, target, Window(None, None, None, "active"))
    link = metadata.roadmap_link
    return ConversationRecord(
        id=target.id,
        title=metadata.title,
        workspace=folder,
        workspace_id=info.workspace,
        persona=metadata.persona,
        turns=tuple(to_turn(turn) for turn in page),
        scratchpad=metadata.scratchpad,
        plan=metadata.plan,
        roadmap_id=link.roadmap_id if link else None,
        node_id=link.node_id if link else None,
        created_at_unix_nanos=row.claim_first_ns if row else None,
        updated_at_unix_nanos=_latest(row.claim_max_ns if row else None, registers),
    )


def to_summary(reader: Reader, entry: ConversationEntry) -> ConversationSummary:
    """A conversation in a list; its turns are counted and not read."""
    registers = {register.field: register.value for register in entry.registers}
    return ConversationSummary(
        id=entry.id,
        title=registers.get("title") or "",
        persona=registers.get("persona"),
        turn_count=sum(reader.measure(None, entry.uid).turns.values()),
        updated_at_unix_nanos=_latest(entry.row.claim_max_ns, entry.registers),
        end_reason=registers.get("end_reason"),
    )


def _latest(claim_ns: int | None, registers: Sequence[Register]) -> int | None:
    """The later of the last word and the last renaming or ending."""
    told = [register.value for register in registers if register.field == DISPLAY_FIELD]
    times = [time for time in (claim_ns, *told) if isinstance(time, int)]
    return max(times, default=None)
