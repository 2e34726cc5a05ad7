"""The read model is what the log gives, whatever the order of arrival (P-1)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manent.history.runtime import Scratch
from manent.history.verifying import Verifier
from manent.model.events import Event, TurnState
from manent.model.log import SealedEvent, StreamInfo
from manent.model.rows import ConversationRow, MessageEntry, TurnRow
from manent.opening import make_scratch
from manent.storage.installation import Installation
from manent.storage.memory.backend import MemoryBackend
from manent.storage.port import Backend, Span
from manent.storage.sqlite.backend import SqliteBackend
from manent.testing.builders import (
    a_turn,
    answered,
    began,
    edited,
    ended,
    head_moved,
    removed,
    said,
    sealed,
    started,
)
from manent.testing.workbench import Workbench

UID = "0c" * 16
WRITERS = ("aa" * 8, "bb" * 8, "cc" * 8)
IDS = st.sampled_from(["m1", "m2", "m3", "m4", "m5", "m6"])
TURNS = st.sampled_from(["t1", "t2"])
PARENTS = st.none() | IDS


def events() -> st.SearchStrategy[Event]:
    """Events that meet each other: few ids, and whatever parents and targets."""
    maybe_turn = st.none() | TURNS
    return st.one_of(
        st.builds(said, st.just("said"), id=IDS, under=PARENTS, turn_id=maybe_turn),
        st.builds(answered, st.just("answered"), id=IDS, under=PARENTS),
        st.builds(a_turn, parent_id=PARENTS, idempotency_key=st.none() | IDS),
        st.builds(edited, IDS, st.just("edited")),
        st.builds(removed, IDS),
        st.builds(head_moved, PARENTS),
        st.builds(started, TURNS),
        st.builds(ended, TURNS, st.sampled_from([TurnState.FAILED, TurnState.COMPLETE])),
        st.builds(began),
    )


class Arrival(NamedTuple):
    """The events of three writers in an order in which they may arrive: each writer's own in their order."""

    batches: list[list[SealedEvent]]

    @property
    def in_causal_order(self) -> list[SealedEvent]:
        return sorted((e for batch in self.batches for e in batch), key=lambda e: e.header.stamp)


@st.composite
def arrivals(draw: st.DrawFn) -> Arrival:
    """Chains of three writers, interleaved and cut into batches at random."""
    chains = {writer: draw(_chain(writer)) for writer in WRITERS}
    order = draw(st.permutations([writer for writer, chain in chains.items() for _ in chain]))
    batches: list[list[SealedEvent]] = [[]]
    for writer in order:
        if draw(st.booleans()):
            batches.append([])
        batches[-1].append(chains[writer].pop(0))
    return Arrival([batch for batch in batches if batch])


def _chain(writer: str) -> st.SearchStrategy[list[SealedEvent]]:
    written = st.lists(events(), max_size=6)
    return st.builds(
        lambda seq, events: sealed(UID, *events, writer=writer, seq=seq), st.integers(1, 4), written
    )


@contextmanager
def sqlite_backend() -> Iterator[Backend]:
    """A store in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        backend = SqliteBackend(place / "s.db", installation=Installation(place), durability="process")
        yield backend
        backend.close()


@contextmanager
def memory_backend() -> Iterator[Backend]:
    """A store in memory."""
    yield MemoryBackend()


ON_EACH_BACKEND = pytest.mark.parametrize(
    "open_backend", [sqlite_backend, memory_backend], ids=["sqlite", "memory"]
)
OpenBackend = Callable[[], AbstractContextManager[Backend]]


def a_bench(backend: Backend) -> Workbench:
    """A backend with the conversation UID, still empty."""
    bench = Workbench(backend)
    workspace = bench.workspace()
    with backend.transaction() as tx:
        tx.put_stream(StreamInfo(UID, workspace, "c1"))
    return bench


def shown(bench: Workbench) -> tuple[ConversationRow | None, list[MessageEntry], list[TurnRow]]:
    """What readers see of the conversation, without the positions that tell the order of arrival."""
    turns = bench.read(lambda reader: reader.read_turns(UID, Span(limit=-1)))
    return bench.row(UID), bench.messages(UID), [turn._replace(position=0) for turn in turns]


@ON_EACH_BACKEND
@settings(max_examples=40, deadline=None)
@given(arrival=arrivals())
def test_folding_again_gives_the_same_rows(open_backend: OpenBackend, arrival: Arrival) -> None:  # P-1
    with open_backend() as backend:
        bench = a_bench(backend)
        for batch in arrival.batches:
            bench.adopt(*batch)
        before = bench.rows(UID)

        bench.refold(UID)

        assert bench.rows(UID) == before


@ON_EACH_BACKEND
@settings(max_examples=40, deadline=None)
@given(arrival=arrivals())
def test_the_order_of_arrival_changes_nothing_that_is_shown(
    open_backend: OpenBackend, arrival: Arrival
) -> None:  # P-1, L-1
    with open_backend() as backend, memory_backend() as reference:
        bench, in_order = a_bench(backend), a_bench(reference)
        in_order.adopt(*arrival.in_causal_order)

        for batch in arrival.batches:
            bench.adopt(*batch)

        assert shown(bench) == shown(in_order)


@ON_EACH_BACKEND
@settings(max_examples=40, deadline=None)
@given(arrival=arrivals())
def test_whatever_arrives_verifies(open_backend: OpenBackend, arrival: Arrival) -> None:  # C-3, P-1
    with open_backend() as backend:
        bench = a_bench(backend)
        for batch in arrival.batches:
            bench.adopt(*batch)

        with backend.reading() as reader:
            report = Verifier(reader, Scratch(make_scratch), None, lambda _: None).run()

        assert report.findings == ()
