"""
Golden stores: all that a store says to whoever opens it, as JSON that can be compared over the years.

Keep a store that your backend wrote, and what `read_everything` gave for it then. Every later release must
open a copy of it and say the same. Fields are named one by one: what a later release adds to its answers
is no change of what was written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from manent.codec import canonical
from manent.history.runtime import Runtime, Scratch
from manent.history.store import Store
from manent.model.records import ConversationSummary
from manent.model.workspaces import Workspace
from manent.storage.memory.backend import MemoryBackend
from manent.storage.port import Backend

REPORT = ("findings", "streams", "events", "erased_leaves", "unknown_kinds")
SUMMARY = ("id", "workspace", "title", "persona", "key", "project", "activity_seq", "started_ns", "last_ns")
MESSAGE = (
    *("id", "role", "parts", "parent_id", "seq", "writer", "turn_seq", "claim_ns", "state", "hidden"),
    *("author", "usage", "metadata", "erased"),
)
TURN = (
    *("seq", "writer", "question", "answer", "state", "claim_ns", "message_ids", "tool_events", "citations"),
    *("usage", "phantom_reaches", "author", "reason", "erased", "ambiguous"),
)

_SURROGATE = re.compile("[\ud800-\udfff]")


def read_everything(backend: Backend, workspaces: Sequence[str]) -> Any:
    """
    What some workspaces hold, what `verify` looks at, and the blobs, as JSON values.

    Args:
        backend: an open one; it stays open.
        workspaces: the keys of the workspaces to read.
    """
    report = _fields(_store(backend, None).verify(), REPORT)
    found = {name: _read_workspace(_store(backend, name)) for name in workspaces}
    return from_json(to_json({"report": report, "blobs": _blobs(backend), **found}))


def _store(backend: Backend, workspace: str | None) -> Store:
    fence = None if workspace is None else Workspace.key(workspace)
    return Store(Runtime(backend, fence, Scratch(lambda _: MemoryBackend())))


def _read_workspace(store: Store) -> list[dict[str, Any]]:
    return [_read_conversation(store, summary) for summary in store.list()]


def _read_conversation(store: Store, summary: ConversationSummary) -> dict[str, Any]:
    conversation = store.conversation(summary.id)
    return {
        "summary": _fields(summary, SUMMARY),
        "head": conversation.head,
        "messages": [_fields(message, MESSAGE) for message in conversation.messages(branch="all")],
        "active": [message.id for message in conversation.messages()],
        "turns": [_fields(turn, TURN) for turn in conversation.turns(branch="all")],
    }


def _fields(value: object, names: Sequence[str]) -> dict[str, Any]:
    return {name: msgspec.to_builtins(getattr(value, name)) for name in names}


def _blobs(backend: Backend) -> dict[str, str]:
    with backend.reading() as reader:
        workspaces = [info.uid for info in reader.list_workspaces()]
    return {
        digest: b"".join(backend.blobs.get(workspace, digest)).hex()
        for workspace in workspaces
        for digest in backend.blobs.list_digests(workspace)
    }


def to_json(value: Any) -> bytes:
    """JSON for the eye; lone surrogates are escaped, and stay alone when `from_json` reads them."""
    text = json.dumps(value, ensure_ascii=False, indent=1)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode() + b"\n"


def from_json(data: bytes) -> Any:
    """What `to_json` wrote."""
    return canonical.loads(data)
