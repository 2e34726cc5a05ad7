"""Until merge lands an import extends chains that are known, and refuses another history (I-4)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

import manent
from manent.errors import MergeNeededError
from manent.history.recording import record
from manent.history.restoring import Restored, restore
from manent.model.events import ContentRedacted
from manent.storage.memory.backend import MemoryBackend
from manent.storage.port import Backend
from manent.testing.builders import began, pending, said, sealed
from manent.testing.workbench import Workbench, workspace_named
from tests.unit.ndjson.histories import exported, findings, imported, lines_of, memory_store


@pytest.fixture
def origin() -> Workbench:
    """A store with one conversation of two events."""
    bench = Workbench(memory_store())
    uid = bench.conversation("c1", key="k1")
    bench.record(uid, began(), said("one", id="m1"))
    return bench


def uid_of(bench: Workbench, id: str = "c1") -> str:
    """The uid of a conversation."""
    return bench.read(lambda reader: reader.find_ids(None, id))[0].uid


def assert_refused(backend: Backend, export: bytes) -> None:
    """A merge is needed, and nothing is written."""
    before = exported(backend)
    with pytest.raises(MergeNeededError):
        imported(backend, export)
    assert exported(backend) == before


def test_what_grew_is_taken_in(backend: Backend, origin: Workbench) -> None:  # I-2
    imported(backend, exported(origin.backend))
    origin.record(uid_of(origin), said("two", under="m1"))
    origin.record(origin.conversation("c2"), began())

    report = imported(backend, exported(origin.backend))

    assert report == Restored(events=4, added=2, known=2, conversations=2, new_conversations=1, blobs=0)
    assert exported(backend) == exported(origin.backend)
    assert findings(backend) == ()


def test_an_older_export_changes_nothing(backend: Backend, origin: Workbench) -> None:  # I-2
    older = exported(origin.backend)
    origin.record(uid_of(origin), said("two", under="m1"))
    imported(backend, exported(origin.backend))
    before = exported(backend)

    report = imported(backend, older)

    assert (report.added, exported(backend)) == (0, before)


def test_a_title_that_changed_meanwhile_comes_along_and_an_older_one_does_not(
    backend: Backend, origin: Workbench
) -> None:  # I-4
    older = exported(origin.backend)
    origin.put_metadata(uid_of(origin), "title", "new")
    imported(backend, exported(origin.backend))

    imported(backend, older)

    assert Workbench(backend).registers(uid_of(origin)) == {"key": "k1", "title": "new"}


def test_both_sides_wrote_and_need_a_merge(backend: Backend, origin: Workbench) -> None:  # I-4
    imported(backend, exported(origin.backend))
    uid = uid_of(origin)
    (first,) = sealed(uid, said("here"), writer="ab" * 8, seq=9)
    (second,) = sealed(uid, said("there"), writer="ab" * 8, seq=9)
    Workbench(backend).adopt(first)
    origin.adopt(second)

    assert_refused(backend, exported(origin.backend))


def test_another_event_beyond_ours_needs_a_merge(backend: Backend, origin: Workbench) -> None:  # I-4
    imported(backend, exported(origin.backend))
    uid = uid_of(origin)
    Workbench(backend).adopt(*sealed(uid, said("here"), said("and here"), writer="ab" * 8, seq=9))
    origin.adopt(*sealed(uid, said("there"), writer="ab" * 8, seq=20))

    assert_refused(backend, exported(origin.backend))


def test_two_writers_who_wrote_side_by_side_are_joined(backend: Backend, origin: Workbench) -> None:  # I-4
    imported(backend, exported(origin.backend))
    uid = uid_of(origin)
    Workbench(backend).adopt(*sealed(uid, said("here"), writer="ab" * 8, seq=9))
    origin.adopt(*sealed(uid, said("there"), writer="cd" * 8, seq=9))

    imported(backend, exported(origin.backend))

    assert Workbench(backend).texts(uid) == ["one", "here", "there"]
    assert findings(backend) == ()


def test_another_conversation_under_the_same_id_needs_a_merge(backend: Backend, origin: Workbench) -> None:
    bench = Workbench(backend)
    bench.record(bench.conversation("c1"), began())

    assert_refused(backend, exported(origin.backend))


def test_another_conversation_under_the_same_key_needs_a_merge(backend: Backend, origin: Workbench) -> None:
    bench = Workbench(backend)
    bench.record(bench.conversation("c9", key="k1"), began())

    assert_refused(backend, exported(origin.backend))


def test_a_conversation_of_another_workspace_needs_a_merge(
    backend: Backend, origin: Workbench
) -> None:  # N-1
    export = exported(origin.backend)
    restore(backend, lines_of(export), into=partial(workspace_named, name="elsewhere"))

    assert_refused(backend, export)


def test_a_redaction_that_comes_in_takes_the_words_away_here_too(
    backend: Backend, origin: Workbench
) -> None:  # I-5, E-2
    imported(backend, exported(origin.backend))
    uid = uid_of(origin)
    target = origin.events(uid)[1].header.stamp
    redaction = ContentRedacted(
        target_seq=target.seq, target_writer=target.writer, target_leaves=("content",)
    )
    with origin.backend.transaction() as tx:
        record(tx, uid, pending(redaction))
        tx.erase_leaves(uid, target, ["content"])

    imported(backend, exported(origin.backend))

    assert exported(backend) == exported(origin.backend)
    assert (Workbench(backend).texts(uid), findings(backend)) == ([""], ())


def test_what_was_redacted_here_does_not_come_back(backend: Backend, origin: Workbench) -> None:  # I-5
    with_words = exported(origin.backend)
    imported(backend, with_words)
    bench, uid = Workbench(backend), uid_of(origin)
    target = bench.events(uid)[1].header.stamp
    bench.record(
        uid, ContentRedacted(target_seq=target.seq, target_writer=target.writer, target_leaves=("content",))
    )
    bench.erase(uid, target, "content")

    imported(backend, with_words)

    assert (bench.texts(uid), findings(backend)) == ([""], ())


def test_a_handle_of_one_workspace_takes_everything_into_it(tmp_path: Path, origin: Workbench) -> None:  # N-1
    with manent.open(tmp_path / "s.db", workspace="mine") as store:
        report = store.import_lines(lines_of(exported(origin.backend)))

        assert (report.added, [entry.id for entry in store.list()]) == (2, ["c1"])
        assert store.verify().ok
    with manent.open(tmp_path / "s.db", workspace="default") as other:
        assert list(other.list()) == []


def test_a_refused_file_makes_no_workspace(tmp_path: Path, origin: Workbench) -> None:  # D-2
    with manent.open(tmp_path / "s.db", workspace="mine") as store:
        with pytest.raises(manent.errors.FormatError):
            store.import_lines(lines_of(exported(origin.backend))[:-1])

        with manent.open(tmp_path / "s.db", workspace=None) as owner:
            # header and end
            assert len(list(owner.export_lines())) == 2


def test_an_export_of_one_workspace_holds_nothing_of_another(tmp_path: Path) -> None:  # N-1
    with manent.open(tmp_path / "s.db", workspace="mine") as mine:
        mine.create("my title").append_turn("my question", "my answer")
        with manent.open(tmp_path / "s.db", workspace="theirs") as theirs:
            theirs.create("their title").append_turn("their question", "their answer")

        export = b"".join(mine.export_lines())

    assert b"my title" in export and b"my answer" in export
    assert b"their" not in export


def test_the_source_key_goes_with_everything_into_an_empty_store(origin: Workbench) -> None:  # I-2
    copy = MemoryBackend()

    imported(copy, exported(origin.backend))

    with copy.reading() as reader, origin.backend.reading() as original:
        assert reader.info().source_key == original.info().source_key
