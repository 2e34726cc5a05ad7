"""Imports of odd sources: what cannot be stored costs itself, and nothing unmasked waits anywhere."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

import manent
from manent.errors import FormatError
from manent.history import batching, preparing, shelving
from manent.history.local_registers import IMPORT_FIELD, LOCAL_FIELDS
from manent.history.masked import MASKED_FIELD
from manent.history.shelving import Shelf
from manent.model.imported import ImportedConversation, ImportedLink, ImportedMessage
from manent.model.records import FindingKind
from manent.opening import open_backend
from manent.storage.port import Backend, Reader
from tests.unit.history.handles import handle
from tests.unit.history.sources import a_list, a_message, a_talk, by_key, texts

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
ONE = a_message("one", id="m1")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[manent.Store]:
    with manent.open(tmp_path / "conversations.db", workspace="demo") as store:
        yield store


@pytest.fixture
def backend() -> Iterator[Backend]:
    backend = open_backend("memory:")
    yield backend
    backend.close()


# --- what cannot be stored


@pytest.mark.parametrize("together", [True, False])
def test_a_conversation_that_cannot_be_stored_costs_itself_alone(
    store: manent.Store, monkeypatch: pytest.MonkeyPatch, together: bool
) -> None:  # I-1
    if not together:
        monkeypatch.setattr(batching, "BATCH_MESSAGES", 1)
    parts = tuple(manent.parts.ReasoningPart("x") for _ in range(70_000))
    too_much = a_message("two", id="m2")
    bad = a_talk(
        ONE,
        ImportedMessage(
            role="user", parts=parts, native=too_much.native, place="here", native_id="m2", follows=True
        ),
        id="s2",
    )

    report = store.import_items([a_talk(ONE), bad, a_talk(ONE, id="s3")], format="test")

    assert (report.new_conversations, report.messages, len(report.refusals)) == (2, 2, 1)
    assert "parts" in report.refusals[0].reason
    assert [texts(by_key(store, id)) for id in ("s1", "s3")] == [["one"], ["one"]]
    assert store.verify().ok


def test_a_link_of_an_unknown_relation_says_nothing(store: manent.Store) -> None:
    odd = (ImportedLink(relation="dreamt_of", native_id="s2"),)

    report = store.import_items([a_talk(ONE, links=odd)], format="test")

    assert (report.links, len(report.refusals)) == (0, 0)


def test_the_same_conversation_twice_in_a_source_comes_in_once(store: manent.Store) -> None:  # I-2
    grown = a_talk(ONE, a_message("two", id="m2"))

    report = store.import_items([a_talk(ONE), grown, a_talk(ONE)], format="test")

    assert (report.conversations, report.new_conversations, report.grown_conversations) == (3, 1, 1)
    assert (report.added_messages, report.known_messages, len(store.list())) == (2, 2, 1)


def test_lists_that_begin_alike_are_one_though_they_do_not_fit_into_memory(
    store: manent.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shelving, "SHELF_BYTES_MAX", 1)

    report = store.import_items(
        [a_list("one"), a_list("one", "two"), a_list("one", "two", "three")], format="test"
    )

    assert (len(store.list()), report.added_messages) == (1, 3)
    assert texts(store.conversation(store.list()[0].id)) == ["one", "two", "three"]


def test_a_message_that_a_source_holds_twice_says_what_it_says_last(store: manent.Store) -> None:  # I-2
    source = [a_talk(ONE), a_talk(a_message("one, and more", id="m1"))]

    dry = store.import_items(source, format="test", dry_run=True)
    report = store.import_items(source, format="test")
    again = store.import_items(source, format="test")

    assert texts(by_key(store)) == ["one, and more"]
    assert (report.added_messages, report.changed_messages, report.grown_conversations) == (1, 1, 1)
    assert (dry.added_messages, dry.changed_messages, dry.grown_conversations) == (1, 1, 1)
    assert (again.added_messages, again.changed_messages, again.import_id) == (0, 0, None)


# --- what waits


def test_nothing_unmasked_waits_in_a_file(monkeypatch: pytest.MonkeyPatch, backend: Backend) -> None:  # K-1
    files: list[IO[bytes]] = []
    made = tempfile.TemporaryFile

    def kept(*arguments: Any, **more: Any) -> IO[bytes]:
        files.append(made(*arguments, **more))
        return files[-1]

    monkeypatch.setattr(tempfile, "TemporaryFile", kept)
    monkeypatch.setattr(shelving, "SHELF_BYTES_MAX", 1)
    handle(backend, "demo").import_items([a_talk(ONE, title=TOKEN, id="known")], format="test")
    held: list[bytes] = []
    take = Shelf.take

    def look(self: Shelf) -> Iterator[preparing.Prepared]:
        for file in files:
            if not file.closed:
                file.seek(0)
                held.append(file.read())
        yield from take(self)

    monkeypatch.setattr(Shelf, "take", look)
    message = a_message(f"use {TOKEN}", id="m1", author=TOKEN, metadata={"note": TOKEN})
    talks = [
        a_talk(message, title=TOKEN, project=TOKEN, details={"k": TOKEN}),
        a_talk(ONE, a_message("two", id="m2"), title=TOKEN, details={"k": TOKEN}, id="known"),
    ]

    handle(backend, "demo").import_items(talks, format="test")

    assert len(held[-1]) > 100
    assert TOKEN.encode() not in b"".join(held)
    assert TOKEN.encode() not in b"".join(handle(backend, "demo").export_lines())


# --- records from elsewhere, and damaged ones


@pytest.mark.parametrize("field", LOCAL_FIELDS)
def test_an_export_that_brings_a_record_of_one_store_is_refused(backend: Backend, field: str) -> None:
    handle(backend, "demo").create("there")
    with backend.transaction() as tx:
        tx.put_metadata(the_own_stream(tx.read), f"zz{field[2:]}x", 1)
    lines = b"".join(handle(backend, "demo").export_lines()).replace(
        f"zz{field[2:]}".encode(), field.encode()
    )

    with manent.open("memory:") as other, pytest.raises(FormatError, match="one store alone"):
        other.import_lines(lines.splitlines(keepends=True))


def the_own_stream(reader: Reader) -> str:
    """The stream of the only workspace."""
    return reader.list_workspaces()[0].streams[0]


def test_a_damaged_record_hinders_nothing_else_and_is_found(backend: Backend) -> None:  # C-3
    store = handle(backend, "demo")
    store.import_items([a_talk(a_message(TOKEN, id="m1"))], format="test")
    conversation = by_key(store)
    with backend.transaction() as tx:
        tx.put_metadata(the_own_stream(tx.read), f"{IMPORT_FIELD}bad", {"claim_ns": "yesterday"})
        tx.put_metadata(conversation.uid, f"{MASKED_FIELD}7", ["?"])

    assert (len(store.imports.list()), len(store.secrets.list())) == (1, 1)
    assert [finding.kind for finding in store.verify().findings] == [FindingKind.UNREADABLE] * 2


def test_an_import_into_a_merged_workspace_is_undone(backend: Backend) -> None:
    store, owner = handle(backend, "demo"), handle(backend, None)
    first = store.import_items([a_talk(ONE)], format="test").import_id or ""
    handle(backend, "into").create("there")
    owner.workspaces.merge("demo", "into")
    second = store.import_items([a_talk(ONE, a_message("two", id="m2"))], format="test").import_id or ""

    assert [record.id for record in store.imports.list()] in ([second, first], [first, second])
    assert store.imports.undo(second).removed_messages == 1
    assert len(store.imports.undo(first).deleted) == 1
    assert owner.verify().ok


def test_a_conversation_that_moved_away_is_spared(backend: Backend) -> None:
    store = handle(backend, "demo")
    handle(backend, "into").create("there")
    id = store.import_items([a_talk(ONE)], format="test").import_id or ""
    with backend.transaction() as tx:
        info = tx.read.find_stream(by_key(store).uid)
        into = tx.read.find_workspace("key", "into")
        assert info is not None
        assert into is not None
        tx.move_stream(info._replace(workspace=into))

    undone = store.imports.undo(id, force=True)

    assert ([spared.reasons for spared in undone.spared], undone.deleted) == ([("moved",)], ())


def test_a_source_without_conversations_is_nothing(store: manent.Store) -> None:
    nothing: list[ImportedConversation] = []

    report = store.import_items(nothing, format="test")

    assert (report.conversations, report.import_id, store.imports.list()) == (0, None, [])
