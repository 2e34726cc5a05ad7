"""
The crash campaign: kills writers and cuts the power, far more often than the tests do; writes a page of it.

    python -m tests.crash.campaign                  200 kills and 400 power cuts; writes the page
    python -m tests.crash.campaign --kills 1000 --seed 5000
    python -m tests.crash.campaign --seed 7 --kills 5 --cuts 0      one round again; writes no page

A round that finds a fault names the command that runs it again. Exit codes: 0 all is well, 1 a fault.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Sequence
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import apsw

import manent
from tests.crash.power import NO_CUTS, PowerFaultError, PowerRun, PowerTally, run_power
from tests.crash.runner import NOTHING, SETTINGS, CrashFaultError, Durability, Round, Tally, run_round
from tests.crash.writer import Phase
from tests.processes import ROOT

PAGE = ROOT / "docs" / "explanation" / "crash-campaign.md"
PAGE_TEMPLATE = Path(__file__).with_name("campaign_page.md")
KILLS = 200
CUTS = 400
KILLS_A_ROUND = 5
CUTS_A_RUN = 8
DURABILITIES: Sequence[Durability] = ("full", "process")


class Outcome(NamedTuple):
    """What a campaign came to: kills by setting, cuts by durability."""

    seed: int
    kills: dict[tuple[Durability, int], Tally]
    cuts: dict[tuple[Durability, str], PowerTally]


def main(arguments: Sequence[str]) -> int:
    """Run a campaign; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.crash.campaign", description=__doc__)
    parser.add_argument("--kills", type=int, default=KILLS)
    parser.add_argument("--cuts", type=int, default=CUTS)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(arguments)
    try:
        outcome = run_campaign(asked.seed, kills=asked.kills, cuts=asked.cuts)
    except (CrashFaultError, PowerFaultError) as fault:
        print(fault, file=sys.stderr)
        return 1
    text = write_up(outcome)
    print(text)
    if asked.kills >= KILLS and asked.cuts >= CUTS:
        PAGE.parent.mkdir(parents=True, exist_ok=True)
        PAGE.write_text(text, encoding="utf-8")
        print(f"written to {PAGE.relative_to(ROOT)}")
    return 0


def run_campaign(seed: int, *, kills: int, cuts: int) -> Outcome:
    """
    Kill and cut that often; each round has the next seed.

    Raises:
        CrashFaultError, PowerFaultError: says how to see it again.
    """
    outcome = Outcome(seed, dict.fromkeys(SETTINGS, NOTHING), {})
    for number, first in enumerate(range(0, kills, KILLS_A_ROUND)):
        round = Round(seed + number, min(KILLS_A_ROUND, kills - first))
        with _folder() as folder:
            setting = round.durability, round.writers
            outcome.kills[setting] = outcome.kills[setting].plus(run_round(folder, round))
        print(f"seed {round.seed}: {first + round.kills} of {kills} kills", file=sys.stderr)
    for number, first in enumerate(range(0, cuts, CUTS_A_RUN)):
        for durability in DURABILITIES:
            _cut(outcome, PowerRun(seed + number, durability, min(CUTS_A_RUN, cuts - first)))
        print(f"seed {seed + number}: {first + CUTS_A_RUN} of {cuts} cuts at each level", file=sys.stderr)
    return outcome


def _cut(outcome: Outcome, run: PowerRun) -> None:
    journal = "WAL" if run.local else "rollback journal"
    name = (run.durability, journal)
    with _folder() as folder:
        outcome.cuts[name] = outcome.cuts.get(name, NO_CUTS).plus(run_power(folder, run))


class _folder(tempfile.TemporaryDirectory[str]):  # noqa: N801 - used like a function
    """A folder for one round, and an installation of its own."""

    def __enter__(self) -> Path:  # type: ignore[override]
        place = Path(super().__enter__())
        os.environ["MANENT_STATE"] = str(place / "state")
        return place


def write_up(outcome: Outcome) -> str:
    """The page."""
    total = reduce(Tally.plus, outcome.kills.values())
    kills = [_kill_row(f"{d}, {w} writing", tally) for (d, w), tally in outcome.kills.items() if tally.killed]
    cuts = [_cut_row(f"{d}, {journal}", tally) for (d, journal), tally in sorted(outcome.cuts.items())]
    return PAGE_TEMPLATE.read_text(encoding="utf-8").format(
        seed=outcome.seed,
        manent=manent.__version__,
        python=platform.python_version(),
        system=platform.system(),
        sqlite=apsw.sqlite_lib_version(),
        kills="\n".join([*kills, _kill_row("**all**", total)]),
        share=f"{total.share_inside:.0%}",
        cuts="\n".join(cuts),
    )


def _kill_row(name: str, tally: Tally) -> str:
    inside, committing = tally.kills[Phase.INSIDE], tally.kills[Phase.COMMITTING]
    return (
        f"| {name} | {tally.killed} | {inside} | {committing} | {tally.share_inside:.0%} "
        f"| {tally.acknowledged:,} | 0 | {tally.unacknowledged} | {tally.verified} of {tally.verified} |"
    )


def _cut_row(name: str, tally: PowerTally) -> str:
    return (
        f"| {name} | {tally.cuts} | {tally.acknowledged:,} | {tally.lost:,} | {tally.cuts_that_lose} "
        f"| {tally.verified} of {tally.cuts} |"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
