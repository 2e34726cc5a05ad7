"""Rows of the database as records, and records as parameters."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from manent.codec.canonical import loads, unescape_name
from manent.model.ids import Stamp
from manent.model.records import (
    Content,
    ConversationRow,
    Header,
    Leaf,
    LogEntry,
    MessageEntry,
    MessageRow,
    MessageState,
    Register,
    StreamInfo,
    TurnRow,
)

Row = Sequence[Any]

STATES = (MessageState.PRESENT, MessageState.REMOVED, MessageState.DETACHED)
STATE_NUMBERS = {state: number for number, state in enumerate(STATES)}
LEAF_BITS = 16
PACKED_NAMES = frozenset(("native",))
_PACK_BYTES_MIN = 256


def pack(leaf: Leaf) -> tuple[int, bytes | None]:
    """A leaf's bytes as they are kept: native records deflated where that saves something."""
    data = leaf.data
    if data is None or leaf.name not in PACKED_NAMES or len(data) < _PACK_BYTES_MIN:
        return 0, data
    packed = zlib.compress(data, 1)
    return (1, packed) if len(packed) < len(data) else (0, data)


def unpack(data: bytes | None, packed: int) -> bytes | None:
    """
    Undo `pack`. Bytes that do not inflate come back as they are: `verify` reports them, reading skips them.
    """
    if not packed or data is None:
        return data
    try:
        return zlib.decompress(data)
    except zlib.error:
        return data


def to_entries(rows: Iterable[Row]) -> list[LogEntry]:
    """Log entries from rows of one leaf each, leaves of an event standing together."""
    return [_entry(list(group)) for _, group in groupby(rows, key=itemgetter(0))]


def _entry(rows: list[Row]) -> LogEntry:
    leaves = [Leaf(r[10], unpack(r[11], r[14]), r[12], r[13]) for r in rows if r[10] is not None]
    return LogEntry(rows[0][0], _header(rows[0]), tuple(leaves))


def _header(row: Row) -> Header:
    return Header(
        uid=row[1].hex(),
        writer=row[2].hex(),
        seq=row[3],
        kind=row[4],
        schema_version=row[5],
        claim_ns=row[6],
        event_id=row[7].hex(),
        prev_hash=row[8],
        encoding=row[9],
    )


def to_messages(rows: Iterable[Row]) -> list[MessageEntry]:
    """Messages with their words from rows of one leaf each, leaves of a message standing together."""
    entries: list[MessageEntry] = []
    for row in rows:
        leaf = () if row[12] is None else ((row[12], unpack(row[13], row[14])),)
        if entries and entries[-1].message_id == row[3]:
            entries[-1] = entries[-1]._replace(leaves=entries[-1].leaves + leaf)
        else:
            entries.append(_message(row, leaf))
    return entries


def _message(row: Row, leaves: tuple[tuple[str, bytes | None], ...]) -> MessageEntry:
    turn_writer = row[7]
    return MessageEntry(
        row[0],
        row[1].hex(),
        row[2],
        unescape_name(row[3]),
        row[4] if row[4] is None else unescape_name(row[4]),
        unescape_name(row[5]),
        row[6],
        turn_writer if turn_writer is None else turn_writer.hex(),
        STATES[row[8]],
        bool(row[9]),
        bool(row[10]),
        row[11],
        leaves,
    )


def to_message_row(row: Row) -> MessageRow:
    """A message's row of the tree."""
    return MessageRow(
        row[0],
        row[1].hex(),
        row[2],
        unescape_name(row[3]),
        None if row[4] is None else unescape_name(row[4]),
        unescape_name(row[5]),
        row[6],
        None if row[7] is None else row[7].hex(),
        Content(row[8], row[9], row[10]),
        Stamp(row[11], row[12].hex()),
        STATES[row[13]] if 0 <= row[13] < len(STATES) else str(row[13]),
        bool(row[14]),
        bool(row[15]),
        row[16],
    )


def to_turn_row(row: Row) -> TurnRow:
    """A turn's row."""
    return TurnRow(
        row[0],
        row[1].hex(),
        unescape_name(row[2]),
        row[3],
        row[4],
        Stamp(row[5], row[6].hex()),
        bool(row[7]),
        bool(row[8]),
    )


def to_conversation_row(row: Row) -> ConversationRow:
    """A conversation's own row."""
    return ConversationRow(
        uid=row[0].hex(),
        activity=Stamp(row[1], row[2].hex()),
        head=None if row[3] is None else unescape_name(row[3]),
        head_stamp=Stamp(row[4], row[5].hex()),
        linear=bool(row[6]),
        claim_first_ns=row[7],
        claim_max_ns=row[8],
    )


def to_stream(row: Row) -> StreamInfo:
    """A stream's identity."""
    return StreamInfo(row[0].hex(), row[1].hex(), None if row[2] is None else unescape_name(row[2]))


def to_registers(rows: Iterable[Row]) -> Iterator[Register]:
    """Metadata registers."""
    for field, value, seq, writer in rows:
        yield Register(field, None if value is None else loads(value), Stamp(seq, writer.hex()))
