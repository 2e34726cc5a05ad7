"""Case 21: two processes want one conversation."""

from __future__ import annotations

import os
import platform
import signal
import sys
import time
from pathlib import Path

import pytest

import manent
from manent.history.processes import local_processes
from manent.model.owners import Claimed, HeldBy, Process
from manent.testing.machines import Machines
from tests.cases import owners
from tests.processes import run, run_together, start
from tests.stores import questions

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills a process as POSIX does")


@pytest.fixture
def s1(path: Path) -> str:
    """The id of a conversation in the store at `path`."""
    with manent.open(path) as store:
        return store.create_with_id("s1").id


def test_case_21_a_second_process_is_told_host_pid_and_since_when(path: Path, s1: str) -> None:  # O-1
    before_ns = time.time_ns()
    with start(owners.claim_and_wait, path, s1).wait_until_ready() as owner:
        told = run(owners.claim, path, s1)

        assert told["held by"] == [platform.node(), owner.pid]
        assert before_ns <= told["since"] <= time.time_ns()


def test_case_21_after_kill_9_another_process_claims_at_once(path: Path, s1: str) -> None:  # O-1
    with start(owners.claim_and_wait, path, s1).wait_until_ready() as owner:
        owner.process.send_signal(signal.SIGKILL)
        owner.process.wait()

        told = run(owners.claim, path, s1)

    assert list(told) == ["claimed"]
    with manent.open(path) as store:
        assert questions(store, s1) == ["mine"]
        assert store.verify().ok


def test_case_21_a_killed_owner_that_nobody_has_reaped_is_no_owner(path: Path, s1: str) -> None:  # O-1
    with start(owners.claim_and_wait, path, s1).wait_until_ready() as owner:
        os.kill(owner.pid, signal.SIGKILL)
        os.waitid(os.P_PID, owner.pid, os.WEXITED | os.WNOWAIT)

        told = run(owners.claim, path, s1)

    assert list(told) == ["claimed"]


def test_case_21_an_owner_that_left_without_a_word_is_none(path: Path, s1: str) -> None:  # O-1
    first = run(owners.claim, path, s1)

    second = run(owners.claim, path, s1)

    assert second["claimed"] > first["claimed"]


def test_case_21_who_was_displaced_appends_nothing_and_is_told_by_whom(path: Path, s1: str) -> None:  # O-2
    with start(owners.claim_and_append_when_told, path, s1).wait_until_ready() as displaced:
        forced = start(owners.claim_by_force_when_told, path, s1)
        pid = forced.pid
        forced.result()
        displaced.go()

        assert displaced.result() == f"process {pid} on {platform.node()}"

    with manent.open(path) as store:
        assert questions(store, s1) == []


def test_case_21_of_processes_that_race_one_at_a_time_is_the_owner(path: Path, s1: str) -> None:  # O-1, O-2
    racing = [start(owners.race_for_it, path, s1, 20) for _ in range(4)]

    had = run_together(racing)

    with manent.open(path) as store:
        assert len(questions(store, s1)) == sum(sum(rounds) for rounds in had) > 0
        assert store.conversation(s1).live_owner() is None
        assert store.verify().ok


def test_case_21_a_recycled_pid_is_not_the_owner(path: Path, s1: str) -> None:  # O-1
    host = Machines().host("a")
    owner, other = host.start(), host.start()
    with manent.open(path, processes=owner) as store:
        first = store.conversation(s1).claim()
    owner.crash()
    recycled = host.reuse(owner.here().pid)

    with manent.open(path, processes=recycled) as store:
        assert not store.conversation(s1).heartbeat()
    with manent.open(path, processes=other) as store:
        second = store.conversation(s1).claim()

    assert isinstance(first, Claimed)
    assert isinstance(second, Claimed)
    assert second.epoch > first.epoch


class _Former:
    """This process, as if it had begun earlier than it did: an owner whose pid it has now."""

    def here(self) -> Process:
        here = local_processes().here()
        return here._replace(started=None if here.started is None else here.started - 1)

    judge = local_processes().judge


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere beginnings are told by the clock")
def test_case_21_a_real_process_that_has_the_pid_of_the_owner_is_not_it(path: Path, s1: str) -> None:  # O-1
    with manent.open(path, processes=_Former()) as store:
        first = store.conversation(s1).claim()

    told = run(owners.claim, path, s1)

    assert isinstance(first, Claimed)
    assert told["claimed"] > first.epoch


def test_case_21_an_owner_that_lives_keeps_others_out_in_threads_and_stores(path: Path, s1: str) -> None:
    with start(owners.claim_and_wait, path, s1).wait_until_ready() as owner, manent.open(path) as store:
        answers = [store.conversation(s1).claim(), store.reserve(s1).claim()]

        assert [a.owner.pid for a in answers if isinstance(a, HeldBy)] == [owner.pid] * 2
        owner.go()
        owner.result()
        assert isinstance(store.conversation(s1).claim(), Claimed)
