"""Archives: everything in one file, the same bytes for the same record, and nothing hostile is taken in."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from blake3 import blake3

import manent
from manent.errors import FormatError, NotFoundError
from manent.formats import archive
from manent.formats.archive import Archive, is_archive
from manent.formats.zipping import zip_entries
from manent.model.exported import Entry, blob_name
from manent.opening import export_path, import_path, is_own_export, restore_path
from tests.formats.exporting import PICTURE, attach, exported, say
from tests.formats.reading import SAMPLES

LARGE = bytes(range(256)) * 12_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of two workspaces with branches, imported records, attachments and a deletion."""
    place = tmp_path / "conversations.db"
    with manent.open(place) as store:
        import_path(store, SAMPLES)
        talk = store.create_with_id("with-files", "With files")
        say(talk, "user", "see", attach(store, PICTURE, "a.png"), attach(store, LARGE, "b.bin"), id="q")
        say(talk, "assistant", "one")
        say(talk, "assistant", "two", parent="q")
        store.delete(store.create("gone").id)
    with manent.open(place, workspace="other") as store:
        store.create_with_id("elsewhere").append_turn("q", "a")
    return place


def archived(path: Path, target: Path, **choices: str | list[str]) -> Path:
    """An archive of the whole store."""
    with manent.open(path, workspace=None) as store:
        export_path(store, target, format="archive", conversations=list(choices.get("named", [])))
    return target


def restored(source: Path, place: Path | str = "memory:") -> bytes:
    """The archive that a store gives which was empty before it took one in."""
    with manent.open(place, workspace=None) as store:
        restore_path(store, source)
        assert store.verify().ok
        return exported(store, "archive")[0]


# --- what is in one


def test_an_archive_comes_back_to_the_last_byte(path: Path, tmp_path: Path) -> None:  # I-4
    source = archived(path, tmp_path / "a.zip")

    assert restored(source) == source.read_bytes()
    assert restored(source, tmp_path / "copy.db") == source.read_bytes()


def test_equal_records_give_equal_archives(path: Path, tmp_path: Path) -> None:  # I-4
    one, two = archived(path, tmp_path / "a.zip"), archived(path, tmp_path / "b.zip")

    assert one.read_bytes() == two.read_bytes()


def test_the_lines_come_first_and_each_attachment_stands_under_its_digest_once(
    path: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(archived(path, tmp_path / "a.zip")) as found:
        names = found.namelist()
        blobs = {name: found.read(name) for name in names[1:]}
        lines = found.read("manent.ndjson").splitlines()

    digests = sorted(blake3(data).hexdigest() for data in blobs.values())
    assert names == ["manent.ndjson", *map(blob_name, digests)]
    assert len(set(digests)) == len(blobs) and {PICTURE, LARGE} <= set(blobs.values())
    in_lines = [line.endswith(b'"data":""}') for line in lines if b'"manent":"blob"' in line]
    assert in_lines == [True] * len(in_lines) and len(in_lines) >= len(blobs)


def test_an_archive_of_some_conversations_holds_these_alone(path: Path, tmp_path: Path) -> None:
    source = archived(path, tmp_path / "a.zip", named=["with-files"])

    with manent.open("memory:", workspace=None) as store:
        report = restore_path(store, source)
        found = [summary.id for summary in store.list()]
        is_sound = store.verify().ok

    assert (found, report.blobs, is_sound) == (["with-files"], 2, True)
    assert b"elsewhere" not in source.read_bytes()


def test_one_workspace_is_all_that_its_archive_holds(path: Path, tmp_path: Path) -> None:  # N-1
    with manent.open(path, workspace="other") as store:
        report = export_path(store, tmp_path / "a.zip", format="archive")
        with pytest.raises(NotFoundError):
            export_path(store, tmp_path / "b.zip", format="archive", conversations=["with-files"])

    assert (report.conversations, report.attachments, report.left_out) == (1, 0, {})
    assert b"with-files" not in (tmp_path / "a.zip").read_bytes()
    assert not (tmp_path / "b.zip").exists()


def test_what_was_deleted_is_in_no_archive(path: Path, tmp_path: Path) -> None:  # E-1
    assert b"gone" not in archived(path, tmp_path / "a.zip").read_bytes()


def test_an_archive_is_known_by_what_is_in_it(path: Path, tmp_path: Path) -> None:
    source = archived(path, tmp_path / "backup.dat")
    (tmp_path / "other.zip").write_bytes(b"PK\x03\x04" + bytes(60))

    assert is_own_export(source)
    assert not is_own_export(tmp_path / "other.zip")
    assert is_archive(source.read_bytes()[:64])


def test_an_archive_may_be_taken_in_again_and_goes_into_a_workspace(
    path: Path, tmp_path: Path
) -> None:  # I-2
    source = archived(path, tmp_path / "a.zip")

    with manent.open("memory:", workspace="mine") as store:
        first, again = restore_path(store, source), restore_path(store, source)

    assert first.added > 0 and again.added == 0


# --- what is refused (I-3)


def zipped(*entries: tuple[str, bytes], compress: int = zipfile.ZIP_STORED) -> bytes:
    """A zip as other programs make it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compress) as found:
        for name, data in entries:
            found.writestr(name, data)
    return stream.getvalue()


def parts_of(source: Path) -> list[tuple[str, bytes]]:
    """The entries of an archive."""
    with zipfile.ZipFile(source) as found:
        return [(name, found.read(name)) for name in found.namelist()]


def refused(data: bytes, folder: Path) -> str:
    """Why an archive with these bytes is refused; nothing of it was taken in."""
    place = folder / "hostile.zip"
    place.write_bytes(data)
    with manent.open("memory:", workspace=None) as store:
        with pytest.raises(FormatError) as caught:
            restore_path(store, place)
        assert len(store.list()) == 0
    return caught.value.detail


Change = Callable[[list[tuple[str, bytes]]], list[tuple[str, bytes]]]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda parts: [*parts, ("../../evil", b"x")], "no attachment"),
        (lambda parts: [*parts, ("blobs/aa/" + "b" * 64, b"x")], "no attachment"),
        (lambda parts: [*parts, ("notes.txt", b"x")], "no attachment"),
        (lambda parts: [parts[0], ("blobs/", b""), *parts[1:]], "no attachment"),
        (lambda parts: parts[:-1], "is missing"),
        (lambda parts: [*parts[:-1], (parts[-1][0], b"other bytes")], "is not what its digest says"),
        (lambda parts: [(parts[0][0], parts[0][1][:-9]), *parts[1:]], "cut"),
    ],
)
def test_an_archive_with_anything_else_in_it_is_refused_whole(
    change: Change, reason: str, path: Path, tmp_path: Path
) -> None:
    parts = parts_of(archived(path, tmp_path / "a.zip"))

    assert reason in refused(zipped(*change(parts)), tmp_path)


def test_packed_entries_are_refused_so_that_nothing_can_grow(path: Path, tmp_path: Path) -> None:
    parts = parts_of(archived(path, tmp_path / "a.zip"))

    assert "zip it without compression" in refused(zipped(*parts, compress=zipfile.ZIP_DEFLATED), tmp_path)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_stands_twice_is_refused(path: Path, tmp_path: Path) -> None:
    parts = parts_of(archived(path, tmp_path / "a.zip"))

    assert "twice" in refused(zipped(*parts, parts[-1]), tmp_path)


@pytest.mark.parametrize("keep", [40, 1000, -1, -30])
def test_a_cut_archive_is_refused(keep: int, path: Path, tmp_path: Path) -> None:
    data = archived(path, tmp_path / "a.zip").read_bytes()

    assert refused(data[:keep] if keep > 40 or keep < 0 else data[:64], tmp_path)


def test_entries_that_overlap_are_refused(tmp_path: Path) -> None:
    """Every attachment leads to the same large bytes, as in a zip bomb without layers."""
    names = [blob_name(f"{number:064x}") for number in range(40)]
    data = zipped(("manent.ndjson", b"x"), *((name, b"y") for name in names), (blob_name("f" * 64), LARGE))
    large = data.rindex(b"PK\x03\x04")
    directory = data.index(b"PK\x01\x02")
    bomb = bytearray(data)
    at = directory
    while (at := bomb.find(b"PK\x01\x02", at)) >= 0:
        if bomb[at + 46 : at + 46 + 5] == b"blobs":
            struct.pack_into("<II", bomb, at + 20, len(LARGE), len(LARGE))
            struct.pack_into("<I", bomb, at + 42, large)
        at += 4

    assert refused(bytes(bomb), tmp_path) == "this archive cannot be read: entries that overlap"


def test_a_directory_beyond_the_bound_is_not_read(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = archived(path, tmp_path / "a.zip")
    monkeypatch.setattr(archive, "DIRECTORY_BYTES_MAX", 100)

    with pytest.raises(FormatError, match="its directory is larger than 100 bytes"):
        Archive(source)


def test_a_blob_among_the_lines_of_an_archive_is_refused(path: Path, tmp_path: Path) -> None:
    with manent.open(path, workspace=None) as store:
        lines, _ = exported(store, "ndjson")

    assert "a blob among the lines" in refused(zipped(("manent.ndjson", lines)), tmp_path)


def test_a_zip_holds_nothing_but_names_and_bytes() -> None:
    entries = [Entry("a", [b"1", b"2"]), Entry("b/c", [])]

    one, two = b"".join(zip_entries(entries)), b"".join(zip_entries(entries))

    assert one == two
    with zipfile.ZipFile(io.BytesIO(one)) as found:
        assert [(i.filename, i.date_time, i.compress_type, i.create_system) for i in found.infolist()] == [
            ("a", (1980, 1, 1, 0, 0, 0), zipfile.ZIP_STORED, 3),
            ("b/c", (1980, 1, 1, 0, 0, 0), zipfile.ZIP_STORED, 3),
        ]
        assert found.read("a") == b"12"
