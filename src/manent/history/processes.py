"""
Processes: who this one is, and whether another one still runs (O-1).

A pid alone names nobody for long: the system gives it out again, counts anew after a reboot, and counts
separately in every container. So a process is told by its host, the host's boot, the namespace of its pid,
the pid, and when it began; and `judged` says GONE only of a process that cannot write any more. What cannot
be judged from here is UNKNOWN, and `is_live` then goes by the owner's heartbeat.
"""

from __future__ import annotations

import enum
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, Protocol

from manent.model.owners import Owner, Process

STALE_AFTER_NS = 3_600 * 10**9
"""How old the heartbeat of an owner that cannot be judged from here may become: an hour, in nanoseconds."""

CLOCK_SET_MS = 2_000
"""How far two readings of one process's beginning may lie apart where the system tells it by the clock."""


class Life(enum.Enum):
    """What can be said about a process."""

    ALIVE = "alive"
    GONE = "gone"
    """It will never write again."""
    UNKNOWN = "unknown"
    """It cannot be judged from here."""


class Sighting(NamedTuple):
    """
    What the system has under a pid.

    Args:
        started: when that process began, in the unit of its host; None where that cannot be read.
        ended: it has ended, and only its parent's asking keeps the pid taken (a zombie).
    """

    started: int | None
    ended: bool = False


Look = Callable[[int], Sighting | None]
"""What is under a pid, from 1; None where nothing is."""


class Processes(Protocol):
    """The processes of this system, as one of them sees them."""

    def here(self) -> Process:
        """This process; the same answer as long as it lives, another one in a forked child."""

    def judge(self, process: Process) -> Life:
        """
        Say whether a process still runs.

        Raises:
            OSError: the system could not be asked at all, as when no file can be opened any more.
        """


def is_live(owner: Owner, processes: Processes, now_ns: int, *, stale_after_ns: int = STALE_AFTER_NS) -> bool:
    """
    Whether an owner still holds what it claimed.

    Args:
        now_ns: what the clock says, in nanoseconds since 1970 UTC.
        stale_after_ns: an owner that cannot be judged from here is live while its heartbeat is nearer to
            `now_ns` than this, in either direction. A heartbeat far in the future is no more credible than
            an old one, else a clock that is ten years ahead would keep a conversation for ten years.
    """
    life = processes.judge(owner.process)
    if life is Life.UNKNOWN:
        return abs(now_ns - owner.heartbeat_ns) < stale_after_ns
    return life is Life.ALIVE


def judged(process: Process, here: Process, look: Look, *, tolerance: int = 0) -> Life:
    """
    Say whether a process still runs: the one set of rules, for every system.

    Args:
        process: the one in question.
        here: the one that asks.
        look: what is under a pid in the namespace of the one that asks; asked only if that can decide.
        tolerance: how far two readings of the same beginning may lie apart, in the unit of the host.
    """
    if process == here:
        return Life.ALIVE
    if process.host != here.host:
        return Life.UNKNOWN
    if process.boot_id and here.boot_id and process.boot_id != here.boot_id:
        return Life.GONE
    if process.namespace != here.namespace:
        return Life.UNKNOWN
    found = look(process.pid) if process.pid > 0 else None  # a system takes 0 and less for groups
    if found is None or found.ended or _began_apart(process.started, found.started, tolerance):
        return Life.GONE
    return Life.ALIVE


def _began_apart(one: int | None, other: int | None, tolerance: int) -> bool:
    """Whether two beginnings are surely not those of one process."""
    return one is not None and other is not None and abs(one - other) > tolerance


@functools.cache  # one for all stores of a process, so that it is the same owner in all of them
def local_processes() -> Processes:
    """The processes of this system."""
    return LinuxProcesses() if sys.platform == "linux" else PsutilProcesses()


# --- Linux

_STATE, _THREADS, _STARTED = 0, 17, 19
"""Where fields 3, 20 and 22 of a process's stat stand behind its command."""

_HIDDEN = (FileNotFoundError, NotADirectoryError, PermissionError, ProcessLookupError)
"""How procfs does not show something: not mounted, hidden from this user, or gone while it was read."""


class LinuxProcesses:
    """
    The processes of a Linux system: from procfs, and by signal 0 where that shows nothing.

    A process began so many clock ticks after the boot, which no setting of a clock moves.

    Args:
        procfs: where procfs is mounted. Without it there is no boot id, no namespace, no beginning.
    """

    def __init__(self, procfs: Path = Path("/proc")) -> None:
        self._procfs = procfs
        self._here = _Remembered(self._read_here)

    def here(self) -> Process:
        return self._here()

    def judge(self, process: Process) -> Life:
        return judged(process, self.here(), self._look)

    def _read_here(self) -> Process:
        own = self._stat("self")
        return Process(
            host=_host(),
            boot_id=(self._read("sys/kernel/random/boot_id") or b"").decode("ascii").strip(),
            namespace=self._namespace(),
            pid=os.getpid(),
            # A procfs of another pid namespace knows this process by another number, so it does for all.
            started=own.found.started if own is not None and own.pid == os.getpid() else None,
        )

    def _look(self, pid: int) -> Sighting | None:
        stat = self._stat(str(pid)) if self.here().started is not None else None
        if stat is not None:
            return stat.found
        # Procfs may hide the processes of other users, so only the system's own word proves an end.
        return Sighting(started=None) if _takes_signals(pid) else None

    def _stat(self, name: str) -> _Stat | None:
        content = self._read(f"{name}/stat")
        return None if content is None else _parsed(content)

    def _namespace(self) -> str:
        try:
            return str((self._procfs / "self/ns/pid").readlink())
        except _HIDDEN:
            return ""

    def _read(self, name: str) -> bytes | None:
        try:
            return (self._procfs / name).read_bytes()
        except _HIDDEN:
            return None


class _Stat(NamedTuple):
    pid: int
    found: Sighting


def _parsed(stat: bytes) -> _Stat | None:
    """Read a stat; None where it was cut short, as the process was ending."""
    before, _, behind = stat.rpartition(b")")  # the command between may hold spaces and parentheses
    fields = behind.split()
    if len(fields) <= _STARTED:
        return None
    # A first thread that has ended looks like a zombie while other threads of its process work on.
    ended = fields[_STATE] in (b"Z", b"X", b"x") and int(fields[_THREADS]) <= 1
    return _Stat(int(before.split()[0]), Sighting(int(fields[_STARTED]), ended))


def _takes_signals(pid: int) -> bool:
    """Whether there is a process that a signal could be sent to; none is."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):  # the second is a number that is no pid of this system
        return False
    return True


# --- macOS, Windows, BSD


class PsutilProcesses:
    """
    The processes of any other system, as psutil shows them.

    A process began so many milliseconds after 1970, as the clock says. Some of these systems count from
    their boot and add the time of the boot, which moves by what the clock is corrected by: so beginnings
    that lie at most `CLOCK_SET_MS` apart count as one. A process that begins so soon after the beginning of
    one that is gone, and with its pid, is taken for it.
    """

    def __init__(self) -> None:
        self._here = _Remembered(self._read_here)

    def here(self) -> Process:
        return self._here()

    def judge(self, process: Process) -> Life:
        return judged(process, self.here(), self._look, tolerance=CLOCK_SET_MS)

    def _read_here(self) -> Process:
        pid = os.getpid()
        found = self._look(pid)
        return Process(_host(), boot_id="", namespace="", pid=pid, started=found.started if found else None)

    def _look(self, pid: int) -> Sighting | None:
        import psutil  # required on these systems only

        try:
            process = psutil.Process(pid)
            ended = process.status() in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
            return Sighting(round(process.create_time() * 1_000), ended)
        except psutil.NoSuchProcess:  # of which the error of a zombie is one
            return None
        except psutil.AccessDenied:
            return Sighting(started=None)


# --- what both need


class _Remembered:
    """
    Who this process is, read once in its life.

    A host may be renamed and a clock be set, and neither makes another process of this one. A fork does.
    It may give the child a number that one of its forebears had, so forks are counted; and it may be a
    library's, of which Python does not hear, so the number is compared too.
    """

    forks = 0

    def __init__(self, read: Callable[[], Process]) -> None:
        self._read = read
        self._known: tuple[int, Process] | None = None

    def __call__(self) -> Process:
        known = self._known
        if known is None or known[0] != _Remembered.forks or known[1].pid != os.getpid():
            self._known = known = (_Remembered.forks, self._read())
        return known[1]

    @classmethod
    def count_fork(cls) -> None:
        """A process began that inherits what its parent knew."""
        cls.forks += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_Remembered.count_fork)


def _host() -> str:
    import socket  # as slow to import as all of this package, and of use for owners only

    return socket.gethostname()
