"""
Cuts the power under a store at moments of its choice, and looks at what the disk would hold then.

One process writes through a file layer that knows what was synced; afterwards the power is cut at past
moments, each into a folder of its own. What had been acknowledged by that moment has to be there (`full`),
or may be missing from the end (`process`); the store opens and verifies in any case.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import apsw

from manent.history.runtime import Runtime, Scratch
from manent.history.store import Store
from manent.model.workspaces import DEFAULT, Workspace
from manent.opening import make_scratch
from manent.testing.power import Mode, PowerCut, PowerVfs
from tests.crash.checks import Look, look_at
from tests.crash.operations import Acknowledgement, operations, perform
from tests.crash.runner import CAMPAIGN, Durability
from tests.stores import TunedBackend

FILE = "crash.db"
OPERATIONS = 25
REOPENED_EVERY = 9
CHECKPOINT_PAGES = (5, 50, 1_000)
MODES: Sequence[Mode] = ("drop_all", "random", "random")


class PowerFaultError(AssertionError):
    """A power cut left something that must not be; says how to see it again."""

    def __init__(self, run: PowerRun, cut: PowerCut, what: object) -> None:
        super().__init__(f"after {cut}: {what}\nSeen with: {run.command}")


class PowerRun(NamedTuple):
    """One life of a store, and some cuts of its power, of any mode when None. Its seed says the rest."""

    seed: int
    durability: Durability
    cuts: int
    mode: Mode | None = None

    @property
    def local(self) -> bool:
        """Whether the place carries WAL; every fourth one does not."""
        return self.seed % 4 != 3

    @property
    def command(self) -> str:
        """What to type to run it again."""
        return f"{CAMPAIGN} --seed {self.seed} --kills 0 --cuts {self.cuts}"


class PowerTally(NamedTuple):
    """What a run, or several, came to; each acknowledged turn counts at each cut that came after it."""

    cuts: int
    acknowledged: int
    lost: int
    cuts_that_lose: int
    verified: int

    def plus(self, other: PowerTally) -> PowerTally:
        """Both together."""
        return PowerTally(*(mine + its for mine, its in zip(self, other, strict=True)))


NO_CUTS = PowerTally(0, 0, 0, 0, 0)


def run_power(folder: Path, run: PowerRun) -> PowerTally:
    """
    Write, cut the power as often as the run says, and look.

    Raises:
        PowerFaultError: the store does not open and verify, something is half there, or (`full`) acknowledged
            and lost.
    """
    luck = random.Random(f"power {run.seed}")
    life = folder / "life"
    tally = NO_CUTS
    with PowerVfs(history=True) as shim:
        acknowledged = _live(life, shim, run, luck)
        for number in range(run.cuts):
            remains = folder / f"cut-{number}"
            moment = luck.randint(0, shim.moment)
            seed = luck.randrange(1 << 30)
            mode = luck.choice(MODES) if run.mode is None else run.mode
            cut = shim.cut(life, remains, mode=mode, seed=seed, moment=moment)
            before = [each for at, each in acknowledged if at <= moment]
            look = look_at(remains / FILE, run.seed, before)
            lost = _check(run, cut, look, before)
            tally = tally.plus(PowerTally(1, len(before), lost, int(lost > 0), 1))
            shutil.rmtree(remains)
    return tally


def _live(
    life: Path, shim: PowerVfs, run: PowerRun, luck: random.Random
) -> list[tuple[int, Acknowledgement]]:
    """Perform some operations, closing the store now and then; return each with its moment."""
    pages = luck.choice(CHECKPOINT_PAGES)
    wanted = operations(run.seed, "power")
    acknowledged: list[tuple[int, Acknowledgement]] = []
    while len(acknowledged) < OPERATIONS:
        with _store(life / FILE, shim, run, pages) as store:
            for _ in range(luck.randint(1, 2 * REOPENED_EVERY)):
                done = perform(store, next(wanted))
                acknowledged.append((shim.moment, done))
    return acknowledged


def _store(path: Path, shim: PowerVfs, run: PowerRun, pages: int) -> Store:
    def checkpoint_often(connection: apsw.Connection) -> None:
        connection.wal_autocheckpoint(pages)

    backend = TunedBackend(
        path,
        checkpoint_often,
        durability=run.durability,
        vfs=shim.name,
        on_local_place=lambda _: run.local,
    )
    return Store(Runtime(backend, Workspace.of(DEFAULT), Scratch(make_scratch)))


def _check(run: PowerRun, cut: PowerCut, look: Look, before: Sequence[Acknowledgement]) -> int:
    """How many of the newest operations were lost; an error when anything was that must not be."""
    lost = look.faults.lost
    faults = look.faults
    if run.durability == "process" and lost == tuple(before[len(before) - len(lost) :]):
        faults = faults._replace(lost=())
    if not faults.none:
        raise PowerFaultError(run, cut, faults)
    return len(lost)
