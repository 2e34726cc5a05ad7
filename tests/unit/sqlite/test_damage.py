"""What is no whole store of ours is refused with a name, and not one byte of it changes (D-9)."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import manent
from manent.errors import DamagedStoreError, NotAStoreError, NotFoundError, StoreError
from manent.storage.sqlite.engine import PAGE_SIZE, size_bytes
from tests.stores import digest

Damage = Callable[[Path], object]


@pytest.fixture
def whole(path: Path) -> Path:
    """A store of some pages, closed."""
    with manent.open(path) as store:
        conversation = store.create("there is something")
        for number in range(50):
            conversation.append_turn(f"question {number}", "answer " * 300)
    return path


def random_bytes(path: Path) -> None:
    """Nothing of the file is left."""
    path.write_bytes(random.Random(1).randbytes(5 * PAGE_SIZE))


def some_words(path: Path) -> None:
    """Somebody's notes."""
    path.write_text("# Notes\n" * 500, encoding="utf-8")


def zeroed_header_page(path: Path) -> None:
    """The first page was overwritten, the others are there."""
    content = path.read_bytes()
    path.write_bytes(bytes(PAGE_SIZE) + content[PAGE_SIZE:])


def garbage_in_the_header(path: Path) -> None:
    """The first bytes say nothing."""
    content = path.read_bytes()
    path.write_bytes(b"\xff" * 100 + content[100:])


def cut_in_the_header(path: Path) -> None:
    """Less than a header is left."""
    path.write_bytes(path.read_bytes()[:60])


def cut_in_the_first_page(path: Path) -> None:
    """Less than a page is left."""
    path.write_bytes(path.read_bytes()[: PAGE_SIZE // 2])


def cut_in_half(path: Path) -> None:
    """The second half is gone."""
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def read_everything(path: Path) -> None:
    """Open a store and read all that is in it."""
    with manent.open(path) as store:
        for summary in store.list():
            store.conversation(summary.id).turns()


@pytest.mark.parametrize(
    "damage",
    [
        random_bytes,
        some_words,
        zeroed_header_page,
        garbage_in_the_header,
        cut_in_the_header,
        cut_in_the_first_page,
    ],
)
@pytest.mark.parametrize("read_only", [False, True])
def test_a_file_without_a_head_is_refused_as_it_is(
    whole: Path, damage: Damage, read_only: bool
) -> None:  # D-9
    damage(whole)
    before = digest(whole)

    with pytest.raises((NotAStoreError, DamagedStoreError), match=whole.name):
        manent.open(whole, read_only=read_only)

    assert digest(whole) == before
    assert size_bytes(f"{whole}-wal") == 0


def test_a_file_that_was_cut_is_damaged_and_never_empty(whole: Path) -> None:  # D-9
    cut_in_half(whole)
    before = digest(whole)

    with pytest.raises(DamagedStoreError, match=whole.name):
        read_everything(whole)

    assert digest(whole) == before


@pytest.mark.parametrize("emptied", ["empty", "absent"])
@pytest.mark.parametrize("read_only", [False, True])
def test_a_log_without_its_file_is_damage_and_is_kept(
    path: Path, emptied: str, read_only: bool
) -> None:  # D-9
    log = Path(f"{path}-wal")
    log.write_bytes(b"what is left of a store")
    if emptied == "empty":
        path.touch()

    with pytest.raises(DamagedStoreError, match=path.name):
        manent.open(path, read_only=read_only)

    assert log.read_bytes() == b"what is left of a store"
    assert path.exists() == (emptied == "empty")


def test_an_empty_file_is_a_store_that_somebody_is_about_to_make(path: Path) -> None:  # D-6
    path.touch()

    with manent.open(path) as store:
        assert list(store.list()) == []


def test_an_empty_file_is_no_store_for_a_reader(path: Path) -> None:  # D-9
    path.touch()

    with pytest.raises(DamagedStoreError, match="empty"):
        manent.open(path, read_only=True)

    assert path.read_bytes() == b""


def test_an_absent_store_is_not_made_for_a_reader(path: Path) -> None:
    with pytest.raises(NotFoundError):
        manent.open(path, read_only=True)

    assert not path.exists()


@pytest.mark.parametrize("read_only", [False, True])
def test_another_programs_database_is_refused_as_it_is(path: Path, read_only: bool) -> None:  # D-9
    with closing(apsw.Connection(str(path))) as connection:
        connection.execute("CREATE TABLE chats (id INTEGER PRIMARY KEY, words TEXT)")
        connection.execute("INSERT INTO chats (words) VALUES ('not ours')")
    before = digest(path)

    with pytest.raises(NotAStoreError, match="another program"):
        manent.open(path, read_only=read_only)

    assert digest(path) == before


@pytest.mark.parametrize("read_only", [False, True])
def test_a_folder_is_no_store(tmp_path: Path, read_only: bool) -> None:  # D-9
    folder = tmp_path / "folder"
    folder.mkdir()

    with pytest.raises(NotAStoreError, match="folder"):
        manent.open(folder, read_only=read_only)

    assert list(folder.iterdir()) == []


def test_a_place_below_a_file_is_an_error_with_a_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(StoreError, match=r"file/x\.db"):
        manent.open(tmp_path / "file" / "x.db")


def test_a_damaged_page_is_an_error_when_it_is_read_and_never_less_than_there_was(whole: Path) -> None:  # D-9
    content = bytearray(whole.read_bytes())
    for start in range(2 * PAGE_SIZE, len(content), PAGE_SIZE):
        content[start : start + 64] = random.Random(start).randbytes(64)
    whole.write_bytes(content)

    with pytest.raises(StoreError, match=whole.name):
        read_everything(whole)
