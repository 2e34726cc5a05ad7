"""Statistics: counts by query, in which unknown is not zero."""

from __future__ import annotations

import pytest

from manent.history.store import Store
from manent.model.parts import Usage
from manent.model.records import Message, Statistics
from manent.storage.port import Backend
from manent.testing.builders import a_turn, ended, removed, started
from manent.testing.clocks import NOON_NS, SettableClock, stepping
from manent.testing.workbench import Workbench
from tests.unit.history.handles import handle

SECOND_NS = 10**9
NOTHING = Statistics(
    conversations=0, turns={}, messages={}, first_ns=None, last_ns=None, tokens={}, reports={}
)


@pytest.fixture
def store(backend: Backend, clock: SettableClock) -> Store:
    """A handle of the workspace `demo`, at noon."""
    return handle(backend, clock=clock)


def test_where_nobody_wrote_there_is_nothing(store: Store, backend: Backend) -> None:
    assert (store.stats(), handle(backend, None).stats()) == (NOTHING, NOTHING)
    assert store.reserve("s1").stats() == NOTHING


def test_a_conversation_without_a_word_counts_as_one(store: Store) -> None:
    found = store.create().stats()

    assert found == store.stats()
    assert (found.conversations, found.turns, found.messages) == (1, {}, {})
    assert (found.first_ns, found.last_ns) == (NOON_NS, NOON_NS)
    assert (found.turns_total, found.messages_total) == (0, 0)


def test_a_conversation_is_counted_by_state_by_role_and_by_measure(store: Store, backend: Backend) -> None:
    conversation = store.create()
    conversation.append_turn("q", "a", usage=Usage(input_tokens=800, output_tokens=90, cost=0.25))
    conversation.append_turn("q", "a", usage=Usage(input_tokens=5, model="m"))
    conversation.append_turn("q", "a")
    conversation.append_message(Message(role="user", parts="and?"))
    conversation.append_message(
        Message(role="tool", parts="42", usage=Usage(output_tokens=10, reasoning_tokens=0))
    )
    Workbench(backend).record(conversation.uid, started("t1"), ended("t1"), started("t2"))

    found = conversation.stats()

    assert found == Statistics(
        conversations=1,
        turns={"complete": 4, "open": 2},
        messages={"user": 4, "assistant": 3, "tool": 1},
        first_ns=NOON_NS,
        last_ns=NOON_NS,
        tokens={"cost": 0.25, "input_tokens": 805, "output_tokens": 100, "reasoning_tokens": 0},
        reports={"cost": 1, "input_tokens": 2, "output_tokens": 2, "reasoning_tokens": 1},
    )
    assert (found.turns_total, found.messages_total) == (6, 8)
    assert (found.input_tokens, found.output_tokens) == (805, 100)


def test_what_nobody_measured_is_unknown_and_not_zero(store: Store) -> None:
    conversation = store.create()
    conversation.append_turn("q", "a")
    conversation.append_turn("q", "a", usage=Usage(model="m", currency="EUR"))

    found = conversation.stats()

    assert (found.tokens, found.reports) == ({}, {})
    assert (found.input_tokens, found.output_tokens) == (None, None)


def test_a_measured_zero_is_a_zero(store: Store) -> None:
    conversation = store.create()
    conversation.append_turn("q", "a", usage=Usage(input_tokens=0))

    found = conversation.stats()

    assert (found.tokens, found.reports) == ({"input_tokens": 0}, {"input_tokens": 1})
    assert (found.input_tokens, found.output_tokens) == (0, None)


def test_a_workspace_counts_its_own_and_the_owner_all(store: Store, backend: Backend) -> None:  # N-1
    theirs = handle(backend, "theirs", clock=stepping(NOON_NS + SECOND_NS))
    for _ in range(2):
        store.create().append_turn("q", "a", usage=Usage(input_tokens=1))
    theirs.create().append_turn("q", "a", usage=Usage(input_tokens=10))
    theirs.reserve("r").rename("reserved")

    found = [one.stats() for one in (store, theirs, handle(backend, None), handle(backend, "nobody's"))]

    assert [(f.conversations, f.input_tokens, f.messages_total) for f in found] == [
        (2, 2, 4),
        (1, 10, 2),
        (3, 12, 6),
        (0, None, 0),
    ]


def test_times_are_the_first_and_the_greatest_that_anybody_claimed(
    store: Store, clock: SettableClock
) -> None:
    conversation = store.create()
    for by_ns in (5 * SECOND_NS, -20 * SECOND_NS, SECOND_NS):
        clock.advance(by_ns)
        conversation.append_turn("q", "a")

    found = conversation.stats()

    assert (found.first_ns, found.last_ns) == (NOON_NS, NOON_NS + 5 * SECOND_NS)


def test_what_was_removed_counts_no_more(store: Store, backend: Backend) -> None:
    conversation = store.create()
    conversation.append_message(Message(role="user", parts="one", id="m1"))
    conversation.append_message(Message(role="assistant", parts="two", id="m2"))

    Workbench(backend).record(conversation.uid, removed("m2"))

    assert conversation.stats().messages == {"user": 1}


def test_an_erased_usage_is_unknown(store: Store, backend: Backend) -> None:
    conversation = store.create()
    bench = Workbench(backend)
    (gone, _) = bench.record(
        conversation.uid,
        a_turn(usage=Usage(input_tokens=800)),
        a_turn(usage=Usage(input_tokens=5)),
    )

    bench.erase(
        conversation.uid, gone.header.stamp, *(leaf.name for leaf in gone.leaves if leaf.name == "usage")
    )

    found = conversation.stats()
    assert (found.tokens, found.reports, found.messages_total) == (
        {"input_tokens": 5},
        {"input_tokens": 1},
        4,
    )


def test_a_deleted_conversation_counts_no_more(store: Store) -> None:
    store.create_with_id("s1").append_turn("q", "a", usage=Usage(input_tokens=5))
    store.create_with_id("s2").append_turn("q", "a")
    store.delete("s1")

    found = store.stats()

    assert (found.conversations, found.messages_total, found.input_tokens) == (1, 2, None)


def test_tokens_beyond_any_float_are_counted_exactly(store: Store) -> None:
    conversation = store.create()
    for tokens in (2**53, 1):
        conversation.append_turn("q", "a", usage=Usage(input_tokens=tokens))

    assert conversation.stats().input_tokens == 2**53 + 1
