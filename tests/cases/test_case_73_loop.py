"""Case 73: another process keeps the write lock, the disk is slow, and a web server goes on serving."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

import manent
from manent import aio, opening
from manent.aio.workers import Lane, Workers
from manent.history.store import SEARCH_LIMIT
from manent.storage.sqlite.backend import SqliteBackend
from tests.processes import Child, start
from tests.programs import hold_the_lock

T = TypeVar("T")

TICK_S = 0.01
GAP_S = 0.2
"""The event loop was stopped where it does not tick for so long."""

IDLE_GAPS = 5
"""On a machine that others use: so many times as long as the longest gap with nothing to do."""

MESSAGES = 2_000
SAMPLES = Path(__file__).resolve().parents[2] / "samples"


class Weather(NamedTuple):
    """How long another process holds the lock, and how long each read and each opening takes at least."""

    hold_s: float
    slow_s: float


class Ticker:
    """Ticks on the event loop; `gaps_s` are the seconds between one tick and the next."""

    def __init__(self) -> None:
        self.gaps_s: list[float] = []

    async def tick(self) -> None:
        """Tick until cancelled."""
        clock = asyncio.get_running_loop().time
        before = clock()
        while True:
            await asyncio.sleep(TICK_S)
            now = clock()
            self.gaps_s.append(now - before)
            before = now


class Served(NamedTuple):
    """
    What came of serving.

    Args:
        idle_gap_s: the longest gap between two ticks with nothing to do.
        gap_s: the longest gap while everything was called.
        calls_s: how long each call took.
        found: what the reads gave.
    """

    idle_gap_s: float
    gap_s: float
    calls_s: dict[str, float]
    found: list[object]

    @property
    def was_stopped(self) -> bool:
        """Whether the event loop stood still, for longer than this machine makes it or for a whole call."""
        longest_s = max(GAP_S, IDLE_GAPS * self.idle_gap_s)
        return self.gap_s >= min(longest_s, *self.calls_s.values())


class Stopwatch:
    """Says how long what is awaited took."""

    def __init__(self) -> None:
        self.calls_s: dict[str, float] = {}

    async def measure(self, name: str, call: Awaitable[T]) -> T:
        """Await something; how long that took goes under its name."""
        began = time.monotonic()
        result = await call
        self.calls_s[name] = time.monotonic() - began
        return result


@asynccontextmanager
async def ticking() -> AsyncIterator[Ticker]:
    """A ticker that ticks during the block, and once more behind it: a gap at its end counts too."""
    ticker = Ticker()
    task = asyncio.create_task(ticker.tick())
    await asyncio.sleep(TICK_S)
    yield ticker
    await asyncio.sleep(3 * TICK_S)
    task.cancel()
    await asyncio.wait([task])


@contextmanager
def slow_disk(slow_s: float) -> Iterator[None]:
    """Let each read of a store, and each opening of one, take so long at least, wherever it runs."""

    def slowly(function: Callable[..., Any]) -> Callable[..., Any]:
        def slow(*args: Any, **kwargs: Any) -> Any:
            time.sleep(slow_s)
            return function(*args, **kwargs)

        return slow

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SqliteBackend, "reading", slowly(SqliteBackend.reading))
        patch.setattr(opening, "open_backend", slowly(opening.open_backend))
        yield


@contextmanager
def on_the_event_loop(lane: Lane) -> Iterator[None]:
    """Plant a fault: calls of one kind run on the event loop itself."""
    run = Workers.run

    async def run_here(self: Workers, asked: Lane, work: Callable[[], Any], **settings: Any) -> Any:
        return work() if asked is lane else await run(self, asked, work, **settings)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Workers, "run", run_here)
        yield


def fill(path: Path) -> None:
    """Make a store with something to find, to verify and to export."""
    with manent.open(path) as store:
        conversation = store.create_with_id("c")
        conversation.append_messages([manent.Message(role="user", parts="a needle and a camel")] * MESSAGES)


async def look_at_everything(
    store: manent.AsyncStore, conversation: manent.AsyncConversation, path: Path, watch: Stopwatch
) -> list[object]:
    """Search, list, read, verify, export, and open the store once more: what came of it."""
    hits, page, turns, report, lines = await asyncio.gather(
        watch.measure("search", store.search("needle")),
        watch.measure("list", store.list()),
        watch.measure("turns", conversation.turns(limit=1)),
        watch.measure("verify", store.verify()),
        watch.measure("export", exported(store)),
    )
    again = await watch.measure("open", manent.aopen(path))
    is_there = await watch.measure("exists", again.exists("c"))
    await again.aclose()
    return [len(hits), len(page), len(turns), report.ok, lines > MESSAGES, is_there]


async def exported(store: manent.AsyncStore) -> int:
    """How many lines an export has."""
    return len([line async for line in store.export_lines()])


async def serve(path: Path, holder: Child, slow_s: float) -> Served:
    """Tick while nothing happens, then while everything is called and the lock is held by another process."""
    watch = Stopwatch()
    async with manent.aopen(path, wait=60.0) as store:
        conversation = await store.conversation("c")
        async with ticking() as idle:
            await asyncio.sleep(1.0)
        with slow_disk(slow_s):
            async with ticking() as ticker:
                holder.go()
                append = watch.measure("append", conversation.append_turn("during", "the lock"))
                into = watch.measure("import", aio.import_path(store, SAMPLES / "openai-messages.jsonl"))
                looked = look_at_everything(store, conversation, path, watch)
                turn, imported, found = await asyncio.gather(append, into, looked)
        found += [turn.question, imported.new_conversations > 0, (await store.verify()).ok]
    return Served(max(idle.gaps_s), max(ticker.gaps_s), watch.calls_s, found)


def served(path: Path, weather: Weather) -> Served:
    """Serve a store whose lock another process holds."""
    fill(path)
    with start(hold_the_lock, path, weather.hold_s).wait_until_ready() as holder:
        found = asyncio.run(serve(path, holder, weather.slow_s))
        holder.result()
    return found


def test_case_73_a_lock_that_another_process_keeps_does_not_stop_the_event_loop(path: Path) -> None:
    # U-5
    weather = Weather(hold_s=5.0, slow_s=1.5)

    found = served(path, weather)

    assert found.found == [SEARCH_LIMIT, 1, 1, True, True, True, "during", True, True]
    assert min(found.calls_s.values()) >= weather.slow_s  # so that each of them would be noticed
    assert not found.was_stopped, found


@pytest.mark.parametrize("lane", Lane)
def test_case_73_a_call_on_the_event_loop_would_be_noticed(path: Path, lane: Lane) -> None:
    # U-5
    with on_the_event_loop(lane):
        found = served(path, Weather(hold_s=1.5, slow_s=0.5))

    assert found.was_stopped, found
