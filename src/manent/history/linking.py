"""Links: a conversation that goes on from another one, is run by it, or was copied from it."""

from __future__ import annotations

from typing import Protocol

from manent.errors import InputError, NotFoundError
from manent.history.appending import pending
from manent.history.handle import Handle, find
from manent.history.recording import record
from manent.history.resolving import resolve
from manent.history.runtime import Runtime, Target
from manent.history.workspaces import find_fence, is_there
from manent.model.events import RELATIONS, ConversationLinked
from manent.model.log import StreamInfo
from manent.model.records import Link
from manent.model.rows import LinkRow
from manent.storage.port import Reader


class Named(Protocol):
    """A handle of a conversation, synchronous or awaited."""

    @property
    def id(self) -> str:
        """The visible id of the conversation."""

    @property
    def _target(self) -> Target: ...


class Linked(Handle):
    """What can be done about how a conversation relates to others."""

    def link_to(self, other: Named | str, relation: str, *, message_id: str | None = None) -> None:
        """
        Say how this conversation relates to another one of its workspace. Moves no activity.

        Args:
            other: a conversation, its id or the beginning of it.
            relation: `continues` (this one goes on where the other stopped), `spawned_by` (the other one runs
                this one; it is never offered as the latest) or `copied_from`.
            message_id: the message of the other one that it is about.

        Raises:
            NotFoundError: no such conversation or message here.
            InputError: another relation, or the conversation itself.
        """
        if relation not in RELATIONS:
            raise InputError(f"relation is one of {', '.join(sorted(RELATIONS))}, not {relation!r}.")
        with self._writing() as (tx, target):
            own = tx.read.find_stream(target.uid)
            found = find_other(self._runtime, tx.read, other)
            if own is None or own.workspace != found.workspace:
                raise NotFoundError("conversation", found.id or found.uid)
            if found.uid == target.uid:
                raise InputError("A conversation cannot be linked to itself.")
            if message_id is not None and tx.read.find_message(found.uid, message_id) is None:
                raise NotFoundError("message", message_id)
            event = ConversationLinked(relation=relation, to_uid=found.uid, message_id=message_id)
            record(tx, target.uid, pending(self._runtime, [event]))

    def links(self) -> list[Link]:
        """
        How this conversation relates to others that are there, in the order in which it was said.

        Raises:
            NotFoundError: it was deleted.
        """
        with self._reading() as (reader, target):
            rows = [(row.to_uid, row) for row in reader.read_links(target.uid)]
            return _visible(reader, target, rows)

    def linked_from(self) -> list[Link]:
        """
        How others that are there relate to this conversation: `conversation_id` names the other one.

        Raises:
            NotFoundError: it was deleted.
        """
        with self._reading() as (reader, target):
            return _visible(reader, target, list(reader.read_links_to(target.uid)))


def find_other(runtime: Runtime, reader: Reader, other: Named | str) -> StreamInfo:
    """
    The stream of a conversation that is named by itself, its id or the beginning of it.

    A conversation is itself and no other one: not what has its id now, nor what has it in this workspace.

    Raises:
        NotFoundError, AmbiguousPrefixError.
    """
    if isinstance(other, str):
        return resolve(runtime, reader, other)
    if not hasattr(other, "_target"):
        raise InputError(f"A conversation or its id was expected, not {type(other).__name__}.")
    found = reader.find_stream(find(runtime, reader, other._target).uid)
    fence = find_fence(runtime, reader) if is_there(runtime, reader) else ""
    if found is None or fence not in (None, found.workspace) or reader.find_row(found.uid) is None:
        raise NotFoundError("conversation", other.id)
    return found


def _visible(reader: Reader, target: Target, rows: list[tuple[str, LinkRow]]) -> list[Link]:
    """
    Links whose other end is in the same workspace and there (N-1).

    Raises:
        NotFoundError: the conversation itself was deleted.
    """
    own = reader.find_stream(target.uid)
    if own is None or own.deleted:
        if target.reserved:
            return []
        raise NotFoundError("conversation", target.id, "It was deleted.")
    found = ((reader.find_stream(uid), row) for uid, row in rows)
    return [
        Link(relation=row.relation, conversation_id=other.id or other.uid, message_id=row.message_id)
        for other, row in found
        if other is not None and other.workspace == own.workspace and reader.find_row(other.uid) is not None
    ]
