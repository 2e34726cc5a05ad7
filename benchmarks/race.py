"""Q-1 and Q-2: everybody appends and loads in turns, A B C, C B A; ratios from one run."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.environments import OURS, PEERS, Peer, interpreter

ROUNDS = 11
TURNS_A_ROUND = 50
LOADS = 7
LOADED_TURNS = 1000


class Times(NamedTuple):
    """Nanoseconds a turn, one value a round."""

    append: dict[str, list[float]]
    load: dict[str, list[float]]


class Worker:
    """A contender's process."""

    def __init__(self, peer: Peer, folder: Path) -> None:
        folder.mkdir()
        script = Path(__file__).with_name("worker.py")
        self._process = subprocess.Popen(
            [interpreter(peer), str(script), peer.module, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        )

    def ask(self, do: str, count: int = 0) -> dict[str, Any]:
        """Have something done; return what it took."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("the worker has no pipes")
        self._process.stdin.write(json.dumps({"do": do, "count": count}) + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def race(peers: tuple[Peer, ...] = OURS + PEERS) -> Times:
    """Run everybody; return what each round took."""
    with tempfile.TemporaryDirectory(prefix="manent-bench-") as name:
        workers = {peer.module: Worker(peer, Path(name) / peer.module) for peer in peers}
        try:
            return _run(workers)
        finally:
            for worker in workers.values():
                worker.close()


def _run(workers: dict[str, Worker]) -> Times:
    times = Times(defaultdict(list), defaultdict(list))
    for worker in workers.values():
        worker.ask("append", TURNS_A_ROUND)
    for number in range(ROUNDS):
        for name in _order(workers, number):
            took = workers[name].ask("append", TURNS_A_ROUND)["ns"]
            times.append[name].append(took / TURNS_A_ROUND)
    appended = (ROUNDS + 1) * TURNS_A_ROUND
    for worker in workers.values():
        worker.ask("append", LOADED_TURNS - appended)
    for number in range(LOADS):
        for name in _order(workers, number):
            answer = workers[name].ask("load")
            if answer["result"] != 2 * LOADED_TURNS:
                raise RuntimeError(f"{name} loaded {answer['result']} messages")
            times.load[name].append(answer["ns"] / LOADED_TURNS)
    return times


def _order(workers: dict[str, Worker], number: int) -> list[str]:
    names = list(workers)
    return names if number % 2 == 0 else names[::-1]


def ratio(times: dict[str, list[float]], name: str, base: str) -> tuple[float, float, float]:
    """The median, least and greatest ratio of one contender to another, round by round."""
    ratios = [a / b for a, b in zip(times[name], times[base], strict=True)]
    return statistics.median(ratios), min(ratios), max(ratios)
