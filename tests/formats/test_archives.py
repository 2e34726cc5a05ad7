"""Zips as sources, and what no export can do: fill the memory, lead elsewhere, stop the reader."""

from __future__ import annotations

import json
import stat
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import manent
from manent.errors import FormatError
from manent.formats import jsonscan, jsonstream, jsontext, zips
from manent.formats.registry import detect
from manent.formats.source import Source
from manent.model.imported import Refusal
from manent.opening import import_path
from tests.formats.chat_exports import (
    chain,
    conversation,
    message,
    read_any,
    read_chatgpt,
    text,
    thread,
    write_json,
    write_zip,
    wrote,
    zip_folder,
)
from tests.formats.reading import ROOT, SAMPLES, Counts, as_line, parents, said, words

patiently = settings(deadline=None)

GOOD = json.dumps([conversation(chain(message("user", text("hi"))))]).encode()
CHAT = as_line({"messages": [{"role": "user", "content": "hi"}]})


def reasons(path: Path) -> list[str]:
    """Why something of a path was refused."""
    return [refusal.reason for refusal in read_any(path).refusals]


# --- zips like folders --------------------------------------------------------------------------


def test_a_zip_is_known_by_its_content_and_read_like_a_folder(tmp_path: Path) -> None:
    session = as_line(said("u1", None))
    path = write_zip(tmp_path / "no suffix", {"a/s1.jsonl": session, "b.jsonl": CHAT, "c.json": GOOD})

    found = detect(path)

    assert (found.format, found.files) == ("chatgpt + claude-code + openai-messages", 3)
    assert read_any(path).counts == Counts(3, 3, 3, 0)


def test_a_folder_may_hold_zips(tmp_path: Path) -> None:
    write_zip(tmp_path / "one.zip", {"conversations.json": GOOD})
    (tmp_path / "chat.jsonl").write_bytes(CHAT)
    (tmp_path / "broken.zip").write_bytes(b"no zip at all")
    (tmp_path / "cut.zip").write_bytes((tmp_path / "one.zip").read_bytes()[:-30])

    found = read_any(tmp_path)

    assert found.counts == Counts(2, 2, 2, 2)
    assert [refusal.place for refusal in found.refusals] == [
        (tmp_path / "broken.zip").as_posix(),
        (tmp_path / "cut.zip").as_posix(),
    ]


def test_places_name_the_zip_and_the_entry(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "e.zip", {"part/conversations.json": b'[{"title":"T","mapping":7}]' + b""})

    found = read_any(path)

    assert found.refusals[0].place == f"{path.as_posix()}/part/conversations.json: conversation 1"


def test_nothing_is_ever_unpacked(tmp_path: Path) -> None:  # N-2
    path = zip_folder(SAMPLES / "chatgpt", tmp_path / "e.zip")
    before = sorted(tmp_path.rglob("*"))

    with manent.open("memory:") as store:
        import_path(store, path)

    assert sorted(tmp_path.rglob("*")) == before


def test_a_zip_without_anything_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError):
        detect(write_zip(tmp_path / "e.zip", {"notes.txt": b"x", "user.json": b"{}"}))


# --- hostile zips (I-3) -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "../evil.json",
        "a/../../evil.json",
        "/etc/evil.json",
        "C:evil.json",
        "a\\..\\evil.json",
        "..",
        "a\0b.json",
    ],
)
def test_a_name_that_leads_elsewhere_costs_that_entry(name: str, tmp_path: Path) -> None:  # N-2, I-3
    path = tmp_path / "e.zip"
    placeholder = "x" * len(name)
    write_zip(path, {placeholder: GOOD, "conversations.json": GOOD})
    path.write_bytes(path.read_bytes().replace(placeholder.encode(), name.encode()))

    found = read_any(path)

    assert found.counts == Counts(1, 1, 1, 1)
    assert "a name that leads out of the zip" in found.refusals[0].reason
    assert sorted(tmp_path.rglob("*")) == [path]


def test_a_link_in_a_zip_is_not_followed(tmp_path: Path) -> None:  # N-2
    path = tmp_path / "e.zip"
    with zipfile.ZipFile(path, "w") as made:
        link = zipfile.ZipInfo("conversations-001.json")
        link.create_system, link.external_attr = 3, (stat.S_IFLNK | 0o777) << 16
        made.writestr(link, "/etc/passwd")
        made.writestr("conversations-000.json", GOOD)

    found = read_any(path)

    assert found.counts == Counts(1, 1, 1, 1)
    assert found.refusals[0].reason == "a link in a zip is not followed"


def test_an_encrypted_entry_is_named(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "e.zip", {"conversations-000.json": GOOD, "conversations-001.json": GOOD})
    content = bytearray(path.read_bytes())
    for magic, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(magic) + flags] |= 1
    path.write_bytes(content)

    assert "encrypted" in reasons(path)[0]
    assert read_any(path).counts == Counts(1, 1, 1, 1)


def test_a_method_that_is_not_read_is_named(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "e.zip", {"c.json": GOOD}, zipfile.ZIP_LZMA)
    write_zip(tmp_path / "good.zip", {"c.json": GOOD})

    assert reasons(tmp_path) == ["the file is packed by method 14; only deflate is read"]
    assert path.exists()


def test_a_bomb_is_named_and_never_unpacked(tmp_path: Path) -> None:  # I-3
    bomb = b'[{"title":"T","mapping":{}},' + b" " * (64 << 20) + b"]"
    path = write_zip(tmp_path / "e.zip", {"conversations-000.json": GOOD, "conversations-001.json": bomb})
    del bomb
    tracemalloc.start()

    found = read_any(path)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.counts == Counts(1, 1, 1, 1)
    assert "swells to more than 200 times" in found.refusals[0].reason
    assert peak < 8 << 20


def test_sizes_numbers_and_sums_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # I-3
    path = write_zip(tmp_path / "e.zip", {f"conversations-{n:03}.json": GOOD for n in range(3)})
    with monkeypatch.context() as patch:
        patch.setattr(zips, "FILE_BYTES_MAX", len(GOOD) - 1)
        with pytest.raises(FormatError):
            detect(path)
    with monkeypatch.context() as patch:
        patch.setattr(zips, "TOTAL_BYTES_MAX", 2 * len(GOOD))
        assert read_any(path).counts == Counts(2, 2, 2, 1)
    for name in ("FILES_MAX", "DIRECTORY_BYTES_MAX"):
        with monkeypatch.context() as patch:
            patch.setattr(zips, name, 2)
            with pytest.raises(FormatError):
                detect(path)


def test_a_zip_inside_a_zip_is_named(tmp_path: Path) -> None:
    inner = write_zip(tmp_path / "inner", {"conversations.json": GOOD}).read_bytes()
    path = write_zip(tmp_path / "e.zip", {"a.zip": inner, "b.json": inner, "c.json": GOOD})

    assert reasons(path) == ["a zip inside a zip is not opened; unpack it and import that"] * 2


@pytest.mark.parametrize("zipped", [False, True])
def test_an_upload_that_is_a_zip_is_a_file_as_it_was(zipped: bool, tmp_path: Path) -> None:
    upload = {"attachments": [{"id": "file-Zip1", "name": "data.zip"}]}
    folder = tmp_path / "export"
    write_json(folder / "c.json", [conversation(chain(message("user", text("x"), metadata=upload)))])
    inner = write_zip(folder / "file-Zip1-data.zip", {"conversations.json": GOOD}).read_bytes()
    path = zip_folder(folder, tmp_path / "e.zip") if zipped else folder

    found = read_any(path)

    assert found.counts == Counts(1, 1, 1, 0)
    ((place, read),) = found.conversations[0].messages[0].files
    assert (place, b"".join(read())) == (1, inner)


def test_a_damaged_entry_costs_what_stands_behind_the_damage(tmp_path: Path) -> None:  # I-1
    many = [
        conversation(chain(message("user", text("hi" * 500))), conversation_id=f"c{n}") for n in range(5000)
    ]
    path = tmp_path / "e.zip"
    write_zip(path, {"a.json": json.dumps(many).encode(), "b.json": GOOD}, zipfile.ZIP_STORED)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"c4000"', b'"c40-0"', 1))

    found = read_any(path)

    assert "the file is damaged: BadZipFile" in found.refusals[0].reason
    assert len(found.conversations) > 3000
    assert found.conversations[-1].native_id == "conv-1" or found.conversations[-1].place.startswith(
        f"{path.as_posix()}/b.json"
    )


def test_a_damaged_session_keeps_the_lines_before_the_damage(tmp_path: Path) -> None:  # I-1
    lines = b"".join(as_line(said(f"u{n}", f"u{n - 1}" if n else None, "x" * 900)) for n in range(3000))
    path = write_zip(tmp_path / "e.zip", {"s1.jsonl": lines}, zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b'"u2500"', b'"u25-0"', 1))

    found = read_any(path)

    assert len(found.conversations[0].messages) > 1000
    assert "damaged" in found.refusals[0].reason


# --- hostile JSON (I-3) -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "nested",
    [
        pytest.param("[" * 100_000 + "]" * 100_000, id="lists"),
        pytest.param('{"a":' * 100_000 + "1" + "}" * 100_000, id="objects"),
        pytest.param("[" * 100_000, id="never closed"),
    ],
)
def test_depth_costs_that_message_and_nothing_else(nested: str, tmp_path: Path) -> None:  # I-3
    entries = [
        json.dumps(conversation(chain(message("user", text("hi"))), id=None, conversation_id=f"c{n}"))
        for n in range(3)
    ]
    entries[1] = entries[1].replace('"hi"', nested)
    file = tmp_path / "conversations.json"
    file.write_text(f"[{','.join(entries)}]", encoding="utf-8")

    found = read_any(file)

    assert [item.native_id for item in found.conversations if item.messages] == ["c0", "c2"]
    assert len(found.refusals) == 1


def test_a_chain_of_a_hundred_thousand_nodes_is_read(tmp_path: Path) -> None:  # I-3
    mapping = chain(*(message("user", text("x")) for _ in range(100_000)))
    for node in mapping.values():
        node["children"] = []
    reverse = dict(reversed(mapping.items()))

    found = read_chatgpt(tmp_path, reverse)

    assert len(found.messages) == 100_000
    assert [item.native_id for item in found.messages[:2]] == ["n1", "n2"]
    assert found.messages[-1].parent_native_id == "n99999"


def test_a_circle_of_a_hundred_thousand_nodes_is_cut_once(tmp_path: Path) -> None:  # I-3
    mapping = chain(*(message("user", text("x")) for _ in range(100_000)))
    mapping["n1"]["parent"] = "n100000"

    found = read_chatgpt(tmp_path, mapping)

    assert sum(item.parent_native_id is None for item in found.messages) == 1
    assert (found.details or {})["notes"]["circle_of_parents"]["count"] == 1


def test_too_many_nodes_are_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonscan, "MEMBERS_MAX", 10)
    write_json(tmp_path / "a.json", [conversation(chain(*(message("user", text("x")) for _ in range(11))))])
    write_json(tmp_path / "b.json", [thread(*(wrote(f"m{n}", "human") for n in range(11)))])

    assert reasons(tmp_path) == ["more than 10 members in one object or list"] * 2


def test_a_message_of_empty_values_is_refused_before_it_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # I-3
    monkeypatch.setattr(jsontext, "VALUES_MAX", 20_000)
    bomb = conversation({"n1": {"message": message("user", "BOMB")}})
    content = json.dumps([bomb]).replace('"BOMB"', "[" + "[]," * 30_000 + "[]]")
    file = tmp_path / "conversations.json"
    file.write_text(content, encoding="utf-8")
    tracemalloc.start()

    found = read_any(file)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.refusals[0].reason == "more than 20,000 values"
    assert peak < 2 << 20


def test_a_line_of_69_mb_is_named_and_its_neighbours_come_in(tmp_path: Path) -> None:  # I-3, TORN
    big = json.dumps(conversation(chain(message("user", text("BIG"))), conversation_id="big"))
    before, _, after = big.partition("BIG")
    file = tmp_path / "conversations.json"
    good = [
        json.dumps(conversation(chain(message("user", text("hi"))), conversation_id=f"c{n}"))
        for n in range(2)
    ]
    with file.open("w", encoding="utf-8") as stream:
        stream.write(f"[{good[0]}, {before}")
        stream.writelines("x" * (1 << 20) for _ in range(69))
        stream.write(f"{after}, {good[1]}]")
    tracemalloc.start()

    found = read_any(file)

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [item.native_id for item in found.conversations] == ["c0", "c1"]
    assert found.refusals[0].reason.startswith("a conversation of 72,")
    assert found.refusals[0].place.endswith("conversation 2")
    assert peak < 150 << 20


def test_a_large_conversation_of_many_nodes_is_skipped_without_being_held(tmp_path: Path) -> None:  # I-3
    many = conversation(
        chain(*(message("user", text("y" * 100)) for _ in range(5_000))), conversation_id="big"
    )
    small = conversation(chain(message("user", text("hi"))), conversation_id="c1")
    file = write_json(tmp_path / "conversations.json", [small, many, small])

    items = list(detect(file).items)
    with Source(file).stream() as stream:
        bounded = list(
            jsonstream.Elements(stream, name="f", wrapper="w", marker="mapping", bytes_max=100_000)
        )

    assert len(items) == 3
    assert [isinstance(item, Refusal) for item in bounded] == [False, True, False]


def test_a_list_of_nothing_but_rubbish_is_given_up(tmp_path: Path) -> None:  # I-3
    file = tmp_path / "conversations.json"
    file.write_bytes(GOOD[:-1] + b",1" * 100_000 + b"]")

    found = read_any(file)

    assert len(found.conversations) == 1
    assert len(found.refusals) == 1_001
    assert "the rest was left out" in found.refusals[-1].reason


# --- odd text (TEXT) ----------------------------------------------------------------------------


LINES = "one\u2028two\u2029three\u0085four\x0bfive\x0csix"
ODD = {
    "a lone surrogate": (r"\ud83d and \udc00", "\ud83d and \udc00"),
    "a pair": (r"\ud83d\ude00", "\U0001f600"),
    "a NUL": (r"a\u0000b", "a\0b"),
    "line separators": (LINES, LINES),
}


@pytest.mark.parametrize(("written", "meant"), ODD.values(), ids=ODD)
def test_odd_text_comes_in_as_it_is(written: str, meant: str, tmp_path: Path) -> None:  # T-1, case 12
    file = tmp_path / "conversations.json"
    file.write_text(GOOD.decode().replace('"hi"', f'"{written}"'), encoding="utf-8")

    assert words(read_any(file).conversations[0]) == [meant]


def test_what_json_cannot_carry_is_kept_as_text(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(GOOD.decode().replace('"hi"', '{"a": NaN, "b": 1e999, "c": -Infinity}'), encoding="utf-8")

    part: Any = read_any(file).conversations[0].messages[0].parts[0]

    assert part.data == {"a": "NaN", "b": "1e999", "c": "-Infinity"}


def test_of_a_repeated_name_the_last_one_counts(tmp_path: Path) -> None:
    file = tmp_path / "conversations.json"
    file.write_text(GOOD.decode().replace('"title": "T"', '"title": "T", "title": "U"'), encoding="utf-8")

    assert read_any(file).conversations[0].title == "U"


def test_a_byte_order_mark_is_no_part_of_the_json(tmp_path: Path) -> None:  # case 86
    file = tmp_path / "conversations.json"
    file.write_bytes(b"\xef\xbb\xbf" + GOOD)

    assert read_any(file).counts == Counts(1, 1, 1, 0)


def test_utf_16_is_refused_by_name(tmp_path: Path) -> None:  # case 86
    (tmp_path / "conversations-000.json").write_bytes(GOOD)
    (tmp_path / "conversations-001.json").write_text(GOOD.decode(), encoding="utf-16")

    assert reasons(tmp_path) == ["the file is UTF-16; save it as UTF-8 and import that"]
    with pytest.raises(FormatError, match="UTF-16"):
        detect(tmp_path / "conversations-001.json")


# --- the pieces ---------------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@patiently
@given(st.dictionaries(st.text(), json_values, max_size=5), st.sampled_from([None, 1]))
def test_an_object_is_the_sum_of_its_pieces_both_ways(value: dict[str, Any], indent: int | None) -> None:
    raw = json.dumps(value, indent=indent).encode()

    quick = {
        name: jsonscan.load(piece, place="") for name, piece in jsonscan.fields_of(raw, place="").items()
    }
    slow = {name: jsonscan.load(piece, place="") for name, piece in jsonscan._members(raw, "")}

    assert quick == value
    assert slow == value


@patiently
@given(json_values, st.integers(min_value=1, max_value=50))
def test_a_stream_gives_the_same_whatever_the_pieces_it_comes_in(value: object, size: int) -> None:
    entries = [{"mapping": value, "n": number} for number in range(3)]
    raw = json.dumps(entries, ensure_ascii=False).encode("utf-8", "surrogatepass")

    stream: Any = Dribble(raw, size)
    found = jsonstream.Elements(stream, name="f", wrapper="w", marker="mapping", bytes_max=1 << 20)

    assert [json.loads(item.raw) for item in found] == entries


class Dribble:
    """A stream that gives a few bytes at a time."""

    def __init__(self, content: bytes, size: int) -> None:
        self._content = content
        self._size = size
        self._at = 0

    def read(self, size: int) -> bytes:
        piece = self._content[self._at : self._at + min(size, self._size)]
        self._at += len(piece)
        return piece


@patiently
@given(st.binary(max_size=200))
def test_no_bytes_stop_the_reader(rubbish: bytes) -> None:  # I-3
    for content in (
        rubbish,
        GOOD[:-1] + rubbish,
        b"[" + rubbish + GOOD[1:],
        GOOD[:100] + rubbish + GOOD[100:],
    ):
        stream: Any = Dribble(content, 7)
        items = list(jsonstream.Elements(stream, name="f", wrapper="w", marker="mapping", bytes_max=1 << 20))
        assert len(items) < 1_100


def test_a_zip_that_says_nothing_of_its_directory_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "e.zip"
    path.write_bytes(b"PK\x03\x04" + b"x" * 100)

    with pytest.raises(FormatError, match="cut off"):
        detect(path)


def test_the_folder_of_samples_is_read_as_a_zip_too(tmp_path: Path) -> None:
    assert (
        read_any(zip_folder(ROOT / "samples", tmp_path / "s.zip")).counts == read_any(ROOT / "samples").counts
    )


def test_parents_of_a_mapping_in_a_zip_are_those_of_the_file(tmp_path: Path) -> None:
    path = write_zip(tmp_path / "e.zip", {"c.json": GOOD})

    assert parents(read_any(path).conversations[0]) == {"n1": None}


@patiently
@given(st.integers(min_value=0), st.binary(min_size=1, max_size=4), st.booleans())
def test_no_damage_to_a_zip_stops_the_reader(
    tmp_path_factory: pytest.TempPathFactory, at: int, noise: bytes, cut: bool
) -> None:  # I-3
    folder = tmp_path_factory.mktemp("damaged")
    whole = write_zip(folder / "e.zip", {"a.json": GOOD, "b/c.jsonl": CHAT, "d.json": GOOD}).read_bytes()
    at %= len(whole)
    path = folder / "damaged.zip"
    path.write_bytes(whole[:at] + noise + (b"" if cut else whole[at + len(noise) :]))

    kept = read_leniently(path)

    assert kept <= 3


def read_leniently(path: Path) -> int:
    """The number of conversations in a path; 0 where it is refused as a whole."""
    try:
        return len(read_any(path).conversations)
    except FormatError:
        return 0
