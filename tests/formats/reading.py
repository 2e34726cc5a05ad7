"""What the tests of formats share: samples, fixtures, builders of lines, and reading a path at once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from manent.formats.registry import find_format
from manent.formats.source import Source
from manent.model.imported import ImportedConversation, ImportedMessage, Refusal
from manent.model.parts import plain_text

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "samples"
FIXTURES = ROOT.parent / "shared" / "fixtures"

needs_fixtures = pytest.mark.skipif(
    not FIXTURES.is_dir(), reason="the folder ../shared/fixtures is not beside the repository"
)


class Counts(NamedTuple):
    """What a file adds up to: its records are those of its messages and its refusals."""

    conversations: int
    messages: int
    records: int
    refusals: int


class Reading(NamedTuple):
    """All that a path gave."""

    conversations: list[ImportedConversation]
    refusals: list[Refusal]

    @property
    def counts(self) -> Counts:
        """The sums."""
        messages = [message for found in self.conversations for message in found.messages]
        records = sum(message.records for message in messages)
        return Counts(len(self.conversations), len(messages), records, len(self.refusals))


def read_path(path: Path, *, line_bytes_max: int = 1 << 20) -> Reading:
    """Find the format of a path by its content and read all of it."""
    items = list(find_format(path).read(Source(path, line_bytes_max)))
    return Reading(
        [item for item in items if isinstance(item, ImportedConversation)],
        [item for item in items if isinstance(item, Refusal)],
    )


def read_one(path: Path) -> ImportedConversation:
    """The one conversation of a path that has nothing to refuse."""
    reading = read_path(path)
    assert reading.refusals == []
    assert len(reading.conversations) == 1
    return reading.conversations[0]


def write_lines(path: Path, *lines: dict[str, Any] | list[Any] | bytes) -> Path:
    """A file of JSON lines; bytes stand in it as they are, each with its LF."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(line if isinstance(line, bytes) else as_line(line) for line in lines))
    return path


def as_line(value: Any) -> bytes:
    """One JSON line."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"


def said(uuid: str, parent: str | None, content: Any = "hi", **more: Any) -> dict[str, Any]:
    """A user's line of Claude Code."""
    line = {
        "type": "user",
        "uuid": uuid,
        "parentUuid": parent,
        "sessionId": "s1",
        "timestamp": "2026-01-05T12:32:10.285Z",
        "message": {"role": "user", "content": content},
    }
    return line | more


def answered(uuid: str, parent: str | None, *blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An assistant's line of Claude Code; `answer` names the API message that it is a piece of."""
    message_id = more.pop("answer", f"msg_{uuid}")
    message = {"id": message_id, "role": "assistant", "model": "m1", "content": list(blocks)}
    usage = more.pop("usage", None)
    line = said(uuid, parent) | {"type": "assistant", "requestId": f"req_{message_id}"} | more
    return line | {"message": message | {"usage": usage}}


def text(words: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words}


def call(call_id: str) -> dict[str, Any]:
    """A tool_use block."""
    return {"type": "tool_use", "id": call_id, "name": "Bash", "input": {"command": "ls"}}


def result(uuid: str, parent: str | None, call_id: str, **more: Any) -> dict[str, Any]:
    """A line that gives a call's result back."""
    block = {"type": "tool_result", "tool_use_id": call_id, "content": f"result of {call_id}"}
    return said(uuid, parent, [block], **more)


def parents(conversation: ImportedConversation) -> dict[str | None, str | None]:
    """Native id → native id of the parent."""
    return {message.native_id: message.parent_native_id for message in conversation.messages}


def branch(conversation: ImportedConversation, leaf: str | None = None) -> list[str | None]:
    """Native ids from the root to a leaf; the source's own head when none is given."""
    above = parents(conversation)
    at = leaf or conversation.head_native_id
    path: list[str | None] = []
    while at is not None:
        path.insert(0, at)
        at = above[at]
    return path


def words(conversation: ImportedConversation) -> list[str]:
    """What each message says in text."""
    return [plain_text(message.parts) for message in conversation.messages]


def message(conversation: ImportedConversation, native_id: str) -> ImportedMessage:
    """One message by its native id."""
    return next(found for found in conversation.messages if found.native_id == native_id)
