"""A backend on a workbench: the few calls that tests make of it, each in a transaction of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from manent.history import recording
from manent.history.assembly import entry_text
from manent.model.changes import Change
from manent.model.events import Event
from manent.model.ids import BEFORE_ALL, Stamp, new_uid
from manent.model.log import LogEntry, SealedEvent, StoredEvent, StreamInfo, WorkspaceInfo
from manent.model.rows import (
    ConversationEntry,
    ConversationRow,
    LinkRow,
    Measures,
    MessageEntry,
    MessageRow,
    TurnRow,
)
from manent.storage.port import Backend, Listing, Reader, ReadModelRow, Span, Transaction
from manent.testing.builders import pending
from manent.testing.clocks import NOON_NS

ALL = 1_000_000
"""A limit that no test reaches."""

T = TypeVar("T")


class Workbench:
    """A backend, and what tests do with it. Conversations are named by their uid."""

    def __init__(self, backend: Backend) -> None:
        self.backend = backend

    # --- writing

    def write(self, work: Callable[[Transaction], T]) -> T:
        """What a transaction of its own gives."""
        with self.backend.transaction() as tx:
            return work(tx)

    def workspace(self, name: str = "default") -> str:
        """The uid of the workspace with the alias (key, `name`); it is made when absent."""
        with self.backend.transaction() as tx:
            return workspace_named(tx, name)

    def conversation(self, id: str = "c1", *, workspace: str = "default", key: str | None = None) -> str:
        """A new conversation without any event; its uid."""
        uid = new_uid()
        with self.backend.transaction() as tx:
            tx.put_stream(StreamInfo(uid, workspace_named(tx, workspace), id))
            if key is not None:
                tx.put_metadata(uid, "key", key)
        return uid

    def append(self, uid: str, *events: Event, claim_ns: int | None = NOON_NS) -> Sequence[LogEntry]:
        """Append events to the log, and fold nothing."""
        with self.backend.transaction() as tx:
            return tx.append(uid, pending(*events, claim_ns=claim_ns))

    def record(self, uid: str, *events: Event, claim_ns: int | None = NOON_NS) -> list[StoredEvent]:
        """Append events and fold them, as all use cases do."""
        with self.backend.transaction() as tx:
            return recording.record(tx, uid, pending(*events, claim_ns=claim_ns))

    def adopt(self, *events: SealedEvent) -> None:
        """Store events of other writers, and fold them or refold their conversation."""
        with self.backend.transaction() as tx:
            recording.adopt(tx, events)

    def apply(self, uid: str, *changes: Change) -> None:
        """Change rows of the read model directly."""
        with self.backend.transaction() as tx:
            tx.apply(uid, changes)

    def refold(self, uid: str) -> None:
        """Drop a conversation's rows and build them again from the log."""
        with self.backend.transaction() as tx:
            recording.refold(tx, uid)

    def put_metadata(self, uid: str, field: str, value: Any, stamp: Stamp | None = None) -> Stamp:
        """Set a register."""
        with self.backend.transaction() as tx:
            return tx.put_metadata(uid, field, value, stamp)

    def erase(self, uid: str, stamp: Stamp, *names: str) -> int:
        """Erase leaves of an event."""
        with self.backend.transaction() as tx:
            return tx.erase_leaves(uid, stamp, names)

    # --- reading

    def read(self, ask: Callable[[Reader], T]) -> T:
        """What a reader of its own answers."""
        with self.backend.reading() as reader:
            return ask(reader)

    def events(self, uid: str) -> list[LogEntry]:
        """A stream in causal order."""
        return self.read(lambda reader: list(reader.read_stream(uid, BEFORE_ALL, ALL)))

    def log(self) -> list[LogEntry]:
        """The whole log in the order of arrival."""
        return self.read(lambda reader: list(reader.read_log(0, ALL)))

    def row(self, uid: str) -> ConversationRow | None:
        """The conversation's own row, as its fold gives it in whatever workspace."""
        row = self.read(lambda reader: reader.find_row(uid))
        return row and row._replace(workspace="")

    def rows(self, uid: str) -> list[ReadModelRow]:
        """Every row of a conversation, as its fold gives them in whatever workspace."""
        rows = self.read(lambda reader: list(reader.read_rows(uid)))
        return [row._replace(workspace="") if isinstance(row, ConversationRow) else row for row in rows]

    def message(self, uid: str, message_id: str) -> MessageRow | None:
        """One message's row."""
        return self.read(lambda reader: reader.find_message(uid, message_id))

    def turn(self, uid: str, turn_id: str) -> TurnRow | None:
        """One turn's row."""
        return self.read(lambda reader: reader.find_turn(uid, turn_id))

    def messages(self, uid: str, span: Span | None = None) -> list[MessageEntry]:
        """Messages of every branch, by place."""
        return self.read(lambda reader: list(reader.read_messages(uid, span or Span())))

    def texts(self, uid: str, span: Span | None = None) -> list[str]:
        """The words of the messages of every branch, by place."""
        return [entry_text(entry) for entry in self.messages(uid, span)]

    def links(self, uid: str) -> list[LinkRow]:
        """The relations of a conversation to others."""
        return self.read(lambda reader: list(reader.read_links(uid)))

    def links_to(self, uid: str) -> list[tuple[str, LinkRow]]:
        """The relations of others to a conversation."""
        return self.read(lambda reader: list(reader.read_links_to(uid)))

    def measures(self, workspace: str | None = None, uid: str | None = None) -> Measures:
        """Counts over a conversation, a workspace or everything."""
        return self.read(lambda reader: reader.measure(workspace, uid))

    def stream(self, uid: str) -> StreamInfo | None:
        """A stream's identity."""
        return self.read(lambda reader: reader.find_stream(uid))

    def registers(self, uid: str) -> dict[str, Any]:
        """Metadata: field to value."""
        found = self.read(lambda reader: reader.read_registers(uid))
        return {register.field: register.value for register in found}

    def conversations(self, workspace: str | None, **asked: Any) -> list[ConversationEntry]:
        """Conversations of a workspace; without `newest_first` and `limit` all of them, newest first."""
        listing = Listing(**{"workspace": workspace, "newest_first": True, "limit": ALL, **asked})
        return self.read(lambda reader: [*reader.list_conversations(listing)])

    def listed(self, workspace: str | None, **asked: Any) -> list[str]:
        """The ids of what `conversations` gives."""
        return [entry.id for entry in self.conversations(workspace, **asked)]


def workspace_named(tx: Transaction, name: str) -> str:
    """The uid of the workspace with the alias (key, `name`), inside a transaction; made when absent."""
    found = tx.read.find_workspace("key", name)
    if found is None:
        found = new_uid()
        tx.put_workspace(WorkspaceInfo(found, (new_uid(),), (("key", name),)))
    return found
