"""Rows of the database as records, and records as parameters."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from manent.codec.canonical import escape_name, loads, unescape_name
from manent.errors import MetadataError
from manent.model.ids import Stamp, turn_id_of
from manent.model.log import Header, Leaf, LogEntry, Register, StreamInfo
from manent.model.owners import Owner, Process
from manent.model.rows import (
    Content,
    ConversationRow,
    LinkRow,
    Measures,
    MessageEntry,
    MessageRow,
    MessageState,
    TurnRow,
)

Row = Sequence[Any]

STATES = (MessageState.PRESENT, MessageState.REMOVED, MessageState.DETACHED)
STATE_NUMBERS = {state: number for number, state in enumerate(STATES)}
LEAF_BITS = 16
IN_NO_TURN, BEGAN_TURN, JOINED_TURN = 0, 1, 2
NOWHERE = (-1, None)
"""The turn in a message's row that contradicts itself: no log gives one, so that `verify` sees it."""

_ROLES = frozenset(("user", "assistant", "tool", "system"))  # as they stand: nothing to unescape
_SUFFIXES = {0: "q", 1: "a"}
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
    """Undo `pack`. What nobody packed comes back empty: `verify` reports it, reading skips it."""
    if data is None or packed == 0:
        return data
    if packed != 1:
        return b""
    inflater = zlib.decompressobj()
    try:
        plain = inflater.decompress(data)
    except zlib.error:
        return b""
    return plain if inflater.eof and not inflater.unused_data else b""


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
    last: Row = ()
    for row in rows:
        name = row[16]
        leaf = () if name is None else ((name, unpack(row[17], row[18]) if row[18] else row[17]),)
        place = row[:3]
        if place == last:
            leaves = sorted(entries[-1].leaves + leaf, key=_part_number)
            entries[-1] = entries[-1]._replace(leaves=tuple(leaves))
        else:
            entries.append(_message(row, leaf))
            last = place
    return entries


def _part_number(leaf: tuple[str, bytes | None]) -> int:
    """The place of a part among its message's: the number in its name."""
    _, _, number = leaf[0].rpartition(".")
    return int(number) if number.isdigit() else -1


def _message(row: Row, leaves: tuple[tuple[str, bytes | None], ...]) -> MessageEntry:
    seq, writer, ordinal, role = row[0], row[1].hex(), row[2], row[8]
    turn_seq, turn_writer = (seq, writer) if row[9] == BEGAN_TURN else _turn_of(row)
    return MessageEntry(
        seq,
        writer,
        ordinal,
        _made_id(seq, writer, ordinal) if row[3] is None else unescape_name(row[3]),
        _parent_id(row),
        role if role in _ROLES else unescape_name(role),
        turn_seq,
        turn_writer,
        STATES[row[12]],
        row[13] == 1,
        row[14] == 1,
        row[15],
        leaves,
    )


def _made_id(seq: int, writer: str, ordinal: int) -> str:
    return f"{seq}.{writer}.{_SUFFIXES.get(ordinal, ordinal)}"


def _parent_id(row: Row) -> str | None:
    if row[7] is not None:
        return unescape_name(row[7])
    if row[4] is None or row[5] is None or row[6] is None:
        return None
    return _made_id(row[4], row[5].hex(), row[6])


def _turn_of(row: Row) -> tuple[int | None, str | None]:
    """The turn's stamp; `NOWHERE` where the columns contradict each other."""
    kind, seq, writer = row[9], row[10], row[11]
    if kind == JOINED_TURN and seq is not None and writer is not None:
        return seq, writer.hex()
    if kind not in (IN_NO_TURN, BEGAN_TURN) or seq is not None or writer is not None:
        return NOWHERE
    return (row[0], row[1].hex()) if kind == BEGAN_TURN else (None, None)


def to_message_row(row: Row) -> MessageRow:
    """A message's row of the tree. Flags come as they stand: 1 equals True, and what is no flag nothing."""
    writer = row[1].hex()
    return MessageRow(
        row[0],
        writer,
        row[2],
        _made_id(row[0], writer, row[2]) if row[3] is None else unescape_name(row[3]),
        _parent_id(row),
        unescape_name(row[8]),
        *_turn_of(row),
        Content(row[12], row[13], row[14]),
        Stamp(row[15], row[16].hex()),
        STATES[row[17]] if 0 <= row[17] < len(STATES) else str(row[17]),
        row[18],
        row[19],
        row[20],
    )


def to_turn_row(row: Row) -> TurnRow:
    """A turn's row."""
    seq, writer, given_id = row[0], row[1].hex(), row[2]
    stamp = Stamp(seq, writer)
    return TurnRow(
        seq,
        writer,
        turn_id_of(stamp) if given_id is None else unescape_name(given_id),
        row[3],
        row[4],
        stamp if row[5] == seq and row[6] == row[1] else Stamp(row[5], row[6].hex()),
        row[7],
        row[8],
    )


def to_conversation_row(row: Row) -> ConversationRow:
    """A conversation's own row."""
    return ConversationRow(
        uid=row[0].hex(),
        activity=Stamp(row[1], row[2].hex()),
        head=None if row[3] is None else unescape_name(row[3]),
        head_stamp=Stamp(row[4], row[5].hex()),
        linear=row[6],
        claim_first_ns=row[7],
        claim_max_ns=row[8],
        imported=row[9],
        spawned=row[10],
        workspace=row[11].hex(),
    )


def to_link_row(row: Row) -> LinkRow:
    """A relation to another conversation."""
    message_id = None if row[4] is None else unescape_name(row[4])
    return LinkRow(row[0], row[1].hex(), unescape_name(row[2]), unescape_name(row[3]), message_id)


def from_link(row: LinkRow) -> dict[str, Any]:
    """A relation to another conversation, as parameters."""
    return {
        "seq": row.seq,
        "writer": bytes.fromhex(row.writer),
        "relation": escape_name(row.relation),
        "to_uid": escape_name(row.to_uid),
        "message_id": None if row.message_id is None else escape_name(row.message_id),
    }


def to_measures(rows: Iterable[Row]) -> Measures:
    """Counts, from rows of (what, name, count, sum, rest); see the query `measure`."""
    found: dict[str, dict[str, tuple[int, Any, int]]] = {}
    for what, name, *values in rows:
        found.setdefault(what, {})[name] = tuple(values)
    return Measures(
        conversations=found["conversations"][""][0],
        messages={unescape_name(role): row[0] for role, row in found.get("messages", {}).items()},
        turns={state: row[0] for state, row in found.get("turns", {}).items()},
        tokens=_sums(found.get("integer", {}), found.get("real", {})),
        claim_first_ns=found["first"][""][1],
        claim_max_ns=found["last"][""][1],
    )


def _sums(
    whole: dict[str, tuple[int, Any, int]], real: dict[str, tuple[int, Any, int]]
) -> dict[str, tuple[int, float]]:
    """Field to (reports, their sum), from whole numbers in two halves and from others."""
    sums: dict[str, tuple[int, float]] = {
        field: (count, (high << 32) + low) for field, (count, high, low) in whole.items()
    }
    for field, (count, total, _) in real.items():
        known_count, known_total = sums.get(field, (0, 0))
        sums[field] = known_count + count, known_total + total
    return sums


def to_owner(row: Row) -> Owner:
    """Who owns a conversation."""
    epoch, writer, host, boot_id, namespace, pid, started, claimed_ns, heartbeat_ns = row
    return Owner(
        process=Process(unescape_name(host), unescape_name(boot_id), unescape_name(namespace), pid, started),
        epoch=epoch,
        writer=writer.hex(),
        claimed_ns=claimed_ns,
        heartbeat_ns=heartbeat_ns,
    )


def from_owner(owner: Owner) -> dict[str, Any]:
    """Who owns a conversation, as parameters."""
    process = owner.process
    return {
        "epoch": owner.epoch,
        "writer": bytes.fromhex(owner.writer),
        "host": escape_name(process.host),
        "boot_id": escape_name(process.boot_id),
        "namespace": escape_name(process.namespace),
        "pid": process.pid,
        "started": process.started,
        "claimed_ns": owner.claimed_ns,
        "heartbeat_ns": owner.heartbeat_ns,
    }


def to_stream(row: Row) -> StreamInfo:
    """A stream's identity."""
    id = None if row[2] is None else unescape_name(row[2])
    return StreamInfo(row[0].hex(), row[1].hex(), id, len(row) > 3 and bool(row[3]))


def to_registers(uid: str, rows: Iterable[Row]) -> Iterator[Register]:
    """
    Metadata registers of a stream.

    Raises:
        MetadataError: the bytes of one are not what `dumps` gave.
    """
    for field, value, seq, writer in rows:
        try:
            read = None if value is None else loads(value)
        except (ValueError, TypeError) as error:
            raise MetadataError("it is no JSON", field=field, of=uid) from error
        yield Register(field, read, Stamp(seq, writer.hex()))
