"""Case 44: an older program meets a newer store."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import manent
from manent.errors import NewerStoreError
from manent.storage.sqlite.engine import FORMAT, size_bytes
from tests.stores import digest

TRIES = 10


@pytest.fixture
def newer(path: Path) -> Path:
    """A store of the next release, with a table that this one does not know."""
    with manent.open(path) as store:
        store.create("from the future").append_turn("q", "a")
    with closing(apsw.Connection(str(path))) as connection:
        connection.pragma("user_version", FORMAT + 1)
        connection.execute("CREATE TABLE holograms (id INTEGER PRIMARY KEY, light BLOB) STRICT")
    return path


@pytest.mark.parametrize("read_only", [False, True])
def test_case_44_a_newer_store_is_refused_with_both_formats_named(
    newer: Path, read_only: bool
) -> None:  # D-9
    with pytest.raises(NewerStoreError, match=rf"format {FORMAT + 1}.* up to {FORMAT}") as caught:
        manent.open(newer, read_only=read_only)

    assert (caught.value.found, caught.value.supported) == (FORMAT + 1, FORMAT)


def test_case_44_a_newer_store_is_the_same_after_ten_tries(newer: Path) -> None:  # D-9
    before = digest(newer)

    for _ in range(TRIES):
        with pytest.raises(NewerStoreError):
            manent.open(newer)

    assert digest(newer) == before
    assert size_bytes(f"{newer}-wal") == 0


def test_case_44_a_newer_stores_log_is_the_same_after_ten_tries(newer: Path) -> None:  # D-9
    held = apsw.Connection(str(newer))
    held.execute("INSERT INTO holograms (light) VALUES (x'00')")
    path = newer.with_name("left.db")
    for suffix in ("", "-wal"):
        shutil.copyfile(f"{newer}{suffix}", f"{path}{suffix}")
    held.close()
    log = path.with_name(f"{path.name}-wal")
    before = digest(path), digest(log)

    for _ in range(TRIES):
        with pytest.raises(NewerStoreError):
            manent.open(path)

    assert (digest(path), digest(log)) == before
