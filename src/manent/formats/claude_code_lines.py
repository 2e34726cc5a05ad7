"""
One line of a Claude Code session as a record: what it says, whom it follows, and where it belongs.

The lines of a conversation (`user`, `assistant`, and a `system` line that marks a compaction) form the
tree. Every other kind, the ones that a later release adds included, is kept as a hidden notice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from manent.formats.blocks import content_to_parts, read_usage, text_or_none
from manent.formats.claude_code_markup import find_markup
from manent.formats.times import read_claim
from manent.model.parts import AnyPart, NoticePart, OpaquePart, TextPart, ToolResultPart, Usage

NAME = "claude-code"
BOUNDARY = "compact_boundary"

_SPOKEN = ("user", "assistant")
_HIDING = ("isMeta", "isCompactSummary", "isVisibleInTranscriptOnly")
_TITLES = {
    "custom-title": ("customTitle", "title"),
    "ai-title": ("aiTitle", "title"),
    "summary": ("summary",),
}
"""Kind of line → the members that may hold a title; the first kind outranks the next."""

_NO_MODEL = "<synthetic>"
"""The model's name on what the program itself put into an assistant's mouth."""

_FACTS = ("version", "gitBranch", "forkedFrom", "sourceToolUseID", "parentToolUseID")


@dataclass(slots=True)
class Record:
    """
    One line, read.

    `is_spoken`: it stands in the tree; others hang beside it. `parent` is the uuid that it names,
    `names_parent` whether it has the field at all. `request` is (message id, request id): the lines of one
    answer share it. `title` is (rank, text), rank 0 first; `leaf` is the message that a summary is about,
    `spawned` (agent id, call id) where a call ran an agent, `facts` what its conversation may want to know.
    """

    place: str
    raw: bytes
    role: str
    parts: tuple[AnyPart, ...]
    is_spoken: bool
    hidden: bool
    uuid: str | None
    parent: str | None
    names_parent: bool
    session: str | None
    agent: str | None
    is_sidechain: bool
    claim_ns: int | None
    time_problem: str | None
    request: tuple[str, str | None] | None = None
    usage: Usage | None = None
    title: tuple[int, str] | None = None
    leaf: str | None = None
    cwd: str | None = None
    spawned: tuple[str, str] | None = None
    facts: dict[str, Any] | None = None

    @property
    def is_boundary(self) -> bool:
        """Here the context was compacted: the tree goes on from what came before."""
        return self.is_spoken and self.role == "system"


def read_record(line: dict[str, Any], *, raw: bytes, place: str) -> Record:
    """Read a line of any kind; nothing about it can be wrong enough to lose it."""
    message = line.get("message")
    kind = text_or_none(line.get("type")) or _kind_of(message)
    claim = read_claim(line.get("timestamp"))
    record = Record(
        place=place,
        raw=raw,
        role="system",
        parts=(),
        is_spoken=False,
        hidden=True,
        uuid=text_or_none(line.get("uuid")),
        parent=text_or_none(line.get("parentUuid")),
        names_parent="parentUuid" in line,
        session=text_or_none(line.get("sessionId")),
        agent=text_or_none(line.get("agentId")),
        is_sidechain=line.get("isSidechain") is True,
        claim_ns=claim.ns,
        time_problem=claim.problem,
        cwd=text_or_none(line.get("cwd")),
        facts={name: line[name] for name in _FACTS if line.get(name)} or None,
    )
    if kind in _SPOKEN and message is not None:
        _read_spoken(record, kind, message, line)
    else:
        _read_notice(record, kind, line)
    return record


def _kind_of(message: Any) -> str:
    """Old lines have no type: the message's role tells it."""
    role = message.get("role") if isinstance(message, dict) else None
    return role if isinstance(role, str) else "untyped"


def _read_spoken(record: Record, kind: str, message: Any, line: dict[str, Any]) -> None:
    record.is_spoken = True
    record.hidden = any(line.get(flag) is True for flag in _HIDING)
    if not isinstance(message, dict) or "content" not in message:
        record.role, record.parts = kind, (OpaquePart(data=message, origin=NAME),)
        return
    record.parts = content_to_parts(message["content"], NAME)
    if kind == "user":
        record.parts, is_injected = find_markup(record.parts)
        record.hidden = record.hidden or is_injected
    is_result = bool(record.parts) and all(isinstance(part, ToolResultPart) for part in record.parts)
    record.role = "tool" if is_result else kind
    if line.get("isApiErrorMessage") is True:
        record.parts = tuple(_as_notice(part) for part in record.parts)
    message_id = text_or_none(message.get("id"))
    if kind == "assistant" and not is_result:
        request_id = text_or_none(line.get("requestId"))
        record.request = (message_id, request_id) if message_id else None
        if message.get("model") != _NO_MODEL:
            record.usage = read_usage(message.get("usage"), model=message.get("model"), request_id=request_id)
    record.spawned = _spawned(line.get("toolUseResult"), record.parts)


def _as_notice(part: AnyPart) -> AnyPart:
    return NoticePart("api_error", part.text) if isinstance(part, TextPart) else part


def _spawned(result: Any, parts: tuple[AnyPart, ...]) -> tuple[str, str] | None:
    """(Agent id, call id) where this is the result of a call that ran an agent."""
    agent = text_or_none(result.get("agentId")) if isinstance(result, dict) else None
    call = next((part.call_id for part in parts if isinstance(part, ToolResultPart)), None)
    return (agent, call) if agent and call else None


def _read_notice(record: Record, kind: str, line: dict[str, Any]) -> None:
    subtype = text_or_none(line.get("subtype"))
    text = next((line[name] for name in ("content", "summary") if isinstance(line.get(name), str)), "")
    if kind == "system" and subtype == BOUNDARY:
        record.is_spoken = True
        record.parent = text_or_none(line.get("logicalParentUuid")) or record.parent
        record.parts = (NoticePart(BOUNDARY, text),)
        return
    record.parent = record.parent or text_or_none(line.get("logicalParentUuid"))
    record.leaf = text_or_none(line.get("leafUuid"))
    if kind in _TITLES:
        found = (text_or_none(line.get(name)) for name in _TITLES[kind])
        title = next((title for title in found if title), None)
        record.title = (list(_TITLES).index(kind), title) if title else None
        text = title or text
    name = f"{NAME}:{kind}:{subtype}" if kind == "system" and subtype else f"{NAME}:{kind}"
    record.parts = (NoticePart(name, text),)
    if kind == "attachment" and "attachment" in line:
        record.parts += (OpaquePart(data=line["attachment"], origin=f"{NAME}:attachment"),)
