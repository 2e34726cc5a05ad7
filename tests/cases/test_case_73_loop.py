"""Case 73: another process keeps the write lock, and a web server goes on serving."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import manent
from manent import aio
from manent.history.store import SEARCH_LIMIT
from tests.processes import start
from tests.programs import hold_the_lock

HOLD_S = 3.0
TICK_S = 0.05
MESSAGES = 2_000
SAMPLES = Path(__file__).resolve().parents[2] / "samples"


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


@asynccontextmanager
async def ticking() -> AsyncIterator[Ticker]:
    """A ticker that ticks during the block."""
    ticker = Ticker()
    task = asyncio.create_task(ticker.tick())
    yield ticker
    task.cancel()
    await asyncio.wait([task])


def fill(path: Path) -> None:
    """Make a store with something to find, to verify and to export."""
    with manent.open(path) as store:
        conversation = store.create_with_id("c")
        conversation.append_messages([manent.Message(role="user", parts="a needle and a camel")] * MESSAGES)


async def look_at_everything(store: manent.AsyncStore, path: Path) -> list[object]:
    """Search, list, read, verify, export, and open the store once more: what came of it."""
    conversation = await store.conversation("c")
    hits, page, turns, report, lines = await asyncio.gather(
        store.search("needle"), store.list(), conversation.turns(limit=1), store.verify(), exported(store)
    )
    async with manent.aopen(path) as again:
        return [len(hits), len(page), len(turns), report.ok, lines > MESSAGES, await again.exists("c")]


async def exported(store: manent.AsyncStore) -> int:
    """How many lines an export has."""
    return len([line async for line in store.export_lines()])


async def serve(path: Path, release: Callable[[], None]) -> None:
    """Write and read while the lock is held, tick all the time, and let the writes end once it is free."""
    async with manent.aopen(path, wait=60.0) as store:
        conversation = await store.conversation("c")
        async with ticking() as ticker:
            held_until = asyncio.get_running_loop().time() + HOLD_S
            appending = asyncio.create_task(conversation.append_turn("during", "the lock"))
            importing = asyncio.create_task(aio.import_path(store, SAMPLES / "openai-messages.jsonl"))

            read = await look_at_everything(store, path)
            await asyncio.sleep(held_until - asyncio.get_running_loop().time())

            assert read == [SEARCH_LIMIT, 1, 1, True, True, True]
            assert not appending.done()
            assert not importing.done()
        assert len(ticker.gaps_s) >= HOLD_S / TICK_S / 2
        assert max(ticker.gaps_s) < HOLD_S / 2

        release()
        assert (await appending).question == "during"
        assert (await importing).new_conversations > 0
        assert (await store.verify()).ok


def test_case_73_a_lock_that_another_process_keeps_does_not_stop_the_event_loop(path: Path) -> None:
    # U-5
    fill(path)

    with start(hold_the_lock, path, 0.0).wait_until_ready() as holder:
        asyncio.run(serve(path, holder.go))
        holder.result()
