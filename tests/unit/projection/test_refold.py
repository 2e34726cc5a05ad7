"""Folding gives the same rows whatever the order of arrival, and a linear tree is what it says (P-1)."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manent.codec.sealing import hash_of
from manent.model.events import Event
from manent.model.log import SealedEvent, StreamInfo, WorkspaceInfo
from manent.model.rows import MessageEntry, MessageRow, MessageState, Place, TurnRow
from manent.storage.memory.backend import MemoryBackend
from manent.storage.port import ReadModelRow
from manent.testing.builders import sealed
from manent.testing.strategies import tree_events
from manent.testing.workbench import Workbench

UID = "0123456789abcdef" * 2
WRITERS = ("0a" * 8, "77" * 8, "f0" * 8)
MESSAGES = ("m1", "m2", "m3", f"1.{WRITERS[0]}.a", f"2.{WRITERS[1]}.q")
TURNS = ("t1", "t2", f"1.{WRITERS[0]}")

ERASABLE = ("content", "new_content", "question", "answer", "author", "summary")
"""Leaves of words. What erasing one of several parts, or an idempotency key, does to rows is not settled."""

events = tree_events(MESSAGES, TURNS, ("k1",))
histories = st.lists(st.tuples(st.sampled_from(WRITERS), st.integers(0, 2), events), min_size=1, max_size=14)
"""Events by writer, each some ticks after the one before it: 0 ticks share a seq."""

thorough = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def chains_of(history: list[tuple[str, int, Event]]) -> dict[str, list[SealedEvent]]:
    """The events sealed, each writer's in its own chain."""
    chains: dict[str, list[SealedEvent]] = {writer: [] for writer in WRITERS}
    seq = 1
    for writer, ticks, event in history:
        chain = chains[writer]
        seq += ticks
        own_seq = max(seq, chain[-1].header.seq + 1 if chain else seq)
        prev_hash = hash_of(chain[-1]) if chain else None
        chain += sealed(UID, event, writer=writer, seq=own_seq, prev_hash=prev_hash)
        seq = own_seq
    return chains


def new_bench() -> Workbench:
    """A new store with the conversation and nothing in it."""
    bench = Workbench(MemoryBackend())
    with bench.backend.transaction() as tx:
        tx.put_workspace(WorkspaceInfo("00" * 16, (), ()))
        tx.put_stream(StreamInfo(UID, "00" * 16, "c1"))
    return bench


def rows_after(deliveries: list[list[SealedEvent]]) -> list[Any]:
    """The rows of a new store to which events come in some order; stamps stand for positions."""
    bench = new_bench()
    for delivery in deliveries:
        bench.adopt(*delivery)
    return rows_by_stamp(bench)


def rows_by_stamp(bench: Workbench) -> list[Any]:
    stamps: dict[int, Any] = {entry.position: entry.header.stamp for entry in bench.log()}

    def by_stamp(row: ReadModelRow) -> Any:
        match row:
            case MessageRow():
                return row._replace(content=row.content._replace(position=stamps[row.content.position]))
            case TurnRow():
                return row._replace(position=stamps[row.position])
            case _:
                return row

    return [by_stamp(row) for row in bench.rows(UID)]


def in_order(history: list[tuple[str, int, Event]]) -> list[SealedEvent]:
    chains = chains_of(history)
    return sorted((event for chain in chains.values() for event in chain), key=lambda e: e.header.stamp)


@thorough
@given(history=histories, data=st.data())
def test_the_order_of_arrival_changes_no_row(
    history: list[tuple[str, int, Event]], data: st.DataObject
) -> None:  # P-1
    ordered = in_order(history)
    arrival = data.draw(st.permutations([event.header.writer for event in ordered]))
    chains = {writer: [e for e in ordered if e.header.writer == writer] for writer in WRITERS}
    arrived = [chains[writer].pop(0) for writer in arrival]
    cut = data.draw(st.integers(0, len(arrived)))

    one_by_one = rows_after([[event] for event in ordered])

    assert rows_after([[event] for event in arrived]) == one_by_one
    assert rows_after([arrived[:cut], arrived[cut:]]) == one_by_one


@thorough
@given(history=histories)
def test_folding_again_gives_the_same_rows(history: list[tuple[str, int, Event]]) -> None:  # P-1
    bench = new_bench()
    bench.adopt(*in_order(history))
    before = bench.rows(UID)

    bench.refold(UID)

    assert bench.rows(UID) == before


@thorough
@given(history=histories, names=st.sets(st.sampled_from(ERASABLE), min_size=1))
def test_folding_again_after_an_erasure_gives_the_same_rows(
    history: list[tuple[str, int, Event]], names: set[str]
) -> None:  # P-1, E-2
    bench = new_bench()
    ordered = in_order(history)
    bench.adopt(*ordered)
    before = bench.rows(UID)

    for event in ordered:
        bench.erase(UID, event.header.stamp, *names)
    bench.refold(UID)

    assert bench.rows(UID) == before


@thorough
@given(history=st.lists(events, min_size=1, max_size=12))
def test_the_branch_of_a_linear_tree_is_all_that_is_present(history: list[Event]) -> None:  # P-1
    bench = Workbench(MemoryBackend(writer=WRITERS[0]))
    uid = bench.conversation()
    for event in history:
        bench.record(uid, event)
        row = bench.row(uid)

        if row is not None and row.linear:
            present = [m.message_id for m in bench.messages(uid) if m.state == MessageState.PRESENT]
            assert branch(bench, uid, row.head) == present


@thorough
@given(history=st.lists(events, min_size=1, max_size=12))
def test_a_tree_is_whole(history: list[Event]) -> None:  # P-1
    bench = Workbench(MemoryBackend(writer=WRITERS[0]))
    uid = bench.conversation()
    bench.record(uid, *history)

    entries = {entry.message_id: entry for entry in bench.messages(uid)}
    present = {id for id, entry in entries.items() if entry.state == MessageState.PRESENT}
    parents = {entries[id].parent_id for id in present} - {None}
    row = bench.row(uid)
    assert parents <= present
    assert row is None or row.head is None or row.head in present
    assert all(
        entries[id].place > entries[entries[id].parent_id or id].place or entries[id].parent_id is None
        for id in present
    )


def place_of_parent(entries: dict[str, MessageEntry], message_id: str) -> Place:
    parent_id = entries[message_id].parent_id
    return Place(-1, "", -1) if parent_id is None else entries[parent_id].place


def branch(bench: Workbench, uid: str, head: str | None) -> list[str]:
    """The active branch, oldest first, by walking from the head."""
    if head is None:
        return []
    return [entry.message_id for entry in bench.read(lambda r: r.read_branch(uid, head, 100))][::-1]
