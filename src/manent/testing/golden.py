"""
Golden stores: all that a store says to whoever opens it, as JSON that can be compared over the years.

Keep a store that your backend wrote, and what `read_everything` gave for it then. Every later release must
open a copy of it and say the same. Fields are named one by one, and `as_asked_then` leaves out what a later
release tells beyond them: what it adds to its answers is no change of what was written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from manent.codec import canonical
from manent.history.local_registers import is_local
from manent.history.runtime import Runtime, Scratch
from manent.history.store import Store
from manent.model.records import ConversationSummary
from manent.model.workspaces import Workspace
from manent.storage.memory.backend import MemoryBackend
from manent.storage.port import Backend, Listing, Reader

REPORT = ("findings", "streams", "events", "erased_leaves", "unknown_kinds")
SUMMARY = (
    *("id", "workspace", "title", "persona", "key", "project", "end_reason"),
    *("activity_seq", "started_ns", "last_ns"),
)
MESSAGE = (
    *("id", "role", "parts", "parent_id", "seq", "writer", "turn_seq", "claim_ns", "state", "hidden"),
    *("author", "usage", "metadata", "erased"),
)
TURN = (
    *("seq", "writer", "question", "answer", "state", "claim_ns", "message_ids", "tool_events", "citations"),
    *("usage", "phantom_reaches", "author", "reason", "erased", "ambiguous"),
)

_ALL = 1_000_000
_SURROGATE = re.compile("[\ud800-\udfff]")


def read_everything(backend: Backend, workspaces: Sequence[str]) -> Any:
    """
    What some workspaces hold, what `verify` looks at, what may be resumed, and blobs, as JSON values.

    Args:
        backend: an open one; it stays open.
        workspaces: the keys of the workspaces to read.
    """
    report = _fields(_store(backend, None).verify(), REPORT)
    found = {name: _read_workspace(backend, _store(backend, name)) for name in workspaces}
    with backend.reading() as reader:
        beside = {
            "resumable": {name: _resumable(reader, name) for name in workspaces},
            "workspace registers": {name: _registers_of_workspace(reader, name) for name in workspaces},
            "deleted": [uid for uid in reader.read_uids("", _ALL) if _is_deleted(reader, uid)],
        }
    return from_json(to_json({"report": report, "blobs": _blobs(backend), **beside, **found}))


def as_asked_then(found: Any, expected: Any) -> Any:
    """What was found, without the fields that `expected` does not name, at any depth."""
    if isinstance(found, dict) and isinstance(expected, dict):
        return {name: as_asked_then(found[name], expected[name]) for name in expected if name in found}
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        return [as_asked_then(*pair) for pair in zip(found, expected, strict=True)]
    return found


def _store(backend: Backend, workspace: str | None) -> Store:
    fence = None if workspace is None else Workspace.key(workspace)
    return Store(Runtime(backend, fence, Scratch(lambda _: MemoryBackend())))


def _read_workspace(backend: Backend, store: Store) -> list[dict[str, Any]]:
    return [_read_conversation(backend, store, summary) for summary in store.list()]


def _read_conversation(backend: Backend, store: Store, summary: ConversationSummary) -> dict[str, Any]:
    conversation = store.conversation(summary.id)
    return {
        "summary": _fields(summary, SUMMARY),
        "head": conversation.head,
        **_beside(backend, conversation.uid),
        "messages": [_fields(message, MESSAGE) for message in conversation.messages(branch="all")],
        "active": [message.id for message in conversation.messages()],
        "turns": [_fields(turn, TURN) for turn in conversation.turns(branch="all")],
    }


def _beside(backend: Backend, uid: str) -> dict[str, Any]:
    """Metadata, and links from and to a conversation."""
    with backend.reading() as reader:
        return {
            "registers": _registers(reader, uid),
            "links": [link._asdict() for link in reader.read_links(uid)],
            "links to it": [[other, link._asdict()] for other, link in reader.read_links_to(uid)],
        }


def _registers(reader: Reader, uid: str) -> dict[str, Any]:
    """What an export carries; what belongs to one store alone is looked at where it is used."""
    return {
        register.field: register.value
        for register in reader.read_registers(uid)
        if not is_local(register.field)
    }


def _registers_of_workspace(reader: Reader, name: str) -> list[dict[str, Any]]:
    uid = reader.find_workspace("key", name)
    info = None if uid is None else reader.find_workspace_info(uid)
    return [_registers(reader, stream) for stream in (info.streams if info else ())]


def _resumable(reader: Reader, name: str) -> list[str]:
    """Ids of what may be resumed, the most recently active first; of no workspace none."""
    workspace = reader.find_workspace("key", name)
    if workspace is None:
        return []
    return [entry.id for entry in reader.list_conversations(Listing(workspace, True, _ALL, resumable=True))]


def _is_deleted(reader: Reader, uid: str) -> bool:
    info = reader.find_stream(uid)
    return info is not None and info.deleted


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
