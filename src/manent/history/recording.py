"""Recording: append or adopt events, and fold them into the read model in the same transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from manent.codec.sealing import open_event
from manent.errors import EncodingError
from manent.model.changes import (
    Change,
    ConversationSpawned,
    ConversationTouched,
    HeadSet,
    MessageContentSet,
    MessagePut,
    MessageStateSet,
    TurnPut,
    TurnStateSet,
)
from manent.model.events import ContentRedacted, UnknownEvent
from manent.model.ids import BEFORE_ALL, Stamp
from manent.model.log import LogEntry, Pending, SealedEvent, StoredEvent
from manent.model.rows import ConversationRow, LinkRow, MessageRow, Place, TurnRow
from manent.projection.registry import project
from manent.storage.port import Reader, Transaction

FOLD_PAGE = 64
"""Events in memory at a time while a stream is read through; some of them may be large."""


def record(
    tx: Transaction, uid: str, pending: Sequence[Pending], row: ConversationRow | None = None
) -> list[StoredEvent]:
    """
    Append events to a stream and fold them.

    Args:
        row: the conversation's row, where the caller has read it in this transaction already.

    A new event's seq is greater than every seq of its conversation (L-1), so nothing is folded out of order.
    """
    stored = [
        StoredEvent(entry.position, entry.header, entry.leaves, item.event)
        for entry, item in zip(tx.append(uid, pending), pending, strict=True)
    ]
    view = _Memo(tx.read, row)
    if len(stored) == 1:
        tx.apply(uid, project(stored[0], view))
    else:
        _fold_together(tx, uid, stored, view)
    return stored


def _fold_together(tx: Transaction, uid: str, events: Sequence[StoredEvent], view: _Memo) -> None:
    """Fold several new events; what each of them changes of the conversation's own row is changed once."""
    waiting = _Waiting()
    for event in events:
        changes = project(event, view)
        tx.apply(uid, waiting.hold_back(changes, view.known_row(uid)))
        view.follow(uid, changes)
    tx.apply(uid, waiting.release())


def adopt(tx: Transaction, events: Sequence[SealedEvent]) -> None:
    """Store events that were sealed elsewhere; a conversation that one of them reaches late is refolded."""
    for uid, group in groupby(events, key=lambda event: event.header.uid):
        folded = max((Stamp(tip.seq, tip.writer) for tip in tx.read.read_tips(uid)), default=BEFORE_ALL)
        entries = [open_leniently(entry) for entry in tx.adopt(list(group))]
        info = tx.read.find_stream(uid)
        if info is not None and info.deleted:
            continue  # of a deleted conversation only the log is kept
        stamps = [entry.header.stamp for entry in entries]
        if stamps == sorted(stamps) and folded < stamps[0]:
            for entry in entries:
                fold(tx, uid, entry)
        else:
            refold(tx, uid)
        _erase_what_is_redacted(tx, uid, entries)


def _erase_what_is_redacted(tx: Transaction, uid: str, entries: Sequence[StoredEvent]) -> None:
    """What was redacted elsewhere goes here too."""
    for entry in entries:
        if isinstance(event := entry.event, ContentRedacted):
            tx.erase_leaves(uid, Stamp(event.target_seq, event.target_writer), event.target_leaves)


def fold(tx: Transaction, uid: str, event: StoredEvent) -> None:
    """Fold one event that follows all that are folded."""
    tx.apply(uid, project(event, _Memo(tx.read)))


def refold(tx: Transaction, uid: str) -> None:
    """Drop a conversation's rows and fold its whole stream again, in (seq, writer) order."""
    tx.clear(uid)
    for entry in stream(tx.read, uid):
        fold(tx, uid, open_leniently(entry))


def stream(reader: Reader, uid: str) -> Iterator[LogEntry]:
    """Every event of a stream in causal order, some pages at a time."""
    after = BEFORE_ALL
    while page := reader.read_stream(uid, after, FOLD_PAGE):
        yield from page
        after = page[-1].header.stamp


def open_leniently(entry: LogEntry) -> StoredEvent:
    """Decode an event; one that cannot be decoded counts as unknown here, and `verify` reports it."""
    try:
        return open_event(entry.position, entry)
    except EncodingError:
        header = entry.header
        unknown = UnknownEvent(kind=header.kind, schema_version=header.schema_version)
        return StoredEvent(entry.position, header, entry.leaves, unknown)


class _Waiting:
    """
    Changes of a conversation's own row that later events of the same transaction change again: made once.

    Only where the view knows the row, so that nobody reads it meanwhile.
    """

    def __init__(self) -> None:
        self._touched: ConversationTouched | None = None
        self._head: HeadSet | None = None

    def hold_back(self, changes: Sequence[Change], row: ConversationRow | None) -> Sequence[Change]:
        """The changes to make now; before a row is known, all of them and what waited."""
        is_known = row is not None and row.claim_first_ns is not None
        if not is_known or any(isinstance(change, ConversationSpawned) for change in changes):
            return (*self.release(), *changes)
        now: list[Change] = []
        for change in changes:
            match change:
                case ConversationTouched():
                    self._touched = change if self._touched is None else _joined(self._touched, change)
                case HeadSet():
                    self._head = change
                case _:
                    now.append(change)
        return now

    def release(self) -> Sequence[Change]:
        """What waited, to be made now."""
        waited = [change for change in (self._touched, self._head) if change is not None]
        self._touched = self._head = None
        return waited


def _joined(first: ConversationTouched, then: ConversationTouched) -> ConversationTouched:
    """Two changes of a row that has its first claim already, as one."""
    claims = [ns for ns in (first.claim_ns, then.claim_ns) if ns is not None]
    imported = first.imported if then.imported is None else then.imported
    return ConversationTouched(then.stamp, max(claims, default=None), imported)


class _Memo:
    """
    A view that reads each row once while events are projected: projections ask for the same ones.

    Between two events it follows what the first one changed; it is for events that stand after all others.
    """

    def __init__(self, reader: Reader, row: ConversationRow | None = None) -> None:
        self._reader = reader
        self._row: dict[str, ConversationRow | None] = {row.uid: row} if row else {}
        self._messages: dict[tuple[str, str], MessageRow | None] = {}
        self._turns: dict[tuple[str, Stamp], TurnRow | None] = {}
        self._empty: set[str] = set()

    def find_row(self, uid: str) -> ConversationRow | None:
        if uid not in self._row:
            self._row[uid] = self._reader.find_row(uid)
            if self._row[uid] is None:
                self._empty.add(uid)  # what has no row has no messages: nothing there has to be read
        return self._row[uid]

    def known_row(self, uid: str) -> ConversationRow | None:
        """A row as it stands, without reading it."""
        return self._row.get(uid)

    def read_links(self, uid: str) -> Sequence[LinkRow]:
        return self._reader.read_links(uid)

    def find_message(self, uid: str, message_id: str) -> MessageRow | None:
        name = (uid, message_id)
        if name not in self._messages:
            self._messages[name] = None if uid in self._empty else self._reader.find_message(uid, message_id)
        return self._messages[name]

    def read_rows_after(self, uid: str, place: Place) -> Iterator[MessageRow]:
        return self._reader.read_rows_after(uid, place)

    def find_turn(self, uid: str, turn_id: str) -> TurnRow | None:
        return self._reader.find_turn(uid, turn_id)

    def find_turn_at(self, uid: str, stamp: Stamp) -> TurnRow | None:
        name = (uid, stamp)
        if name not in self._turns:
            self._turns[name] = self._reader.find_turn_at(uid, stamp)
        return self._turns[name]

    def follow(self, uid: str, changes: Sequence[Change]) -> None:
        """Know what was changed, or forget what was known of it."""
        for change in changes:
            match change:
                case MessagePut(row):
                    self._messages[uid, row.message_id] = row
                case MessageContentSet() | MessageStateSet():
                    self._messages.pop((uid, change.message_id), None)
                    self._empty.discard(uid)
                case TurnPut(turn):
                    self._turns[uid, turn.stamp] = turn
                case TurnStateSet():
                    self._turns.clear()
                case ConversationTouched() | HeadSet():
                    self._follow_row(uid, change)
                case ConversationSpawned():
                    self._row.pop(uid, None)
                case _:
                    continue

    def _follow_row(self, uid: str, change: ConversationTouched | HeadSet) -> None:
        row = self._row.pop(uid, None)
        if row is None:
            return
        if isinstance(change, HeadSet):
            self._row[uid] = row._replace(head=change.head, linear=change.linear, head_stamp=change.stamp)
            return
        claims = [ns for ns in (row.claim_max_ns, change.claim_ns) if ns is not None]
        self._row[uid] = row._replace(
            activity=change.stamp,
            claim_first_ns=change.claim_ns if row.claim_first_ns is None else row.claim_first_ns,
            claim_max_ns=max(claims, default=None),
            imported=row.imported if change.imported is None else change.imported,
        )
