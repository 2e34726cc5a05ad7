"""Case 42: moving from files to a database stops half way, and goes on."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

import manent
from manent.seeds import ConversationStore, migrate_legacy
from manent.storage.sqlite.engine import FORMAT
from tests.processes import ChildFailedError, run, run_together, start
from tests.unit.seeds.programs import migrate_and_die, open_at_once
from tests.unit.seeds.trees import a_record, old_key, plant
from tests.unit.sqlite.migrating import unpack_format_1

SESSIONS = 30


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The workspace of all sessions."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def root(tmp_path: Path, project: Path) -> Path:
    """A folder with 30 old sessions, and a database that an earlier release made without any of them."""
    root = tmp_path / "root"
    for number in range(SESSIONS):
        plant(root, a_record(project, number))
    unpack_format_1(root / "conversations.db")
    return root


def format_of(database: Path) -> int:
    """The format that a closed store says it has: SQLite keeps it at byte 60."""
    return int.from_bytes(database.read_bytes()[60:64], "big")


def sessions(root: Path, project: Path) -> list[str]:
    """The titles of all conversations, in the order of their last words."""
    with ConversationStore(root, project) as store:
        return [summary.title for summary in store.list()]


def files_below(place: Path) -> Iterator[bytes]:
    """What every record holds that lies below a folder, by its name."""
    for file in sorted(place.rglob("*.json"), key=lambda file: file.name):
        yield file.read_bytes()


ALL = [f"conversation {number}" for number in range(SESSIONS)]


def test_case_42_a_database_that_is_there_already_hides_no_session(root: Path, project: Path) -> None:
    old = list(files_below(root / "conversations"))
    assert format_of(root / "conversations.db") == 1 < FORMAT

    assert sessions(root, project) == ALL

    assert sessions(root, project) == ALL
    assert list(files_below(root / "conversations.imported")) == old
    assert format_of(root / "conversations.db") == FORMAT
    with manent.open(root / "conversations.db", workspace="garden") as store:
        assert store.list()  # what the earlier release has kept
        assert store.verify().ok


def test_case_42_killed_after_the_10th_it_goes_on_and_none_is_there_twice(root: Path, project: Path) -> None:
    with contextlib.suppress(ChildFailedError):  # it is killed, as it should be
        run(migrate_and_die, root, 10)
    with manent.open(root / "conversations.db", workspace=str(project)) as store:
        assert len(store.list(limit=100)) == 10
    assert len(list(files_below(root / "conversations"))) == SESSIONS

    report = migrate_legacy(root)

    assert (report.records, report.imported, report.known) == (SESSIONS, SESSIONS - 10, 10)
    assert sessions(root, project) == ALL
    with ConversationStore(root, project) as store:
        assert {summary.turn_count for summary in store.list()} == {2}
        assert store._store.verify().ok


def test_case_42_unreadable_ones_are_reported_and_come_in_once_they_are_mended(
    root: Path, project: Path
) -> None:
    records = [a_record(project, number) for number in (7, 20)]
    for record in records:
        plant(root, '{"id": "torn', key=old_key(project), name=f"{record['id']}.json")

    first = migrate_legacy(root)

    assert (first.records, first.imported, len(first.refused)) == (SESSIONS, SESSIONS - 2, 2)
    assert first.kept_in_place and len(list(files_below(root / "conversations"))) == 2
    assert len(sessions(root, project)) == SESSIONS - 2
    again = migrate_legacy(root)
    assert (again.records, again.imported, len(again.refused)) == (2, 0, 2)

    for record in records:
        plant(root, record)
    mended = migrate_legacy(root)

    assert (mended.records, mended.imported, mended.ok, mended.kept_in_place) == (2, 2, True, False)
    assert sorted(sessions(root, project)) == sorted(ALL)
    assert len(list(files_below(root))) == SESSIONS


def test_case_42_several_openers_at_once_take_each_session_once(root: Path, project: Path) -> None:
    found = run_together([start(open_at_once, root, project) for _ in range(4)])

    assert found == [SESSIONS] * 4
    assert sessions(root, project) == ALL
    assert len(list(files_below(root))) == SESSIONS
