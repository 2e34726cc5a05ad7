"""Case 2: one append fails, and nobody else notices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import manent
from manent.errors import InputError
from manent.history.store import Store
from manent.model.imported import ImportedConversation, ImportedMessage
from manent.model.parts import TextPart
from manent.model.records import Message
from manent.storage.port import Backend
from manent.storage.sqlite.backend import SqliteBackend
from manent.testing.faults import failing_at_each_statement
from manent.testing.snapshots import Snapshot, take_snapshot
from tests.stores import questions, store_over

Write = Callable[[Store], object]

BATCH = [Message(role="user", parts=f"message {number}") for number in range(3)]


def an_import(messages: int) -> ImportedConversation:
    """A conversation of another tool."""
    found = [
        ImportedMessage(
            role="user",
            parts=(TextPart(f"imported {number}"),),
            native=b"{}",
            native_id=f"m{number}",
            place=f"line {number}",
            follows=True,
        )
        for number in range(messages)
    ]
    return ImportedConversation(format="test", messages=tuple(found), place="a file", native_id="c1")


def exported_lines(folder: Path) -> Sequence[bytes]:
    """An export of another store."""
    with manent.open(folder / "other.db") as other:
        other.create("exported").append_turn("from elsewhere", "it came")
        return list(other.export_lines())


def test_case_02_a_batch_with_a_set_in_its_metadata_is_refused_whole_and_leaves_no_lock(path: Path) -> None:
    with manent.open(path) as store:  # D-2, L-2
        conversation = store.create("case 2")
        batch = [*BATCH[:1], Message(role="user", parts="bad", metadata={"tags": {1, 2}}), *BATCH[2:]]

        with pytest.raises(InputError, match="metadata holds something of type set"):
            conversation.append_messages(batch)

        assert list(conversation.messages()) == []
        with manent.open(path, wait=0.0) as other:
            other.conversation(conversation.id).append_turn("at once", "so it is")
        assert questions(store, conversation.id) == ["at once"]


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(lambda store: store.create("more", key="k2", project="p"), id="create"),
        pytest.param(
            lambda store: _there(store).append_turn("q", "a", idempotency_key="i"), id="append_turn"
        ),
        pytest.param(lambda store: _there(store).append_messages(BATCH), id="append_messages"),
        pytest.param(lambda store: store.conversation(key="k3", create=True), id="find or create"),
        pytest.param(lambda store: store.create_with_id("s1", key="k2"), id="create_with_id"),
        pytest.param(
            lambda store: store.create_with_id(_there(store).id, replace=True),
            id="create_with_id that replaces",
        ),
        pytest.param(lambda store: store.reserve("s1").append_turn("q", "a"), id="a first turn"),
        pytest.param(lambda store: store.delete(_there(store).id), id="delete"),
        pytest.param(lambda store: _there(store).link_to(store.list()[0].id, "continues"), id="link_to"),
        pytest.param(lambda store: _there(store).claim(), id="claim"),
    ],
)
def test_case_02_a_write_that_fails_at_any_statement_stores_nothing_and_leaves_no_lock(
    path: Path, write: Write
) -> None:  # D-2
    backend = SqliteBackend(path)
    with store_over(backend) as store, manent.open(path, wait=0.0) as beside:
        _begin(store)
        other = beside.create("beside")
        before = _snapshot(backend)

        failed = 0
        for failed in failing_at_each_statement(backend, lambda b: _ignore(write(store_over(b)))):  # noqa: B007
            assert _snapshot(backend) == before
            other.append_turn("at once", "so it is")
            before = _snapshot(backend)

        assert failed > 2
        assert _snapshot(backend) != before
        assert store.verify().ok


def test_case_02_an_import_of_lines_that_fails_at_any_statement_stores_no_event_and_leaves_no_lock(
    path: Path, tmp_path: Path
) -> None:  # D-2
    lines = exported_lines(tmp_path)
    backend = SqliteBackend(path)
    with store_over(backend) as store, manent.open(path, wait=0.0) as beside:
        _begin(store)
        other = beside.create("beside")
        events = _events(backend)

        failed = 0
        for failed in failing_at_each_statement(  # noqa: B007
            backend, lambda b: _ignore(store_over(b).import_lines(lines))
        ):
            assert _events(backend) == events
            other.append_turn("at once", "so it is")
            events = _events(backend)

        assert failed > 2
        assert _events(backend) == events + 2
        assert store.verify().ok


def test_case_02_an_import_of_items_that_fails_at_any_statement_goes_on_when_it_is_repeated(
    path: Path,
) -> None:  # D-2, I-2
    backend = SqliteBackend(path)
    with store_over(backend) as store, manent.open(path, wait=0.0) as beside:
        other = beside.create("beside")

        failed = 0
        for failed in failing_at_each_statement(  # noqa: B007
            backend, lambda b: _ignore(store_over(b).import_items([an_import(3)], format="test"))
        ):
            assert _imported(store) in ([], ["imported 0", "imported 1", "imported 2"])
            other.append_turn("at once", "so it is")

        assert failed > 2
        assert _imported(store) == ["imported 0", "imported 1", "imported 2"]
        assert store.verify().ok


def _begin(store: Store) -> None:
    store.create("case 2", key="k1").append_turn("first", "so it is")


def _there(store: Store) -> manent.Conversation:
    return store.conversation(key="k1")


def _imported(store: Store) -> list[str]:
    found = [store.conversation(s.id) for s in store.list() if s.key == "test:c1"]
    return [message.text for conversation in found for message in conversation.messages()]


def _snapshot(backend: Backend) -> Snapshot:
    with backend.reading() as reader:
        return take_snapshot(reader)


def _events(backend: Backend) -> int:
    with backend.reading() as reader:
        return len(reader.read_log(0, 1_000_000))


def _ignore(_result: object) -> None:
    """Writes give something back; what they do to the store is what counts here."""
