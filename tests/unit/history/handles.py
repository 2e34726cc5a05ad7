"""Handles of one store, as several processes and workspaces have them, and what all of them see of it."""

from __future__ import annotations

import time
from typing import NamedTuple

from manent.history.conversation import Conversation
from manent.history.processes import Processes, local_processes
from manent.history.recording import open_leniently
from manent.history.runtime import Clock, Runtime, Scratch
from manent.history.store import Store
from manent.model.events import ConversationDeleted
from manent.model.log import LogEntry, StreamInfo
from manent.model.owners import Owner
from manent.model.parts import AnyPart, FilePart, TextPart
from manent.model.records import Message
from manent.model.workspaces import Workspace
from manent.opening import make_scratch
from manent.storage.port import Backend
from manent.testing.builders import started
from manent.testing.snapshots import Snapshot, take_snapshot
from manent.testing.workbench import Workbench


def handle(
    backend: Backend,
    workspace: str | Workspace | None = "demo",
    *,
    process: Processes | None = None,
    clock: Clock = time.time_ns,
    older_names: tuple[Workspace, ...] = (),
) -> Store:
    """A handle of one workspace, or (None) the owner's, as one process has it."""
    fence = Workspace.of(workspace) if isinstance(workspace, str) else workspace
    processes = process or local_processes()
    scratch = Scratch(make_scratch)
    return Store(Runtime(backend, fence, scratch, clock, processes=processes, older_names=older_names))


class Whole(NamedTuple):
    """All of a store that can be read: rows, blobs, and who owns what is there or one of `ids`."""

    snapshot: Snapshot
    owners: tuple[tuple[str, str, Owner], ...]
    blobs: tuple[tuple[str, str], ...]


def whole(backend: Backend, *ids: str) -> Whole:
    """What a store holds, as one value."""
    with backend.reading() as reader:
        snapshot = take_snapshot(reader)
        places = [
            (info.uid, id)
            for info in snapshot.workspaces
            for id in sorted({*ids, *(entry.id for entry in snapshot.listed)})
        ]
        owners = [(*place, reader.find_owner(*place)) for place in places]
    blobs = [(info.uid, d) for info in snapshot.workspaces for d in backend.blobs.list_digests(info.uid)]
    return Whole(
        snapshot, tuple((w, id, owner) for w, id, owner in owners if owner is not None), tuple(blobs)
    )


def listed(store: Store) -> list[str]:
    """The ids of a list, the most recently active first."""
    return [summary.id for summary in store.list()]


def said(conversation: Conversation) -> list[str]:
    """What was said, in order."""
    return [message.text for message in conversation.messages()]


def open_turn(backend: Backend, conversation: Conversation) -> None:
    """Begin an explicit turn and do not end it."""
    Workbench(backend).record(conversation.uid, started("t1"))


def attach(backend: Backend, conversation: Conversation, data: bytes) -> str:
    """Say something with a file; the digest of its bytes."""
    digest = backend.blobs.put(stream_of(backend, conversation.uid).workspace, [data])
    parts: list[AnyPart] = [TextPart("see the file"), FilePart(digest=digest)]
    conversation.append_message(Message(role="user", parts=parts))
    return digest


def blobs_of(backend: Backend, workspace: str) -> list[str]:
    """The digests that a workspace holds, by its key."""
    with backend.reading() as reader:
        uid = reader.find_workspace("key", workspace)
    return list(backend.blobs.list_digests(uid)) if uid is not None else []


def stream_of(backend: Backend, uid: str) -> StreamInfo:
    """A stream that is there."""
    with backend.reading() as reader:
        found = reader.find_stream(uid)
    assert found is not None
    return found


def own_events(backend: Backend, workspace: str = "demo") -> list[LogEntry]:
    """The events of a workspace's own streams, by the workspace's key."""
    bench = Workbench(backend)
    with backend.reading() as reader:
        uid = reader.find_workspace("key", workspace)
        info = reader.find_workspace_info(uid or "")
    return [entry for stream in (info.streams if info else ()) for entry in bench.events(stream)]


def deletions(backend: Backend, workspace: str = "demo") -> list[ConversationDeleted]:
    """What a workspace says was deleted, in order."""
    events = [open_leniently(entry).event for entry in own_events(backend, workspace)]
    return [event for event in events if isinstance(event, ConversationDeleted)]
