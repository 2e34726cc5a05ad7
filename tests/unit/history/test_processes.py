"""Who a process is, and whether another one still runs (O-1)."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manent.history.processes import (
    CLOCK_SET_MS,
    STALE_AFTER_NS,
    Life,
    LinuxProcesses,
    PsutilProcesses,
    Sighting,
    is_live,
    judged,
    local_processes,
)
from manent.model.owners import Owner, Process
from manent.testing.clocks import NOON_NS
from tests.processes import Child, run, start
from tests.unit.history import lives

HERE = Process("a", "boot-1", "pid:[1]", pid=100, started=7)
OTHER = HERE._replace(pid=200, started=9)
NUMBERS = st.integers(1, 4)
PROCESSES = st.builds(
    Process,
    host=st.sampled_from("ab"),
    boot_id=st.sampled_from(("", "boot-1", "boot-2")),
    namespace=st.sampled_from(("", "pid:[1]", "pid:[2]")),
    pid=NUMBERS,
    started=st.none() | NUMBERS,
)
SIGHTINGS = st.none() | st.builds(Sighting, st.none() | NUMBERS, st.booleans())

Asked = LinuxProcesses | PsutilProcesses

only_linux = pytest.mark.skipif(sys.platform != "linux", reason="this system has no procfs")
only_posix = pytest.mark.skipif(not hasattr(os, "waitid"), reason="this system has no zombies")


def nobody(pid: int) -> Sighting | None:
    """There is nothing under any pid."""
    del pid
    return None


def seen(started: int | None, *, ended: bool = False, pid: int = OTHER.pid) -> dict[int, Sighting]:
    """What is under one pid, and nothing under any other."""
    return {pid: Sighting(started, ended)}


# --- the rules


def test_a_process_that_is_there_and_began_when_it_should_is_alive() -> None:  # O-1
    assert judged(OTHER, HERE, seen(9).get) is Life.ALIVE


def test_a_process_whose_pid_nobody_has_is_gone() -> None:  # O-1
    assert judged(OTHER, HERE, nobody) is Life.GONE


def test_a_process_whose_pid_was_given_to_another_one_is_gone() -> None:  # O-1
    assert judged(OTHER, HERE, seen(10).get) is Life.GONE


def test_a_zombie_is_gone() -> None:  # O-1
    assert judged(OTHER, HERE, seen(9, ended=True).get) is Life.GONE


@pytest.mark.parametrize(("recorded", "found"), [(None, 9), (9, None), (None, None)])
def test_a_process_is_alive_where_one_of_its_beginnings_is_not_known(
    recorded: int | None, found: int | None
) -> None:  # O-1
    assert judged(OTHER._replace(started=recorded), HERE, seen(found).get) is Life.ALIVE


@pytest.mark.parametrize("namespace", ["pid:[1]", "pid:[2]", ""])
def test_a_process_of_an_earlier_boot_is_gone_whoever_has_its_pid(namespace: str) -> None:  # O-1
    before = OTHER._replace(boot_id="boot-0", namespace=namespace)

    assert judged(before, HERE, seen(9).get) is Life.GONE


@pytest.mark.parametrize(("theirs", "ours"), [("", "boot-1"), ("boot-1", ""), ("", "")])
@pytest.mark.parametrize(("started", "life"), [(9, Life.ALIVE), (10, Life.GONE)])
def test_a_boot_that_is_not_known_proves_nothing(
    theirs: str, ours: str, started: int, life: Life
) -> None:  # O-1
    there, here = OTHER._replace(boot_id=theirs), HERE._replace(boot_id=ours)

    assert judged(there, here, seen(started).get) is life


@pytest.mark.parametrize("boot_id", ["boot-1", "boot-2", ""])
def test_a_process_of_another_host_cannot_be_judged(boot_id: str) -> None:  # O-1
    elsewhere = OTHER._replace(host="b", boot_id=boot_id)

    assert judged(elsewhere, HERE, nobody) is Life.UNKNOWN


@pytest.mark.parametrize("namespace", ["pid:[2]", ""])
def test_a_process_of_another_container_cannot_be_judged(namespace: str) -> None:  # O-1
    contained = OTHER._replace(namespace=namespace)

    assert judged(contained, HERE, nobody) is Life.UNKNOWN


@pytest.mark.parametrize("pid", [0, -1, -200])
def test_a_number_that_means_a_group_of_processes_is_nobodys_pid(pid: int) -> None:
    assert judged(OTHER._replace(pid=pid), HERE, seen(9, pid=pid).get) is Life.GONE


@pytest.mark.parametrize(
    ("apart", "life"), [(-5, Life.ALIVE), (5, Life.ALIVE), (6, Life.GONE), (-6, Life.GONE)]
)
def test_beginnings_within_the_tolerance_count_as_one(apart: int, life: Life) -> None:  # O-1
    assert judged(OTHER, HERE, seen(9 + apart).get, tolerance=5) is life


@given(here=PROCESSES, sighting=SIGHTINGS)
def test_no_process_judges_itself_gone(here: Process, sighting: Sighting | None) -> None:  # O-1
    assert judged(here, here, {here.pid: sighting}.get) is Life.ALIVE


@given(here=PROCESSES, sighting=SIGHTINGS, one=PROCESSES, other=PROCESSES)
def test_of_two_processes_that_had_one_pid_at_most_one_is_alive(
    here: Process, sighting: Sighting | None, one: Process, other: Process
) -> None:  # O-1
    one = one._replace(started=1)
    other = one._replace(started=other.started or 2)
    look = {one.pid: sighting, here.pid: Sighting(here.started)}.get  # the one that asks sees itself
    knows = (found := look(one.pid)) is None or found.started is not None

    lives_on = [judged(process, here, look) is Life.ALIVE for process in (one, other)]

    assert one == other or not knows or lives_on != [True, True]


# --- owners


class Saying(NamedTuple):
    """Processes of which always the same is said."""

    life: Life

    def here(self) -> Process:
        return HERE

    def judge(self, process: Process) -> Life:
        del process
        return self.life


def owner(heartbeat_ns: int = NOON_NS) -> Owner:
    """An owner whose heart beat at that time."""
    return Owner(process=OTHER, epoch=1, writer="ab" * 8, claimed_ns=NOON_NS, heartbeat_ns=heartbeat_ns)


YEARS_NS = 10 * 365 * 24 * 3_600 * 10**9


@pytest.mark.parametrize("now_ns", [NOON_NS, NOON_NS + YEARS_NS, NOON_NS - YEARS_NS])
@pytest.mark.parametrize(("life", "live"), [(Life.ALIVE, True), (Life.GONE, False)])
def test_no_heartbeat_counts_where_the_process_can_be_judged(life: Life, live: bool, now_ns: int) -> None:
    assert is_live(owner(), Saying(life), now_ns) is live  # O-1


@pytest.mark.parametrize(
    ("age_ns", "live"),
    [
        (0, True),
        (STALE_AFTER_NS - 1, True),
        (STALE_AFTER_NS, False),
        (1 - STALE_AFTER_NS, True),
        (-STALE_AFTER_NS, False),
        (-YEARS_NS, False),
    ],
)
def test_an_owner_that_cannot_be_judged_is_live_while_its_heartbeat_is_near(age_ns: int, live: bool) -> None:
    assert is_live(owner(), Saying(Life.UNKNOWN), NOON_NS + age_ns) is live  # O-1


@pytest.mark.parametrize(("minutes", "seconds", "live"), [(59, 59, True), (60, 0, False)])
@pytest.mark.parametrize("direction", [1, -1], ids=["before", "after"])
def test_an_owner_that_cannot_be_judged_is_stale_after_an_hour(
    minutes: int, seconds: int, live: bool, direction: int
) -> None:  # O-1
    age_ns = direction * (minutes * 60 + seconds) * 1_000_000_000

    assert is_live(owner(NOON_NS - age_ns), Saying(Life.UNKNOWN), NOON_NS) is live


def test_how_near_a_heartbeat_must_be_is_the_callers_choice() -> None:  # O-1
    found = [is_live(owner(), Saying(Life.UNKNOWN), NOON_NS + 9, stale_after_ns=limit) for limit in (9, 10)]

    assert found == [False, True]


# --- procfs


class Procfs:
    """A tree that resembles procfs, with this process in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.write("sys/kernel/random/boot_id", b"73fa37b8-37f0-49eb-90d7-6e6296c3cbfc\n")
        (root / "self/ns").mkdir(parents=True)
        (root / "self/ns/pid").symlink_to("pid:[4026531836]")
        self.add(os.getpid(), started=500)
        self.add(os.getpid(), started=500, folder="self")

    def write(self, name: str, content: bytes) -> None:
        """Put a file there."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def add(
        self,
        pid: int,
        *,
        started: int,
        command: bytes = b"python",
        state: bytes = b"S",
        threads: int = 1,
        folder: str | None = None,
    ) -> None:
        """Put the stat of a process there."""
        begin = b"%d (%s) %s 1 1 1 0 -1 4194304 106 0 0 0 0 0 0 0 20 0" % (pid, command, state)
        self.write(f"{folder or pid}/stat", begin + b" %d 0 %d 2998272 419 184 0\n" % (threads, started))


@pytest.fixture
def procfs(tmp_path: Path) -> Procfs:
    """A procfs of the test's own."""
    return Procfs(tmp_path)


def signals_find(monkeypatch: pytest.MonkeyPatch, error: type[OSError] | None) -> None:
    """Let a signal to any process find it, or raise."""

    def kill(pid: int, signal: int) -> None:
        assert (pid > 0, signal) == (True, 0)
        if error is not None:
            raise error

    monkeypatch.setattr(os, "kill", kill)


def test_a_process_of_linux_is_told_by_what_procfs_says(
    procfs: Procfs, monkeypatch: pytest.MonkeyPatch
) -> None:  # O-1
    monkeypatch.setattr("socket.gethostname", lambda: "a")

    here = LinuxProcesses(procfs.root).here()

    boot_id = "73fa37b8-37f0-49eb-90d7-6e6296c3cbfc"
    assert here == Process("a", boot_id, "pid:[4026531836]", pid=os.getpid(), started=500)


def test_a_host_that_is_renamed_makes_no_other_process_of_this_one(
    procfs: Procfs, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = LinuxProcesses(procfs.root)
    before = processes.here()

    monkeypatch.setattr("socket.gethostname", lambda: "renamed")

    assert (processes.here(), processes.judge(before)) == (before, Life.ALIVE)


@pytest.mark.parametrize(
    "command", [b"a) S 1 (b", b") Z (", b"((", b"))", b"", b"\xff\n) X 1", b"tmux: server"]
)
def test_a_command_may_hold_anything(procfs: Procfs, command: bytes) -> None:
    processes = LinuxProcesses(procfs.root)
    procfs.add(4242, started=77, command=command)
    process = processes.here()._replace(pid=4242, started=77)

    found = [processes.judge(process), processes.judge(process._replace(started=78))]

    assert found == [Life.ALIVE, Life.GONE]


@pytest.mark.parametrize(
    ("state", "threads", "life"),
    [
        (b"R", 1, Life.ALIVE),
        (b"T", 1, Life.ALIVE),
        (b"D", 1, Life.ALIVE),
        (b"Z", 1, Life.GONE),
        (b"X", 0, Life.GONE),
        (b"Z", 2, Life.ALIVE),  # only its first thread has ended
    ],
)
def test_a_process_is_gone_when_its_last_thread_has_ended(
    procfs: Procfs, state: bytes, threads: int, life: Life
) -> None:  # O-1
    processes = LinuxProcesses(procfs.root)
    procfs.add(4242, started=77, state=state, threads=threads)

    assert processes.judge(processes.here()._replace(pid=4242, started=77)) is life


@pytest.mark.parametrize(
    ("error", "life"),
    [(None, Life.ALIVE), (PermissionError, Life.ALIVE), (ProcessLookupError, Life.GONE)],
)
@pytest.mark.parametrize("hidden", ["missing", "unreadable", "cut short"])
def test_where_procfs_hides_a_process_a_signal_decides(
    procfs: Procfs,
    monkeypatch: pytest.MonkeyPatch,
    hidden: str,
    error: type[OSError] | None,
    life: Life,
) -> None:  # O-1
    processes = LinuxProcesses(procfs.root)
    process = processes.here()._replace(pid=4242, started=77)
    if hidden == "cut short":
        procfs.write("4242/stat", b"4242 (python) S 1")
    if hidden == "unreadable":
        read = Path.read_bytes

        def read_bytes(path: Path) -> bytes:
            if path.parent.name == "4242":
                raise PermissionError(path)
            return read(path)

        monkeypatch.setattr(Path, "read_bytes", read_bytes)
    signals_find(monkeypatch, error)

    assert processes.judge(process) is life


def test_without_procfs_a_process_has_a_host_and_a_pid_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # O-1
    monkeypatch.setattr("socket.gethostname", lambda: "a")

    here = LinuxProcesses(tmp_path / "missing").here()

    assert here == Process("a", boot_id="", namespace="", pid=os.getpid(), started=None)


@pytest.mark.parametrize(
    ("error", "life"),
    [(None, Life.ALIVE), (PermissionError, Life.ALIVE), (ProcessLookupError, Life.GONE)],
)
def test_without_procfs_a_signal_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError] | None, life: Life
) -> None:  # O-1
    processes = LinuxProcesses(tmp_path / "missing")
    signals_find(monkeypatch, error)

    assert processes.judge(processes.here()._replace(pid=4242)) is life


def test_the_pids_of_another_namespaces_procfs_are_not_believed(
    procfs: Procfs, monkeypatch: pytest.MonkeyPatch
) -> None:  # O-1
    procfs.add(os.getpid() + 1, started=500, folder="self")  # it has another number for this process
    procfs.add(4242, started=77)
    processes = LinuxProcesses(procfs.root)
    here = processes.here()
    signals_find(monkeypatch, ProcessLookupError)

    found = processes.judge(here._replace(pid=4242, started=77))

    assert (here.pid, here.started, found) == (os.getpid(), None, Life.GONE)


def test_an_error_that_says_nothing_about_a_process_is_not_taken_for_its_end(
    procfs: Procfs, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = LinuxProcesses(procfs.root)
    process = processes.here()._replace(pid=4242)

    def no_files_left(path: Path) -> bytes:
        raise OSError(24, "Too many open files", str(path))

    monkeypatch.setattr(Path, "read_bytes", no_files_left)

    with pytest.raises(OSError, match="Too many open files"):
        processes.judge(process)


# --- psutil


@pytest.mark.parametrize(
    ("error", "life"),
    [(psutil.AccessDenied, Life.ALIVE), (psutil.NoSuchProcess, Life.GONE), (psutil.ZombieProcess, Life.GONE)],
)
def test_what_psutil_raises_is_judged(
    monkeypatch: pytest.MonkeyPatch, error: type[psutil.Error], life: Life
) -> None:  # O-1
    processes = PsutilProcesses()
    process = processes.here()._replace(pid=4242)

    def refuse(pid: int) -> None:
        raise error(pid)

    monkeypatch.setattr(psutil, "Process", refuse)

    assert processes.judge(process) is life


def test_elsewhere_than_on_linux_a_process_began_at_a_time_in_milliseconds() -> None:  # O-1
    here = PsutilProcesses().here()

    began_ms = psutil.Process().create_time() * 1_000
    assert here == Process(here.host, boot_id="", namespace="", pid=os.getpid(), started=round(began_ms))


def test_a_clock_that_is_corrected_a_little_makes_nobody_gone() -> None:  # O-1
    processes = PsutilProcesses()
    with child() as other:
        found = processes._look(other.pid)
        assert found is not None and found.started is not None
        process = processes.here()._replace(pid=other.pid)

        lives_found = [
            processes.judge(process._replace(started=found.started + moved_ms))
            for moved_ms in (-CLOCK_SET_MS, CLOCK_SET_MS, CLOCK_SET_MS + 1_000)
        ]

    assert lives_found == [Life.ALIVE, Life.ALIVE, Life.GONE]


# --- real processes


@contextmanager
def child() -> Iterator[Child]:
    """A real process that waits to be killed."""
    with start(lives.wait_to_be_killed) as started:
        yield started.wait_until_ready()


@pytest.fixture(params=[pytest.param(LinuxProcesses, marks=only_linux), PsutilProcesses])
def processes(request: pytest.FixtureRequest) -> Asked:
    """The processes of this very system, in each way in which it can be asked."""
    made: Asked = request.param()
    return made


def as_seen(processes: Asked, pid: int) -> Process:
    """A real process, as it would tell itself."""
    found = processes._look(pid)
    assert found is not None
    return processes.here()._replace(pid=pid, started=found.started)


def test_this_process_is_alive(processes: Asked) -> None:  # O-1
    here = processes.here()

    assert (here.pid, processes.judge(here)) == (os.getpid(), Life.ALIVE)


def test_a_child_is_alive_until_it_is_killed(processes: Asked) -> None:  # O-1
    with child() as other:
        process = as_seen(processes, other.pid)
        before = processes.judge(process)

        other.kill()

        assert (before, processes.judge(process)) == (Life.ALIVE, Life.GONE)


@only_posix
def test_a_child_that_was_killed_and_that_nobody_asks_for_is_gone(processes: Asked) -> None:  # O-1
    with child() as other:
        process = as_seen(processes, other.pid)

        other.process.kill()
        os.waitid(os.P_PID, other.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays a zombie

        os.kill(other.pid, 0)
        assert processes.judge(process) is Life.GONE


def test_a_pid_that_another_process_has_now_is_not_the_old_one(processes: Asked) -> None:  # O-1
    with child() as other:
        process = as_seen(processes, other.pid)
        assert process.started is not None
        before = process._replace(started=process.started - 2 * CLOCK_SET_MS)

        assert [processes.judge(before), processes.judge(process)] == [Life.GONE, Life.ALIVE]


@pytest.mark.parametrize("pid", [2**22 + 1, 2**31 - 1, 2**31, 2**64])
def test_a_number_that_no_process_can_have_is_gone(processes: Asked, pid: int) -> None:
    assert processes.judge(processes.here()._replace(pid=pid)) is Life.GONE


def test_a_process_tells_itself_as_others_see_it() -> None:  # O-1
    processes = local_processes()
    with start(lives.say_who) as other:
        other.wait_until_ready()
        other.go()
        process = Process(*other.result())

    here = processes.here()
    same = (process.host, process.boot_id, process.namespace) == (here.host, here.boot_id, here.namespace)
    assert (same, process.pid, processes.judge(process)) == (True, other.pid, Life.GONE)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_the_child_of_a_fork_is_another_process() -> None:  # O-1
    said = run(lives.fork_and_say_who)

    parent, child = said["pids"]
    assert said == {
        "pids": [parent, child],
        "pids as told": [parent, child],
        "the parent is the same as before": True,
        "the child of its parent": "alive",
        "the child with the number of its parent is its parent": False,
        "the parent of itself": "alive",
        "the parent of its child": ["alive", "gone"],
    }


@only_linux
def test_a_process_works_on_when_its_first_thread_has_ended() -> None:  # O-1
    processes = LinuxProcesses()
    with start(lives.work_on_without_the_first_thread) as other:
        other.wait_until_ready()

        assert processes.judge(as_seen(processes, other.pid)) is Life.ALIVE


def test_there_is_one_view_of_the_processes_in_a_process() -> None:
    assert local_processes() is local_processes()
