"""Workspaces in use cases: the fence of a handle, and the workspace that its first write makes."""

from __future__ import annotations

from manent.errors import WorkspaceRequiredError
from manent.history.moves import moves_in
from manent.history.runtime import Runtime
from manent.model.log import WorkspaceInfo
from manent.storage.port import Reader, Transaction


def find_fence(runtime: Runtime, reader: Reader) -> str | None:
    """The uid of a handle's workspace; None on the owner's handle, and before the workspace's first write."""
    if runtime.workspace is None:
        return None
    found = (reader.find_workspace(*name) for name in (*runtime.older_names, runtime.workspace))
    return next((uid for uid in found if uid is not None), None)


def is_there(runtime: Runtime, reader: Reader) -> bool:
    """Whether a handle's workspace is in the store yet. The owner sees whatever there is."""
    return runtime.workspace is None or find_fence(runtime, reader) is not None


def ensure_workspace(runtime: Runtime, tx: Transaction) -> str:
    """
    The uid of a handle's workspace, which appears with the first write.

    Raises:
        WorkspaceRequiredError: the owner's handle has none.
    """
    if runtime.workspace is None:
        raise WorkspaceRequiredError
    found = find_fence(runtime, tx.read)
    if found is None:
        found = runtime.new_id()
        alias = (runtime.workspace.kind, runtime.workspace.value)
        tx.put_workspace(WorkspaceInfo(found, (runtime.new_id(),), (alias,)))
    return found


def find_workspace_info(runtime: Runtime, reader: Reader) -> WorkspaceInfo | None:
    """A handle's workspace with its streams and aliases; None on the owner's, and before the first write."""
    fence = find_fence(runtime, reader)
    return reader.find_workspace_info(fence) if fence is not None else None


def own_streams(runtime: Runtime, tx: Transaction, workspace: str) -> tuple[str, ...]:
    """The streams in which a workspace keeps what concerns all of it; one is made where there is none."""
    info = tx.read.find_workspace_info(workspace)
    if info is not None and info.streams:
        return info.streams
    uid = runtime.new_id()
    tx.put_workspace(WorkspaceInfo(workspace, (uid,), ()))
    return (uid,)


def own_stream(runtime: Runtime, tx: Transaction, workspace: str) -> str:
    """The stream of a workspace that no merge brought, so that undoing one takes nothing from here."""
    streams = own_streams(runtime, tx, workspace)
    brought = {each.uid for uid in streams for kept in moves_in(tx.read, uid) for each in kept.move.streams}
    return next((uid for uid in streams if uid not in brought), streams[0])
