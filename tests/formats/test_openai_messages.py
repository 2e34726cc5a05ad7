"""OpenAI messages: every line a conversation, every message kept, in the order in which it stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from manent.formats import openai_messages
from manent.formats.registry import find_format
from manent.model.imported import ImportedMessage
from manent.model.parts import (
    AnyPart,
    FilePart,
    NoticePart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.formats.reading import (
    FIXTURES,
    SAMPLES,
    Counts,
    needs_fixtures,
    read_one,
    read_path,
    words,
    write_lines,
)

SAMPLE = SAMPLES / "openai-messages.jsonl"


def read_message(folder: Path, **message: Any) -> ImportedMessage:
    """The one message of a file that holds only it."""
    file = write_lines(folder / "chat.jsonl", {"messages": [message]})
    return read_one(file).messages[0]


def parts_of(folder: Path, **message: Any) -> tuple[AnyPart, ...]:
    """The parts of that message."""
    return read_message(folder, **message).parts


@needs_fixtures
@pytest.mark.parametrize(("file", "expected"), [("schema-derived/chat.jsonl", Counts(3, 14, 14, 0))])
def test_a_known_file_gives_what_is_in_it(file: str, expected: Counts) -> None:  # I-1
    assert read_path(FIXTURES / "openai-messages" / file).counts == expected


@needs_fixtures
def test_the_table_above_names_every_fixture() -> None:
    files = [path for path in (FIXTURES / "openai-messages").rglob("*") if path.is_file()]

    assert len(files) == 1


def test_the_sample_gives_every_message_in_its_language() -> None:
    reading = read_path(SAMPLE)

    assert reading.counts == Counts(3, 15, 15, 0)
    assert words(reading.conversations[0])[3] == "회의록 정리는 어디에 적어 두었죠?"
    assert words(reading.conversations[2])[3] == "发布日期定在下个月一号。"


def test_messages_follow_each_other_and_have_no_ids() -> None:
    conversation = read_path(SAMPLE).conversations[0]

    assert {(found.native_id, found.follows) for found in conversation.messages} == {(None, True)}
    assert (conversation.native_id, conversation.head_native_id) == (None, None)


def test_what_stands_beside_the_messages_goes_into_the_details() -> None:
    conversation = read_path(SAMPLE).conversations[1]

    assert conversation.details is not None
    assert list(conversation.details) == ["tools", "parallel_tool_calls"]


# --- shapes of a file ---------------------------------------------------------------------------

HI = {"role": "user", "content": "hi"}
YO = {"role": "assistant", "content": "yo"}


@pytest.mark.parametrize(
    ("value", "counts"),
    [
        ({"messages": [HI, YO]}, Counts(1, 2, 2, 0)),
        ([HI, YO], Counts(1, 2, 2, 0)),
        ([{"messages": [HI]}, {"messages": [YO]}], Counts(2, 2, 2, 0)),
        ({"input": {"messages": [HI]}, "preferred_output": [YO]}, Counts(1, 2, 2, 0)),
        ({"messages": [HI, {"content": "nobody's"}, 7]}, Counts(1, 1, 1, 2)),
    ],
)
@pytest.mark.parametrize("indent", [None, 2])
def test_a_json_file_holds_one_conversation_or_a_list_of_them(
    value: object, indent: int | None, counts: Counts, tmp_path: Path
) -> None:
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(value, indent=indent), encoding="utf-8")

    assert read_path(file).counts == counts


def test_a_bare_list_may_stand_on_a_line(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "chat.jsonl", [HI, YO], {"messages": [HI]})

    assert read_path(file).counts == Counts(2, 3, 3, 0)


def test_an_answer_that_was_not_chosen_is_kept_in_the_details(tmp_path: Path) -> None:
    line = {"input": {"messages": [HI]}, "preferred_output": [YO], "non_preferred_output": [{"role": "x"}]}
    file = write_lines(tmp_path / "chat.jsonl", line)

    details = read_one(file).details

    assert details == {"preferred_output": [YO], "non_preferred_output": [{"role": "x"}]}


def test_a_list_that_begins_in_the_middle_of_a_pretty_file_is_one_conversation(tmp_path: Path) -> None:
    file = tmp_path / "chat.json"
    file.write_text(f"[{json.dumps(HI)},\n{json.dumps(YO)}]\n", encoding="utf-8")

    assert read_path(file).counts == Counts(1, 2, 2, 0)


def test_a_line_without_messages_costs_that_line(tmp_path: Path) -> None:  # I-1
    file = write_lines(tmp_path / "chat.jsonl", {"messages": [HI]}, {"text": "?"}, {"messages": [YO]})

    reading = read_path(file)

    assert reading.counts == Counts(2, 2, 2, 1)
    assert reading.refusals[0].place == f"{file.as_posix()}:2"
    assert reading.refusals[0].raw == b'{"text":"?"}'


# --- messages -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("role", "ours"),
    [
        ("system", "system"),
        ("developer", "system"),
        ("user", "user"),
        ("function", "tool"),
        ("critic", "critic"),
    ],
)
def test_a_role_is_ours_or_the_sources_own_word(role: str, ours: str, tmp_path: Path) -> None:
    assert read_message(tmp_path, role=role, content="hi").role == ours


def test_the_name_is_the_author_but_on_a_tool_it_is_the_tools(tmp_path: Path) -> None:
    spoken = read_message(tmp_path, role="user", name="ada", content="hi")
    answered = read_message(tmp_path, role="function", name="f", content="ok")

    assert spoken.author == "ada"
    assert answered.author is None
    assert answered.parts == (ToolResultPart("ok", name="f"),)


@pytest.mark.parametrize(
    ("piece", "part"),
    [
        ({"type": "text", "text": "hi"}, TextPart("hi")),
        ({"type": "refusal", "refusal": "no"}, NoticePart("refusal", "no")),
        (
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA", "detail": "low"}},
            FilePart(media_type="image/png", size_bytes=3),
        ),
        ({"type": "image_url", "image_url": "https://x/y.png"}, FilePart(uri="https://x/y.png")),
        (
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
            FilePart(media_type="audio/wav", size_bytes=3),
        ),
        ({"type": "file", "file": {"file_id": "f1", "filename": "a.pdf"}}, FilePart("a.pdf", uri="f1")),
        ({"type": "smell", "smell": 1}, OpaquePart({"type": "smell", "smell": 1}, "openai-messages:smell")),
        (7, OpaquePart(7, "openai-messages")),
    ],
)
def test_a_piece_of_content_is_a_part(piece: object, part: AnyPart, tmp_path: Path) -> None:
    assert parts_of(tmp_path, role="user", content=[piece]) == (part,)


def test_the_bytes_of_a_data_url_are_read_when_they_are_wanted(tmp_path: Path) -> None:
    url = "data:image/png;base64,iVBORw=="
    content = [{"type": "text", "text": "see"}, {"type": "image_url", "image_url": {"url": url}}]

    found = read_message(tmp_path, role="user", content=content)

    assert found.parts == (TextPart("see"), FilePart(media_type="image/png", size_bytes=4))
    assert [(place, b"".join(read())) for place, read in found.files] == [(1, b"\x89PNG")]


@pytest.mark.parametrize(
    "url", ["data:image/png;base64,A*AA", "data:text/plain,hi", "data:image/png;base64,AAA"]
)
def test_a_data_url_that_is_no_base64_stays_as_it_is(url: str, tmp_path: Path) -> None:
    found = read_message(tmp_path, role="user", content=[{"type": "image_url", "image_url": {"url": url}}])

    (part,) = found.parts
    assert isinstance(part, FilePart)
    assert (part.uri, found.files) == (url, ())


def test_a_file_beyond_the_bound_is_left_in_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # I-3
    monkeypatch.setattr("manent.formats.data_urls.FILE_BYTES_MAX", 2)
    url = "data:image/png;base64,AAAA"

    found = read_message(tmp_path, role="user", content=[{"type": "image_url", "image_url": {"url": url}}])

    assert (found.parts, found.files) == ((FilePart(media_type="image/png", size_bytes=3),), ())
    assert url.encode() in found.native


def test_the_weight_of_a_message_is_kept_beside_it(tmp_path: Path) -> None:
    assert read_message(tmp_path, role="assistant", content="hi", weight=0).metadata == {"weight": 0}


def test_an_old_function_call_and_its_result_have_no_ids(tmp_path: Path) -> None:
    called = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{no"}}
    file = write_lines(
        tmp_path / "chat.jsonl", {"messages": [called, {"role": "function", "name": "f", "content": "ok"}]}
    )

    assert [found.parts for found in read_one(file).messages] == [
        (ToolCallPart("f", "{no"),),
        (ToolResultPart("ok", name="f"),),
    ]


@pytest.mark.parametrize(
    ("arguments", "ours"),
    [
        ('{"city": "Oslo"}', {"city": "Oslo"}),
        ('{"city": "Oslo"', '{"city": "Oslo"'),
        ("Oslo", "Oslo"),
        ('"Oslo"', '"Oslo"'),
        ("", ""),
        ({"city": "Oslo"}, {"city": "Oslo"}),
        ('{"x": NaN}', {"x": "NaN"}),
    ],
)
def test_arguments_are_json_or_the_text_that_they_are(
    arguments: object, ours: object, tmp_path: Path
) -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}]

    assert parts_of(tmp_path, role="assistant", content=None, tool_calls=calls) == (
        ToolCallPart("f", ours, "c1"),
    )


def test_an_old_call_has_no_id(tmp_path: Path) -> None:
    old = {"name": "f", "arguments": "{}"}

    assert parts_of(tmp_path, role="assistant", content=None, function_call=old) == (ToolCallPart("f", {}),)


def test_a_call_of_an_unknown_kind_is_kept_whole(tmp_path: Path) -> None:  # I-1
    parts = parts_of(tmp_path, role="assistant", tool_calls=[{"type": "future", "x": 1}])

    assert parts == (OpaquePart({"type": "future", "x": 1}, "openai-messages:tool_call"),)


def test_reasoning_words_refusal_and_calls_stand_in_their_order(tmp_path: Path) -> None:
    custom = [{"id": "c1", "type": "custom", "custom": {"name": "sh", "input": "ls"}}]

    parts = parts_of(
        tmp_path, role="assistant", reasoning_content="hm", content="yo", refusal="no", tool_calls=custom
    )

    assert parts == (
        ReasoningPart("hm"),
        TextPart("yo"),
        NoticePart("refusal", "no"),
        ToolCallPart("sh", "ls", "c1"),
    )


def test_spoken_words_have_their_transcript(tmp_path: Path) -> None:
    audio = {"id": "audio_1", "transcript": "yo"}

    parts = parts_of(tmp_path, role="assistant", content=None, audio=audio)

    assert parts == (TextPart("yo"), OpaquePart(audio, "openai-messages:audio"))


def test_the_record_is_the_messages_own_json_with_what_we_do_not_know(tmp_path: Path) -> None:  # I-1
    found = read_message(tmp_path, role="user", content="é \ud83d", weight=0, mood={"a": [1.5]})

    assert found.native == ('{"role":"user","content":"é \\ud83d","weight":0,"mood":{"a":[1.5]}}'.encode())


def test_the_same_file_gives_the_same_records() -> None:  # I-2
    assert read_path(SAMPLE).conversations == read_path(SAMPLE).conversations


# --- recognition --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "start", [b'{"messages": [{"role": "us', b'[{"content": "x", "role"  : "user"', b'[\n {"role":']
)
def test_the_beginning_is_enough_to_know_it(start: bytes) -> None:
    assert openai_messages.recognises(start, "any")


@pytest.mark.parametrize(
    "other",
    [
        b'{"messages": [{"id": "m1", "role": "user", "content": "x"}]}',
        b'{"messages": [{"info": {}, "role": "x"}]}',
        b'{"messages": "role"}',
        b'{"role": "user", "message": {}}',
        b"not json",
        b"",
    ],
)
def test_what_is_another_tools_or_nothing_is_not_taken(other: bytes) -> None:
    assert not openai_messages.recognises(other, "messages.jsonl")


@needs_fixtures
def test_no_file_of_another_tool_is_taken_for_it() -> None:
    others = [path for path in FIXTURES.rglob("*.json*") if "openai-messages" not in path.parts]

    taken = [path for path in others if openai_messages.recognises(path.read_bytes()[:65_536], path.name)]

    assert taken == []


def test_a_folder_of_them_is_read_file_by_file(tmp_path: Path) -> None:
    write_lines(tmp_path / "a" / "chat.jsonl", {"messages": [HI]})
    write_lines(tmp_path / "b.json", [HI, YO])
    write_lines(tmp_path / "c.json", {"setting": 1})

    reading = read_path(tmp_path)

    assert find_format(tmp_path).name == "openai-messages"
    assert reading.counts == Counts(2, 3, 3, 1)
