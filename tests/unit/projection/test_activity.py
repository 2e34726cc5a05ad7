"""What moves a conversation in lists, and what an idempotency key stands for."""

from __future__ import annotations

import pytest

from manent.model.events import CONTENT_KINDS, KINDS, UnknownEvent
from manent.model.log import Header, StoredEvent
from manent.projection.activity import key_digest
from manent.projection.registry import project
from manent.storage.memory.reader import MemoryReader
from manent.storage.memory.state import State
from manent.testing.builders import a_turn, said, sealed
from manent.testing.workbench import Workbench

NOTHING = MemoryReader(State("", "", b""))


@pytest.mark.parametrize(
    "kind",
    [
        "conversation_forked",
        "conversation_linked",
        "content_redacted",
        "range_archived",
        "range_restored",
        "summary_recorded",
        "conversation_deleted",
        "hold_placed",
        "hold_lifted",
        "thread_forked",
        "message_range_related",
        "message_stream_delta",
    ],
)
def test_what_is_no_content_moves_nothing(kind: str) -> None:  # L-8
    assert kind in KINDS
    assert kind not in CONTENT_KINDS


def test_a_content_event_moves_activity_and_claims(bench: Workbench, uid: str) -> None:  # L-8, R-2
    event = bench.record(uid, a_turn(), claim_ns=70)[0]

    row = bench.row(uid)
    assert row is not None
    assert (row.activity, row.claim_first_ns, row.claim_max_ns) == (event.header.stamp, 70, 70)


def test_an_event_of_tomorrow_changes_nothing() -> None:  # L-9
    header = Header("00" * 16, "00" * 8, 1, "telepathy_received", 1, None, "00" * 16, bytes(32), 1)
    event = UnknownEvent(kind="telepathy_received", schema_version=1)

    assert project(StoredEvent(1, header, (), event), NOTHING) == ()


def test_a_key_stands_for_the_event_that_came_with_it(bench: Workbench, uid: str) -> None:  # L-7
    event = bench.record(uid, said("once", idempotency_key="k"))[0]

    found = bench.read(lambda reader: reader.find_key(uid, key_digest(uid, "k")))

    assert found == event.header.stamp


def test_a_key_that_came_twice_stands_for_the_lower_stamp(bench: Workbench, uid: str) -> None:  # L-7, P-1
    bench.adopt(*sealed(uid, said("late", idempotency_key="k"), writer="aa" * 8, seq=9))
    bench.adopt(*sealed(uid, said("early", idempotency_key="k"), writer="bb" * 8, seq=4))

    assert bench.read(lambda reader: reader.find_key(uid, key_digest(uid, "k"))) == (4, "bb" * 8)


@pytest.mark.parametrize("other", [("11" * 16, "k"), ("00" * 16, "K"), ("00" * 16, "")])
def test_a_key_is_another_one_in_another_conversation(other: tuple[str, str]) -> None:  # L-7
    assert key_digest(*other) != key_digest("00" * 16, "k")


def test_the_projections_are_pure(bench: Workbench, uid: str) -> None:  # P-1
    stored = bench.record(uid, said("hi", id="m1"))[0]
    before = bench.rows(uid)

    changes = bench.read(lambda reader: [project(stored, reader) for _ in range(2)])

    assert changes[0] == changes[1] != ()
    assert bench.rows(uid) == before
