"""A handle of one conversation: where it stands, and how reads and writes reach it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from manent.errors import NotFoundError
from manent.history.runtime import Runtime, Target
from manent.history.workspaces import ensure_workspace, find_fence
from manent.model.log import StreamInfo
from manent.storage.port import Reader, Transaction


class Handle:
    """
    What everything that is done to one conversation shares.

    A reserved conversation has an id and is nowhere in the store yet: its first write brings it there, or
    finds that another handle with the same id has.
    """

    def __init__(self, runtime: Runtime, target: Target) -> None:
        self._runtime = runtime
        self._target = target

    @property
    def id(self) -> str:
        """The visible id, unique in its workspace."""
        return self._target.id

    def _settle(self, uid: str) -> None:
        """A conversation that was reserved is there from now on."""
        if self._target.reserved:
            self._target = self._target._replace(uid=uid, reserved=False)

    @contextmanager
    def _reading(self) -> Iterator[tuple[Reader, Target]]:
        with self._runtime.backend.reading() as reader:
            self._target = find(self._runtime, reader, self._target)
            yield reader, self._target

    @contextmanager
    def _writing(self) -> Iterator[tuple[Transaction, Target]]:
        with self._runtime.backend.transaction() as tx:
            target = reach(self._runtime, tx, self._target)
            yield tx, target
        self._target = target


def find(runtime: Runtime, reader: Reader, target: Target) -> Target:
    """
    Where a conversation stands now; a reserved one that nobody wrote to stays as it is.

    Raises:
        NotFoundError: it was moved to where this handle sees nothing (N-1).
    """
    if target.reserved:
        fence = find_fence(runtime, reader)
        found = reader.find_ids(fence, target.id) if fence is not None else ()
        return Target(found[0].uid, target.id, workspace=found[0].workspace) if found else target
    stream = reader.find_stream(target.uid)
    if stream is None or (stream.workspace == target.workspace and stream.id == target.id):
        return target
    if runtime.workspace is not None and stream.workspace != find_fence(runtime, reader):
        raise NotFoundError("conversation", target.id)
    return Target(target.uid, stream.id or target.id, workspace=stream.workspace)


def reach(runtime: Runtime, tx: Transaction, target: Target) -> Target:
    """
    Where a conversation stands, before something is written to it; a reserved one gets its place.

    Raises:
        NotFoundError: it was deleted, moved away, or never was in this store.
    """
    found = find(runtime, tx.read, target)
    if found.reserved:
        workspace = ensure_workspace(runtime, tx)
        tx.put_stream(StreamInfo(found.uid, workspace, found.id))
        return Target(found.uid, found.id, workspace=workspace)
    stream = tx.read.find_stream(found.uid)
    if stream is None or stream.deleted:
        raise NotFoundError("conversation", found.id, "It was deleted.")
    return found
