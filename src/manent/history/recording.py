"""Recording: append or adopt events, and fold them into the read model in the same transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from manent.codec.sealing import open_event
from manent.errors import EncodingError
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
    for event in stored:
        tx.apply(uid, project(event, _Memo(tx.read, row)))
        row = None
    return stored


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


class _Memo:
    """A view that reads each row once while one event is projected: projections ask for the same ones."""

    def __init__(self, reader: Reader, row: ConversationRow | None = None) -> None:
        self._reader = reader
        self._row: dict[str, ConversationRow | None] = {row.uid: row} if row else {}
        self._messages: dict[tuple[str, str], MessageRow | None] = {}

    def find_row(self, uid: str) -> ConversationRow | None:
        if uid not in self._row:
            self._row[uid] = self._reader.find_row(uid)
        return self._row[uid]

    def read_links(self, uid: str) -> Sequence[LinkRow]:
        return self._reader.read_links(uid)

    def find_message(self, uid: str, message_id: str) -> MessageRow | None:
        name = (uid, message_id)
        if name not in self._messages:
            self._messages[name] = self._reader.find_message(uid, message_id)
        return self._messages[name]

    def read_rows_after(self, uid: str, place: Place) -> Iterator[MessageRow]:
        return self._reader.read_rows_after(uid, place)

    def find_turn(self, uid: str, turn_id: str) -> TurnRow | None:
        return self._reader.find_turn(uid, turn_id)

    def find_turn_at(self, uid: str, stamp: Stamp) -> TurnRow | None:
        return self._reader.find_turn_at(uid, stamp)
