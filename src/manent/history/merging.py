"""
Merging two workspaces of one store into one, and parting them again.

Each conversation that moves is kept as `Moved`, so that parting gives it back its workspace, id and key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from manent.errors import AlreadyExistsError
from manent.history.attachments import drop_unused, find_digests
from manent.history.listing import conversations
from manent.history.moves import Move, Moved
from manent.model.log import KEY_FIELD, StreamInfo, WorkspaceInfo, find_text
from manent.model.rows import ConversationEntry
from manent.storage.port import Reader, Transaction

_UID_PAGE = 200


def merge(tx: Transaction, gone: WorkspaceInfo, kept: WorkspaceInfo, claim_ns: int) -> Move:
    """Bring everything of one workspace into another; return what is needed to part them again."""
    listed = {entry.uid: entry for entry in conversations(tx.read, gone.uid)}
    moved = [_bring(tx, info, listed.get(info.uid), kept.uid) for info in list(_streams(tx.read, gone.uid))]
    claimed = _move_claims(tx, gone.uid, kept.uid, [id for id, _ in tx.read.list_owners(gone.uid)])
    for alias in gone.aliases:
        tx.move_alias(alias, kept.uid)
    digests = tx.blobs.list_digests(gone.uid)
    _copy_blobs(tx, digests, gone.uid, kept.uid)
    for digest in digests:
        tx.blobs.drop(gone.uid, digest)
    tx.drop_workspace(gone.uid)
    return Move(
        kind="merge",
        aliases=tuple((alias, alias) for alias in gone.aliases),
        claim_ns=claim_ns,
        source=gone.uid,
        into=kept.uid,
        streams=tuple(moved),
        claimed=tuple(claimed),
    )


def part(tx: Transaction, move: Move) -> None:
    """
    Undo a merge: what was moved goes back, unless it was deleted since.

    Raises:
        AlreadyExistsError: an alias leads elsewhere by now, or an id is taken.
    """
    gone, kept = move.source, move.into
    tx.put_workspace(WorkspaceInfo(gone, (), ()))
    for alias, _ in move.aliases:
        if tx.read.find_workspace(*alias) not in (None, kept):
            advice = "Relink or merge that one first."
            raise AlreadyExistsError("name", alias[1], where="by another workspace", advice=advice)
        tx.move_alias(alias, gone)
    digests: set[str] = set()
    for each in move.streams:
        info = tx.read.find_stream(each.uid)
        if info is not None and info.workspace == kept:
            digests |= find_digests(tx.read, each.uid)
            _give_back(tx, info, each, gone)
    _move_claims(tx, kept, gone, move.claimed)
    _copy_blobs(tx, sorted(digests.intersection(tx.blobs.list_digests(kept))), kept, gone)
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


def _move_claims(tx: Transaction, source: str, into: str, ids: Iterable[str]) -> list[str]:
    """Move who owns ids that are not there yet, unless the id is taken; return those that moved."""
    moved = []
    for id in ids:
        owner = tx.read.find_owner(source, id)
        if owner is not None and not tx.read.find_ids(source, id) and not _is_taken(tx.read, into, id):
            tx.put_owner(source, id, None)
            tx.put_owner(into, id, owner)
            moved.append(id)
    return moved


def _copy_blobs(tx: Transaction, digests: Iterable[str], source: str, into: str) -> None:
    for digest in digests:
        tx.blobs.put(into, tx.blobs.get(source, digest))
