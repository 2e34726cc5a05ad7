"""Case 75: a server runs for hours, and threads and stores come and go."""

from __future__ import annotations

import gc
import os
import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import manent
from tests.stores import backend_of

TIMES = 500
AT_ONCE = 50
FEW = 10

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="counts open files in /proc")


def open_files() -> list[str]:
    """What this process has open."""
    found = []
    for place in Path("/proc/self/fd").iterdir():
        try:
            found.append(os.readlink(place))  # noqa: PTH115 - what stands there may be no path
        except FileNotFoundError:
            found.append("closed meanwhile")
    return found


def open_files_of(path: Path) -> list[str]:
    """What this process has open of a store."""
    return [name for name in open_files() if name.startswith(str(path))]


def in_a_thread(work: Callable[[], object]) -> None:
    """Do it in a thread that lives no longer."""
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@pytest.fixture(autouse=True)
def warned() -> None:
    """A ResourceWarning is an error, wherever it comes from."""
    warnings.simplefilter("error", ResourceWarning)


def test_case_75_short_threads_leave_no_open_files_behind(path: Path) -> None:
    with manent.open(path) as store:
        conversation = store.create("case 75")
        conversation.append_turn("q", "a")
        before = len(open_files())

        for _ in range(TIMES):
            in_a_thread(conversation.turns)

        assert len(open_files()) <= before + FEW
    assert open_files_of(path) == []


def test_case_75_threads_at_the_same_time_leave_few_open_files_behind(path: Path) -> None:
    with manent.open(path) as store:
        conversation = store.create("case 75")
        conversation.append_turn("q", "a")
        before = len(open_files())
        all_inside = threading.Barrier(AT_ONCE)

        def read() -> None:
            with backend_of(store).reading() as reader:
                all_inside.wait()
                reader.info()

        threads = [threading.Thread(target=read) for _ in range(AT_ONCE)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert len(open_files()) <= before + FEW
        assert conversation.turns()
    assert open_files_of(path) == []


def test_case_75_stores_that_are_opened_and_closed_leave_no_open_files_behind(path: Path) -> None:
    manent.open(path).close()
    before = len(open_files())

    for _ in range(TIMES):
        with manent.open(path) as store:
            store.list()

    gc.collect()
    assert len(open_files()) <= before + FEW
    assert open_files_of(path) == []


def test_case_75_a_store_closed_by_another_thread_has_no_open_files(path: Path) -> None:
    store = manent.open(path)
    store.create("case 75")

    in_a_thread(store.close)

    assert open_files_of(path) == []
