"""
Machines that a test crashes, reboots and wears out: their processes judge each other as real ones do.

    machines = Machines(clock=fixed())
    host = machines.host("a")
    owner, other = host.start(), host.start()
    owner.crash()
    assert other.judge(owner.here()) is Life.GONE

Nothing here touches the system. What is simulated is a host's table of pids; the rules are those of
`manent.history.processes`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from manent.errors import InputError
from manent.history.processes import Life, Sighting, judged
from manent.model.owners import Process
from manent.testing.clocks import fixed

FIRST_PID = 100
"""What the first process of a host is numbered after each boot; a container begins at 1."""

TICK_NS = 10_000_000
"""In what steps a host counts the beginnings of its processes, from its boot."""


class Machines:
    """
    Some machines and one time.

    Args:
        clock: says what time it is, in nanoseconds since 1970 UTC; one that stands still when None.
    """

    def __init__(self, clock: Callable[[], int] | None = None) -> None:
        self.clock = clock or fixed()
        self._hosts: dict[str, Host] = {}

    def host(self, name: str, *, procfs: bool = True) -> Host:
        """
        The machine of that name; it is there, and booted, from the first time that it is asked for.

        Args:
            procfs: whether its processes can read their boot id, their namespace and when others began.
                That is settled the first time.
        """
        if name not in self._hosts:
            self._hosts[name] = Host(name, self.clock, procfs=procfs)
        return self._hosts[name]


class Pids:
    """A space in which pids count: the one of a host, or the one of a container on it."""

    def __init__(self, host: Host, first_pid: int) -> None:
        self._host = host
        self._first_pid = first_pid
        self._clear()

    def start(self) -> Running:
        """Start a process, with the next pid that is free."""
        return self._begin(next(pid for pid in self._pids if pid not in self._table))

    def reuse(self, pid: int) -> Running:
        """
        Start a process with a pid of one that is gone; it begins later than that one did.

        Raises:
            InputError: the pid is taken, by a process that runs or by a zombie.
        """
        if pid in self._table:
            raise InputError(f"Pid {pid} of host {self._host.name!r} is taken: let its process crash first.")
        return self._begin(pid)

    def _clear(self) -> None:
        """End all processes and count from the beginning, in a namespace of a new name."""
        self._namespace = self._host._new_namespace()
        self._pids = itertools.count(self._first_pid)
        self._table: dict[int, Running] = {}

    def _begin(self, pid: int) -> Running:
        process = self._host._name_process(self._namespace, pid)
        self._table[pid] = Running(process, self)
        return self._table[pid]

    def _has(self, running: Running) -> bool:
        return self._table.get(running.here().pid) is running

    def _free(self, pid: int) -> None:
        del self._table[pid]

    def _look(self, pid: int) -> Sighting | None:
        found = self._table.get(pid)
        if found is None:
            return None
        if not self._host.procfs:
            return Sighting(started=None)  # it takes signals, a zombie too, and that is all that can be seen
        return found.sighting


class Host(Pids):
    """A machine that is up; made by `Machines.host`."""

    def __init__(self, name: str, clock: Callable[[], int], *, procfs: bool) -> None:
        self.name = name
        self._clock = clock
        self.procfs = procfs
        self._boots = 0
        self._last_tick = 0
        self._containers: list[Pids] = []
        self._boot()
        super().__init__(self, FIRST_PID)

    def reboot(self) -> None:
        """End all processes, those of containers too, and boot again: pids are counted from the beginning."""
        self._boot()
        self._clear()
        for container in self._containers:
            container._clear()

    def container(self) -> Pids:
        """A new container of this host's name, with pids of its own."""
        self._containers.append(Pids(self, first_pid=1))
        return self._containers[-1]

    def _new_namespace(self) -> str:
        """The name of a pid namespace: the first of each boot has the same, as the kernel does it."""
        return f"pid:[{next(self._namespaces)}]"

    def _name_process(self, namespace: str, pid: int) -> Process:
        """The process that begins at this moment; no two begin at the same, even if the clock goes back."""
        self._last_tick = max(self._last_tick + 1, (self._clock() - self._booted_ns) // TICK_NS)
        if not self.procfs:
            return Process(self.name, boot_id="", namespace="", pid=pid, started=None)
        return Process(self.name, f"{self.name}-boot-{self._boots}", namespace, pid, self._last_tick)

    def _boot(self) -> None:
        self._boots += 1
        self._booted_ns = self._clock()
        self._last_tick = 0
        self._namespaces = itertools.count(1)


class Running:
    """A process; it sees the others from where it stands. Made by `start` and `reuse`."""

    def __init__(self, process: Process, pids: Pids) -> None:
        self._process = process
        self._pids = pids
        self.sighting = Sighting(process.started)
        """What others see under its pid."""

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._pids._has(self) and not self.sighting.ended

    def here(self) -> Process:
        """Which process this is, or was."""
        return self._process

    def judge(self, process: Process) -> Life:
        """
        Say whether a process still runs, as far as this one can tell.

        Raises:
            InputError: this one has ended, and judges nothing.
        """
        if not self.is_running:
            raise InputError(f"{self._process} has ended: ask a process that runs.")
        return judged(process, self._process, self._pids._look)

    def crash(self, *, reaped: bool = True) -> None:
        """
        End it, without a chance to say so.

        Args:
            reaped: whether its parent asks how it ended; else it stays a zombie, and its pid is taken.

        Raises:
            InputError: it has ended already and left no zombie, or is to become one twice.
        """
        if not (self._pids._has(self) and (reaped or not self.sighting.ended)):
            raise InputError(f"{self._process} has ended already.")
        if reaped:
            self._pids._free(self._process.pid)
        else:
            self.sighting = Sighting(self._process.started, ended=True)
