"""Several processes write at once: they wait for each other, or say who kept them waiting (case 1)."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tests.surface.command_line import PROCESS_SECONDS_MAX, Desk, environment

HOLDER = """
import sys, time
from manent.storage.sqlite.backend import SqliteBackend

with SqliteBackend(sys.argv[1]).writing():
    print("held", flush=True)
    time.sleep(float(sys.argv[2]))
"""
WORKER = """
import sys
from manent.cli.app import app

store, key, turns = sys.argv[1:]
codes = [app.run(["--store", store, "new", "--key", key])]
codes += [app.run(["--store", store, "append", "--key", key, f"q{n}", f"a{n}"]) for n in range(int(turns))]
sys.exit(max(codes))
"""
WORKERS = ("w1", "w2", "w3", "w4", "w5", "w6")
TURNS = 5


@contextmanager
def held(desk: Desk, seconds: float) -> Iterator[subprocess.Popen[str]]:
    """A process that keeps the store's write transaction open for so long."""
    process = script(HOLDER, str(desk.store), str(seconds))
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def script(text: str, *arguments: str) -> subprocess.Popen[str]:
    """A Python process."""
    return subprocess.Popen(
        (sys.executable, "-c", text, *arguments),
        env=environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def end_of(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Exit code and errors of a process, when it has ended."""
    _, said = process.communicate(timeout=PROCESS_SECONDS_MAX)
    return process.returncode, said


def test_processes_that_start_together_all_write_everything(desk: Desk) -> None:  # case 1, D-5
    with held(desk, seconds=2):
        workers = [script(WORKER, str(desk.store), key, str(TURNS)) for key in WORKERS]
        ends = [end_of(worker) for worker in workers]

    shown = [desk.read("show", "--key", key)["messages"] for key in WORKERS]
    assert ends == [(0, "")] * len(WORKERS)
    assert len(desk.read("list")["conversations"]) == len(WORKERS)
    assert [len(messages) for messages in shown] == [2 * TURNS] * len(WORKERS)
    assert desk.type("verify").exit_code == 0


def test_who_waited_in_vain_says_for_which_store_and_whom(desk: Desk) -> None:  # case 1, U-2
    with held(desk, seconds=60) as holder:
        result = desk.run("--wait", "0.5", "new", "never", "--key", "k")

        said = result.stderr.decode("utf-8")
        assert result.returncode == 5
        assert said.startswith(f"manent: {desk.store} is being written")
        assert f"process {holder.pid}" in said
        assert result.stdout == b""

    assert desk.read("list")["conversations"] == []


def test_reading_does_not_wait_for_a_writer(desk: Desk) -> None:
    desk.begin("Fix it")

    with held(desk, seconds=60):
        listed = desk.read("--wait", "0", "list")

    assert [entry["title"] for entry in listed["conversations"]] == ["Fix it"]


def test_a_store_that_many_make_at_once_is_made_once(desk: Desk) -> None:  # D-6
    workers = [script(WORKER, str(desk.store), key, "1") for key in WORKERS]
    ends = [end_of(worker) for worker in workers]

    assert ends == [(0, "")] * len(WORKERS)
    assert len(desk.read("list")["conversations"]) == len(WORKERS)
