"""Threads that write and read at once: nothing is lost, doubled, torn or missed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from typing import TypeVar

from manent.codec.sealing import hash_of
from manent.model.log import LogEntry
from manent.testing.builders import said
from manent.testing.conformance.contract import Contract, require
from manent.testing.workbench import ALL, Workbench

WRITERS = 4
CALLS = 8
T = TypeVar("T")


class ConcurrencyContract(Contract):
    """What a backend promises to several threads."""

    def test_threads_never_share_a_seq_and_lose_nothing(self, bench: Workbench) -> None:  # L-4
        uid = bench.conversation()

        together(*[partial(append_batches, bench, uid, f"w{number}") for number in range(WRITERS)])

        events = bench.events(uid)
        assert len(events) == WRITERS * CALLS * 2
        assert len({entry.header.stamp for entry in events}) == len(events)
        assert breaks_in_the_chain(events) == []
        assert bench.read(lambda reader: reader.read_tips(uid))[0].total == len(events)

    def test_threads_write_to_different_conversations_at_once(self, bench: Workbench) -> None:  # L-4
        uids = [bench.conversation(f"c{number}") for number in range(WRITERS)]

        together(*[partial(append_batches, bench, uid, uid) for uid in uids])

        assert [len(bench.events(uid)) for uid in uids] == [CALLS * 2] * WRITERS
        assert len({entry.header.seq for entry in bench.log()}) == WRITERS * CALLS * 2

    def test_a_reader_sees_whole_appends_only(self, bench: Workbench) -> None:  # L-2
        require(bench.backend, "reads_beside_writes")
        uid = bench.conversation()
        done = threading.Event()

        seen, _ = together(
            partial(until, done, lambda: len(bench.messages(uid)) % 2),
            partial(finally_set, done, partial(append_batches, bench, uid, "w")),
        )

        assert set(seen) == {0}

    def test_a_follower_misses_nothing(self, bench: Workbench) -> None:  # L-5, L-6
        uid = bench.conversation()
        done = threading.Event()
        followed: list[LogEntry] = []

        def follow() -> None:
            after = followed[-1].position if followed else 0
            followed.extend(bench.read(lambda reader: reader.read_log(after, 3)))

        def write() -> None:
            together(*[partial(append_batches, bench, uid, f"w{number}") for number in range(2)])

        together(partial(until, done, follow), partial(finally_set, done, write))

        rest = bench.read(lambda reader: reader.read_log(followed[-1].position, ALL))
        assert [*followed, *rest] == bench.log()

    def test_a_writer_waits_for_the_one_before_it(self, bench: Workbench) -> None:  # D-5
        uid = bench.conversation()
        begun = threading.Event()

        def slow() -> None:
            with bench.backend.transaction() as tx:
                begun.set()
                tx.put_metadata(uid, "title", "first")
                threading.Event().wait(0.05)

        def quick() -> None:
            begun.wait()
            bench.put_metadata(uid, "title", "second")

        together(slow, quick)

        assert bench.registers(uid) == {"title": "second"}


def together(*calls: Callable[[], T]) -> list[T]:
    """Run calls at once, each in a thread; what they return, or the first error."""
    barrier = threading.Barrier(len(calls))

    def start(call: Callable[[], T]) -> T:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(start, call) for call in calls]]


def append_batches(bench: Workbench, uid: str, name: str) -> list[int]:
    """Append two messages at a time, some times."""
    return [
        len(bench.record(uid, said(f"{name} {number}"), said(f"{name} {number}, too")))
        for number in range(CALLS)
    ]


def until(done: threading.Event, look: Callable[[], T]) -> list[T]:
    """Call over and over until something is done, and once more."""
    seen = []
    while not done.is_set():
        seen.append(look())
    return [*seen, look()]


def finally_set(done: threading.Event, work: Callable[[], object]) -> list[int]:
    """Do something, and say that it is done whatever came of it."""
    try:
        work()
    finally:
        done.set()
    return []


def breaks_in_the_chain(events: list[LogEntry]) -> list[int]:
    """The seqs of events of one writer that do not link to the one before them."""
    pairs = pairwise(events)
    return [later.header.seq for earlier, later in pairs if later.header.prev_hash != hash_of(earlier)]
