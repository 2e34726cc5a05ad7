"""What no file can do to a reader: stop it, fill the memory, lead it elsewhere, or make it run something."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manent.errors import FormatError
from manent.formats import jsontext
from manent.formats.registry import find_format
from manent.formats.source import Line, Source
from manent.model.imported import Refusal
from tests.formats.reading import (
    ROOT,
    Counts,
    answered,
    as_line,
    read_one,
    read_path,
    said,
    text,
    words,
    write_lines,
)

patiently = settings(deadline=None)

BREAKS = "one\u2028two\u2029three\u0085four\x0bfive\x0csix\rseven"
CHAT = {"messages": [{"role": "user", "content": "hi"}]}


# --- lines --------------------------------------------------------------------------------------


def test_torn_lines_are_named_and_everything_around_them_is_kept(tmp_path: Path) -> None:
    torn = as_line(said("u3", "u2", "cut in the middle"))[:-20]  # case 10
    last = as_line(said("u6", "u5"))[:-9]
    file = write_lines(
        tmp_path / "s1.jsonl",
        said("u1", None, "1"),
        said("u2", "u1", "2"),
        torn + b"\n",
        said("u4", "u2", "4"),
        said("u5", "u4", "5"),
        last,
    )

    reading = read_path(file)

    assert words(reading.conversations[0]) == ["1", "2", "4", "5"]
    assert [refusal.place for refusal in reading.refusals] == [f"{file.as_posix()}:3", f"{file.as_posix()}:6"]
    assert [refusal.raw for refusal in reading.refusals] == [torn, last]
    assert "the file stops in the middle of a line" in reading.refusals[1].reason


def test_a_last_line_that_is_whole_needs_no_end(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", as_line(said("u1", None)).removesuffix(b"\n"))

    assert read_path(file).counts == Counts(1, 1, 1, 0)


def test_only_lf_ends_a_line(tmp_path: Path) -> None:  # case 12, T-2
    claude = write_lines(tmp_path / "s1.jsonl", said("u1", None, BREAKS))
    chat = write_lines(tmp_path / "chat.jsonl", {"messages": [{"role": "user", "content": BREAKS}]})

    assert words(read_one(claude)) == [BREAKS]
    assert words(read_one(chat)) == [BREAKS]


def test_a_carriage_return_before_the_end_is_no_part_of_the_json_and_stays_in_the_record(
    tmp_path: Path,
) -> None:
    line = as_line(said("u1", None)).replace(b"\n", b"\r\n")
    file = write_lines(tmp_path / "s1.jsonl", line)

    assert read_one(file).messages[0].native == line.removesuffix(b"\n")


def test_a_byte_order_mark_is_no_part_of_the_first_record(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", b"\xef\xbb\xbf" + as_line(said("u1", None)))

    assert read_one(file).messages[0].native.startswith(b'{"type"')


def test_blank_lines_are_no_records(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", b"\n", said("u1", None), b"  \r\n")

    assert read_path(file).counts == Counts(1, 1, 1, 0)


@patiently
@given(st.lists(st.binary(max_size=30).filter(lambda line: b"\n" not in line), max_size=8))
def test_lines_are_what_stands_between_lfs(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes]
) -> None:
    file = tmp_path_factory.mktemp("lines") / "any"
    file.write_bytes(b"".join(line + b"\n" for line in lines))

    found = [line.raw for line in Source(file).lines() if isinstance(line, Line)]

    expected = [line.removeprefix(b"\xef\xbb\xbf") if n == 0 else line for n, line in enumerate(lines)]
    assert found == [line for line in expected if line.strip()]


# --- size and depth (I-3) -----------------------------------------------------------------------


def test_a_line_beyond_the_bound_is_named_and_its_neighbours_are_kept(tmp_path: Path) -> None:  # I-3
    file = write_lines(
        tmp_path / "s1.jsonl", said("u1", None), said("u2", "u1", "x" * 5_000), said("u3", "u1")
    )

    reading = read_path(file, line_bytes_max=2_000)

    assert [found.native_id for found in reading.conversations[0].messages] == ["u1", "u3"]
    assert reading.refusals[0].place == f"{file.as_posix()}:2"
    assert "at most 2,000 are read" in reading.refusals[0].reason


def test_a_line_of_exactly_the_bound_is_read(tmp_path: Path) -> None:
    line = as_line(said("u1", None))
    file = write_lines(tmp_path / "s1.jsonl", line)

    assert read_path(file, line_bytes_max=len(line) - 1).counts == Counts(1, 1, 1, 0)
    assert read_path(file, line_bytes_max=len(line) - 2).counts == Counts(0, 0, 0, 1)


def test_the_rest_of_a_huge_line_is_skipped_without_being_held(tmp_path: Path) -> None:  # I-3
    file = tmp_path / "s1.jsonl"
    file.write_bytes(as_line(said("u1", None)) + b'{"x": "' + b"x" * (64 << 20) + b'"}\n')
    tracemalloc.start()

    counts = read_path(file, line_bytes_max=1 << 20).counts

    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert counts == Counts(1, 1, 1, 1)
    assert peak < 8 << 20


@pytest.mark.parametrize(
    "bomb",
    [
        b"[" * 100_000,
        b"[" * 100_000 + b"]" * 100_000,
        b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
        b'{"type":"user","message":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
    ],
)
def test_a_bomb_of_depth_is_refused_by_name(bomb: bytes, tmp_path: Path) -> None:  # I-3
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), bomb + b"\n")

    reading = read_path(file)

    assert reading.counts == Counts(1, 1, 1, 1)
    assert reading.refusals[0].reason == "nested deeper than 200"


def test_a_bomb_of_values_is_refused_before_it_is_built() -> None:  # I-3
    bomb = b"[" + b"[]," * jsontext.VALUES_MAX + b"[]]"

    with pytest.raises(FormatError, match="more than 2,000,000 values"):
        jsontext.loads(bomb, place="here")


def test_brackets_inside_words_are_no_depth() -> None:
    value = {"text": "[" * 100_000, "quoted": '\\"[' * 1_000}

    assert jsontext.loads(json.dumps(value).encode(), place="here") == value


def test_depth_at_the_bound_is_read() -> None:
    deep = b"[" * jsontext.DEPTH_MAX + b"]" * jsontext.DEPTH_MAX

    assert jsontext.loads(deep, place="here") is not None


# --- odd JSON -----------------------------------------------------------------------------------


def test_lone_surrogates_come_through_and_harm_no_neighbour(tmp_path: Path) -> None:  # case 32
    odd = b'{"type":"user","uuid":"u2","parentUuid":"u1","sessionId":"s1","message":{"content":"\\ud83d!"}}\n'
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), odd, said("u3", "u2", "\ud83d broken \udc88"))

    assert words(read_one(file)) == ["hi", "\ud83d!", "\ud83d broken \udc88"]


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        (b"[NaN, Infinity, -Infinity, 1e999]", ["NaN", "Infinity", "-Infinity", "1e999"]),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'"a\tb\x00"', "a\tb\x00"),
        (b"12345678901234567890123", 12345678901234567890123),
        (b"[" + b"9" * 5_000 + b"]", ["9" * 5_000]),
        (b'  {"a": []}\r\n', {"a": []}),
    ],
)
def test_what_other_writers_take_for_json_is_read(raw: bytes, value: object) -> None:
    assert jsontext.loads(raw, place="here") == value


@pytest.mark.parametrize(
    "raw", [b"", b"{", b'{"a" 1}', b"{} {}", b"[1,]", b"nul", b"'a'", b"\xff", b'"\xe9"', b"\x00\x00"]
)
def test_what_is_no_json_is_refused_without_being_shown(raw: bytes) -> None:  # U-4
    with pytest.raises(FormatError) as caught:
        jsontext.loads(raw, place="file:3")

    assert caught.value.place == "file:3"
    assert caught.value.detail.startswith("not ")


@patiently
@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(raw: bytes) -> None:  # I-3
    try:
        value = jsontext.loads(raw, place="here")
    except FormatError:
        return
    assert jsontext.loads(jsontext.dumps(value), place="here") == value


@patiently
@given(st.binary(max_size=200))
def test_an_outline_of_any_bytes_is_made(raw: bytes) -> None:
    assert isinstance(jsontext.outline(raw), dict)


@patiently
@given(
    st.recursive(st.none() | st.text(max_size=3), lambda inner: st.dictionaries(st.text(max_size=3), inner))
)
def test_members_of_an_object_are_those_that_json_finds(value: object) -> None:
    document = {"first": value, "list": [value, {}, []], "last": value}
    found = list(jsontext.members(json.dumps(document, indent=1), "list", place="here"))

    assert [(member.name, member.value) for member in found] == [
        ("first", value),
        ("list", value),
        ("list", {}),
        ("list", []),
        ("last", value),
    ]
    assert [json.loads(member.raw) for member in found if member.raw] == [value, {}, []]


# --- files --------------------------------------------------------------------------------------


def test_a_link_in_a_folder_is_refused_rather_than_followed(tmp_path: Path) -> None:  # I-3
    outside = write_lines(tmp_path / "outside.jsonl", said("x1", None, "secret", sessionId="s9"))
    folder = tmp_path / "folder"
    write_lines(folder / "s1.jsonl", said("u1", None))
    (folder / "link.jsonl").symlink_to(outside)
    (folder / "up").symlink_to(tmp_path, target_is_directory=True)

    reading = read_path(folder)

    assert reading.counts == Counts(1, 1, 1, 2)
    assert [refusal.raw for refusal in reading.refusals] == [b"", b""]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_refused_rather_than_waited_for(tmp_path: Path) -> None:  # I-3
    write_lines(tmp_path / "s1.jsonl", said("u1", None))
    os.mkfifo(tmp_path / "s2.jsonl")

    reading = read_path(tmp_path)

    assert reading.counts == Counts(1, 1, 1, 1)
    assert reading.refusals[0].reason == "this is no regular file"


@pytest.mark.parametrize("name", ["absent.jsonl", "a\x00b"])
def test_a_file_that_is_not_there_is_an_error_that_names_it(name: str, tmp_path: Path) -> None:
    with pytest.raises(FormatError) as caught:
        find_format(tmp_path / name)

    assert caught.value.place == (tmp_path / name).as_posix()


def test_utf16_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "s1.jsonl"
    file.write_bytes(as_line(said("u1", None)).decode().encode("utf-16"))

    with pytest.raises(FormatError, match="UTF-16"):
        find_format(file)


def test_a_line_in_another_encoding_costs_that_line(tmp_path: Path) -> None:
    latin = b'{"type":"user","uuid":"u2","sessionId":"s1","message":{"content":"caf\xe9"}}\n'
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), latin)

    reading = read_path(file)

    assert reading.counts == Counts(1, 1, 1, 1)
    assert reading.refusals[0].reason.startswith("not UTF-8 at byte")


def test_a_pickle_is_data_that_nothing_recognises(tmp_path: Path) -> None:  # I-3
    file = tmp_path / "s1.jsonl"
    file.write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")

    with pytest.raises(FormatError, match="no known format"):
        find_format(file)


def test_files_are_utf8_whatever_the_machine_prefers(tmp_path: Path) -> None:  # case 86, T-2
    spoken = "“네, 확인했습니다” — ☕"
    file = write_lines(tmp_path / "chat.jsonl", {"messages": [{"role": "user", "content": spoken}]})
    script = (
        "import sys; from pathlib import Path; from tests.formats.reading import read_one, words\n"
        "sys.stdout.buffer.write(ascii(words(read_one(Path(sys.argv[1])))).encode('ascii'))"
    )

    done = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", script, str(file)],
        cwd=ROOT,
        env={**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": f"{ROOT / 'src'}"},
        capture_output=True,
        check=True,
        timeout=60,
    )

    assert done.stdout.decode("ascii") == ascii([spoken])


def test_the_same_folder_is_read_in_the_same_order(tmp_path: Path) -> None:
    write_lines(tmp_path / "b" / "s3.jsonl", said("u1", None, sessionId="s3"))
    write_lines(tmp_path / "b.jsonl", said("u1", None, sessionId="s2"))
    write_lines(tmp_path / "a.jsonl", said("u1", None, sessionId="s1"))

    assert [found.native_id for found in read_path(tmp_path).conversations] == ["s1", "s2", "s3"]


def test_a_refusal_is_bounded_whatever_it_refuses(tmp_path: Path) -> None:  # I-3
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), b'"' + b"x" * 500_000 + b"\n")

    refusals = read_path(file).refusals

    assert len(refusals[0].raw) == 65_536


def test_a_chain_of_ten_thousand_messages_needs_no_recursion(tmp_path: Path) -> None:  # I-3
    lines = [as_line(said(f"u{n}", f"u{n + 1}")) for n in range(10_000)]
    file = write_lines(tmp_path / "s1.jsonl", b"".join(lines))

    conversation = read_one(file)

    assert [found.native_id for found in conversation.messages][:2] == ["u9999", "u9998"]


@patiently
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ["type", "text", "content", "source", "uuid", "message", "id", "input", "name"]
                ),
                inner,
            )
        ),
        max_leaves=12,
    )
)
def test_a_line_of_any_shape_is_a_message_or_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, odd: object
) -> None:
    lines: list[dict[str, object]] = [
        said("u1", None),
        said("u2", "u1", odd),
        answered("a1", "u2", text("x")),
    ]
    other = {"sessionId": "s1", "type": odd, "message": odd, "uuid": odd, "parentUuid": odd, "timestamp": odd}
    file = write_lines(tmp_path_factory.mktemp("odd") / "s1.jsonl", *lines, other, [odd])

    counts = read_path(file).counts

    assert counts.records + counts.refusals == 5  # I-1


@patiently
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=4),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["role", "content", "type", "text", "image_url", "url", "function", "name"]),
                inner,
            )
        ),
        max_leaves=12,
    )
)
def test_a_chat_of_any_shape_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, odd: object
) -> None:
    message = {"role": "assistant", "content": odd, "tool_calls": odd, "function_call": odd, "audio": odd}
    file = write_lines(
        tmp_path_factory.mktemp("odd") / "chat.jsonl", CHAT, {"messages": [message, odd]}, {"messages": odd}
    )

    reading = read_path(file)

    assert all(isinstance(refusal, Refusal) for refusal in reading.refusals)
    assert reading.counts.records >= 2
