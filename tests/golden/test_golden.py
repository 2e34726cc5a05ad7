"""Every format that was ever released opens, reads, verifies and goes on (M-1, M-2)."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import apsw
import pytest

import manent
from manent.opening import open_backend
from manent.storage.sqlite.engine import FORMAT
from tests.golden.reading import (
    OWNED,
    OWNER,
    WORKSPACES,
    as_asked_then,
    from_json,
    read_everything,
    unpacked,
)

HERE = Path(__file__).parent
FOLDERS = sorted(HERE.glob("format-*"))


class Golden(NamedTuple):
    """A copy of a golden store, and what it must say."""

    path: Path
    export: Path
    expected: dict[str, Any]


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Golden:
    """A copy of each."""
    folder: Path = request.param
    return Golden(
        unpacked(folder, tmp_path),
        folder / "export.ndjson",
        from_json((folder / "expected.json").read_bytes()),
    )


def said_by(path: Path, expected: dict[str, Any]) -> Any:
    """What a store says today to what it was asked then."""
    return as_asked_then({"receipt": expected["receipt"], **read_everything(path)}, expected)


def schema_of(path: Path) -> list[str]:
    """The statements that make a closed store."""
    with closing(apsw.Connection(str(path))) as connection:
        statements = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL")
        return sorted(str(sql) for (sql,) in statements)


def lines_of(export: Path) -> list[bytes]:
    """The lines of an export."""
    with export.open("rb") as file:
        return list(file)


def test_the_present_format_has_a_golden_store() -> None:  # M-1
    assert HERE / f"format-{FORMAT}" in FOLDERS


def test_the_golden_store_of_the_present_format_has_its_schema(tmp_path: Path) -> None:  # M-1
    path = unpacked(HERE / f"format-{FORMAT}", tmp_path)
    manent.open(tmp_path / "fresh.db").close()

    assert schema_of(path) == schema_of(tmp_path / "fresh.db")


def test_everything_reads_as_it_was_written(golden: Golden) -> None:  # M-1, T-1
    assert said_by(golden.path, golden.expected) == golden.expected


def test_it_verifies_with_its_receipt(golden: Golden) -> None:  # M-1, C-4
    with manent.open(golden.path) as store:
        assert store.verify(receipt=golden.expected["receipt"]).findings == ()


def test_it_exports_the_same_bytes(golden: Golden) -> None:  # M-1, I-4
    with manent.open(golden.path, workspace=None) as owner:
        assert list(owner.export_lines()) == lines_of(golden.export)


def test_its_export_is_imported_and_reads_the_same(golden: Golden, tmp_path: Path) -> None:  # M-1, M-2, I-4
    copy = tmp_path / "copy.db"
    with manent.open(copy, workspace=None) as owner:
        owner.import_lines(lines_of(golden.export))
        assert list(owner.export_lines()) == lines_of(golden.export)

    assert said_by(copy, golden.expected) == golden.expected


def test_it_goes_on(golden: Golden) -> None:  # M-1, C-2
    before = golden.expected["garden"]
    with manent.open(golden.path, workspace="garden") as store:
        for entry in list(store.list()):
            store.conversation(entry.id).append_turn("and now?", "it goes on")

        assert store.verify(receipt=golden.expected["receipt"]).ok
        after = {entry.id: len(store.conversation(entry.id).turns(branch="all")) for entry in store.list()}
    assert after == {c["summary"]["id"]: len(c["turns"]) + 1 for c in before}


def test_its_keys_are_known(golden: Golden) -> None:  # M-1, L-7
    with manent.open(golden.path, workspace=WORKSPACES[0]) as store:
        conversation = store.conversation(key="garden:1")
        before = len(conversation.turns())

        conversation.append_turn("When do I sow beans?", "In May.", author="ann", idempotency_key="first")

        assert len(conversation.turns()) == before


@pytest.mark.parametrize("folder", FOLDERS[1:], ids=lambda folder: folder.name)
def test_its_owner_is_known(folder: Path, tmp_path: Path) -> None:  # M-1, O-1
    with closing(open_backend(unpacked(folder, tmp_path))) as backend, backend.reading() as reader:
        workspace = reader.find_workspace("key", WORKSPACES[1])
        assert workspace is not None
        (owned,) = reader.find_by_key(workspace, OWNED)

        assert reader.find_owner(workspace, owned.id or "") == OWNER


@pytest.mark.parametrize("folder", FOLDERS[1:], ids=lambda folder: folder.name)
def test_its_import_is_on_record_and_can_be_undone(folder: Path, tmp_path: Path) -> None:  # M-1
    with manent.open(unpacked(folder, tmp_path), workspace=WORKSPACES[1]) as store:
        (record,) = store.imports.list()
        masked = [(each.kind, each.import_id) for each in store.secrets.list()]

        undone = store.imports.undo(record.id)

        assert masked == [("github_token", record.id)]
        assert (len(undone.deleted), undone.spared, list(store.imports.list())) == (2, (), [])
        assert store.verify().ok


@pytest.mark.parametrize(
    ("found", "expected", "told"),
    [
        ({"a": 1, "b": 2}, {"a": 0}, {"a": 1}),
        ({"a": 1}, {"a": 1, "b": 2}, {"a": 1}),
        ([{"a": 1, "b": 2}], [{"a": 1}], [{"a": 1}]),
        ([1, 2], [1], [1, 2]),
        ({"a": [1]}, {"a": None}, {"a": [1]}),
    ],
)
def test_only_what_was_not_asked_then_is_left_out(found: Any, expected: Any, told: Any) -> None:  # M-1
    assert as_asked_then(found, expected) == told
