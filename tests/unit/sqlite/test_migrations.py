"""A store of an older format is brought to this one when it is opened: all of it, once, or not at all."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import manent
from manent.errors import DamagedStoreError, NewerStoreError, ReadOnlyError
from manent.history import recording
from manent.model.events import ContentRedacted, Event
from manent.opening import open_backend
from manent.storage.sqlite.backend import SqliteBackend
from manent.storage.sqlite.engine import FORMAT
from manent.testing.builders import a_turn, began, forked, linked, removed, said, sealed
from manent.testing.snapshots import Snapshot, take_snapshot
from manent.testing.strategies import tree_events
from manent.testing.workbench import ALL, Workbench
from tests.processes import run, run_together, start
from tests.stores import digest
from tests.tamper import tamper
from tests.unit.sqlite.migrating import (
    BACK_TO_FORMAT_1,
    die_at_each_statement,
    format_of,
    open_and_count,
    structure_of,
    take_back,
    unpack_format_1,
)

ODD = "\x00 \ud83d \\ \\0"
ELSEWHERE = {"format": "by hand", "id": "n1"}
OTHER = "ab" * 16


@pytest.fixture
def old(path: Path) -> Path:
    """A store that the first format wrote."""
    return unpack_format_1(path)


def snapshot_of(path: Path) -> Snapshot:
    """All that a store says."""
    with closing(open_backend(path)) as backend, backend.reading() as reader:
        return take_snapshot(reader)


def refold_everything(path: Path) -> None:
    """Drop the rows of every conversation and fold them again."""
    with closing(open_backend(path)) as backend, backend.transaction() as tx:
        for uid in tx.read.read_uids("", ALL):
            recording.refold(tx, uid)


def test_a_store_of_the_first_format_opens_and_has_the_present_one(old: Path) -> None:  # M-1
    assert format_of(old) == 1

    manent.open(old).close()

    assert format_of(old) == FORMAT


def test_it_gets_the_tables_that_a_new_store_has(old: Path, tmp_path: Path) -> None:  # M-1
    manent.open(old).close()
    manent.open(tmp_path / "fresh.db").close()

    assert structure_of(old) == structure_of(tmp_path / "fresh.db")


def test_it_is_brought_up_where_there_is_no_write_ahead_log(old: Path) -> None:  # M-1, D-9
    SqliteBackend(old, on_local_place=lambda _: False).close()

    assert format_of(old) == FORMAT


def test_opening_again_changes_nothing(old: Path) -> None:  # M-1
    manent.open(old).close()
    before = structure_of(old), digest(old)

    manent.open(old).close()

    assert (digest(old), structure_of(old)) == (before[1], before[0])


def test_rows_of_the_first_store_are_those_that_folding_gives(old: Path) -> None:  # M-2, P-1
    before = snapshot_of(old)
    with manent.open(old, workspace=None) as store:
        assert store.verify().findings == ()

    refold_everything(old)

    assert snapshot_of(old) == before


# --- what the projections would have made of it


def links(bench: Workbench) -> None:
    """Links of every kind, odd ones as well."""
    uid = bench.conversation()
    bench.record(uid, began(), forked(OTHER), forked(ODD, message_id=ODD))
    bench.record(uid, linked("continues", OTHER), linked(ODD, ODD, message_id=ODD), linked("", ""))
    bench.record(bench.workspace() and bench.conversation("c2"), linked("copied_from", uid, message_id="m"))


def spawned_ones(bench: Workbench) -> None:
    """Conversations that another one runs: told afterwards, told before they began, and one that is none."""
    bench.record(bench.conversation("after"), began(), linked("spawned_by", OTHER), a_turn())
    bench.record(bench.conversation("before"), linked("spawned_by", OTHER), began())
    bench.record(bench.conversation("never"), linked("spawned_by", OTHER))
    bench.record(bench.conversation("none"), began(), linked("continues", OTHER))


def imported_ones(bench: Workbench) -> None:
    """Conversations from elsewhere: whole, gone on with, changed only, and with an erased mark."""
    theirs = said("theirs", id="m1", source=ELSEWHERE)
    bench.record(bench.conversation("whole"), began(origin=ELSEWHERE), theirs)
    bench.record(bench.conversation("begun"), began(origin=ELSEWHERE))
    bench.record(bench.conversation("gone on with"), began(origin=ELSEWHERE), theirs, a_turn())
    bench.record(bench.conversation("changed"), theirs, removed("m1"))
    bench.record(bench.conversation("ours, changed"), said("ours", id="m1"), removed("m1"))
    erased = bench.conversation("erased")
    stamp = bench.record(erased, theirs)[0].header.stamp
    declared = ContentRedacted(target_seq=stamp.seq, target_writer=stamp.writer, target_leaves=("source",))
    bench.record(erased, declared)
    bench.erase(erased, stamp, "source")


def ended_ones(bench: Workbench) -> None:
    """Conversations that were ended, and opened again, and ended before they began."""
    for id, reasons in (("ended", ["done"]), ("open again", ["done", None]), ("cleared", [None])):
        uid = bench.conversation(id)
        bench.record(uid, began())
        for reason in reasons:
            bench.put_metadata(uid, "end_reason", reason)
    early = bench.conversation("early")
    bench.put_metadata(early, "end_reason", "done")
    bench.record(early, began())


def newer_ones(bench: Workbench) -> None:
    """Events of a newer release, which say nothing to this one, and come last."""
    for id, event in (("said", said("?", source=ELSEWHERE)), ("linked", linked("spawned_by", OTHER))):
        uid = bench.conversation(id)
        bench.record(uid, began())
        newer = sealed(uid, event, seq=900)[0]
        bench.adopt(newer._replace(header=newer.header._replace(schema_version=2)))


def late_ones(bench: Workbench) -> None:
    """Events that came late, and stand before what is there."""
    uid = bench.conversation()
    bench.record(uid, *[began() for _ in range(5)])
    bench.adopt(*sealed(uid, said("theirs", source=ELSEWHERE), linked("spawned_by", OTHER), seq=1))


HISTORIES = (links, spawned_ones, imported_ones, ended_ones, newer_ones, late_ones)


@pytest.mark.parametrize("history", HISTORIES, ids=lambda history: history.__name__)
def test_rows_are_filled_as_the_projections_would(
    path: Path, history: Callable[[Workbench], None]
) -> None:  # M-2, P-1
    with closing(open_backend(path)) as backend:
        history(Workbench(backend))
    before = snapshot_of(path)
    tamper(path, BACK_TO_FORMAT_1)
    assert format_of(path) == 1

    assert snapshot_of(path) == before
    with manent.open(path, workspace=None) as store:
        assert store.verify().findings == ()
    refold_everything(path)
    assert snapshot_of(path) == before


@settings(
    max_examples=25,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    events=st.lists(tree_events(("m1", "m2"), ("t1",), ("i",), (OTHER, ODD)), min_size=1, max_size=12),
    ends=st.lists(st.sampled_from((None, "done")), max_size=2),
)
def test_rows_are_filled_whatever_was_said(
    tmp_path: Path, events: list[Event], ends: list[str | None]
) -> None:  # M-2, P-1
    path = tmp_path / "conversations.db"
    path.unlink(missing_ok=True)
    with closing(open_backend(path, durability="process")) as backend:
        bench = Workbench(backend)
        uid = bench.conversation()
        for reason in ends:
            bench.put_metadata(uid, "end_reason", reason)
        bench.record(uid, *events)
    before = snapshot_of(path)

    take_back(path)

    assert snapshot_of(path) == before


def test_a_skeleton_that_nobody_can_read_stops_nothing(path: Path) -> None:  # M-1, C-3
    with closing(open_backend(path)) as backend:
        bench = Workbench(backend)
        bench.record(bench.conversation(), began(), linked("continues", OTHER), linked("continues", ODD))
    breaking = """UPDATE leaves SET data = CAST('{"relation": 5' AS BLOB) WHERE name = 'skeleton'
                  AND leaf >> 16 = (SELECT min(position) FROM events WHERE kind = 'conversation_linked');"""
    tamper(path, BACK_TO_FORMAT_1 + breaking)

    with manent.open(path, workspace=None) as store:
        assert not store.verify().ok

    with closing(open_backend(path)) as backend:
        assert [len(Workbench(backend).links_to(target)) for target in (OTHER, ODD)] == [0, 1]


# --- all at once, or not at all


def test_a_process_that_is_killed_in_the_middle_leaves_a_store_that_opens(
    old: Path, tmp_path: Path
) -> None:  # M-1, D-1
    expected = snapshot_of(unpack_format_1(tmp_path / "whole.db"))

    killed = run(die_at_each_statement, old, tmp_path)

    assert killed > 15
    found = {snapshot_of(tmp_path / f"{number}.db") == expected for number in range(1, killed + 1)}
    assert found == {True}
    whole = structure_of(tmp_path / "whole.db")
    assert all(structure_of(tmp_path / f"{number}.db") == whole for number in range(1, killed + 1))


def test_a_step_that_fails_changes_nothing(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # M-1, D-2
    before = structure_of(old)
    broken = "CREATE TABLE half (way INTEGER); SELECT * FROM nothing_of_this_name;"
    monkeypatch.setattr("manent.storage.sqlite.making.load_script", lambda *_: broken)

    with pytest.raises(Exception, match="nothing_of_this_name"):
        manent.open(old)

    assert (structure_of(old), format_of(old)) == (before, 1)
    monkeypatch.undo()
    manent.open(old).close()
    assert format_of(old) == FORMAT


def test_processes_that_open_an_old_store_at_once_all_get_the_present_one(old: Path) -> None:  # M-1, D-5
    results = run_together([start(open_and_count, old) for _ in range(4)])

    assert results == [results[0]] * 4
    assert results[0][0] is True
    assert format_of(old) == FORMAT


# --- where it cannot or must not be done


def test_a_read_only_handle_refuses_an_old_store_and_changes_no_byte(old: Path) -> None:  # M-1, D-3
    before = digest(old)

    with pytest.raises(ReadOnlyError, match="older format") as caught:
        manent.open(old, read_only=True)

    assert caught.value.store == str(old)
    assert digest(old) == before
    assert format_of(old) == 1


def test_a_read_only_handle_reads_it_once_it_was_opened_for_writing(old: Path, tmp_path: Path) -> None:  # D-3
    copy = shutil.copy(old, tmp_path / "copy.db")
    manent.open(copy).close()

    with manent.open(copy, read_only=True, workspace="garden") as store:
        assert len(store.list()) == 3


def test_a_newer_format_is_refused_and_stays_as_it_is(old: Path) -> None:  # M-2, D-9
    tamper(old, f"UPDATE store SET clock = clock; PRAGMA user_version = {FORMAT + 1};")
    before = digest(old)

    with pytest.raises(NewerStoreError) as caught:
        manent.open(old)

    assert (caught.value.found, caught.value.supported) == (FORMAT + 1, FORMAT)
    assert digest(old) == before


def test_a_store_that_says_no_format_is_refused(old: Path) -> None:  # D-9
    tamper(old, "UPDATE store SET clock = clock; PRAGMA user_version = 0;")
    before = digest(old)

    with pytest.raises(DamagedStoreError, match="which format"):
        manent.open(old)

    assert digest(old) == before
