"""Who may read and write: files are their owner's alone, and a place that cannot be written can be read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import manent
from manent.errors import ReadOnlyError
from tests.processes import run, start
from tests.programs import (
    make_under_umask_zero,
    make_where_one_may_not,
    read_and_refuse,
    read_twice,
    write_once_it_may,
)
from tests.stores import digest

bound_by_rights = pytest.mark.skipif(
    sys.platform != "linux", reason="root gives up its powers by a call that only Linux has"
)


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A store with one turn, alone in its folder."""
    path = tmp_path / "folder" / "conversations.db"
    with manent.open(path) as store:
        store.create("there").append_turn("there", "so it is")
    return path


@pytest.fixture
def frozen(closed: Path) -> Path:
    """The same in a folder and a file that nobody may write."""
    closed.chmod(0o400)
    closed.parent.chmod(0o500)
    return closed


def test_files_and_new_folders_are_their_owners_alone_whatever_the_umask(tmp_path: Path) -> None:  # N-2
    rights = run(make_under_umask_zero, tmp_path / "outer" / "inner" / "private.db")

    assert rights == {
        "outer": 0o700,
        "inner": 0o700,
        "private.db": 0o600,
        "private.db-wal": 0o600,
        "private.db-shm": 0o600,
    }


def test_the_installations_files_are_their_owners_alone(path: Path, own_installation: Path) -> None:  # N-2
    with manent.open(path) as store:
        store.create("there")

    places = [own_installation, *own_installation.rglob("*")]
    assert {place.stat().st_mode & 0o077 for place in places} == {0}


def test_a_store_opened_for_reading_is_read_and_refuses_writes(closed: Path) -> None:  # D-3
    with manent.open(closed, read_only=True) as store:
        (summary,) = store.list()
        conversation = store.conversation(summary.id)

        with pytest.raises(ReadOnlyError, match=closed.name):
            conversation.append_turn("q", "a")
        with pytest.raises(ReadOnlyError, match=closed.name):
            store.create("more")

        assert [turn.question for turn in conversation.turns()] == ["there"]
        assert store.verify().ok


def test_reading_changes_no_byte(closed: Path) -> None:  # O-4
    before = digest(closed)

    with manent.open(closed, read_only=True) as store:
        store.list()
        store.verify()

    assert digest(closed) == before


@bound_by_rights
@pytest.mark.parametrize("read_only", [True, False])
def test_a_store_in_a_folder_that_cannot_be_written_is_read_and_refuses_writes(
    frozen: Path, read_only: bool
) -> None:  # D-3
    found, kind, said = run(read_and_refuse, frozen, read_only)

    assert (found, kind) == (["there"], "ReadOnlyError")
    assert str(frozen) in said
    assert [place.name for place in frozen.parent.iterdir()] == [frozen.name]


@bound_by_rights
@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_cannot_be_written_is_read_and_refuses_writes(
    closed: Path, read_only: bool
) -> None:  # D-3
    closed.chmod(0o400)

    found, kind, said = run(read_and_refuse, closed, read_only)

    assert (found, kind) == (["there"], "ReadOnlyError")
    assert str(closed) in said


@bound_by_rights
def test_a_store_can_be_written_again_as_soon_as_its_folder_can(closed: Path) -> None:  # D-3
    closed.parent.chmod(0o500)

    kind, found = run(write_once_it_may, closed, closed.parent)

    assert (kind, found) == ("ReadOnlyError", ["there", "afterwards"])


@bound_by_rights
def test_no_store_is_made_where_nobody_may_write(tmp_path: Path) -> None:  # D-3
    folder = tmp_path / "folder"
    folder.mkdir(mode=0o500)

    kind, said = run(make_where_one_may_not, folder / "conversations.db")

    assert kind == "ReadOnlyError"
    assert str(folder / "conversations.db") in said
    assert list(folder.iterdir()) == []


@bound_by_rights
def test_who_may_only_read_sees_what_others_write_meanwhile(closed: Path) -> None:  # D-3
    with manent.open(closed) as store:
        conversation = store.conversation(store.list()[0].id)
        conversation.append_turn("at first", "so it is")
        closed.parent.chmod(0o500)
        with start(read_twice, closed).wait_until_ready() as reader:
            conversation.append_turn("meanwhile", "so it is")
            reader.go()
            before, after = reader.result()
        closed.parent.chmod(0o700)

    assert before == ["there", "at first"]
    assert after == ["there", "at first", "meanwhile"]


@bound_by_rights
def test_who_may_only_read_sees_what_others_began_to_write_meanwhile(closed: Path) -> None:  # D-3
    closed.parent.chmod(0o500)
    with start(read_twice, closed).wait_until_ready() as reader:
        with manent.open(closed) as store:
            store.conversation(store.list()[0].id).append_turn("meanwhile", "so it is")
        reader.go()
        before, after = reader.result()
    closed.parent.chmod(0o700)

    assert before == ["there"]
    assert after == ["there", "meanwhile"]
