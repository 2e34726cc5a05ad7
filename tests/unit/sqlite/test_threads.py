"""One store, many threads: appends, closing at any moment, and interrupts (D-2)."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

import manent
from manent.errors import StoreClosedError
from manent.storage.sqlite.pool import IDLE_MAX
from tests.processes import run
from tests.programs import interrupt_often
from tests.stores import TunedBackend, backend_of, questions, store_over

THREADS = 8
TURNS = 50
INTERRUPTS = 1_000


def all_at_once(works: list[Callable[[], object]]) -> list[BaseException]:
    """Do each work in a thread of its own; what they raised."""
    errors: list[BaseException] = []

    def noted(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - a thread's error is the test's
            errors.append(error)

    threads = [threading.Thread(target=noted, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return errors


def test_threads_append_through_one_handle(path: Path) -> None:  # L-4
    with manent.open(path, durability="process", wait=30.0) as store:
        conversation = store.create("threads")

        def append(name: int) -> None:
            for number in range(TURNS):
                conversation.append_turn(f"{name} {number}", "so it is")

        errors = all_at_once([lambda name=name: append(name) for name in range(THREADS)])  # type: ignore[misc]

        assert errors == []
        stored = questions(store, conversation.id)
        assert sorted(stored) == sorted(f"{n} {t}" for n in range(THREADS) for t in range(TURNS))
        assert [q for q in stored if q.startswith("3 ")] == [f"3 {turn}" for turn in range(TURNS)]
        assert store.verify().ok


def test_closing_twice_is_closing_once(path: Path) -> None:
    store = manent.open(path)
    store.create("there")

    store.close()
    store.close()

    with manent.open(path) as again:
        assert [summary.title for summary in again.list()] == ["there"]


@pytest.mark.parametrize(
    "use",
    [
        pytest.param(lambda store, _: store.list(), id="list"),
        pytest.param(lambda store, _: store.create(), id="create"),
        pytest.param(lambda store, _: store.verify(), id="verify"),
        pytest.param(lambda store, _: list(store.export_lines()), id="export"),
        pytest.param(lambda _, conversation: conversation.append_turn("q", "a"), id="append"),
        pytest.param(lambda _, conversation: conversation.turns(), id="turns"),
    ],
)
def test_a_closed_store_says_so(
    path: Path, use: Callable[[manent.Store, manent.Conversation], object]
) -> None:
    store = manent.open(path)
    conversation = store.create("there")
    store.close()

    with pytest.raises(StoreClosedError, match=path.name):
        use(store, conversation)


def test_a_store_closed_by_another_thread_is_closed_for_all(path: Path) -> None:
    store = manent.open(path)
    conversation = store.create("there")

    errors = all_at_once([store.close])

    assert errors == []
    with pytest.raises(StoreClosedError):
        conversation.append_turn("q", "a")


def test_a_read_that_is_under_way_ends_well_when_another_thread_closes_the_store(path: Path) -> None:
    store = manent.open(path)
    conversation = store.create("there")
    conversation.append_turn("q", "a")

    with backend_of(store).reading() as reader:
        errors = all_at_once([store.close])
        found = reader.read_log(0, 100)

    assert errors == []
    assert len(found) == 2


def test_a_transaction_that_is_under_way_is_committed_when_another_thread_closes_the_store(
    path: Path,
) -> None:
    store = manent.open(path)
    store.create("there")

    with backend_of(store).transaction() as tx:
        errors = all_at_once([store.close])
        uid = tx.read.read_uids("", 100)[0]
        tx.put_metadata(uid, "title", "renamed")

    assert errors == []
    with manent.open(path, wait=0.0) as again:
        assert again.verify().ok
        again.create("more")


def test_closing_while_threads_read_ends_each_read_well_or_says_that_the_store_is_closed(path: Path) -> None:
    store = manent.open(path)
    conversation = store.create("there")
    conversation.append_turn("q", "a")
    started = threading.Barrier(THREADS + 1)

    def read_for_ever() -> None:
        started.wait()
        while True:
            conversation.turns()

    def close() -> None:
        started.wait()
        store.close()

    errors = all_at_once([*[read_for_ever] * THREADS, close])

    assert [type(error) for error in errors] == [StoreClosedError] * THREADS


def test_a_keyboard_interrupt_in_a_transaction_leaves_no_lock_and_nothing_written(path: Path) -> None:  # D-2
    with manent.open(path) as store, manent.open(path, wait=0.0) as other:
        conversation = store.create("there")
        uid = conversation.uid

        with pytest.raises(KeyboardInterrupt) as caught, backend_of(store).transaction() as tx:
            tx.put_metadata(uid, "title", "half")
            raise KeyboardInterrupt

        assert caught.tb is not None  # whoever keeps the error keeps its frames, and no lock
        other.conversation(conversation.id).append_turn("at once", "so it is")
        conversation.append_turn("and again", "so it is")
        assert [summary.title for summary in store.list()] == ["there"]


def test_a_rain_of_interrupts_loses_nothing_and_leaves_no_lock(path: Path) -> None:  # D-2
    with manent.open(path) as store:
        conversation = store.create("rain")

    done, came = run(interrupt_often, path, conversation.id, INTERRUPTS)

    assert came == INTERRUPTS
    with manent.open(path, wait=0.0) as store:
        stored = questions(store, conversation.id)
        assert set(stored) >= {str(number) for number in range(done)}
        assert stored[-1] == "after all that"
        assert store.verify().ok


def test_connections_follow_use(path: Path) -> None:
    opened: list[object] = []
    with store_over(TunedBackend(path, opened.append)) as store:
        store.create("there")
        for _ in range(50):
            store.list()

        assert len(opened) == 1
        all_at_once([store.list] * 20)
        assert len(backend_of(store)._pool._idle) <= IDLE_MAX
