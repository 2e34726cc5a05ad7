"""Case 6: a place that cannot carry a write-ahead log."""

from __future__ import annotations

import logging
from pathlib import Path

import apsw
import pytest

import manent
from manent.storage.sqlite import engine
from manent.storage.sqlite.place import PLACE_VARIABLE
from tests.processes import run_together, start
from tests.programs import append_turns
from tests.stores import questions

TURNS = 200


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> None:
    """The place detector answers "not local", in child processes too."""
    monkeypatch.setenv(PLACE_VARIABLE, "remote")


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """SQLite answers something else than `wal`."""
    monkeypatch.setattr(engine, "let_readers_and_writer_overlap", lambda _connection: "delete")


def journal_mode(path: Path) -> object:
    """What SQLite says about a store from beside."""
    connection = apsw.Connection(str(path))
    try:
        return connection.pragma("journal_mode")
    finally:
        connection.close()


@pytest.mark.parametrize("place", ["remote", "refused"])
def test_case_06_a_place_without_wal_gets_a_rollback_journal_and_one_notice(
    path: Path, place: str, request: pytest.FixtureRequest, caplog: pytest.LogCaptureFixture
) -> None:  # D-8
    request.getfixturevalue(place)

    with caplog.at_level(logging.WARNING, "manent"):
        for _ in range(3):
            with manent.open(path) as store:
                notice = store.wal_fallback_notice
                store.create("case 6").append_turn("q", "a")

    assert notice is not None and str(path) in notice
    assert [record.getMessage() for record in caplog.records] == [notice]
    assert not Path(f"{path}-wal").exists()
    assert journal_mode(path) == "delete"


@pytest.mark.usefixtures("remote")
def test_case_06_two_processes_write_in_a_place_without_wal(path: Path) -> None:  # D-8, L-4
    with manent.open(path) as store:
        conversation = store.create("case 6")

    seqs = run_together([start(append_turns, path, conversation.id, name, TURNS) for name in "ab"])

    with manent.open(path) as store:
        stored = questions(store, conversation.id)
        assert sorted(stored) == sorted(f"{name} {turn}" for name in "ab" for turn in range(TURNS))
        assert len({*seqs[0], *seqs[1]}) == 2 * TURNS
        assert store.verify().ok


@pytest.mark.usefixtures("remote")
def test_case_06_a_store_with_a_log_goes_on_with_a_journal_once_its_place_is_remote(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # D-8
    monkeypatch.setenv(PLACE_VARIABLE, "local")
    with manent.open(path) as store:
        conversation = store.create("case 6")
        conversation.append_turn("with a log", "so it is")
    monkeypatch.setenv(PLACE_VARIABLE, "remote")

    with manent.open(path) as store:
        store.conversation(conversation.id).append_turn("with a journal", "so it is")
        stored = questions(store, conversation.id)

    assert stored == ["with a log", "with a journal"]
    assert journal_mode(path) == "delete"


def test_case_06_a_local_place_gives_no_notice(path: Path) -> None:  # D-8
    with manent.open(path) as store:
        assert store.wal_fallback_notice is None
        assert journal_mode(path) == "wal"
