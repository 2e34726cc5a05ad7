"""
Removing conversations: what is spared, and how one goes (R-1).

A deletion is an event of the workspace's own stream, which names the last tips. Every leaf of the
conversation is erased, its rows, metadata, drafts, blobs and owner go, and its id is free again. The headers
of its events stay, so that chains and receipts still hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from blake3 import blake3

from manent.errors import SparedError
from manent.history.appending import pending
from manent.history.attachments import drop_unused, find_digests
from manent.history.processes import is_live
from manent.history.recording import record, stream
from manent.history.runtime import Runtime
from manent.history.workspaces import own_streams
from manent.model.events import ConversationDeleted
from manent.model.log import KEY_FIELD, StreamInfo, find_text
from manent.model.owners import Owner
from manent.storage.port import Listing, Reader, Transaction

PINNED, OWNED, OPEN_TURN = "pinned", "owned", "open_turn"
DELETED_SOURCE = "deleted_source:"
"""Before the hash of the key of an imported conversation that was deleted: an import leaves it alone."""

_PAGE = 50
Guards = Callable[[Owner], bool]


def find_reasons(reader: Reader, info: StreamInfo, guards: Guards) -> tuple[str, ...]:
    """
    Why a conversation is spared: the one rule for deleting, pruning, retention and archives. () removes it.

    An open turn is one that `turn_started` began and nothing has ended; an unanswered question alone is none.

    Args:
        guards: whether an owner keeps others from removing what it owns.
    """
    reasons = []
    if any(register.field == "pin" and register.value for register in reader.read_registers(info.uid)):
        reasons.append(PINNED)
    owner = reader.find_owner(info.workspace, info.id or "")
    if owner is not None and guards(owner):
        reasons.append(OWNED)
    if reader.find_open_turn(info.uid) is not None:
        reasons.append(OPEN_TURN)
    return tuple(reasons)


def remove(
    runtime: Runtime, tx: Transaction, info: StreamInfo, *, reason: str | None, force: bool = False
) -> None:
    """
    Remove a conversation that the caller named; its own claim does not keep it from that.

    Raises:
        SparedError: it is spared and `force` is not given.
    """
    reasons = find_reasons_to_ask(runtime, tx.read, info)
    if reasons and not force:
        raise SparedError(conversation_id=info.id or info.uid, reasons=reasons)
    _delete(runtime, tx, info, reason)


def find_reasons_to_ask(runtime: Runtime, reader: Reader, info: StreamInfo) -> tuple[str, ...]:
    """Why a conversation that the caller named is spared; the caller's own claim is no reason."""
    here = runtime.processes.here()
    return find_reasons(reader, info, lambda owner: owner.process != here and _is_live(runtime, owner))


def take_back(runtime: Runtime, tx: Transaction, info: StreamInfo, *, reason: str) -> set[str]:
    """
    Delete an imported conversation so that a later import may bring it again.

    Returns:
        The digests of its attachments: those that nothing else refers to are for `drop_unused`.
    """
    return _erase(runtime, tx, info, reason, mark=None)


def prune(
    runtime: Runtime, tx: Transaction, workspace: str, *, conversations_max: int, keep: str
) -> list[str]:
    """
    Remove the least recently active conversations until `conversations_max` are left; return their ids.

    What is spared stays, so that more may be left. `keep` is the uid of one that is never removed.
    """
    excess = tx.read.count_conversations(workspace) - conversations_max
    if excess <= 0:
        return []
    chosen: list[StreamInfo] = []
    for info in _least_active(tx.read, workspace):
        if len(chosen) == excess:
            break
        if info.uid != keep and not find_reasons(tx.read, info, partial(_is_live, runtime)):
            chosen.append(info)
    for info in chosen:
        _delete(runtime, tx, info, f"pruned to {conversations_max}")
    return [info.id or info.uid for info in chosen]


def _is_live(runtime: Runtime, owner: Owner) -> bool:
    return is_live(owner, runtime.processes, runtime.clock())


def _least_active(reader: Reader, workspace: str) -> Iterator[StreamInfo]:
    listing = Listing(workspace, newest_first=False, limit=_PAGE)
    while page := reader.list_conversations(listing):
        for entry in page:
            yield StreamInfo(entry.uid, entry.workspace, entry.id)
        listing = listing._replace(after=(page[-1].rank, page[-1].uid))


def _delete(runtime: Runtime, tx: Transaction, info: StreamInfo, reason: str | None) -> None:
    digests = _erase(runtime, tx, info, reason, mark=_source_mark(tx.read, info.uid))
    drop_unused(tx, info.workspace, digests)


def _erase(
    runtime: Runtime, tx: Transaction, info: StreamInfo, reason: str | None, *, mark: str | None
) -> set[str]:
    tips = tuple((tip.writer, tip.seq, tip.hash.hex()) for tip in tx.read.read_tips(info.uid))
    for own in own_streams(runtime, tx, info.workspace):  # of merged workspaces either may be parted again
        record(tx, own, pending(runtime, [ConversationDeleted(uid=info.uid, tips=tips, reason=reason)]))
        if mark is not None:
            tx.put_metadata(own, mark, True)
    digests = find_digests(tx.read, info.uid)
    for entry in stream(tx.read, info.uid):
        tx.erase_leaves(info.uid, entry.header.stamp, [leaf.name for leaf in entry.leaves])
    tx.delete_stream(info.uid)
    return digests


def _source_mark(reader: Reader, uid: str) -> str | None:
    """What an import will know a deleted conversation by: None for one that began here."""
    first = next(stream(reader, uid), None)
    if first is None or all(leaf.name != "origin" for leaf in first.leaves):
        return None
    return source_mark(find_text(reader.read_registers(uid), KEY_FIELD), reader.info().source_key)


def source_mark(key: str, source_key: bytes) -> str:
    """The register that says that the imported conversation with this key was deleted."""
    hasher = blake3(key.encode("utf-8", "surrogatepass"), key=source_key)
    return f"{DELETED_SOURCE}{hasher.hexdigest(length=16)}"
