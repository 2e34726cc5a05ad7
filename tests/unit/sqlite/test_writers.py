"""Copies and restored files: two events never have the same (conversation, writer, seq) (L-4)."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

import manent
from manent.model.ids import BEFORE_ALL
from manent.storage.installation import Installation, Place, Seen
from tests.processes import run
from tests.programs import append_and_die, append_as
from tests.stores import backend_of

TURNS = 5


class Named(NamedTuple):
    """What names an event everywhere."""

    uid: str
    writer: str
    seq: int


@pytest.fixture
def conversation_id(path: Path) -> str:
    """The id of the only conversation, which has two turns."""
    with manent.open(path) as store:
        conversation = store.create("copied")
        conversation.append_turn("first", "so it is")
        conversation.append_turn("second", "so it is")
        return conversation.id


def append(path: Path, conversation_id: str, turns: int = TURNS) -> None:
    """Open, append and close."""
    with manent.open(path) as store:
        conversation = store.conversation(conversation_id)
        for number in range(turns):
            conversation.append_turn(f"{path.name} {number}", "so it is")


def names(path: Path) -> set[Named]:
    """The names of all events, once the store has been verified."""
    with manent.open(path) as store:
        assert store.verify().ok
        with backend_of(store).reading() as reader:
            found = [
                Named(uid, entry.header.writer, entry.header.seq)
                for uid in reader.read_uids("", 1_000)
                for entry in reader.read_stream(uid, BEFORE_ALL, 100_000)
            ]
    assert len(set(found)) == len(found)
    return set(found)


def writer(path: Path, conversation_id: str) -> str:
    """Who appends to a store from here."""
    with manent.open(path) as store:
        return store.conversation(conversation_id).append_turn("who?", "I").writer


def generation(path: Path) -> str:
    """The span in which the store's positions stay comparable."""
    with manent.open(path) as store, backend_of(store).reading() as reader:
        return reader.info().generation


def copy_live(source: Path, target: Path) -> None:
    """Copy a store that is in use, as SQLite does it."""
    with (
        closing(apsw.Connection(str(source))) as there,
        closing(apsw.Connection(str(target))) as here,
        here.backup("main", there, "main") as backup,
    ):
        backup.step()


def put_back(backup: Path, path: Path) -> None:
    """Copy bytes into a file that stays the same file."""
    with path.open("r+b") as file:
        file.truncate()
        file.write(backup.read_bytes())


def test_the_same_installation_goes_on_as_the_same_writer(path: Path, conversation_id: str) -> None:  # L-4
    first = writer(path, conversation_id)

    again = writer(path, conversation_id)
    elsewhere = run(append_as, path, conversation_id)

    assert {first, again, elsewhere} == {first}


def test_another_installation_is_another_writer(
    path: Path, conversation_id: str, tmp_path: Path
) -> None:  # L-4
    here = writer(path, conversation_id)

    there = run(append_as, path, conversation_id, MANENT_STATE=str(tmp_path / "other"))

    assert here != there
    names(path)


def test_a_moved_store_goes_on_as_the_same_writer(path: Path, conversation_id: str) -> None:  # L-4
    before = writer(path, conversation_id)
    moved = path.rename(path.with_name("moved.db"))

    assert writer(moved, conversation_id) == before


def test_a_copy_of_a_closed_store_goes_on_as_another_writer(path: Path, conversation_id: str) -> None:  # L-4
    copy = path.with_name("copy.db")
    shutil.copyfile(path, copy)
    before = names(path)

    append(path, conversation_id)
    append(copy, conversation_id)

    assert names(path) & names(copy) == before
    assert generation(path) != generation(copy)


def test_a_copy_of_a_store_in_use_goes_on_as_another_writer(path: Path, conversation_id: str) -> None:  # L-4
    copy = path.with_name("copy.db")
    with manent.open(path) as store:
        conversation = store.conversation(conversation_id)
        conversation.append_turn("in the log", "so it is")
        copy_live(path, copy)
        conversation.append_turn("after the copy", "so it is")

    append(copy, conversation_id)

    assert len(names(path) & names(copy)) == 4
    assert len(names(copy)) == 4 + TURNS


def test_a_copy_beside_its_original_in_one_process_is_another_writer(
    path: Path, conversation_id: str
) -> None:
    copy = path.with_name("copy.db")  # L-4
    with manent.open(path) as store:
        conversation = store.conversation(conversation_id)
        conversation.append_turn("in the log", "so it is")
        copy_live(path, copy)
        with manent.open(copy) as other:
            copied = other.conversation(conversation_id)

            turns = [c.append_turn("both", "at once") for _ in range(TURNS) for c in (conversation, copied)]

    assert {turn.writer for turn in turns[::2]}.isdisjoint(turn.writer for turn in turns[1::2])


def test_a_copy_has_no_owner_once_it_is_written_to(path: Path, conversation_id: str) -> None:  # O-1, L-4
    other = path.with_name("other.db")
    with manent.open(path) as store:
        assert isinstance(store.conversation(conversation_id).claim(), manent.Claimed)
        with backend_of(store).reading() as reader:
            (workspace,) = (info.uid for info in reader.list_workspaces())
    shutil.copyfile(path, other)

    append(other, conversation_id, turns=1)

    owners = []
    for each in (path, other):
        with manent.open(each) as store, backend_of(store).reading() as reader:
            owners.append(len(reader.list_owners(workspace)))
    assert owners == [1, 0]


@pytest.mark.parametrize("same_file", [True, False])
def test_an_older_copy_that_was_put_back_goes_on_as_another_writer(
    path: Path, conversation_id: str, same_file: bool
) -> None:  # L-4
    backup, kept = path.with_name("backup.db"), path.with_name("kept.db")
    shutil.copyfile(path, backup)
    append(path, conversation_id)
    shutil.copyfile(path, kept)

    if same_file:
        put_back(backup, path)
    else:
        backup.replace(path)
    append(path, conversation_id)

    assert len(names(path) & names(kept)) == 3
    assert len(names(path)) == len(names(kept)) == 3 + TURNS


def test_a_newer_copy_that_was_put_in_the_place_of_its_original_is_another_writer_than_the_copy(
    path: Path, conversation_id: str
) -> None:  # L-4
    copy = path.with_name("copy.db")
    shutil.copyfile(path, copy)
    append(copy, conversation_id)
    put_back(copy, path)

    append(path, conversation_id)
    append(copy, conversation_id)

    assert len(names(path) & names(copy)) == 3 + TURNS


def test_an_older_copy_that_was_put_back_after_a_kill_goes_on_as_another_writer(
    path: Path, conversation_id: str
) -> None:  # L-4
    backup, kept = path.with_name("backup.db"), path.with_name("kept.db")

    run(append_and_die, path, conversation_id, backup, 1.2)
    copy_live(path, kept)
    put_back(backup, path)
    for suffix in ("-wal", "-shm"):
        Path(f"{path}{suffix}").unlink(missing_ok=True)
    append(path, conversation_id)

    assert names(path) & names(kept) == names(backup)


def test_an_older_copy_in_the_place_of_a_deleted_store_is_another_writer(
    path: Path, conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # L-4
    monkeypatch.setattr(Place, "of", lambda _path: Place(1, 2))  # the inode is used again
    backup, kept = path.with_name("backup.db"), path.with_name("kept.db")
    append(path, conversation_id, turns=1)
    shutil.copyfile(path, backup)
    append(path, conversation_id)
    path.rename(kept)

    append(backup, conversation_id)

    assert len(names(backup) & names(kept)) == 4


def test_another_store_in_the_place_of_a_deleted_one_is_unknown(
    path: Path, conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # L-4
    monkeypatch.setattr(Place, "of", lambda _path: Place(1, 2))
    append(path, conversation_id)
    path.unlink()

    with manent.open(path) as store:
        store.create("new").append_turn("q", "a")

    assert {name.seq for name in names(path)} == {1, 3}


def test_without_a_state_folder_every_process_is_a_writer_of_its_own(
    path: Path, conversation_id: str, tmp_path: Path
) -> None:  # L-4
    blocked = tmp_path / "blocked"
    blocked.touch()

    writers = [run(append_as, path, conversation_id, MANENT_STATE=str(blocked)) for _ in range(3)]

    assert len(set(writers)) == 3
    names(path)


def test_with_a_memory_that_can_only_be_read_an_older_copy_that_was_put_back_is_another_writer(
    path: Path, conversation_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # L-4
    append(path, conversation_id, turns=1)
    backup, kept = path.with_name("backup.db"), path.with_name("kept.db")
    monkeypatch.setattr(Installation, "remember", lambda *_: False)
    append(path, conversation_id, turns=1)
    shutil.copyfile(path, backup)
    append(path, conversation_id)
    shutil.copyfile(path, kept)

    put_back(backup, path)
    append(path, conversation_id)

    assert len(names(path) & names(kept)) == len(names(backup))


def test_the_memory_of_a_stores_clock_never_goes_back(tmp_path: Path) -> None:  # L-4
    mine, place = Installation(tmp_path), Place(1, 2)

    for clock in (5, 9, 7):
        mine.remember("ab", place, Seen("one", clock))
    once = mine.recall("ab", place)
    mine.remember("ab", place, Seen("two", 3))

    assert (once, mine.recall("ab", place)) == (Seen("one", 9), Seen("two", 3))


def test_racing_first_starts_agree_on_one_fingerprint(tmp_path: Path) -> None:  # L-4
    first, second = Installation(tmp_path / "state"), Installation(tmp_path / "state")

    assert first.fingerprint == second.fingerprint
    assert [place.name for place in (tmp_path / "state").iterdir()] == ["installation"]


def test_a_fingerprint_that_another_start_made_meanwhile_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # L-4
    def lose_the_race(_temporary: Path, file: Path) -> None:
        file.write_text("ab" * 32, encoding="utf-8")
        raise FileExistsError

    monkeypatch.setattr(os, "link", lose_the_race)

    assert Installation(tmp_path).fingerprint == "ab" * 32
