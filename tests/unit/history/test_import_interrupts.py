"""An interrupted import leaves a whole store; repeated, it comes to the same end (U-1, D-2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import manent
from manent.history import batching
from manent.model.imported import ImportedConversation
from manent.opening import open_backend
from manent.storage.port import Backend
from manent.storage.wrappers import FaultPlan, faulty
from tests.processes import start
from tests.programs import import_until_killed
from tests.unit.history.handles import handle
from tests.unit.history.sources import a_message, a_talk, seen, the_source


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batching, "BATCH_MESSAGES", 3)


@pytest.fixture
def expected() -> list[object]:
    """What is there after an import that nobody interrupted."""
    with manent.open("memory:", workspace="demo") as store:
        store.import_items(the_source(), format="test")
        return seen(store)


@pytest.fixture(params=["memory", "sqlite"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Backend]]:
    made: list[Backend] = []

    def backend() -> Backend:
        url = "memory:" if request.param == "memory" else str(tmp_path / f"{len(made)}.db")
        made.append(open_backend(url, durability="process"))
        return made[-1]

    yield backend
    for each in made:
        each.close()


def repeated(backend: Backend) -> list[object]:
    """Import once more, and what is there then."""
    store = handle(backend, "demo")
    store.import_items(the_source(), format="test")
    return seen(store)


def test_an_interrupt_at_any_statement(make: Callable[[], Backend], expected: list[object]) -> None:
    for at in range(1, 400, 7):
        backend, plan = make(), FaultPlan(at, KeyboardInterrupt())
        try:
            handle(faulty(backend, plan), "demo").import_items(the_source(), format="test")
        except KeyboardInterrupt:
            assert handle(backend, "demo").verify().ok
        if not plan.fired:
            break

        assert repeated(backend) == expected
    else:
        pytest.fail("a transaction has more statements than this test tries")


@pytest.mark.parametrize("after", range(4))
def test_an_interrupt_between_conversations(
    make: Callable[[], Backend], expected: list[object], after: int
) -> None:
    backend, store = (found := make()), handle(found, "demo")
    calls: list[int] = []

    def interrupt(looked_at: int) -> None:
        calls.append(looked_at)
        if len(calls) > after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.import_items(the_source(), format="test", progress=interrupt)

    (record,) = store.imports.list()
    assert not record.finished or after == 3
    assert repeated(backend) == expected


def test_an_interrupt_while_the_source_is_read(make: Callable[[], Backend], expected: list[object]) -> None:
    def source() -> Iterator[ImportedConversation]:
        yield from the_source()[:2]
        raise KeyboardInterrupt

    backend = make()
    with pytest.raises(KeyboardInterrupt):
        handle(backend, "demo").import_items(source(), format="test")

    assert len(handle(backend, "demo").list()) == 0
    assert repeated(backend) == expected


def test_an_interrupted_import_can_be_undone(make: Callable[[], Backend], expected: list[object]) -> None:
    backend, store = (found := make()), handle(found, "demo")

    def interrupt(looked_at: int) -> None:
        if looked_at > 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.import_items(the_source(), format="test", progress=interrupt)
    (record,) = store.imports.list()

    store.imports.undo(record.id)

    assert (len(store.list()), store.imports.list(), store.verify().ok) == (0, [], True)
    assert repeated(backend) == expected


def test_an_undo_that_fails_at_any_statement_is_whole_or_absent(make: Callable[[], Backend]) -> None:
    for at in range(1, 400, 11):
        backend, plan = make(), FaultPlan(at, KeyboardInterrupt())
        id = handle(backend, "demo").import_items(the_source(), format="test").import_id or ""
        try:
            handle(faulty(backend, plan), "demo").imports.undo(id)
        except KeyboardInterrupt:
            assert handle(backend, "demo").verify().ok
            handle(backend, "demo").imports.undo(id)
        assert (len(handle(backend, "demo").list()), handle(backend, "demo").imports.list()) == (0, [])
        if not plan.fired:
            break
    else:
        pytest.fail("a transaction has more statements than this test tries")


def test_others_write_while_an_import_is_under_way(tmp_path: Path) -> None:
    path = tmp_path / "conversations.db"
    with manent.open(path, workspace="demo") as store, manent.open(path, workspace="demo") as other:
        store.import_items([a_talk(a_message("one", id="m0"), id="s0")], format="test")
        mine = other.conversation(key="test:s0")

        def speak(looked_at: int) -> None:
            mine.append_turn(f"after {looked_at}", "so it is")

        messages = [a_message("one", id="m0"), *(a_message(f"{n}", id=f"m{n}") for n in range(1, 9))]
        report = store.import_items(
            [a_talk(*messages, id="s0"), *the_source()[1:]], format="test", progress=speak
        )

        undone = store.imports.undo(report.import_id or "", force=True)

        said = [m.text for m in mine.messages(branch="all") if m.state == "present"]
        assert undone.removed_messages >= 8
        assert said[0] == "one"
        assert not {f"{n}" for n in range(1, 9)} & set(said)
        assert store.verify().ok


@pytest.mark.parametrize("batches", [1, 3, 5])
def test_a_child_that_is_killed_while_it_imports(
    tmp_path: Path, expected: list[object], batches: int
) -> None:
    path = tmp_path / "conversations.db"
    with start(import_until_killed, path, batches) as child:
        child.wait_until_ready()  # inside of a transaction
        child.kill()

    backend = open_backend(path)
    assert handle(backend, "demo").verify().ok
    assert repeated(backend) == expected
    backend.close()
