"""All that can be read of a store, as one value: to see that two stores, or two moments, are the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from manent.model.ids import BEFORE_ALL
from manent.model.log import LogEntry, Register, StreamInfo, Tip, WorkspaceInfo
from manent.model.owners import Owner
from manent.model.rows import ConversationEntry, Measures, MessageEntry, MessageRow, TurnRow
from manent.storage.port import Listing, Reader, ReadModelRow, Span

_ALL = 1_000_000


class StreamSnapshot(NamedTuple):
    """One stream: what was said of it, who owns it, and what was folded."""

    info: StreamInfo | None
    owner: Owner | None
    registers: tuple[Register, ...]
    events: tuple[LogEntry, ...]
    tips: tuple[Tip, ...]
    rows: tuple[ReadModelRow, ...]
    messages: tuple[MessageEntry, ...]


class Snapshot(NamedTuple):
    """A store. Positions are counted from 1, since they may have gaps (L-6)."""

    clock: int
    workspaces: tuple[WorkspaceInfo, ...]
    streams: tuple[StreamSnapshot, ...]
    arrival: tuple[LogEntry, ...]
    listed: tuple[ConversationEntry, ...]
    resumable: tuple[ConversationEntry, ...]
    measures: Measures


def take_snapshot(reader: Reader) -> Snapshot:
    """Read everything."""
    arrival = reader.read_log(0, _ALL)
    numbers = {entry.position: number for number, entry in enumerate(arrival, start=1)}
    return Snapshot(
        clock=reader.info().clock,
        workspaces=tuple(reader.list_workspaces()),
        streams=tuple(_stream(reader, uid, numbers) for uid in reader.read_uids("", _ALL)),
        arrival=tuple(renumbered(entry, numbers) for entry in arrival),
        listed=tuple(reader.list_conversations(Listing(None, True, _ALL))),
        resumable=tuple(reader.list_conversations(Listing(None, True, _ALL, resumable=True))),
        measures=reader.measure(None),
    )


def _stream(reader: Reader, uid: str, numbers: Mapping[int, int]) -> StreamSnapshot:
    info = reader.find_stream(uid)
    return StreamSnapshot(
        info=info,
        owner=reader.find_owner(info.workspace, info.id) if info and info.id is not None else None,
        registers=tuple(reader.read_registers(uid)),
        events=tuple(renumbered(entry, numbers) for entry in reader.read_stream(uid, BEFORE_ALL, _ALL)),
        tips=tuple(reader.read_tips(uid)),
        rows=tuple(_renumbered_rows(reader.read_rows(uid), numbers)),
        messages=tuple(reader.read_messages(uid, Span(limit=_ALL))),
    )


def renumbered(entry: LogEntry, numbers: Mapping[int, int]) -> LogEntry:
    """The entry with another number for its position."""
    return entry._replace(position=numbers[entry.position])


def _renumbered_rows(rows: Iterator[ReadModelRow], numbers: Mapping[int, int]) -> Iterator[ReadModelRow]:
    for row in rows:
        match row:
            case MessageRow():
                yield row._replace(content=row.content._replace(position=numbers[row.content.position]))
            case TurnRow():
                yield row._replace(position=numbers[row.position])
            case _:
                yield row
