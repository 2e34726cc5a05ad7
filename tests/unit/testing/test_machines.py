"""Simulated machines: their processes judge each other as real ones do (O-1)."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from manent.errors import InputError
from manent.history.processes import Life
from manent.model.owners import Process
from manent.testing.clocks import NOON_NS, fixed
from manent.testing.machines import FIRST_PID, TICK_NS, Machines, Pids, Running


def test_a_process_is_told_by_its_host_its_boot_its_namespace_its_pid_and_its_beginning() -> None:
    clock = fixed()
    host = Machines(clock).host("a")
    clock.advance(500 * TICK_NS)

    found = host.start().here()

    assert found == Process("a", "a-boot-1", "pid:[1]", pid=FIRST_PID, started=500)


def test_a_host_has_one_name() -> None:
    machines = Machines()

    assert machines.host("a") is machines.host("a")


def test_processes_of_one_host_see_each_other() -> None:  # O-1
    host = Machines().host("a")
    one, other = host.start(), host.start()

    assert [one.judge(other.here()), other.judge(one.here())] == [Life.ALIVE, Life.ALIVE]


@pytest.mark.parametrize("reaped", [True, False])
def test_a_process_that_crashed_is_gone_and_a_zombie_too(reaped: bool) -> None:  # O-1
    host = Machines().host("a")
    one, other = host.start(), host.start()

    one.crash(reaped=reaped)

    assert (one.is_running, other.judge(one.here())) == (False, Life.GONE)


def test_a_pid_that_is_used_again_is_another_process() -> None:  # O-1
    host = Machines().host("a")
    one, other = host.start(), host.start()
    one.crash()

    again = host.reuse(one.here().pid)

    assert again.here().pid == one.here().pid
    assert [other.judge(one.here()), other.judge(again.here())] == [Life.GONE, Life.ALIVE]
    assert again.judge(one.here()) is Life.GONE


def test_after_a_reboot_all_are_gone_though_their_pids_are_there_again() -> None:  # O-1
    host = Machines().host("a")
    before = [host.start(), host.container().start()]

    host.reboot()
    after = host.start()

    assert after.here().pid == before[0].here().pid
    assert [after.judge(process.here()) for process in before] == [Life.GONE, Life.GONE]
    assert [process.is_running for process in before] == [False, False]


def test_a_host_knows_nothing_of_another_ones_processes() -> None:  # O-1
    machines = Machines()
    here, there = machines.host("a").start(), machines.host("b").start()

    there.crash()

    assert here.judge(there.here()) is Life.UNKNOWN


def test_containers_of_one_host_know_nothing_of_each_other() -> None:  # O-1
    host = Machines().host("a")
    places: list[Pids] = [host, host.container(), host.container()]
    running = [place.start() for place in places]

    found = [[one.judge(other.here()) for other in running] for one in running]

    assert found == [[Life.ALIVE if one is other else Life.UNKNOWN for other in running] for one in running]


def test_a_container_that_crashed_and_began_anew_knows_nothing_of_the_one_before() -> None:  # O-1
    host = Machines().host("a")
    before = host.container().start()

    before.crash()
    after = host.container().start()

    assert after.here().pid == before.here().pid
    assert after.judge(before.here()) is Life.UNKNOWN


def test_without_procfs_only_the_pid_counts() -> None:  # O-1
    host = Machines().host("a", procfs=False)
    one, zombie, lost, other = (host.start() for _ in range(4))

    one.crash()
    host.reuse(one.here().pid)
    zombie.crash(reaped=False)
    lost.crash()

    assert one.here() == Process("a", "", "", pid=FIRST_PID, started=None)
    found = [other.judge(process.here()) for process in (one, zombie, lost)]
    assert found == [Life.ALIVE, Life.ALIVE, Life.GONE]


def test_no_two_processes_begin_at_once_whatever_the_clock_does() -> None:
    clock = fixed()
    host = Machines(clock).host("a")
    begun = [host.start().here().started or 0]

    for to_ns in (NOON_NS, NOON_NS - 10**12, NOON_NS + 10**12, NOON_NS):
        clock.set(to_ns)
        begun.append(host.start().here().started or 0)

    assert begun == [1, 2, 3, 100_000, 100_001]


def test_a_process_that_has_ended_judges_nothing_and_does_not_end_twice() -> None:
    host = Machines().host("a")
    one, other = host.start(), host.start()
    one.crash()

    with pytest.raises(InputError, match="has ended"):
        one.judge(other.here())
    with pytest.raises(InputError, match="has ended already"):
        one.crash()


def test_a_zombie_is_reaped_once_and_has_its_pid_until_then() -> None:
    host = Machines().host("a")
    one = host.start()
    one.crash(reaped=False)
    with pytest.raises(InputError, match="is taken"):
        host.reuse(one.here().pid)
    with pytest.raises(InputError, match="has ended already"):
        one.crash(reaped=False)

    one.crash()

    assert host.reuse(one.here().pid).is_running


def test_a_pid_that_is_taken_is_not_given_out_again() -> None:
    host = Machines().host("a")
    ahead = host.reuse(FIRST_PID)

    assert [ahead.here().pid, host.start().here().pid] == [FIRST_PID, FIRST_PID + 1]


PICK = st.integers(0, 30)


class Wear(RuleBasedStateMachine):
    """Two hosts, a container, and whatever befalls them."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = fixed()
        machines = Machines(self.clock)
        self.hosts = [machines.host("a"), machines.host("b")]
        self.places: list[Pids] = [*self.hosts, self.hosts[0].container()]
        self.known: list[tuple[int, Running]] = []

    @rule(place=st.integers(0, 2))
    def start(self, place: int) -> None:
        """Start a process."""
        self.known.append((place, self.places[place].start()))

    @precondition(lambda self: self.known)
    @rule(pick=PICK, reaped=st.booleans())
    def crash(self, pick: int, reaped: bool) -> None:
        """End a process, if it runs."""
        _, running = self.known[pick % len(self.known)]
        if running.is_running:
            running.crash(reaped=reaped)

    @precondition(lambda self: self.known)
    @rule(pick=PICK)
    def reuse(self, pick: int) -> None:
        """Use a pid again, if it is free."""
        place, running = self.known[pick % len(self.known)]
        with contextlib.suppress(InputError):  # it is taken
            self.known.append((place, self.places[place].reuse(running.here().pid)))

    @rule(host=st.integers(0, 1))
    def reboot(self, host: int) -> None:
        """Boot a host again."""
        self.hosts[host].reboot()

    @rule(by_ns=st.integers(-(10**10), 10**10))
    def set_clock(self, by_ns: int) -> None:
        """Move the clock, perhaps back."""
        self.clock.advance(by_ns)

    @invariant()
    def nobody_who_runs_is_judged_gone_and_everybody_gone_is_where_it_can_be_known(self) -> None:
        """Compare what each process says of each one that ever was with what is so."""
        for place, one in self.known:
            if one.is_running:
                for there, other in self.known:
                    assert one.judge(other.here()) is self._expected(place, one, there, other)

    def _expected(self, place: int, one: Running, there: int, other: Running) -> Life:
        if one.here().host != other.here().host:
            return Life.UNKNOWN
        if one.here().boot_id != other.here().boot_id:
            return Life.GONE
        if place != there:
            return Life.UNKNOWN
        return Life.ALIVE if other.is_running else Life.GONE


Wear.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
test_what_is_judged_is_so = Wear.TestCase


@given(crashes=st.lists(st.integers(0, 3), max_size=8))
def test_of_all_processes_that_had_one_pid_only_the_last_is_alive(crashes: list[int]) -> None:  # O-1
    host = Machines().host("a")
    observer, holder = host.start(), host.start()
    holders = [holder]
    for _ in crashes:
        holders[-1].crash()
        holders.append(host.reuse(holder.here().pid))

    alive = [running for running in holders if observer.judge(running.here()) is Life.ALIVE]

    assert alive == holders[-1:]
