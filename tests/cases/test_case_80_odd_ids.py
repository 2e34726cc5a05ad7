"""Case 80: an id that looks like a path leads nowhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import manent
from manent.errors import InputError
from manent.parts import FilePart
from manent.seeds import ConversationStore
from manent.storage.sqlite.backend import SqliteBackend
from tests.stores import backend_of, questions

REFUSED = ["", "  "]
TAKEN = [
    "../../x",
    "/etc/hostname",
    "..\\..\\x",
    "C:x",
    "CON",
    "a/b",
    ".",
    "..",
    "a\0b",
    "x" * 300,
    "세션 ✓",
    "a\nb",
    "%2e%2e%2fx",
]
PICTURE = b"\x89PNG and so on"
IN_THE_ALPHABET = {"CON", "x" * 300}


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    """A folder for the store, two below one that is watched."""
    folder = tmp_path / "outer" / "middle" / "inside"
    folder.mkdir(parents=True)
    for place in (tmp_path / "outer", folder.parent):
        (place / "x").write_text("bystander", encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def nothing_happened_outside(tmp_path: Path, inside: Path) -> Iterator[None]:
    """A watch on everything outside the folder of the store."""
    before = outside(tmp_path, inside)
    yield
    assert outside(tmp_path, inside) == before


def outside(tmp_path: Path, inside: Path) -> dict[str, bytes | None]:
    """Each file and folder outside, with what it holds."""
    places = [place for place in (tmp_path / "outer").rglob("*") if not place.is_relative_to(inside)]
    return {str(place): place.read_bytes() if place.is_file() else None for place in places}


def names(inside: Path) -> set[str]:
    """What lies in the folder of the store."""
    return {place.name for place in inside.rglob("*")}


@pytest.mark.parametrize("id", TAKEN, ids=ascii)
def test_case_80_an_odd_id_works_as_exactly_this_id(inside: Path, id: str) -> None:  # N-2
    with manent.open(inside / "conversations.db", workspace="demo") as store:
        conversation = store.create_with_id(id, "odd", key=id)
        conversation.append_turn("q", "a")
        found = store.conversation(id)

        assert (found.id, store.resolve(id), store.exists(id)) == (id, id, True)
        assert [summary.id for summary in store.list()] == [id]
        assert str(store.search("q")[0].address).startswith(f"turn:{id}#")
        assert store.find(store.search("q")[0].address) is not None
        lines = list(store.export_lines())
        with manent.open(inside / "copy.db", workspace="demo") as copy:
            copy.import_lines(lines)
            assert questions(copy, id) == ["q"]
            assert copy.conversation(key=id).id == id
        assert store.delete(id) == id
        assert not store.exists(id)

    assert all(name.startswith(("conversations.db", "copy.db")) for name in names(inside))


@pytest.mark.parametrize("id", TAKEN, ids=ascii)
def test_case_80_an_odd_id_can_be_claimed_linked_and_described_before_it_is_there(
    inside: Path, id: str
) -> None:
    with manent.open(inside / "conversations.db", workspace="demo") as store:
        reserved = store.reserve(id)
        reserved.claim()
        reserved.link_to_node(id, id)
        store.roadmaps.create(id, id, "")

        reserved.append_turn("q", "a")

        assert questions(store, id) == ["q"]
        assert [summary.id for summary in store.roadmaps.list()] == [id]
        assert store.verify().ok


@pytest.mark.parametrize("id", TAKEN, ids=ascii)
def test_case_80_an_attachment_under_an_odd_id_stays_in_the_store(inside: Path, id: str) -> None:  # N-2
    with manent.open(inside / "conversations.db", workspace=id) as store:
        conversation = store.create_with_id(id)
        backend = backend_of(store)
        workspace = _workspace(backend)
        digest = backend.blobs.put(workspace, [PICTURE])
        file = FilePart(name=id, media_type=id, digest=digest, uri=id, state="stored")
        conversation.append_message(manent.Message(role="user", parts=[file], id=id))

        assert conversation.get_message(id).parts == (file,)
        assert b"".join(backend.blobs.get(workspace, digest)) == PICTURE
        assert store.delete(id) == id
        assert backend.blobs.list_digests(workspace) == []

    assert all(name.startswith("conversations.db") for name in names(inside))


def _workspace(backend: SqliteBackend) -> str:
    with backend.reading() as reader:
        (info,) = reader.list_workspaces()
        return info.uid


@pytest.mark.parametrize("id", REFUSED)
def test_case_80_a_blank_id_is_refused(inside: Path, id: str) -> None:
    with manent.open(inside / "conversations.db", workspace="demo") as store:
        for call in (store.create_with_id, store.reserve):
            with pytest.raises(InputError):
                call(id)
        assert not store.exists(id)


@pytest.mark.parametrize("id", [*TAKEN, *REFUSED], ids=ascii)
def test_case_80_the_façade_takes_its_alphabet_only(inside: Path, id: str) -> None:
    workspace = inside / "project"
    workspace.mkdir()
    with ConversationStore(inside, workspace) as store:
        if id in IN_THE_ALPHABET:
            store.create_with_id(id, "odd")
            store.append_turn(id, "q", "a")
            assert store.delete(id) == id
        else:
            for call in (store.exists, store.load, store.delete, store.claim, store.resolve_id):
                with pytest.raises(InputError, match="invalid conversation id"):
                    call(id)
            with pytest.raises(InputError, match="invalid conversation id"):
                store.create_with_id(id, "odd")

    assert all(name.startswith(("conversations.db", "project")) for name in names(inside))
