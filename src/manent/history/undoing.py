"""
Undoing an import: what it did to each conversation, and how that is taken back.

A conversation that the import created is deleted, and a later import may bring it again. In one that was
there before, the messages that it added leave the tree, and what it edited says again what it said, unless
somebody has written there since. Words of people and programs are never taken along unasked.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from manent.codec.sealing import open_event
from manent.history.appending import pending
from manent.history.identifying import UNDONE_FIELD, read_undone
from manent.history.import_records import Touched
from manent.history.recording import open_leniently, record, stream
from manent.history.removing import find_reasons_to_ask, take_back
from manent.history.runtime import Runtime
from manent.model.events import (
    CONTENT_KINDS,
    ConversationCreated,
    Event,
    HeadMoved,
    MessageAdded,
    MessageEdited,
    MessageRemoved,
    SourceUpdated,
    TurnAppended,
    TurnEnded,
)
from manent.model.ids import Stamp, answer_id, message_address, question_id, turn_address
from manent.model.log import KEY_FIELD, StoredEvent, StreamInfo, find_text
from manent.model.parts import AnyPart
from manent.model.rows import MessageRow, MessageState, Place
from manent.storage.port import Reader, Transaction

UNDONE = "import undone"
"""The reason of whatever an undo writes."""

MOVED, CONTINUED = "moved", "continued"


class Said(NamedTuple):
    """Something that was said here and by no import: the message, and where."""

    message_id: str
    address: str


class Edit(NamedTuple):
    """An edit that the import made, and what stood there before."""

    message_id: str
    stamp: Stamp
    before: Stamp


class Plan(NamedTuple):
    """
    What undoing an import means for one conversation.

    Args:
        info: the conversation.
        created: it goes as a whole.
        doomed: the messages that leave the tree, as they stand in it; of these `imported` came from a source.
        tops: those of them whose parents stay.
        edits: the edits that are taken back.
        said: what would go along and was said here.
        head: where the branch ends from then on; None leaves that to the removals.
        key: the key from then on; "" leaves it.
        reasons: why it is spared.
    """

    info: StreamInfo
    created: bool
    doomed: tuple[str, ...] = ()
    imported: tuple[str, ...] = ()
    tops: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    said: tuple[Said, ...] = ()
    head: str | None = None
    key: str = ""
    reasons: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        """Whether there is anything to take back."""
        return self.created or bool(self.tops or self.edits)


def plan(runtime: Runtime, reader: Reader, workspace: str, touched: Sequence[Touched]) -> Plan | None:
    """
    What undoing means for a conversation; None when it is gone already.

    Args:
        workspace: that of the import.
        touched: all that the import wrote there, in order.
    """
    info = reader.find_stream(touched[0].uid)
    if info is None or info.deleted:
        return None
    created = touched[0].created
    if info.workspace != workspace:
        return Plan(info, created, reasons=(MOVED,))
    reasons = find_reasons_to_ask(runtime, reader, info)
    scan = _Scan(reader, info, touched)
    if created:
        return Plan(info, True, said=tuple(scan.said(None)), reasons=reasons)
    rows = _doomed(reader, info.uid, scan.added)
    doomed = {row.message_id for row in rows}
    here = set(scan.own_ids)
    found = Plan(
        info,
        False,
        doomed=tuple(row.message_id for row in rows),
        imported=tuple(row.message_id for row in rows if row.message_id not in here),
        tops=tuple(row.message_id for row in rows if row.parent_id not in doomed),
        edits=tuple(edit for edit in scan.edits if edit.message_id not in doomed),
        said=tuple(scan.said(doomed)),
        reasons=reasons,
    )
    if not found.changes:
        return found
    return found._replace(
        head=_old_head(reader, found, touched[0], scan), key=_old_key(reader, touched[0], scan)
    )


def _old_head(reader: Reader, found: Plan, first: Touched, scan: _Scan) -> str | None:
    """The head as it was before, where the import has moved it and nobody since; else None."""
    row = reader.find_row(first.uid)
    if row is None or (row.head not in found.doomed and row.head not in scan.heads):
        return None
    was = reader.find_message(first.uid, first.head) if first.head is not None else None
    is_there = was is not None and was.state == MessageState.PRESENT and first.head not in found.doomed
    return first.head if is_there else None


def _old_key(reader: Reader, first: Touched, scan: _Scan) -> str:
    """The key as it was before, where the import has changed it; else ""."""
    key = find_text(reader.read_registers(first.uid), KEY_FIELD)
    return first.key if first.key != key and scan.gave(key) else ""


def carry_out(runtime: Runtime, tx: Transaction, found: Plan) -> set[str]:
    """Take back what a plan says; return the digests of attachments that may not be needed any more."""
    uid = found.info.uid
    if found.created:
        return take_back(runtime, tx, found.info, reason=UNDONE)
    events: list[Event] = [MessageRemoved(message_id=top, reason=UNDONE) for top in found.tops]
    for edit in found.edits:
        parts = _parts_at(tx.read, uid, edit.before)
        events.append(MessageEdited(message_id=edit.message_id, new_parts=parts, reason=UNDONE))
    if found.head is not None:
        events.append(HeadMoved(message_id=found.head))
    record(tx, uid, pending(runtime, events))
    if found.imported:
        undone = read_undone(tx.read.read_registers(uid)).union(found.imported)
        tx.put_metadata(uid, UNDONE_FIELD, sorted(undone))
    if found.key and not tx.read.find_by_key(found.info.workspace, found.key):
        tx.put_metadata(uid, KEY_FIELD, found.key)
    return set()


def _doomed(reader: Reader, uid: str, added: Sequence[str]) -> list[MessageRow]:
    """The messages that were added, and all under them, that are in the tree; each after its parent."""
    rows = [
        row for id in added if (row := reader.find_message(uid, id)) and row.state == MessageState.PRESENT
    ]
    if not rows:
        return []
    names = {row.message_id for row in rows}
    first = min(Place(row.seq, row.writer, row.ordinal) for row in rows)
    doomed = [row for row in rows if Place(row.seq, row.writer, row.ordinal) == first]
    for row in reader.read_rows_after(uid, first):
        if row.state == MessageState.PRESENT and (row.message_id in names or row.parent_id in names):
            names.add(row.message_id)
            doomed.append(row)
    return doomed


def _parts_at(reader: Reader, uid: str, stamp: Stamp) -> tuple[AnyPart, ...]:
    """What a message said at an event of its own."""
    entry = reader.find_entry(uid, stamp)
    event = open_event(entry.position, entry).event if entry else None
    match event:
        case MessageEdited(new_parts=parts) | MessageAdded(parts=parts):
            return parts
        case _:
            return ()


class _Scan:
    """What the events of a conversation say about an import: one look through all of them."""

    def __init__(self, reader: Reader, info: StreamInfo, touched: Sequence[Touched]) -> None:
        self._reader = reader
        self._info = info
        self._spans = touched
        self._content: dict[str, Stamp] = {}
        self._said: list[tuple[str, Stamp]] = []
        self._updated: str | None = None
        self.added: list[str] = []
        self.own_ids: list[str] = []
        self.heads: set[str] = set()
        edits = [edit for entry in stream(reader, info.uid) for edit in self._look(open_leniently(entry))]
        self.edits = [edit for edit in edits if self._stands(edit)]

    def _is_ours(self, stamp: Stamp) -> bool:
        """Whether the import wrote the event."""
        return any(
            span.writer == stamp.writer and span.first <= stamp.seq <= span.last for span in self._spans
        )

    def _look(self, stored: StoredEvent) -> Iterator[Edit]:
        event, stamp = stored.event, stored.header.stamp
        updated, self._updated = self._updated, None
        match event:
            case SourceUpdated(message_id=message_id):
                self._updated = message_id
            case MessageAdded(message_id=message_id, source=source):
                self._content[message_id] = stamp
                if source is None:
                    self._say(message_id, stamp)
                elif self._is_ours(stamp):
                    self.added.append(message_id)
            case MessageEdited(message_id=message_id):
                before = self._content.get(message_id)
                self._content[message_id] = stamp
                if self._is_ours(stamp) and before is not None:
                    yield Edit(message_id, stamp, before)
                elif updated != message_id and event.reason != UNDONE:
                    self._said.append((message_id, stamp))
            case TurnAppended():
                self._say(question_id(stamp), stamp)
                self.own_ids.append(answer_id(stamp))
            case HeadMoved(message_id=head):
                self.heads.update({head} if head is not None and self._is_ours(stamp) else ())
            case _ if stored.header.kind in CONTENT_KINDS and not isinstance(event, _SAYS_NOTHING):
                self._said.append(("", stamp))

    def _say(self, message_id: str, stamp: Stamp) -> None:
        self._said.append((message_id, stamp))
        self.own_ids.append(message_id)

    def _stands(self, edit: Edit) -> bool:
        """Whether a message says what the edit made it say, and said something before that is still there."""
        row = self._reader.find_message(self._info.uid, edit.message_id)
        before = self._reader.find_entry(self._info.uid, edit.before)
        is_whole = before is not None and all(leaf.data is not None for leaf in before.leaves)
        stands = row is not None and row.state == MessageState.PRESENT and row.content_stamp == edit.stamp
        return stands and is_whole

    def gave(self, key: str) -> bool:
        """Whether the key of a conversation without an id is that of a message that the import added."""
        hash = key.rpartition(":")[2]
        return any(message_id.partition(".")[0] == hash for message_id in self.added)

    def said(self, among: set[str] | None) -> Iterator[Said]:
        """What was said here and still stands, in these messages or (None) in all."""
        for message_id, stamp in self._said:
            if not message_id:
                if among is None:
                    yield Said("", f"turn:{self._name}#{stamp.seq}")
                continue
            row = self._reader.find_message(self._info.uid, message_id)
            if row is None or row.state != MessageState.PRESENT or row.content_stamp < stamp:
                continue
            if among is None or message_id in among:
                yield Said(message_id, self._address(row))

    @property
    def _name(self) -> str:
        return self._info.id or self._info.uid

    def _address(self, row: MessageRow) -> str:
        if row.turn_seq is None:
            return str(message_address(self._name, row.message_id))
        return str(turn_address(self._name, row.turn_seq))


_SAYS_NOTHING = (ConversationCreated, MessageRemoved, TurnEnded)
