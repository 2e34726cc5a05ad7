"""A store that is inherited over `fork`: parent and child go on, and neither harms the other (D-7)."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path

import pytest

import manent
from manent.storage.sqlite import forking
from tests.processes import run
from tests.programs import (
    fork_and_append,
    fork_and_leave,
    fork_beside_a_transaction,
    fork_inside_a_read,
    fork_inside_a_transaction,
)
from tests.stores import backend_of, questions

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture
def conversation_id(path: Path) -> str:
    """The id of the only conversation in the store."""
    with manent.open(path) as store:
        return store.create("fork").id


def stored(path: Path, conversation_id: str) -> list[str]:
    """The questions of a conversation, once the whole store has been looked at."""
    with manent.open(path) as store:
        assert store.verify().ok
        return questions(store, conversation_id)


def test_parent_and_child_append_through_the_same_handle(path: Path, conversation_id: str) -> None:
    code = run(fork_and_leave, path, conversation_id)  # D-7

    assert code == 0
    found = stored(path, conversation_id)
    assert (found[0], found[-1]) == ("before", "parent")
    assert sorted(found) == ["before", "child", "parent", "parent"]


def test_what_a_child_got_acknowledged_survives_its_parents_close_and_its_own_death(
    path: Path, conversation_id: str
) -> None:  # D-7, D-1
    code = run(fork_and_append, path, conversation_id)

    assert code == -9
    assert stored(path, conversation_id) == ["before", "child", "parent", "child"]


def test_a_fork_waits_for_the_transaction_of_another_thread(path: Path, conversation_id: str) -> None:  # D-7
    code = run(fork_beside_a_transaction, path, conversation_id, 0.5)

    assert code == 0
    assert sorted(stored(path, conversation_id)) == ["child", "parent"]


def test_a_child_that_was_forked_in_the_middle_of_a_read_is_refused_and_its_parent_goes_on(
    path: Path, conversation_id: str
) -> None:  # D-7
    said, read_on = run(fork_inside_a_read, path, conversation_id)

    assert "was in use while this process was forked" in said
    assert read_on
    assert stored(path, conversation_id) == ["parent"]


def test_a_transaction_that_was_open_at_the_fork_is_its_parents_alone(
    path: Path, conversation_id: str
) -> None:
    in_child, in_parent = run(fork_inside_a_transaction, path, conversation_id)  # D-7

    assert "was in use while this process was forked" in in_child
    assert in_parent == "committed"
    with manent.open(path, wait=0.0) as store:
        assert [summary.title for summary in store.list()] == ["renamed"]
        assert store.verify().ok


def test_while_a_process_forks_no_connection_is_open(path: Path, conversation_id: str) -> None:  # D-7
    with manent.open(path) as store:
        pool = backend_of(store)._pool
        store.list()
        was_open = pool.has_idle

        forking.GATE.rest()
        try:
            assert (was_open, pool.has_idle) == (True, False)
        finally:
            forking.GATE.go_on()

        assert [summary.id for summary in store.list()] == [conversation_id]


def test_threads_that_come_while_a_process_forks_wait_until_it_has(
    path: Path, conversation_id: str
) -> None:  # D-7
    with manent.open(path) as store:
        found: list[str] = []
        reader = threading.Thread(target=lambda: found.extend(summary.id for summary in store.list()))

        forking.GATE.rest()
        reader.start()
        time.sleep(0.05)
        found_meanwhile = list(found)
        forking.GATE.go_on()
        reader.join()

        assert (found_meanwhile, found) == ([], [conversation_id])


def test_a_thread_that_is_inside_may_go_on_while_a_fork_waits_for_it(
    path: Path, conversation_id: str
) -> None:
    with manent.open(path) as store:  # D-7
        inside, go = threading.Event(), threading.Event()
        done: list[str] = []

        def read_while_reading() -> None:
            with backend_of(store).reading():
                inside.set()
                go.wait()
                done.extend(summary.id for summary in store.list())

        reader = threading.Thread(target=read_while_reading)
        reader.start()
        inside.wait()
        threading.Timer(0.05, go.set).start()
        forking.GATE.rest()
        forking.GATE.go_on()
        reader.join()

        assert done == [conversation_id]


def test_a_fork_waits_only_so_long_for_a_thread_that_does_not_come_out(
    path: Path, conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # D-7
    monkeypatch.setattr(forking, "FORK_WAIT_S", 0.1)
    with manent.open(path) as store:
        inside, go = threading.Event(), threading.Event()

        def stay() -> None:
            with backend_of(store).reading():
                inside.set()
                go.wait()

        reader = threading.Thread(target=stay)
        reader.start()
        inside.wait()
        started = time.monotonic()
        forking.GATE.rest()
        waited_s = time.monotonic() - started
        forking.GATE.go_on()
        go.set()
        reader.join()

        assert 0.1 <= waited_s < 2.0
        assert [summary.id for summary in store.list()] == [conversation_id]
