"""Undoing an import takes back what it did, and nothing that somebody said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import manent
from manent.errors import ContinuedError, NotFoundError
from manent.history import imports
from manent.model.imported import ImportedConversation
from manent.model.imports import Import, SparedConversation, Undone
from tests.unit.history.sources import a_file, a_list, a_message, a_talk, by_key, seen, texts

NOW_NS = 1_700_000_000_000_000_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[manent.Store]:
    with manent.open(tmp_path / "conversations.db", workspace="demo", clock=lambda: NOW_NS) as store:
        yield store


def take_in(store: manent.Store, *talks: ImportedConversation) -> str:
    """Import, and say under which id."""
    return str(store.import_items(talks, format="test", paths=["chats.zip"]).import_id)


ONE = a_message("one", id="m1")
TWO = a_message("two", id="m2", role="assistant")


def test_an_import_is_on_record(store: manent.Store) -> None:
    id = take_in(store, a_talk(ONE, TWO), a_talk(ONE, id="s2"))

    (record,) = store.imports.list()

    assert record == Import(
        id=id,
        workspace=record.workspace,
        claim_ns=NOW_NS,
        format="test",
        paths=(),
        finished=True,
        new_conversations=2,
        grown_conversations=0,
        added_messages=3,
        changed_messages=0,
    )


def test_paths_are_told_to_the_owner_alone(store: manent.Store) -> None:  # N-1
    take_in(store, a_talk(ONE))

    with manent.open(store.url, workspace=None) as owner:
        assert [record.paths for record in owner.imports.list()] == [("chats.zip",)]


def test_an_import_that_wrote_nothing_is_not_on_record(store: manent.Store) -> None:  # I-2
    take_in(store, a_talk(ONE))

    again = store.import_items([a_talk(ONE)], format="test")

    assert (again.import_id, len(store.imports.list())) == (None, 1)


def test_what_an_import_created_is_gone_after_an_undo_and_comes_again(store: manent.Store) -> None:
    id = take_in(store, a_talk(ONE, TWO))
    before, old = seen(store), by_key(store).id

    undone = store.imports.undo(id)

    assert undone == Undone(
        id=id, deleted=(old,), changed=(), removed_messages=0, restored_messages=0, spared=(), continued=()
    )
    assert (len(store.list()), store.imports.list(), store.verify().ok) == (0, [], True)
    take_in(store, a_talk(ONE, TWO))
    assert (seen(store), by_key(store).id == old) == (before, False)


def test_undoing_twice_is_not_found(store: manent.Store) -> None:
    id = take_in(store, a_talk(ONE))
    store.imports.undo(id)

    with pytest.raises(NotFoundError, match=id):
        store.imports.undo(id)


def test_another_workspace_neither_sees_nor_undoes_an_import(store: manent.Store) -> None:  # N-1
    id = take_in(store, a_talk(ONE))

    with manent.open(store.url, workspace="beside") as beside:
        assert beside.imports.list() == []
        with pytest.raises(NotFoundError):
            beside.imports.undo(id)


def test_what_grew_is_as_it_was_and_grows_again(store: manent.Store) -> None:
    take_in(store, a_talk(ONE))
    before = seen(store)
    id = take_in(store, a_talk(ONE, TWO, a_message("three", id="m3")))

    undone = store.imports.undo(id)

    assert (undone.deleted, undone.changed, undone.removed_messages) == ((), (by_key(store).id,), 2)
    assert texts(by_key(store)) == ["one"]
    assert [row[4] for row in seen(store)] == [row[4] for row in before]
    report = store.import_items([a_talk(ONE, TWO, a_message("three", id="m3"))], format="test")
    again = store.import_items([a_talk(ONE, TWO, a_message("three", id="m3"))], format="test")
    assert (report.added_messages, again.added_messages) == (2, 0)
    assert texts(by_key(store)) == ["one", "two", "three"]
    assert store.verify().ok


def test_growth_can_be_undone_as_often_as_it_comes(store: manent.Store) -> None:
    take_in(store, a_talk(ONE))
    for _ in range(3):
        store.imports.undo(take_in(store, a_talk(ONE, TWO)))

    take_in(store, a_talk(ONE, TWO))

    assert texts(by_key(store)) == ["one", "two"]


def test_what_a_user_removed_stays_removed_after_an_undo(store: manent.Store) -> None:
    take_in(store, a_talk(ONE, TWO))
    id = take_in(store, a_talk(ONE, TWO, a_message("three", id="m3")))
    store.delete(by_key(store).id)

    undone = store.imports.undo(id)

    assert (undone.deleted, undone.changed) == ((), ())
    assert store.import_items([a_talk(ONE, TWO)], format="test").deleted_conversations == 1


def test_what_an_import_edited_says_again_what_it_said(store: manent.Store) -> None:
    take_in(store, a_talk(ONE))
    id = take_in(store, a_talk(a_message("one, and more", id="m1")))
    assert texts(by_key(store)) == ["one, and more"]

    undone = store.imports.undo(id)

    assert (undone.restored_messages, texts(by_key(store))) == (1, ["one"])
    take_in(store, a_talk(a_message("one, and more", id="m1")))
    assert texts(by_key(store)) == ["one, and more"]


def test_what_somebody_said_under_an_import_hinders_its_undo(store: manent.Store) -> None:
    id = take_in(store, a_talk(ONE, TWO))
    turn = by_key(store).append_turn("and then?", "nothing")
    before = list(store.export_lines())

    with pytest.raises(ContinuedError) as caught:
        store.imports.undo(id)

    assert caught.value.addresses == (str(turn.address),)
    assert list(store.export_lines()) == before
    assert store.imports.undo(id, dry_run=True).continued == (str(turn.address),)


def test_what_somebody_said_goes_when_it_is_forced(store: manent.Store) -> None:
    id = take_in(store, a_talk(ONE))
    by_key(store).append_turn("and then?", "nothing")

    undone = store.imports.undo(id, force=True)

    assert (len(undone.deleted), len(store.list())) == (1, 0)


def test_only_words_under_what_would_go_hinder_the_undo_of_growth(store: manent.Store) -> None:
    take_in(store, a_talk(ONE))
    by_key(store).append_turn("mine", "yours")
    id = take_in(store, a_talk(ONE, TWO))

    undone = store.imports.undo(id)

    assert undone.removed_messages == 1
    assert [m.text for m in by_key(store).messages(branch="all") if m.state == "present"] == [
        "one",
        "mine",
        "yours",
    ]


def test_what_somebody_said_under_growth_hinders_its_undo(store: manent.Store) -> None:
    take_in(store, a_talk(ONE))
    id = take_in(store, a_talk(ONE, TWO))
    turn = by_key(store).append_turn("mine", "yours")

    with pytest.raises(ContinuedError) as caught:
        store.imports.undo(id)
    undone = store.imports.undo(id, force=True)

    assert caught.value.addresses == (str(turn.address),)
    assert (undone.removed_messages, texts(by_key(store)), by_key(store).head) == (3, ["one"], "m1")


def test_what_was_edited_since_the_import_is_left_alone(store: manent.Store) -> None:
    take_in(store, a_talk(ONE))
    id = take_in(store, a_talk(a_message("second", id="m1")))
    take_in(store, a_talk(a_message("third", id="m1")))

    assert store.imports.undo(id).restored_messages == 0
    assert texts(by_key(store)) == ["third"]


def test_a_conversation_that_was_merged_away_is_undone_where_it_is(store: manent.Store) -> None:
    id = take_in(store, a_talk(ONE))
    with manent.open(store.url, workspace=None) as owner:
        manent.open(store.url, workspace="other").create("there")
        owner.workspaces.merge("demo", "other")

        assert len(owner.imports.undo(id).deleted) == 1
        assert owner.verify().ok


def test_a_pinned_conversation_is_spared_and_the_record_stays(store: manent.Store) -> None:
    id = take_in(store, a_talk(ONE), a_talk(ONE, id="s2"))
    kept = by_key(store)
    kept.pin()

    undone = store.imports.undo(id)

    assert undone.spared == (SparedConversation(conversation_id=kept.id, reasons=("pinned",)),)
    assert len(undone.deleted) == 1
    assert [record.id for record in store.imports.list()] == [id]
    kept.unpin()
    assert store.imports.undo(id).deleted == (kept.id,)
    assert store.imports.list() == []


def test_a_dry_run_says_what_goes_and_changes_nothing(store: manent.Store) -> None:
    id = take_in(store, a_talk(ONE, TWO), a_talk(ONE, id="s2"))
    before = list(store.export_lines())

    planned = store.imports.undo(id, dry_run=True)

    assert list(store.export_lines()) == before
    assert store.imports.undo(id) == planned


def test_attachments_that_nothing_else_needs_go_too(store: manent.Store) -> None:
    take_in(store, a_talk(a_file("kept", id="m1", read=lambda: iter([b"shared"])), id="s0"))
    id = take_in(
        store,
        a_talk(a_file("shared", id="m1", read=lambda: iter([b"shared"])), id="s1"),
        a_talk(a_file("own", id="m1", read=lambda: iter([b"own"])), id="s2"),
    )

    store.imports.undo(id)

    part = by_key(store, "s0").messages()[0].parts[1]
    assert isinstance(part, manent.parts.FilePart)
    assert b"".join(store.export_lines()).count(b'{"manent":"blob"') == 1


def test_an_undo_that_was_interrupted_comes_to_the_same_end(
    store: manent.Store, monkeypatch: pytest.MonkeyPatch
) -> None:  # U-1
    monkeypatch.setattr(imports, "UNDO_BATCH", 1)
    id = take_in(store, *(a_talk(ONE, id=f"s{n}") for n in range(5)))

    def interrupt(looked_at: int) -> None:
        if looked_at == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        store.imports.undo(id, progress=interrupt)

    assert (len(store.list()), store.verify().ok) == (3, True)
    assert len(store.imports.undo(id).deleted) == 3
    assert (len(store.list()), store.imports.list()) == (0, [])


def test_records_are_in_no_export(store: manent.Store) -> None:  # I-4
    take_in(store, a_talk(ONE))
    lines = list(store.export_lines())

    with manent.open("memory:", workspace="demo") as copy:
        copy.import_lines(lines)
        assert copy.imports.list() == []
    assert b'"import:' not in b"".join(lines)


def test_a_list_without_ids_has_its_key_again(store: manent.Store) -> None:
    take_in(store, a_list("one"))
    store.imports.undo(take_in(store, a_list("one", "two")))

    again = store.import_items([a_list("one")], format="test")
    grown = store.import_items([a_list("one", "two")], format="test")

    assert (again.unchanged_conversations, grown.grown_conversations, len(store.list())) == (1, 1, 1)
    assert texts(store.conversation(store.list()[0].id)) == ["one", "two"]
