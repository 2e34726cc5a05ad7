"""A large export needs no more memory than a few of its lines (Q-6)."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from manent.history.exporting import export_lines
from manent.history.restoring import read_lines, restore
from manent.history.spooling import SPOOL_BYTES_MAX
from manent.testing.workbench import Workbench
from tests.unit.ndjson.histories import sqlite_store

BLOB_BYTES = 48 << 20
PEAK_BYTES_MAX = SPOOL_BYTES_MAX + (8 << 20)


@pytest.fixture
def export(tmp_path: Path) -> Path:
    """An export with a blob that is larger than what the spool keeps in memory."""
    file = tmp_path / "export.ndjson"
    with sqlite_store() as store:
        workspace = Workbench(store).workspace()
        store.blobs.put(workspace, (bytes([number]) * (1 << 20) for number in range(BLOB_BYTES >> 20)))
        file.write_bytes(b"".join(export_lines(store, None)))
    return file


def peak_of(work: Callable[[], object]) -> int:
    """The most memory that Python had at a time, in bytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def chunks_of(file: Path) -> Iterator[bytes]:
    """The bytes of a file, a piece at a time."""
    with file.open("rb") as stream:
        while chunk := stream.read(1 << 20):
            yield chunk


def test_a_large_blob_passes_through_an_import_in_pieces(export: Path) -> None:  # I-3
    with sqlite_store() as store:
        peak = peak_of(lambda: restore(store, read_lines(chunks_of(export))))

        assert sum(map(len, export_lines(store, None))) == export.stat().st_size
    assert peak < PEAK_BYTES_MAX


def test_a_large_blob_passes_through_an_export_in_pieces(export: Path) -> None:  # I-3
    with sqlite_store() as store:
        restore(store, read_lines(chunks_of(export)))

        assert peak_of(lambda: sum(map(len, export_lines(store, None)))) < PEAK_BYTES_MAX


def test_a_line_without_an_end_is_read_once() -> None:  # I-3
    pieces = [b"x" * 65_536] * 512

    (line,) = read_lines(pieces)

    assert len(line) == 65_536 * 512
