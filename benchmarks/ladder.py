"""Q-4 and Q-7: the same acts in stores of 10^3 to 10^6 messages, one warm conversation; their weight."""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import manent
from benchmarks.worker import text
from manent.history.recording import record
from manent.model.events import ConversationCreated, TurnAppended
from manent.model.ids import answer_id, new_uid
from manent.model.log import Pending, StreamInfo, WorkspaceInfo
from manent.opening import open_backend
from manent.storage.port import Backend, Transaction

STEPS = (1_000, 10_000, 100_000, 1_000_000)
TURNS_A_CONVERSATION = 20
REPEATS = 15
APPENDS = 30
CONVERSATIONS_A_COMMIT = 50


class Rung(NamedTuple):
    """One size: nanoseconds of each act (median) and bytes on disk per byte of text."""

    messages: int
    acts: dict[str, float]
    size_ratio: float


def climb(steps: tuple[int, ...]) -> list[Rung]:
    """Build and measure a store of each size."""
    return [_rung(messages) for messages in steps]


def _rung(messages: int) -> Rung:
    with tempfile.TemporaryDirectory(prefix="manent-ladder-") as name:
        path = Path(name) / "conversations.db"
        build(path, messages)
        size_ratio = path.stat().st_size / (messages * 1000)
        return Rung(messages, _measure(path), size_ratio)


def build(path: Path, messages: int) -> None:
    """Fill a store through the port, many conversations a commit."""
    backend = open_backend(path, durability="process")
    workspace = new_uid()
    with backend.transaction() as tx:
        tx.put_workspace(WorkspaceInfo(workspace, (new_uid(),), (("key", "bench"),)))
    conversations = messages // (2 * TURNS_A_CONVERSATION)
    for start in range(0, conversations, CONVERSATIONS_A_COMMIT):
        _fill(backend, workspace, range(start, min(start + CONVERSATIONS_A_COMMIT, conversations)))
    backend.close()


def _fill(backend: Backend, workspace: str, numbers: range) -> None:
    with backend.transaction() as tx:
        for number in numbers:
            uid = new_uid()
            tx.put_stream(StreamInfo(uid, workspace, uid))
            record(tx, uid, [Pending(ConversationCreated(), new_uid(), time.time_ns())])
            tx.put_metadata(uid, "title", f"conversation {number}")
            _append_turns(tx, uid, number)


def _append_turns(tx: Transaction, uid: str, number: int) -> None:
    parent = None
    for turn in range(number * TURNS_A_CONVERSATION, (number + 1) * TURNS_A_CONVERSATION):
        event = TurnAppended(parent_id=parent, question=text(turn, "q"), answer=text(turn, "a"))
        stored = record(tx, uid, [Pending(event, new_uid(), time.time_ns())])[0]
        parent = answer_id(stored.header.stamp)


def _measure(path: Path) -> dict[str, float]:
    def opened() -> None:
        with manent.open(path, workspace="bench") as store:
            store.list(limit=1)

    acts = {"open and first list": _median(opened, REPEATS)}
    with manent.open(path, workspace="bench") as store:
        warm = store.conversation(key="warm", create=True)
        for number in range(20):
            warm.append_turn(text(number, "q"), text(number, "a"))
        acts["list 20"] = _median(lambda: store.list(limit=20), REPEATS)
        acts["append a turn"] = _median(lambda: warm.append_turn(text(1, "q"), text(1, "a")), APPENDS)
        acts["last 20 messages"] = _median(lambda: warm.messages(limit=20), REPEATS)
    return acts


def _median(act: Callable[[], object], repeats: int) -> float:
    act()
    times = []
    for _ in range(repeats):
        started = time.perf_counter_ns()
        act()
        times.append(time.perf_counter_ns() - started)
    return statistics.median(times)
