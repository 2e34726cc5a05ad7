"""A short crash campaign: the long one is `python -m tests.crash.campaign`."""

from __future__ import annotations

from functools import reduce
from pathlib import Path

import pytest

from manent.storage.sqlite.backend import SqliteBackend
from manent.testing.power import Mode, PowerVfs
from tests.crash.power import PowerRun, PowerTally, run_power
from tests.crash.runner import SETTINGS, Durability, Round, run_round

KILLS = 3
CUTS = 5


@pytest.mark.parametrize("seed", range(len(SETTINGS)))
def test_a_killed_writer_loses_nothing_acknowledged_and_leaves_nothing_half(
    tmp_path: Path, seed: int
) -> None:  # D-1, D-2, L-2
    tally = run_round(tmp_path, Round(seed, KILLS))

    assert tally.verified == KILLS
    assert tally.share_inside >= 1 / 3


@pytest.mark.parametrize("mode", ["drop_all", "random"])
@pytest.mark.parametrize("seed", range(10))
def test_a_power_cut_loses_nothing_acknowledged_at_full(tmp_path: Path, seed: int, mode: Mode) -> None:  # D-1
    tally = run_power(tmp_path, PowerRun(seed, "full", CUTS, mode))

    assert (tally.lost, tally.verified) == (0, CUTS)


@pytest.mark.parametrize("durability", ["full", "process"])
def test_a_store_that_was_made_is_there_after_a_power_cut(
    tmp_path: Path, durability: Durability
) -> None:  # D-1
    with PowerVfs() as shim:
        backend = SqliteBackend(tmp_path / "life" / "x.db", durability=durability, vfs=shim.name)
        with backend.reading() as reader:
            made = reader.info()

        shim.cut(tmp_path / "life", tmp_path / "remains", mode="drop_all")
        backend.close()

    survivor = SqliteBackend(tmp_path / "remains" / "x.db")
    with survivor.reading() as reader:
        assert reader.info() == made
    survivor.close()


def test_a_power_cut_takes_the_newest_turns_at_process_and_leaves_a_whole_store(
    tmp_path: Path,
) -> None:  # D-1
    runs = [PowerRun(seed, "process", CUTS, "drop_all") for seed in range(8)]

    tally = reduce(PowerTally.plus, [run_power(tmp_path / str(run.seed), run) for run in runs])

    assert tally.lost > 0
    assert tally.verified == tally.cuts
