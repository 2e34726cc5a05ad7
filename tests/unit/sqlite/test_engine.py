"""The engine: which SQLite is trusted, and how a connection is set up."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from pathlib import Path

import apsw
import pytest

import manent
from manent.errors import FaultyEngineError
from manent.storage.sqlite import engine
from tests.stores import TunedBackend, mode, store_over

FAULTY = [
    "3.7.0",
    "3.40.1",
    "3.44.5",
    "3.45.0",
    "3.45.3",
    "3.46.1",
    "3.49.2",
    "3.50.0",
    "3.50.6",
    "3.51.0",
    "3.51.2",
]
MENDED = ["3.44.6", "3.44.7", "3.50.7", "3.50.8", "3.51.3", "3.52.0", "3.54.0", "3.54.0.1", "4.0.0"]


@pytest.mark.parametrize("version", FAULTY)
def test_an_engine_that_can_lose_data_is_refused_by_name(version: str) -> None:  # D-8
    with pytest.raises(FaultyEngineError, match=rf"SQLite {version} .*x\.db") as caught:
        engine.refuse_faulty_engine("x.db", version)

    assert (caught.value.version, caught.value.store) == (version, "x.db")


@pytest.mark.parametrize("version", MENDED)
def test_a_mended_engine_is_trusted(version: str) -> None:  # D-8
    engine.refuse_faulty_engine("x.db", version)


def test_the_engine_that_is_installed_is_trusted() -> None:  # D-8
    engine.refuse_faulty_engine("x.db")


def test_a_faulty_engine_is_refused_before_anything_is_made(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # D-8
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.40.1")

    with pytest.raises(FaultyEngineError):
        manent.open(path)

    assert not path.exists()


@pytest.mark.parametrize(
    ("durability", "local", "synchronous"),
    [("full", True, 2), ("full", False, 3), ("process", True, 1), ("process", False, 1)],
)
def test_every_connection_syncs_as_far_as_the_store_promises(
    path: Path, durability: str, local: bool, synchronous: int
) -> None:  # D-1
    found: list[object] = []
    backend = TunedBackend(
        path,
        lambda connection: found.append(connection.pragma("synchronous")),
        durability=durability,
        on_local_place=lambda _: local,
    )

    with store_over(backend) as store:
        store.create("a")

    assert found == [synchronous]


def test_every_connection_overwrites_what_is_deleted_and_holds_references(path: Path) -> None:  # E-1
    found: list[object] = []
    backend = TunedBackend(
        path, lambda c: found.append((c.pragma("secure_delete"), c.pragma("foreign_keys")))
    )

    with store_over(backend) as store:
        store.create("a")

    assert found == [(1, 1)]


def test_the_file_says_whose_it_is_and_of_which_format(path: Path) -> None:
    manent.open(path).close()

    with closing(apsw.Connection(str(path))) as connection:
        marks = [connection.pragma(name) for name in ("application_id", "user_version", "page_size")]

    assert marks == [engine.APPLICATION_ID, engine.FORMAT, engine.PAGE_SIZE]


def test_a_new_file_is_its_owners_alone(path: Path) -> None:  # N-2
    engine.create_owner_only(path)

    assert mode(path) == 0o600


@pytest.mark.skipif(sys.platform != "linux", reason="other systems cannot make a file without opening it")
def test_a_new_file_is_never_opened_beside_sqlite(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # D-7
    monkeypatch.delattr(os, "open")

    engine.create_owner_only(path)

    assert path.exists()


def test_a_file_that_is_there_is_not_touched(path: Path) -> None:  # D-7
    path.write_bytes(b"there")
    path.chmod(0o640)

    engine.create_owner_only(path)

    assert (path.read_bytes(), mode(path)) == (b"there", 0o640)
