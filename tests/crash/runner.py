"""
Starts writers, kills them with SIGKILL at moments of its choice, and looks at what they left behind.

A kill is aimed: the writer is stopped first, so that the shared byte that says where it is tells the truth
about the moment of its death. Whoever asks for the inside of a transaction gets it.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Literal, NamedTuple

import msgspec

from tests.crash.checks import Name, look_at, repeat_imports
from tests.crash.operations import Acknowledgement, operation
from tests.crash.writer import FLAGS_BYTES, PHASE, STOP, Orders, Phase, shared_flags
from tests.processes import ROOT

CAMPAIGN = f"{Path(sys.executable).name} -m tests.crash.campaign"
Durability = Literal["full", "process"]
SETTINGS: Sequence[tuple[Durability, int]] = (("full", 1), ("full", 4), ("process", 1), ("process", 4))
"""Durability and number of writers; a round's seed chooses."""

AIMED_SECONDS_MAX = 10.0
GO_ON_SECONDS_MAX = 60.0
OPENING_SECONDS = 0.4
RUNNING_SECONDS = 0.1


class CrashFaultError(AssertionError):
    """A crash left something that must not be; says how to see it again."""

    def __init__(self, round: Round, what: str) -> None:
        super().__init__(f"{what}\nSeen with: {round.command}")


class Round(NamedTuple):
    """Some kills, one after the other, of writers of one store. Its seed says all but the exact moments."""

    seed: int
    kills: int

    @property
    def durability(self) -> Durability:
        """The store's."""
        return SETTINGS[self.seed % len(SETTINGS)][0]

    @property
    def writers(self) -> int:
        """How many write at a time."""
        return SETTINGS[self.seed % len(SETTINGS)][1]

    @property
    def command(self) -> str:
        """What to type to run it again."""
        return f"{CAMPAIGN} --seed {self.seed} --kills {self.kills} --cuts 0"


class Tally(NamedTuple):
    """What a round, or several, came to."""

    rounds: int
    kills: Counter[Phase]
    acknowledged: int
    unacknowledged: int
    verified: int

    def plus(self, other: Tally) -> Tally:
        """Both together."""
        return Tally(
            self.rounds + other.rounds,
            self.kills + other.kills,
            self.acknowledged + other.acknowledged,
            self.unacknowledged + other.unacknowledged,
            self.verified + other.verified,
        )

    @property
    def killed(self) -> int:
        """All kills."""
        return self.kills.total()

    @property
    def share_inside(self) -> float:
        """The part of the kills that fell between BEGIN and the end of COMMIT."""
        return (self.kills[Phase.INSIDE] + self.kills[Phase.COMMITTING]) / max(1, self.killed)


NOTHING = Tally(0, Counter(), 0, 0, 0)


class Writer:
    """A running writer, and what it acknowledged so far."""

    def __init__(self, orders: Orders) -> None:
        self.name = orders.name
        self.acknowledged: list[Acknowledgement] = []
        Path(orders.flags).write_bytes(bytes(FLAGS_BYTES))
        path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
        self._with = ExitStack()
        self.flags = self._with.enter_context(shared_flags(orders.flags))
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.crash.writer", msgspec.json.encode(orders).decode()],
            stdout=subprocess.PIPE,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": path},
        )
        assert self.process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout,))
        self._reader.start()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            for line in pipe:
                self.acknowledged.append(msgspec.json.decode(line, type=Acknowledgement))

    def wait_for(self, more: int) -> None:
        """Until that many more operations are acknowledged; an error when it ended before."""
        wanted = len(self.acknowledged) + more
        deadline = time.monotonic() + GO_ON_SECONDS_MAX
        while len(self.acknowledged) < wanted:
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"writer {self.name} got no further: {self.process.returncode}")
            time.sleep(0.001)

    def kill(self, wanted: Sequence[Phase], luck: random.Random) -> Phase:
        """Kill it when it is in one of these phases; return the one that it was in."""
        deadline = time.monotonic() + AIMED_SECONDS_MAX
        while True:
            os.kill(self.process.pid, signal.SIGSTOP)
            _, status = os.waitpid(self.process.pid, os.WUNTRACED)
            assert os.WIFSTOPPED(status), f"writer {self.name} ended by itself: {status}"
            phase = Phase(self.flags[PHASE])
            if phase in wanted or time.monotonic() > deadline:
                os.kill(self.process.pid, signal.SIGKILL)
                self.end()
                return phase
            os.kill(self.process.pid, signal.SIGCONT)
            time.sleep(luck.uniform(0, 0.003))

    def stop(self) -> None:
        """Let it end by itself after the operation that it is at."""
        self.flags[STOP] = 1

    def end(self) -> int:
        """Wait for its end; return its exit code, negative when it was killed."""
        code = self.process.wait()
        self._reader.join()
        self._with.close()
        return code


def run_round(folder: Path, round: Round) -> Tally:
    """
    Write, kill and look, as often as the round says.

    Raises:
        CrashFaultError: something acknowledged is lost, something is half there, or verify finds something.
    """
    run = _Run(folder, round)
    for number in range(round.kills):
        run.kill(number)
    acknowledged = len(run.acknowledged)
    return Tally(1, run.phases, acknowledged, run.unacknowledged, run.verified)


class _Run:
    """A round under way."""

    def __init__(self, folder: Path, round: Round) -> None:
        self._folder = folder
        self._round = round
        self._path = folder / "crash.db"
        self._luck = random.Random(f"round {round.seed}")
        self.acknowledged: list[Acknowledgement] = []
        self.phases: Counter[Phase] = Counter()
        self.unacknowledged = self.verified = 0
        self._known: set[Name] = set()

    def kill(self, number: int) -> None:
        """One kill, and everything around it."""
        writers = [self._start(f"{number}.{place}") for place in range(self._round.writers)]
        try:
            self._write_and_die(writers, aimed=number % 2 == 0)
        finally:
            for writer in writers:
                writer.process.kill()
                writer.end()
        for writer in writers:
            self.acknowledged += writer.acknowledged
        self._look([writer for writer in writers if writer.process.returncode < 0])

    def _start(self, name: str) -> Writer:
        orders = Orders(
            path=str(self._path),
            flags=str(self._folder / f"flags-{name}"),
            seed=self._round.seed,
            name=name,
            durability=self._round.durability,
        )
        return Writer(orders)

    def _write_and_die(self, writers: Sequence[Writer], *, aimed: bool) -> None:
        """Aimed: one dies inside a transaction. Else one or all at any moment, even while opening."""
        if aimed or self._luck.random() < 0.8:
            for writer in writers:
                writer.wait_for(1)
            time.sleep(self._luck.uniform(0, RUNNING_SECONDS))
        else:
            time.sleep(self._luck.uniform(0, OPENING_SECONDS))
        together = not aimed and self._luck.random() < 0.25
        doomed = list(writers) if together else [self._luck.choice(writers)]
        wanted = [self._luck.choice((Phase.INSIDE, Phase.COMMITTING))] if aimed else list(Phase)
        for writer in doomed:
            self.phases[writer.kill(wanted, self._luck)] += 1
        self._let_end([writer for writer in writers if writer not in doomed])

    def _let_end(self, survivors: Sequence[Writer]) -> None:
        """Nobody else is hindered by a death: each goes on, and ends well (D-2)."""
        for writer in survivors:
            writer.wait_for(2)
        for writer in survivors:
            writer.stop()
        codes = {writer.name: writer.end() for writer in survivors}
        if any(codes.values()):
            raise CrashFaultError(self._round, f"survivors ended with {codes}")

    def _look(self, killed: Sequence[Writer]) -> None:
        """All that was acknowledged is there once, nothing is half there, what was cut off is repeated."""
        look = look_at(self._path, self._round.seed, self.acknowledged)
        if not look.faults.none:
            raise CrashFaultError(self._round, f"after a kill: {look.faults}")
        cut_off = [operation(self._round.seed, w.name, len(w.acknowledged) + 1) for w in killed]
        if missing := repeat_imports(self._path, cut_off):
            raise CrashFaultError(self._round, f"not there once after a second import: {missing}")
        self.unacknowledged += len(look.unacknowledged - self._known)
        self._known |= look.unacknowledged | {(each.writer, each.number) for each in cut_off}
        self.verified += 1
