"""Links: a conversation that goes on from another one, is run by it, or was copied from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from manent.errors import InputError, NotFoundError
from manent.history.appending import pending
from manent.history.handle import Handle
from manent.history.recording import record
from manent.history.resolving import resolve
from manent.history.runtime import Runtime
from manent.model.events import RELATIONS, ConversationLinked
from manent.model.log import StreamInfo
from manent.model.records import Link
from manent.model.rows import LinkRow
from manent.storage.port import Reader


class Named(Protocol):
    """A handle of a conversation, synchronous or awaited: whatever has its id."""

    @property
    def id(self) -> str:
        """The visible id of the conversation."""


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
        """How this conversation relates to others that are there, in the order in which it was said."""
        with self._reading() as (reader, target):
            rows = [(row.to_uid, row) for row in reader.read_links(target.uid)]
            return list(_visible(reader, target.uid, rows))

    def linked_from(self) -> list[Link]:
        """How others that are there relate to this conversation: `conversation_id` names the other one."""
        with self._reading() as (reader, target):
            return list(_visible(reader, target.uid, list(reader.read_links_to(target.uid))))


def find_other(runtime: Runtime, reader: Reader, other: Named | str) -> StreamInfo:
    """
    The stream of a conversation that is named by itself, its id or the beginning of it.

    Raises:
        NotFoundError, AmbiguousPrefixError.
    """
    return resolve(runtime, reader, other if isinstance(other, str) else other.id)


def _visible(reader: Reader, uid: str, rows: list[tuple[str, LinkRow]]) -> Iterator[Link]:
    """Links whose other end is in the same workspace and there (N-1)."""
    own = reader.find_stream(uid)
    for other_uid, row in rows:
        other = reader.find_stream(other_uid)
        if own and other and other.id is not None and other.workspace == own.workspace:
            yield Link(relation=row.relation, conversation_id=other.id, message_id=row.message_id)
