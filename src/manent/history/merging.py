"""
Merging two workspaces of one store into one, and parting them again.

Each conversation that moves is kept as `Moved`, so that parting gives it back its workspace, id and key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from manent.errors import AlreadyExistsError
from manent.history.attachments import drop_unused, find_digests
from manent.history.listing import conversations
from manent.history.spooling import BlobSpool
from manent.model.log import KEY_FIELD, StreamInfo, WorkspaceInfo, find_text
from manent.model.rows import ConversationEntry
from manent.storage.port import Backend, Reader, Transaction

_UID_PAGE = 200


class Moved(NamedTuple):
    """A stream that moved: its uid, its id before and after, and the key that it had to give up, or ""."""

    uid: str
    old_id: str | None
    new_id: str | None
    lost_key: str = ""


def merge(tx: Transaction, gone: WorkspaceInfo, kept: WorkspaceInfo) -> dict[str, Any]:
    """Bring everything of one workspace into another; return what is needed to part them again."""
    listed = {entry.uid: entry for entry in conversations(tx.read, gone.uid)}
    moved = [_bring(tx, info, listed.get(info.uid), kept.uid) for info in list(_streams(tx.read, gone.uid))]
    for alias in gone.aliases:
        tx.move_alias(alias, kept.uid)
    return {
        "kind": "merge",
        "from": gone.uid,
        "into": kept.uid,
        "aliases": [[list(alias), list(alias)] for alias in gone.aliases],
        "streams": [list(each) for each in moved],
    }


def part(tx: Transaction, value: dict[str, Any]) -> None:
    """
    Undo a merge: what was moved goes back, unless it was deleted since.

    Raises:
        AlreadyExistsError: an alias leads elsewhere by now, or an id is taken.
    """
    gone, kept = value["from"], value["into"]
    tx.put_workspace(WorkspaceInfo(gone, (), ()))
    for (kind, name), _ in value["aliases"]:
        if tx.read.find_workspace(kind, name) not in (None, kept):
            advice = "Relink or merge that one first."
            raise AlreadyExistsError("name", name, where="by another workspace", advice=advice)
        tx.move_alias((kind, name), gone)
    digests: set[str] = set()
    for each in (Moved(*fields) for fields in value["streams"]):
        info = tx.read.find_stream(each.uid)
        if info is not None and info.workspace == kept:
            digests |= find_digests(tx.read, each.uid)
            _give_back(tx, info, each, gone)
    drop_unused(tx, kept, digests)


def _streams(reader: Reader, workspace: str) -> Iterator[StreamInfo]:
    """Every stream of a workspace: conversations, reserved and deleted ones, and its own."""
    after = ""
    while page := reader.read_uids(after, _UID_PAGE):
        found = (reader.find_stream(uid) for uid in page)
        yield from (info for info in found if info is not None and info.workspace == workspace)
        after = page[-1]


def _bring(tx: Transaction, info: StreamInfo, entry: ConversationEntry | None, into: str) -> Moved:
    taken = info.id is not None and _is_taken(tx.read, into, info.id)
    id = info.uid if taken else info.id
    key = find_text(entry.registers, KEY_FIELD) if entry is not None else ""
    lost = key if key and tx.read.find_by_key(into, key) else ""
    if lost:
        tx.put_metadata(info.uid, KEY_FIELD, None)
    _move(tx, info, into, id)
    return Moved(info.uid, info.id, id, lost)


def _is_taken(reader: Reader, workspace: str, id: str) -> bool:
    """Whether an id stands for something, or is owned before it does."""
    return bool(reader.find_ids(workspace, id)) or reader.find_owner(workspace, id) is not None


def _give_back(tx: Transaction, info: StreamInfo, each: Moved, gone: str) -> None:
    _move(tx, info, gone, None if info.deleted else each.old_id)
    if each.lost_key and not info.deleted:
        tx.put_metadata(info.uid, KEY_FIELD, each.lost_key)


def _move(tx: Transaction, info: StreamInfo, workspace: str, id: str | None) -> None:
    """Move a stream, and who owns it with it."""
    owner = tx.read.find_owner(info.workspace, info.id) if info.id is not None else None
    tx.move_stream(StreamInfo(info.uid, workspace, id, info.deleted))
    if owner is not None and info.id is not None and id is not None:
        tx.put_owner(info.workspace, info.id, None)
        tx.put_owner(workspace, id, owner)


# --- blobs, which are each kept once in a workspace


def copy_blobs(backend: Backend, digests: Iterable[str], source: str, into: str) -> None:
    """Give a workspace blobs of another one, before anything in it refers to them."""
    with BlobSpool() as spool:
        for digest in digests:
            for chunk in backend.blobs.get(source, digest):
                spool.add(into, digest, chunk)
        for workspace, chunks in spool.read():
            backend.blobs.put(workspace, chunks)


def find_moved_digests(backend: Backend, reader: Reader, value: dict[str, Any]) -> list[str]:
    """The digests of blobs that a parting must give back: those that what moved refers to."""
    wanted = {digest for fields in value["streams"] for digest in find_digests(reader, fields[0])}
    return [digest for digest in backend.blobs.list_digests(value["into"]) if digest in wanted]
