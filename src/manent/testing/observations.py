"""
What two backends must agree on: every read of the port, asked in every way, without what chance gives.

Salts are random and positions may have gaps, so that hashes and positions differ between two stores that
hold the same; the chain is checked on its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple, TypeVar

from manent.codec.chain import genesis
from manent.codec.sealing import hash_of
from manent.model.ids import BEFORE_ALL, Stamp
from manent.model.log import LogEntry, Tip
from manent.model.rows import MessageEntry, Place, TurnRow
from manent.projection.activity import key_digest
from manent.storage.port import Listing, Reader, Span
from manent.testing.snapshots import take_snapshot

PAGE = 2
T = TypeVar("T")


class Names(NamedTuple):
    """What to ask for by name; much of it is not there."""

    workspaces: Sequence[str | None]
    conversations: Sequence[str]
    ids: Sequence[str]
    keys: Sequence[str]
    messages: Sequence[str]
    turns: Sequence[str]
    idempotency_keys: Sequence[str]
    others: Sequence[str]


def observe(reader: Reader, names: Names) -> dict[str, Any]:
    """Everything that can be read, by what was asked."""
    return {
        "snapshot": _without_chance(reader),
        "log in pages": [entry.header.stamp for entry in _log_in_pages(reader)],
        "uids in pages": all_pages(lambda last: reader.read_uids(last or "", PAGE)),
        "links to": {uid: list(reader.read_links_to(uid)) for uid in names.others},
        **{f"names in {workspace}": _names(reader, workspace, names) for workspace in names.workspaces},
        **{f"lists of {workspace}": _lists(reader, workspace) for workspace in names.workspaces},
        **{f"all of {each}": _workspace(reader, each, names) for each in names.workspaces if each},
        **{f"conversation {uid}": _conversation(reader, uid, names) for uid in names.conversations},
    }


def broken_links(reader: Reader, uid: str) -> list[Stamp]:
    """Stamps of events that do not link to their writer's event before, and of tips that are not the last."""
    hashes: dict[str, bytes] = {}
    stamps: dict[str, Stamp] = {}
    broken = []
    for entry in reader.read_stream(uid, BEFORE_ALL, 1_000_000):
        writer = entry.header.writer
        if entry.header.prev_hash != hashes.get(writer, genesis(uid, writer)):
            broken.append(entry.header.stamp)
        hashes[writer], stamps[writer] = hash_of(entry), entry.header.stamp
    tips = [tip for tip in reader.read_tips(uid) if not _is_last(tip, hashes, stamps)]
    return broken + [Stamp(tip.seq, tip.writer) for tip in tips]


def all_pages(read: Callable[[T | None], Sequence[T]]) -> list[T]:
    """
    All items, page by page; `read` gives those after the last one so far, or the first ones.

    Raises:
        AssertionError: an item comes again, so that the pages never end.
    """
    found: list[T] = []
    while page := read(found[-1] if found else None):
        assert page[-1] not in found, "a page ends with what was there before"
        found += page
    return found


def _is_last(tip: Tip, hashes: dict[str, bytes], stamps: dict[str, Stamp]) -> bool:
    return tip.hash == hashes.get(tip.writer) and (tip.seq, tip.writer) == stamps.get(tip.writer)


def _without_chance(reader: Reader) -> dict[str, Any]:
    snapshot = take_snapshot(reader)
    streams = [
        {
            **stream._asdict(),
            "events": [_plain(entry) for entry in stream.events],
            "tips": [tip._replace(hash=b"") for tip in stream.tips],
        }
        for stream in snapshot.streams
    ]
    arrival = [_plain(entry) for entry in snapshot.arrival]
    return {**snapshot._asdict(), "streams": streams, "arrival": arrival}


def _plain(entry: LogEntry) -> tuple[object, ...]:
    leaves = tuple((leaf.name, leaf.data, leaf.salt is None) for leaf in entry.leaves)
    return entry.position, entry.header._replace(prev_hash=b""), leaves


def _log_in_pages(reader: Reader) -> list[LogEntry]:
    return all_pages(lambda last: reader.read_log(last.position if last else 0, PAGE))


def _names(reader: Reader, workspace: str | None, names: Names) -> dict[str, Any]:
    beginnings = {id[:length] for id in names.ids for length in (0, 1, 2)}
    return {
        "ids": {id: list(reader.find_ids(workspace, id)) for id in names.ids},
        "keys": {key: list(reader.find_by_key(workspace, key)) for key in names.keys},
        "beginnings": {
            (start, limit): list(reader.find_prefix(workspace, start, limit))
            for start, limit in product(sorted(beginnings), (1, 100))
        },
    }


def _lists(reader: Reader, workspace: str | None) -> dict[Any, Any]:
    clock = reader.info().clock
    ways = product((True, False), (None, clock, clock // 2, max(clock - 3, 0)), (False, True))
    return {
        (newest_first, as_of, resumable): [
            (entry.id, entry.rank)
            for entry in _list_in_pages(
                reader, Listing(workspace, newest_first, PAGE, as_of, resumable=resumable)
            )
        ]
        for newest_first, as_of, resumable in ways
    }


def _workspace(reader: Reader, workspace: str, names: Names) -> dict[str, Any]:
    return {
        "info": reader.find_workspace_info(workspace),
        "owners": {id: reader.find_owner(workspace, id) for id in names.ids},
        "count": reader.count_conversations(workspace),
        "measures": reader.measure(workspace),
        "measures by uid": [reader.measure(workspace, uid) for uid in names.conversations],
    }


def _list_in_pages(reader: Reader, listing: Listing) -> list[Any]:
    return all_pages(
        lambda last: reader.list_conversations(
            listing._replace(after=(last.rank, last.uid) if last else None)
        )
    )


def _conversation(reader: Reader, uid: str, names: Names) -> dict[str, Any]:
    places = [entry.place for entry in reader.read_messages(uid, Span(limit=1000))]
    return {
        "in pages": _in_pages(reader, uid),
        "stretches": list(_stretches(reader, uid, places)),
        "branches": {
            (id, limit): list(reader.read_branch(uid, id, limit))
            for id, limit in product(names.messages, (1, 2, 100))
        },
        "messages": {id: _row_of_message(reader, uid, id) for id in names.messages},
        "rows after": [[row.message_id for row in reader.read_rows_after(uid, place)] for place in places],
        "turns": {id: _row_of_turn(reader, uid, id) for id in names.turns},
        "keys": [reader.find_key(uid, key_digest(uid, key)) for key in names.idempotency_keys],
        "open turn": _without_position(reader.find_open_turn(uid)),
        "links": list(reader.read_links(uid)),
        "links to": list(reader.read_links_to(uid)),
        "measures": reader.measure(None, uid),
        "messages of turns": list(_messages_of_turns(reader, uid)),
    }


def _row_of_message(reader: Reader, uid: str, message_id: str) -> object:
    row = reader.find_message(uid, message_id)
    return row and row._replace(content=row.content._replace(position=0))


def _row_of_turn(reader: Reader, uid: str, turn_id: str) -> object:
    row = reader.find_turn(uid, turn_id)
    return row and (_without_position(row), reader.find_turn_at(uid, row.stamp) == row)


def _without_position(turn: TurnRow | None) -> TurnRow | None:
    return turn and turn._replace(position=0)


def _in_pages(reader: Reader, uid: str) -> dict[str, Any]:
    return {
        "messages": all_pages(lambda last: reader.read_messages(uid, _span(_place(last), False))),
        "messages from the end": all_pages(lambda last: reader.read_messages(uid, _span(_place(last), True))),
        "turns": _turns_in_pages(reader, uid, False),
        "turns from the end": _turns_in_pages(reader, uid, True),
        "events": [entry.header.stamp for entry in _events_in_pages(reader, uid)],
    }


def _turns_in_pages(reader: Reader, uid: str, newest_first: bool) -> list[Stamp]:
    turns = all_pages(lambda last: reader.read_turns(uid, _span(_place_of_turn(last), newest_first)))
    return [turn.stamp for turn in turns]


def _events_in_pages(reader: Reader, uid: str) -> list[LogEntry]:
    return all_pages(lambda last: reader.read_stream(uid, last.header.stamp if last else BEFORE_ALL, PAGE))


def _place(entry: MessageEntry | None) -> Place | None:
    return entry.place if entry else None


def _place_of_turn(turn: TurnRow | None) -> Place | None:
    return Place(*turn.stamp, 0) if turn else None


def _span(last: Place | None, newest_first: bool) -> Span:
    return Span(None, last, True, PAGE) if newest_first else Span(last, None, False, PAGE)


def _stretches(reader: Reader, uid: str, places: list[Place]) -> Iterator[list[str]]:
    """Messages between some places, from both ends."""
    bounds = [None, *places[:: max(len(places) // 3, 1)]]
    for after, before, newest_first in product(bounds, bounds, (False, True)):
        found = reader.read_messages(uid, Span(after, before, newest_first, 3))
        yield [entry.message_id for entry in found]


def _messages_of_turns(reader: Reader, uid: str) -> Iterator[list[tuple[str, int | None]]]:
    stamps = [turn.stamp for turn in reader.read_turns(uid, Span(limit=-1))]
    for first, last in product(stamps[::2], stamps[::2]):
        found = reader.read_turn_messages(uid, first, last)
        yield [(entry.message_id, entry.turn_seq) for entry in found]
