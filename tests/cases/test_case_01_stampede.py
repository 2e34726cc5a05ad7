"""Case 1: several programs start together while somebody holds the write lock."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

import manent
from tests.processes import Child, ChildFailedError, run_together, start
from tests.programs import create_and_append, hold_the_lock

HOLD_S = float(os.environ.get("MANENT_TEST_HOLD_S", "2"))
"""How long the first process holds the lock; the waits follow from it."""

PROGRAMS = 6
TURNS = 20


def test_case_01_programs_that_start_while_the_lock_is_held_all_store_everything(path: Path) -> None:  # D-5
    manent.open(path).close()

    with start(hold_the_lock, path, HOLD_S).wait_until_ready() as holder:
        writers = [start(create_and_append, path, f"w{n}", TURNS, HOLD_S + 8) for n in range(PROGRAMS)]
        holder.go()
        ids = run_together(writers)
        holder.result()

    with manent.open(path) as store:
        stored = {s.id: [t.question for t in store.conversation(s.id).turns()] for s in store.list()}
    assert stored == {id: [f"w{n} {turn}" for turn in range(TURNS)] for n, id in enumerate(ids)}


def test_case_01_programs_that_cannot_wait_as_long_say_which_store_is_busy_and_write_nothing(
    path: Path,
) -> None:  # D-5, L-2
    manent.open(path).close()

    with start(hold_the_lock, path, 60.0).wait_until_ready() as holder:
        holder.go()
        writers = [start(create_and_append, path, f"w{n}", TURNS, 0.5) for n in range(PROGRAMS)]
        for writer in writers:
            writer.wait_until_ready().go()
        failures = [_failure(writer) for writer in writers]

    assert {failure.kind for failure in failures} == {"StoreBusyError"}
    assert all(str(path) in failure.said for failure in failures)
    assert sys.platform != "linux" or all(f"process {holder.pid}" in f.said for f in failures)
    with manent.open(path, wait=0.0) as store:
        assert list(store.list()) == []
        assert store.verify().ok


def _failure(child: Child) -> ChildFailedError:
    with pytest.raises(ChildFailedError) as caught:
        child.result()
    return caught.value
