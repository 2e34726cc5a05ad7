"""Export, import into an empty store, export again: the same bytes (I-4)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manent.history.exporting import BLOB_PIECE_BYTES, export_lines
from manent.history.restoring import Restored, read_lines
from manent.storage.port import Backend, Span
from manent.testing.builders import answered, began, head_moved, said
from manent.testing.snapshots import take_snapshot
from manent.testing.workbench import Workbench
from tests.unit.ndjson.histories import (
    Everything,
    everything,
    exported,
    findings,
    imported,
    lines_of,
    memory_store,
    sqlite_store,
    write,
)

LINE_ENDS_OF_OTHERS = "one\u2028two\u2029three\x85four\x0b\x0c\r"
"""What ends a line for Unicode, and in JSON lines does not (case 12)."""


@settings(max_examples=60, deadline=None)
@given(everything())
def test_an_export_comes_back_byte_for_byte_through_every_backend(wanted: Everything) -> None:  # I-4, T-1
    origin, last = memory_store(), memory_store()
    write(origin, wanted)
    export = exported(origin)

    with sqlite_store() as between:
        imported(between, export)
        assert exported(between) == export
        assert findings(between) == ()
    imported(last, export)

    assert exported(last) == export


@settings(max_examples=30, deadline=None)
@given(everything())
def test_what_is_imported_reads_as_what_was_exported(wanted: Everything) -> None:  # I-4, T-1
    origin, copy = memory_store(), memory_store()
    write(origin, wanted)

    imported(copy, exported(origin))

    assert read_everything(copy) == read_everything(origin)


@settings(max_examples=30, deadline=None)
@given(everything())
def test_importing_twice_adds_nothing(wanted: Everything) -> None:  # I-2, case 65
    origin, copy = memory_store(), memory_store()
    write(origin, wanted)
    export = exported(origin)
    first = imported(copy, export)
    with copy.reading() as reader:
        before = take_snapshot(reader)

    second = imported(copy, export)

    with copy.reading() as reader:
        assert take_snapshot(reader) == before
    assert (first.added, second.added, second.new_conversations) == (first.events, 0, 0)


@settings(max_examples=30, deadline=None)
@given(everything())
def test_importing_ones_own_export_adds_nothing(wanted: Everything) -> None:  # I-2, case 65
    origin = memory_store()
    write(origin, wanted)
    export = exported(origin)

    again = imported(origin, export)

    assert (again.added, again.new_conversations, exported(origin)) == (0, 0, export)


@settings(max_examples=30, deadline=None)
@given(everything(), st.integers(1, 64))
def test_an_export_is_as_many_lines_as_it_has_lf(wanted: Everything, size: int) -> None:  # T-2, case 12
    origin = memory_store()
    write(origin, wanted)
    export = exported(origin)

    lines = list(read_lines(export[at : at + size] for at in range(0, len(export), size)))

    assert lines == list(export_lines(origin, None)) == lines_of(export)
    assert len(lines) == export.count(b"\n")


def test_a_text_with_the_line_ends_of_others_is_one_line(backend: Backend) -> None:  # T-2, case 12
    bench, copy = Workbench(backend), memory_store()
    uid = bench.conversation()
    bench.record(uid, said(LINE_ENDS_OF_OTHERS))
    export = exported(backend)

    imported(copy, export)

    assert Workbench(copy).texts(uid) == [LINE_ENDS_OF_OTHERS]
    # header, workspace, its own stream, the conversation, its event, end
    assert export.count(b"\n") == 6


@pytest.mark.parametrize("size", [0, 1, BLOB_PIECE_BYTES, BLOB_PIECE_BYTES + 1, 3 * BLOB_PIECE_BYTES])
@pytest.mark.parametrize("chunk", [1 << 20, 100_000, 262_144])
def test_a_blob_comes_back_whatever_its_chunks_were(size: int, chunk: int) -> None:  # I-4
    data = bytes(range(256)) * (size // 256) + bytes(size % 256)
    with sqlite_store() as origin:
        workspace = Workbench(origin).workspace()
        digest = origin.blobs.put(workspace, [data[at : at + chunk] for at in range(0, size, chunk)])
        export = exported(origin)
    copy = memory_store()

    report = imported(copy, export)

    assert (report.blobs, b"".join(copy.blobs.get(workspace, digest))) == (1, data)
    assert exported(copy) == export


def test_what_was_done_is_counted(backend: Backend) -> None:  # I-1
    bench, copy = Workbench(backend), memory_store()
    bench.record(bench.conversation("c1"), began(), said("a"))
    bench.record(bench.conversation("c2"), began())
    backend.blobs.put(bench.workspace(), [b"bytes"])

    report = imported(copy, exported(backend))

    assert report == Restored(events=3, added=3, known=0, conversations=2, new_conversations=2, blobs=1)


def test_branches_and_the_head_come_back(backend: Backend) -> None:  # I-4
    bench, copy = Workbench(backend), Workbench(memory_store())
    uid = bench.conversation()
    bench.record(uid, said("q", id="q"), answered("a", id="a", under="q"), answered("b", id="b", under="q"))
    bench.record(uid, head_moved("a"))

    imported(copy.backend, exported(backend))

    row = copy.row(uid)
    assert row is not None and (row.head, row.linear) == ("a", False)
    assert copy.texts(uid) == ["q", "a", "b"]


def read_everything(backend: Backend) -> list[Any]:
    """All but positions and the clock: these differ."""
    with backend.reading() as reader:
        streams = [
            (
                reader.find_stream(uid),
                reader.read_registers(uid),
                reader.read_tips(uid),
                reader.read_messages(uid, Span(limit=-1)),
            )
            for uid in reader.read_uids("", -1)
        ]
        return [reader.list_workspaces(), *streams]
