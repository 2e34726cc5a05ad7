"""The awaited store: whole or absent under cancellation, closed whole, and no trace left behind."""

from __future__ import annotations

import asyncio
import gc
import os
import random
import sys
import threading
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

import manent
from manent import aio
from manent.errors import ManentError, StoreBusyError, StoreClosedError
from manent.model.imported import ImportedConversation, ImportedMessage
from manent.model.parts import TextPart
from manent.opening import open_backend
from manent.storage.sqlite.backend import SqliteBackend
from tests import async_programs, processes
from tests.stores import backend_of, questions

TIMES = 60
REQUESTS = 200
FEW = 10

Test = Callable[[Path], Coroutine[Any, Any, None]]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "conversations.db"
    with manent.open(path) as store:
        store.create_with_id("c")
    return path


@pytest.fixture(autouse=True)
def no_threads_left() -> Iterator[None]:
    """Every test ends without a thread of any store."""
    yield
    assert our_threads() == []


def our_threads() -> list[str]:
    """The names of the threads of awaited stores."""
    return sorted(t.name for t in threading.enumerate() if t.name.startswith("manent-"))


def run(test: Coroutine[Any, Any, None]) -> None:
    """Run a test on an event loop of its own."""
    asyncio.run(test)


def lent(store: manent.AsyncStore) -> int:
    """How many connections are in use."""
    return backend_of(store._sync)._pool._lent


async def until(is_so: Callable[[], object]) -> None:
    """Let others go on until something is so."""
    while not is_so():
        await asyncio.sleep(0.001)


def is_waiting(store: manent.AsyncStore) -> Callable[[], bool]:
    """Whether a write of this store is under way."""
    return lambda: lent(store) > 0


def a_conversation(number: int) -> ImportedConversation:
    """A conversation of another tool."""
    place = f"line {number}"
    said = (TextPart(f"said {number}"),)
    message = ImportedMessage(role="user", parts=said, native_id="m", native=b"{}", place=place)
    return ImportedConversation(format="f", place=place, native_id=f"n{number}", messages=(message,))


# --- cancellation


def test_a_cancelled_append_is_whole_or_absent_once_it_has_raised(path: Path) -> None:  # D-2, U-5
    acknowledged: dict[str, int] = {}
    looked: dict[str, bool] = {}
    moments = random.Random(73)

    async def cancel_often() -> None:
        async with manent.aopen(path) as store:
            conversation = await store.conversation("c")
            for number in range(TIMES):
                task = asyncio.create_task(conversation.append_turn(f"q{number}", "a" * 2_000))
                await asyncio.sleep(moments.uniform(0, 0.004))
                task.cancel()
                try:
                    acknowledged[f"q{number}"] = (await task).seq
                except asyncio.CancelledError:
                    looked[f"q{number}"] = f"q{number}" in questions(store._sync, "c")

    run(cancel_often())

    with manent.open(path) as store:
        stored = {turn.question: turn for turn in store.conversation("c").turns()}
        assert store.verify().ok
        assert len(stored) == len(store.conversation("c").turns())
    assert {q: stored[q].seq for q in acknowledged} == acknowledged
    assert {q: q in stored for q in looked} == looked
    assert len(acknowledged) + len(looked) == TIMES


def test_a_cancelled_write_that_waits_for_the_lock_has_ended_when_it_raises(path: Path) -> None:  # D-2
    async def cancel() -> None:
        backend = open_backend(path)
        async with manent.aopen(path, wait=0.2) as store:
            conversation = await store.conversation("c")
            with backend.transaction():
                task = asyncio.create_task(conversation.append_turn("q", "a"))
                await until(is_waiting(store))
                task.cancel()
                task.cancel()
                await asyncio.wait([task])

                assert task.cancelled()
                assert lent(store) == 0
            assert await conversation.turns(limit=1) is not None
            assert questions(store._sync, "c") == []
        backend.close()

    run(cancel())


def test_a_cancelled_call_that_has_not_begun_never_begins(path: Path) -> None:
    async def cancel() -> None:
        backend = open_backend(path)
        async with manent.aopen(path) as store:
            conversation = await store.conversation("c")
            with backend.transaction():
                first = asyncio.create_task(conversation.append_turn("first", "a"))
                await until(is_waiting(store))
                second = asyncio.create_task(conversation.append_turn("second", "a"))
                third = asyncio.create_task(conversation.append_turn("third", "a"))
                await asyncio.sleep(0)
                second.cancel()
                await asyncio.wait([second])
                assert not first.done()
            await asyncio.gather(first, third)

            assert questions(store._sync, "c") == ["first", "third"]
        backend.close()

    run(cancel())


def test_a_read_may_be_given_up_at_once(path: Path) -> None:
    async def give_up() -> None:
        async with manent.aopen(path, clock=slow_clock) as store:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.05):
                    await store.receipt()
            assert not may_go_on.is_set()
            may_go_on.set()

    may_go_on = threading.Event()

    def slow_clock() -> int:
        may_go_on.wait()
        return 0

    run(give_up())


def test_a_cancelled_import_ends_early_and_goes_on_when_it_is_repeated(path: Path) -> None:  # U-5
    async def cancel() -> None:
        async with manent.aopen(path) as store:
            items = [a_conversation(number) for number in range(TIMES)]

            def progress(count: int) -> None:
                if count == 3:
                    task.cancel()

            task = asyncio.create_task(store.import_items(items, format="f", progress=progress))
            await asyncio.wait([task])
            there = len(await store.list(limit=1_000)) - 1
            report = await store.import_items(items, format="f")

            assert task.cancelled()
            assert 3 <= there <= TIMES
            assert report.unchanged_conversations == there
            assert report.new_conversations == TIMES - there

    run(cancel())


def test_a_cancelled_restoring_is_absent(path: Path, tmp_path: Path) -> None:  # D-2
    async def cancel() -> None:
        async with manent.aopen(path) as store, manent.aopen(tmp_path / "copy.db") as copy:
            lines = [line async for line in store.export_lines()]
            half_way, go_on = threading.Event(), threading.Event()

            def slow_lines() -> Iterator[bytes]:
                yield from lines[:-1]
                half_way.set()
                go_on.wait()
                yield lines[-1]

            task = asyncio.create_task(copy.import_lines(slow_lines()))
            await until(half_way.is_set)
            task.cancel()
            await asyncio.sleep(0)
            go_on.set()
            await asyncio.wait([task])

            assert task.cancelled()
            assert len(await copy.list()) == 0

    run(cancel())


def test_a_cancelled_verify_ends_by_itself(path: Path) -> None:
    async def cancel() -> None:
        async with manent.aopen(path) as store:
            conversation = await store.conversation("c")
            await conversation.append_messages([manent.Message(role="user", parts="m")] * 3_000)
            seen: list[int] = []

            def progress(count: int) -> None:
                seen.append(count)
                task.cancel()

            task = asyncio.create_task(store.verify(progress=progress))
            await asyncio.wait([task])

            assert task.cancelled()
            assert len(seen) >= 1

    run(cancel())


def test_errors_of_cancelled_calls_are_reported_nowhere(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def cancel() -> None:
        backend = open_backend(path)
        async with manent.aopen(path, wait=0.1) as store:
            with backend.transaction():
                writing = asyncio.create_task(store.create())
                await until(is_waiting(store))
                writing.cancel()
                await asyncio.wait([writing])
            reading = asyncio.create_task(store.get("turn:nowhere#1"))
            await asyncio.sleep(0)
            reading.cancel()
            await asyncio.wait([reading])
        backend.close()

    run(cancel())
    gc.collect()

    assert caplog.records == []


# --- waiting for the lock


def test_writes_that_queue_behind_one_that_waited_in_vain_do_not_wait_again(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # D-5
    attempts: list[str] = []
    original = SqliteBackend.writing

    def writing(self: SqliteBackend) -> Any:
        attempts.append(self.url)
        return original(self)

    async def queue() -> None:
        backend = open_backend(path)
        async with manent.aopen(path, wait=0.2) as store:
            conversation = await store.conversation("c")
            with backend.transaction():
                monkeypatch.setattr(SqliteBackend, "writing", writing)
                calls = [conversation.append_turn(f"q{number}", "a") for number in range(20)]
                found = await asyncio.gather(*calls, return_exceptions=True)

                assert [type(each) for each in found] == [StoreBusyError] * 20
                assert len(attempts) == 1
            await conversation.append_turn("afterwards", "a")
            assert questions(store._sync, "c") == ["afterwards"]
        backend.close()

    run(queue())


def test_writes_happen_in_the_order_of_the_calls(path: Path) -> None:
    async def write() -> None:
        async with manent.aopen(path) as store:
            conversation = await store.conversation("c")
            turns = await asyncio.gather(*(conversation.append_turn(f"q{n}", "a") for n in range(50)))

            assert [turn.question for turn in turns] == questions(store._sync, "c")

    run(write())


# --- closing


def test_closing_waits_for_what_has_begun_and_refuses_the_rest(path: Path) -> None:  # D-2
    async def close() -> None:
        store = await manent.aopen(path)
        conversation = await store.conversation("c")
        calls = [asyncio.create_task(conversation.append_turn(f"q{n}", "a")) for n in range(20)]
        await asyncio.sleep(0.003)

        await store.aclose()
        assert our_threads() == []

        found = await asyncio.gather(*calls, return_exceptions=True)
        done = [turn.question for turn in found if isinstance(turn, manent.Turn)]
        refused = [error for error in found if isinstance(error, StoreClosedError)]
        with manent.open(path) as again:
            assert questions(again, "c") == done
            assert again.verify().ok
        assert len(done) + len(refused) == 20

    run(close())


def test_a_store_may_be_closed_twice_and_by_several_tasks(path: Path) -> None:
    async def close() -> None:
        async with manent.aopen(path) as store:
            await store.list()
            await asyncio.gather(*(store.aclose() for _ in range(5)))
            await store.aclose()
            assert our_threads() == []

    run(close())


def test_a_cancelled_close_has_closed_when_it_raises(path: Path) -> None:
    async def close() -> None:
        store = await manent.aopen(path)
        await store.list()
        task = asyncio.create_task(store.aclose())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

        assert task.cancelled()
        assert our_threads() == []

    run(close())


def test_an_exception_leaves_the_block_and_closes_the_store(path: Path) -> None:
    async def fail() -> None:
        async with manent.aopen(path) as store:
            await store.list()
            raise LookupError("of the caller's own")

    with pytest.raises(LookupError, match="caller's own"):
        run(fail())


USES: dict[str, Callable[[manent.AsyncStore, manent.AsyncConversation], Coroutine[Any, Any, object]]] = {
    "read": lambda store, _: store.list(),
    "write": lambda store, _: store.create(),
    "verify": lambda store, _: store.verify(),
    "export": lambda store, _: exported(store),
    "import": lambda store, _: store.import_items([], format="f"),
    "restore": lambda store, _: store.import_lines(one_line()),
    "roadmaps": lambda store, _: store.roadmaps.list(),
    "workspaces": lambda store, _: store.workspaces.list(),
    "append": lambda _, conversation: conversation.append_turn("q", "a"),
    "property": lambda _, conversation: conversation.title(),
    "path": lambda store, _: aio.import_path(store, "nowhere"),
}


async def exported(store: manent.AsyncStore) -> list[bytes]:
    """All lines of an export."""
    return [line async for line in store.export_lines()]


async def one_line() -> AsyncIterator[bytes]:
    """One line, whatever it says."""
    yield b"\n"


@pytest.mark.parametrize("use", USES)
def test_a_closed_store_says_that_it_is_closed(path: Path, use: str) -> None:
    async def use_it() -> None:
        async with manent.aopen(path) as store:
            conversation = await store.conversation("c")
        with pytest.raises(StoreClosedError):
            await USES[use](store, conversation)

    run(use_it())


# --- handles, threads and loops


@pytest.mark.skipif(sys.platform != "linux", reason="counts open files in /proc")
def test_many_requests_leave_no_handles_and_few_threads(path: Path) -> None:  # U-5
    def open_files() -> list[str]:
        links = Path("/proc/self/fd").iterdir()
        return [os.readlink(link) for link in links if os.path.lexists(link)]  # noqa: PTH115 - no path maybe

    async def request(store: manent.AsyncStore, number: int) -> int:
        conversation = await store.conversation("c")
        if number % 10 == 0:
            await conversation.append_turn(f"q{number}", "a")
        return len(await conversation.turns()) + len(await store.list())

    async def serve() -> None:
        async with manent.aopen(path) as store:
            await request(store, 0)
            before = len(open_files())
            await asyncio.gather(*(request(store, number) for number in range(REQUESTS)))

            assert len(open_files()) <= before + FEW
            assert len(our_threads()) <= 5  # four that read, one that writes
        assert [name for name in open_files() if name.startswith(str(path))] == []

    run(serve())


def test_one_store_serves_several_event_loops_one_after_the_other(path: Path) -> None:
    async def opened() -> manent.AsyncStore:
        return await manent.aopen(path)

    async def append(question: str) -> None:
        await (await store.conversation("c")).append_turn(question, "a")

    store = asyncio.run(opened())
    run(append("one"))
    run(append("two"))

    assert questions(store._sync, "c") == ["one", "two"]
    run(store.aclose())


def test_one_store_serves_several_event_loops_at_once(path: Path) -> None:
    async def append() -> None:
        conversation = await store.conversation("c")
        for number in range(10):
            await conversation.append_turn(f"q{number}", "a")

    store = manent.AsyncStore(manent.open(path))
    threads = [threading.Thread(target=lambda: asyncio.run(append())) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(questions(store._sync, "c")) == 30
    run(store.aclose())


def test_a_loop_that_ends_meanwhile_keeps_no_program_from_ending(path: Path) -> None:
    left = processes.run(async_programs.leave_without_closing, path, "c")

    assert left == ["manent-write_0"]
    with manent.open(path) as store:
        assert store.verify().ok
        assert questions(store, "c") in ([], ["left"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_forked_child_has_threads_of_its_own(path: Path) -> None:  # D-7
    assert processes.run(async_programs.fork_and_append, path, "c") == [0, 3]


def test_calls_run_in_the_context_of_the_caller(path: Path) -> None:
    claim: ContextVar[int] = ContextVar("claim")

    async def append(claim_ns: int) -> int | None:
        claim.set(claim_ns)
        return (await conversation[0].append_turn("q", "a")).claim_ns

    async def call() -> None:
        async with manent.aopen(path, clock=claim.get) as store:
            conversation.append(await store.conversation("c"))
            assert await asyncio.gather(*(append(number) for number in range(1, 9))) == [*range(1, 9)]

    conversation: list[manent.AsyncConversation] = []
    run(call())


# --- opening


def test_opening_gives_a_store_that_can_be_awaited_or_entered(path: Path) -> None:
    async def open_both_ways() -> None:
        store = await manent.aopen(path)
        async with store as same, manent.aopen(path, workspace="other") as other:
            assert same is store
            assert repr(other) == f"<AsyncStore {path} 'other'>"

    run(open_both_ways())


def test_an_opening_that_fails_leaves_nothing(tmp_path: Path) -> None:
    async def fail() -> None:
        (tmp_path / "text").write_text("no store", encoding="utf-8")
        for url in (tmp_path / "text", "postgresql://x", "a\0b"):
            with pytest.raises(ManentError):
                await manent.aopen(url)
            assert our_threads() == []

    run(fail())


def test_a_cancelled_opening_leaves_no_file_open(path: Path) -> None:
    async def cancel() -> None:
        for number in range(20):
            task = asyncio.create_task(_await(manent.aopen(path)))
            await asyncio.sleep(number / 4_000)
            task.cancel()
            await asyncio.wait([task])
            if not task.cancelled():
                await task.result().aclose()
            assert our_threads() == []

    run(cancel())


async def _await(opening: aio.opening.Opening) -> manent.AsyncStore:
    return await opening


# --- in and out


def test_an_export_is_that_of_the_store_itself_and_comes_back(path: Path, tmp_path: Path) -> None:  # I-4
    async def carry() -> None:
        async with manent.aopen(path, workspace=None) as store:
            conversation = await store.conversation("c")
            for number in range(20):
                await conversation.append_turn(f"q{number}", "a" * 50_000)
            lines = await exported(store)
            assert lines == list(store._sync.export_lines())
            async with manent.aopen(tmp_path / "one.db", workspace=None) as copy:
                await copy.import_lines(lines)
                assert await exported(copy) == lines
            async with manent.aopen(tmp_path / "two.db", workspace=None) as copy:
                await copy.import_lines(cut_anywhere(b"".join(lines)))
                assert await exported(copy) == lines

    run(carry())


async def cut_anywhere(data: bytes) -> AsyncIterator[bytes]:
    """Bytes as a network brings them."""
    for start in range(0, len(data), 60_001):
        await asyncio.sleep(0)
        yield data[start : start + 60_001]


def test_an_abandoned_export_gives_its_snapshot_up(path: Path) -> None:
    async def abandon() -> None:
        async with manent.aopen(path) as store:
            for number in range(20):
                await (await store.create(f"{number}")).append_turn("q", "a" * 50_000)
            async for _ in store.export_lines():
                assert lent(store) == 1
                break
            await until(lambda: lent(store) == 0)

    run(abandon())


def test_closing_gives_up_the_snapshot_of_a_half_read_export(path: Path) -> None:
    async def close() -> None:
        store = await manent.aopen(path)
        for number in range(20):
            await (await store.create(f"{number}")).append_turn("q", "a" * 50_000)
        lines = store.export_lines()
        await anext(lines)
        await store.aclose()

        assert lent(store) == 0
        with pytest.raises(StoreClosedError):
            _ = [line async for line in lines]

    run(close())


def test_items_may_come_from_an_async_iterator_and_progress_comes_to_the_loop(path: Path) -> None:
    async def items() -> AsyncIterator[ImportedConversation]:
        for number in range(3):
            await asyncio.sleep(0)
            yield a_conversation(number)

    async def take_in() -> None:
        async with manent.aopen(path) as store:
            seen: list[tuple[int, threading.Thread]] = []
            report = await store.import_items(
                items(),
                format="f",
                progress=lambda count: seen.append((count, threading.current_thread())),
            )

            assert report.new_conversations == 3
            assert seen == [(count, threading.main_thread()) for count in (1, 2, 3)]

    run(take_in())


def test_a_path_is_restored(path: Path, tmp_path: Path) -> None:
    async def restore() -> None:
        async with manent.aopen(path) as store, manent.aopen(tmp_path / "copy.db") as copy:
            export = tmp_path / "export.ndjson"
            export.write_bytes(b"".join(await exported(store)))
            assert (await aio.restore_path(copy, export)).new_conversations == 1
            assert await copy.exists("c")

    run(restore())


def test_a_resumption_and_links_name_awaited_conversations(path: Path) -> None:
    async def resume() -> None:
        async with manent.aopen(path) as store:
            first = await store.conversation("c")
            later = await store.create("later", continues=first)
            found = await store.resume("c")

            assert isinstance(found.conversation, manent.AsyncConversation)
            assert found[1:] == ((later.id,), None, None)

    run(resume())


def test_a_store_in_memory_can_be_awaited_too() -> None:
    async def use() -> None:
        async with manent.aopen("memory:") as store:
            conversation = await store.create("t")
            await conversation.append_turn("q", "a")
            assert [turn.question for turn in await conversation.turns()] == ["q"]

    run(use())
