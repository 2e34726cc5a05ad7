"""Beginning a conversation: its identity, its first event, what it is called and how it relates to others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from manent.errors import AlreadyExistsError, InputError
from manent.history.appending import pending
from manent.history.recording import record
from manent.history.removing import prune, remove
from manent.history.runtime import Runtime, Target
from manent.history.workspaces import ensure_workspace
from manent.model.events import ConversationCreated, ConversationLinked, Event
from manent.model.ids import check_name
from manent.model.log import KEY_FIELD, StreamInfo
from manent.storage.port import Transaction


class Beginning(NamedTuple):
    """
    What a new conversation begins with.

    Args:
        id: its visible id; None takes its uid.
        key: the caller's own name for it.
        registers: metadata, by field.
        links: (relation, uid of the other conversation).
    """

    id: str | None = None
    key: str | None = None
    registers: Mapping[str, str] = {}
    links: Sequence[tuple[str, str]] = ()


def described(**texts: str | None) -> dict[str, str]:
    """
    Registers of text that are not empty; a title is trimmed.

    Raises:
        InputError: one is no text.
    """
    for name, value in texts.items():
        if value is not None and type(value) is not str:
            raise InputError(f"{name} is text, not {type(value).__name__}.")
    trimmed = {name: value.strip() if name == "title" and value else value for name, value in texts.items()}
    return {name: value for name, value in trimmed.items() if value}


def begin(runtime: Runtime, tx: Transaction, wanted: Beginning) -> Target:
    """
    Begin a conversation inside a transaction.

    Raises:
        WorkspaceRequiredError: on the owner's handle.
        AlreadyExistsError: the id or the key is taken.
    """
    workspace = ensure_workspace(runtime, tx)
    if wanted.key is not None and tx.read.find_by_key(workspace, check_name(wanted.key, "key")):
        raise AlreadyExistsError("key", wanted.key)
    target = _place(runtime, tx, workspace, wanted.id)
    events: list[Event] = [ConversationCreated()]
    events += [ConversationLinked(relation=relation, to_uid=uid) for relation, uid in wanted.links]
    record(tx, target.uid, pending(runtime, events))
    for field, value in wanted.registers.items():
        tx.put_metadata(target.uid, field, value)
    if wanted.key is not None:
        tx.put_metadata(target.uid, KEY_FIELD, wanted.key)
    return target


def _place(runtime: Runtime, tx: Transaction, workspace: str, id: str | None) -> Target:
    """A stream for it: a new one, or that which something was said of before it began."""
    uid = runtime.new_id()
    id = uid if id is None else check_name(id, "id")
    for stream in tx.read.find_ids(workspace, id):
        if tx.read.find_row(stream.uid) is not None:
            raise AlreadyExistsError("id", id)
        return Target(stream.uid, id, workspace=workspace)
    tx.put_stream(StreamInfo(uid, workspace, id))
    return Target(uid, id, workspace=workspace)


def replace(runtime: Runtime, tx: Transaction, id: str) -> None:
    """
    Remove what has this id, be it only what was said of a reserved one; its owner goes on owning the id.

    Raises:
        SparedError: it is pinned, has a turn that was begun and not ended, or a live owner elsewhere.
    """
    workspace = ensure_workspace(runtime, tx)
    for stream in tx.read.find_ids(workspace, id):
        owner = tx.read.find_owner(workspace, id)
        remove(runtime, tx, stream, reason="replaced")
        tx.put_owner(workspace, id, owner)


def begin_within(runtime: Runtime, tx: Transaction, wanted: Beginning, conversations_max: int) -> Target:
    """Begin a conversation and prune the workspace to `conversations_max`; 0 never prunes."""
    if not isinstance(conversations_max, int) or conversations_max < 0:
        raise InputError(f"max_conversations is a whole number from 0 on, not {conversations_max!r}.")
    target = begin(runtime, tx, wanted)
    if conversations_max:
        workspace = ensure_workspace(runtime, tx)
        prune(runtime, tx, workspace, conversations_max=conversations_max, keep=target.uid)
    return target
