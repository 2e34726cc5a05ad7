"""
Ownership: one live process owns a conversation, and its epoch fences what it appends (O-1 to O-3).

A claim is a row beside the log: it moves nothing, is never exported, and may be there before its
conversation. The epoch is a tick of the store's clock, so that no epoch is ever given out twice.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from manent.errors import NotFoundError, OwnershipLostError
from manent.history.handle import Handle, find
from manent.history.processes import is_live
from manent.history.runtime import Runtime, Target
from manent.history.workspaces import ensure_workspace, find_fence
from manent.model.log import StreamInfo
from manent.model.owners import Claimed, HeldBy, Owner
from manent.storage.port import Reader, Transaction


class _Place(NamedTuple):
    """Where a claim stands: a workspace and the id in it of a conversation, there or not."""

    workspace: str
    id: str


class Ownable(Handle):
    """What can be done about who owns a conversation."""

    def claim(self, *, force: bool = False) -> Claimed | HeldBy:
        """
        Become the conversation's owner, unless another process that lives is.

        An owner that died has left it behind. Claiming once more gives the same epoch. The conversation need
        not be there yet. Ownership is between processes: all threads, tasks and windows of one share a claim.

        Args:
            force: take it from whoever has it: its appends with its epoch are refused from then on.

        Returns:
            `Claimed(epoch)`: it is this process's; pass the epoch to appends. `HeldBy(owner)`: it is not,
            and nothing was written.

        Raises:
            StoreBusyError, StorageFullError, ReadOnlyError: nothing was written.
        """
        here, now_ns = self._runtime.processes.here(), self._runtime.clock()
        with self._runtime.backend.transaction() as tx:
            place = _place_of(self._runtime, tx, self._target)
            owner = tx.read.find_owner(*place)
            if owner is not None and owner.process == here:
                _beat(tx, place, owner, now_ns)
                return Claimed(epoch=owner.epoch)
            if owner is not None and not force and is_live(owner, self._runtime.processes, now_ns):
                return HeldBy(owner=owner)
            stamp = tx.tick()
            new = Owner(
                process=here,
                epoch=stamp.seq,
                writer=stamp.writer,
                claimed_ns=now_ns,
                heartbeat_ns=now_ns,
            )
            tx.put_owner(*place, new)
        return Claimed(epoch=new.epoch)

    def heartbeat(self, *, epoch: int | None = None) -> bool:
        """
        Say that this process still owns the conversation; return whether it does (O-3).

        Where it does not, nothing is written. Machines that cannot see this process go by it: call it
        more often than once in `STALE_AFTER_NS`. An append with its epoch does the same.

        Args:
            epoch: only if this is still the present one. Give it where processes cannot be told apart, as
                in containers without procfs.
        """
        with self._runtime.backend.transaction() as tx:
            found = self._own(tx, epoch)
            if found is not None:
                _beat(tx, *found, self._runtime.clock())
        return found is not None

    def release(self, *, epoch: int | None = None) -> bool:
        """
        Give up this process's claim; return whether it had one. Another one's is left alone (O-3).

        Whoever calls this first ends it for the whole process. Closing the store releases nothing.

        Args:
            epoch: only if this is still the present one.
        """
        with self._runtime.backend.transaction() as tx:
            found = self._own(tx, epoch)
            if found is not None:
                tx.put_owner(*found[0], None)
        return found is not None

    def live_owner(self) -> Owner | None:
        """
        The owner as recorded, alive or not; None when nobody claimed the conversation.

        Whether its process still runs says `is_owner_live`.
        """
        with self._runtime.backend.reading() as reader:
            place = _find_place(self._runtime, reader, self._target)
            return reader.find_owner(*place) if place is not None else None

    def is_owner_live(self, owner: Owner) -> bool:
        """Whether that process still runs: the judgement that `claim` makes."""
        return is_live(owner, self._runtime.processes, self._runtime.clock())

    def _own(self, tx: Transaction, epoch: int | None) -> tuple[_Place, Owner] | None:
        """This process's claim, and where it stands."""
        place = _find_place(self._runtime, tx.read, self._target)
        owner = tx.read.find_owner(*place) if place is not None else None
        if place is None or owner is None or owner.process != self._runtime.processes.here():
            return None
        return (place, owner) if epoch in (None, owner.epoch) else None


def check_epoch(runtime: Runtime, tx: Transaction, target: Target, epoch: int | None) -> None:
    """
    See inside the writing transaction that an epoch is the present one, and this process its owner (O-2).

    It counts as a heartbeat.

    Raises:
        OwnershipLostError: it is not.
    """
    if epoch is None:
        return
    place = _place_of(runtime, tx, target)
    owner = tx.read.find_owner(*place)
    if owner is None or owner.epoch != epoch or owner.process != runtime.processes.here():
        holder = f"process {owner.pid} on {owner.host}" if owner else None
        raise OwnershipLostError(conversation_id=target.id, epoch=epoch, holder=holder)
    _beat(tx, place, owner, runtime.clock())


def _find_place(runtime: Runtime, reader: Reader, target: Target) -> _Place | None:
    """Where its claim stands; None while nobody wrote to the workspace, and of a deleted conversation."""
    stream = reader.find_stream(find(runtime, reader, target).uid)
    if stream is None:
        fence = find_fence(runtime, reader)
        return None if fence is None else _Place(fence, target.id)
    return _standing(stream)


def _place_of(runtime: Runtime, tx: Transaction, target: Target) -> _Place:
    """
    The same before a write, which makes the workspace.

    Raises:
        NotFoundError: the conversation was deleted.
    """
    stream = tx.read.find_stream(find(runtime, tx.read, target).uid)
    if stream is None and target.reserved:
        return _Place(ensure_workspace(runtime, tx), target.id)
    place = _standing(stream) if stream is not None else None
    if place is None:
        raise NotFoundError("conversation", target.id, "It was deleted.")
    return place


def _standing(stream: StreamInfo) -> _Place | None:
    """By the id that a conversation has now: in a merge it may have got another one than its handle knows."""
    return None if stream.id is None else _Place(stream.workspace, stream.id)


def _beat(tx: Transaction, place: _Place, owner: Owner, now_ns: int) -> None:
    tx.put_owner(*place, msgspec.structs.replace(owner, heartbeat_ns=now_ns))
