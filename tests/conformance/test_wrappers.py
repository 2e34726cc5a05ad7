"""Wrappers have the type of what they wrap, keep its contract, and go around each other."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from manent.errors import InjectedFaultError, ReadOnlyError, StorageFullError, StoreBusyError
from manent.storage.memory.backend import MemoryBackend
from manent.storage.port import Backend
from manent.storage.wrappers import Call, FaultPlan, Wrapper, faulty, read_only, traced
from manent.testing.builders import a_turn, said
from manent.testing.conformance import BackendConformance, OpenBackend
from manent.testing.faults import failing_at_each_statement
from manent.testing.snapshots import take_snapshot
from manent.testing.workbench import Workbench

NEVER = 0


class TestWrapped(BackendConformance):
    """Everything that wraps without a purpose changes nothing."""

    @pytest.fixture
    def open_backend(self) -> OpenBackend:
        calls: list[Call] = []
        return lambda name="store": traced(
            faulty(Wrapper(MemoryBackend(name=name)), FaultPlan(NEVER)), calls.append
        )


@pytest.fixture
def bench() -> Workbench:
    return Workbench(MemoryBackend(wait_s=0.01))


WRITES: dict[str, Callable[[Backend], object]] = {
    "transaction": lambda backend: backend.transaction().__enter__(),
    "blobs.put": lambda backend: backend.blobs.put("00" * 16, [b"x"]),
    "blobs.drop": lambda backend: backend.blobs.drop("00" * 16, "00" * 32),
    "drafts.put": lambda backend: backend.drafts.put("00" * 16, "d", b"x"),
    "drafts.drop": lambda backend: backend.drafts.drop("00" * 16, "d"),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_read_only_store_refuses_every_write(bench: Workbench, write: Callable[[Backend], object]) -> None:
    with pytest.raises(ReadOnlyError) as caught:  # D-3
        write(read_only(bench.backend))

    assert caught.value.store == bench.backend.url


def test_a_read_only_store_is_read_like_any(bench: Workbench) -> None:
    bench.record(bench.conversation(), a_turn())
    digest = bench.backend.blobs.put("00" * 16, [b"x"])

    same = Workbench(read_only(bench.backend))

    assert same.read(take_snapshot) == bench.read(take_snapshot)
    assert b"".join(same.backend.blobs.get("00" * 16, digest)) == b"x"
    assert (same.backend.url, same.backend.writer) == (bench.backend.url, bench.backend.writer)


def test_a_planned_fault_strikes_at_its_statement_and_once(bench: Workbench) -> None:  # D-2
    uid = bench.conversation()
    plan = FaultPlan(2)
    broken = Workbench(faulty(bench.backend, plan))

    with pytest.raises(InjectedFaultError), broken.backend.transaction() as tx:
        tx.put_metadata(uid, "title", "the first statement")
        tx.read.info()

    assert plan.fired
    assert bench.registers(uid) == {}
    assert broken.put_metadata(uid, "title", "again") is not None


def test_each_transaction_counts_its_own_statements(bench: Workbench) -> None:
    uid = bench.conversation()
    broken = Workbench(faulty(bench.backend, FaultPlan(3)))

    broken.put_metadata(uid, "title", "a")
    broken.put_metadata(uid, "title", "b")

    assert bench.registers(uid) == {"title": "b"}


def test_the_commit_is_the_last_statement(bench: Workbench) -> None:  # D-2
    uid = bench.conversation()

    numbers = list(
        failing_at_each_statement(
            bench.backend, lambda backend: Workbench(backend).put_metadata(uid, "title", "t")
        )
    )

    assert numbers == [1, 2]
    assert bench.registers(uid) == {"title": "t"}


@pytest.mark.parametrize("error", [StorageFullError(store="here"), KeyboardInterrupt(), MemoryError()])
def test_a_fault_is_what_was_asked_for(bench: Workbench, error: BaseException) -> None:  # D-2, D-3
    with pytest.raises(type(error)) as caught:
        faulty(bench.backend, FaultPlan(1, error)).blobs.put("00" * 16, [b"x"])

    assert caught.value is error
    assert list(bench.backend.blobs.list_digests("00" * 16)) == []


def test_calls_are_told_with_what_they_are_and_never_with_content(bench: Workbench) -> None:  # U-4
    calls: list[Call] = []
    uid = bench.conversation()
    same = Workbench(traced(bench.backend, calls.append))

    same.append(uid, said("a secret"), said("another"))
    same.events(uid)

    assert [(call.name, call.items, call.error) for call in calls] == [
        ("transaction.append", 2, None),
        ("transaction", 1, None),
        ("read.read_stream", 2, None),
        ("reading", 1, None),
    ]
    assert "secret" not in repr(calls)
    assert all(call.duration_ns > 0 for call in calls)


def test_calls_that_fail_are_told_with_their_error(bench: Workbench) -> None:
    calls: list[Call] = []
    same = traced(bench.backend, calls.append)

    with bench.backend.transaction(), pytest.raises(StoreBusyError), same.transaction():
        pass

    assert [(call.name, call.error) for call in calls] == [("transaction", "StoreBusyError")]


def test_wrappers_go_around_each_other(bench: Workbench) -> None:
    calls: list[Call] = []

    with pytest.raises(ReadOnlyError):
        traced(read_only(faulty(bench.backend, FaultPlan(1))), calls.append).drafts.put("00" * 16, "d", b"")

    assert [call.error for call in calls] == ["ReadOnlyError"]
