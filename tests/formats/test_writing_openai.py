"""OpenAI messages, written: valid for the interface, and what it cannot carry is named."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

import manent
from manent.formats import writing_openai
from manent.opening import export_path, import_path
from manent.parts import Citation, FilePart, NoticePart, OpaquePart, ReasoningPart
from tests.formats.exporting import PICTURE, a_store, attach, call, exported, result, say
from tests.formats.reading import SAMPLES, read_path


def messages_of(store: manent.Store, **choices: Any) -> list[dict[str, Any]]:
    """The messages of the one conversation of a store."""
    data, _ = exported(store, "openai", **choices)
    (line,) = data.splitlines()
    written: list[dict[str, Any]] = json.loads(line)["messages"]
    return written


def test_results_stand_right_behind_the_call_and_name_it() -> None:
    with a_store() as store:
        talk = store.create()
        say(talk, "user", "look")
        say(talk, "assistant", "I look", call("ls", {"at": "/"}, "c1"), call("cat", {"at": "x"}, "c2"))
        say(talk, "user", "hurry")
        say(talk, "tool", result("no such file", "c2"), result(["a", "b"], "c1"))
        say(talk, "assistant", "done")

        found = messages_of(store)

    assert found == [
        {"role": "user", "content": "look"},
        {
            "role": "assistant",
            "content": "I look",
            "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"at": "/"}'}},
                {"id": "c2", "type": "function", "function": {"name": "cat", "arguments": '{"at": "x"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": '["a", "b"]'},
        {"role": "tool", "tool_call_id": "c2", "content": "no such file"},
        {"role": "user", "content": "hurry"},
        {"role": "assistant", "content": "done"},
    ]


def test_a_call_and_its_result_are_both_there_or_both_not() -> None:
    with a_store() as store:
        talk = store.create()
        say(talk, "user", "go")
        say(talk, "tool", result("early", "c0"))
        say(talk, "assistant", call("ls", None, "c1"), call("pwd", None, "c2"))
        say(talk, "tool", result("/", "c2"), result("again", "c2"))

        found = messages_of(store)
        _, report = exported(store, "openai")

    assert [message.get("tool_call_id") for message in found] == [None, None, "c2"]
    assert [each["id"] for each in found[1]["tool_calls"]] == ["c2"]
    assert report.left_out == {"unpaired_calls": 1, "unpaired_results": 2, "times": 4}


def test_a_call_without_an_id_gets_one_that_no_other_has() -> None:
    with a_store() as store:
        talk = store.create()
        say(talk, "assistant", call("ls"), call("ls"), call("ls", None, "call_0_1"))
        say(talk, "tool", result("a"), result("b"), result("c", "call_0_1"))

        called, *results = messages_of(store)

    ids = [each["id"] for each in called["tool_calls"]]
    assert len(set(ids)) == 3
    assert [(each["tool_call_id"], each["content"]) for each in results] == list(zip(ids, "abc", strict=True))


@pytest.mark.parametrize(
    ("arguments", "text"), [("{no json", "{no json"), (None, "{}"), ({"a": 1}, '{"a": 1}'), ([1], "[1]")]
)
def test_arguments_are_a_string(arguments: object, text: str) -> None:
    with a_store() as store:
        talk = store.create()
        say(talk, "assistant", call("f", arguments, "c1"))
        say(talk, "tool", result("", "c1"))

        assert messages_of(store)[0]["tool_calls"][0]["function"]["arguments"] == text


def test_a_small_picture_of_the_user_is_a_data_url_and_a_large_one_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # I-3
    with a_store() as store:
        talk = store.create()
        say(talk, "user", "see", attach(store, PICTURE, "a.png"), FilePart(uri="https://x/y.png"))

        (found,) = messages_of(store)
        monkeypatch.setattr(writing_openai, "PICTURE_BYTES_MAX", 10)
        (without,) = messages_of(store)
        _, report = exported(store, "openai")

    url = f"data:image/png;base64,{base64.b64encode(PICTURE).decode()}"
    assert found["content"] == [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "image_url", "image_url": {"url": "https://x/y.png"}},
    ]
    assert len(without["content"]) == 2
    assert (report.attachments, report.left_out["attachments"]) == (1, 1)


def test_what_it_cannot_carry_is_named_and_counted() -> None:  # I-4
    with a_store() as store:
        talk = store.create("T", persona="p", project="/x")
        say(talk, "user", "q", id="q", author="Ada Lovelace")
        say(talk, "assistant", ReasoningPart("hm"), "one", id="a", usage=manent.Usage(input_tokens=1))
        say(talk, "assistant", "two", Citation("[1]"), NoticePart("k"), OpaquePart(1), parent="q")
        say(talk, "user", "injected", hidden=True)
        say(talk, "critic", "hm")
        say(talk, "assistant", FilePart("a.pdf", "application/pdf"))

        _, report = exported(store, "openai")

    assert report.left_out == {
        "other_branches": 1,
        "hidden": 1,
        "other_roles": 1,
        "empty": 1,
        "attachments": 1,
        "citations": 1,
        "notices": 1,
        "opaque": 1,
        "authors": 1,
        "times": 4,
        "titles": 1,
        "projects": 1,
        "metadata": 1,
    }
    assert report.describe().startswith("1 other branch, 1 hidden message, ")


def test_what_was_injected_is_written_when_asked_for() -> None:
    with a_store() as store:
        talk = store.create()
        say(talk, "system", "be kind", hidden=True)
        say(talk, "user", "q")

        assert [found["content"] for found in messages_of(store)] == ["q"]
        assert [found["content"] for found in messages_of(store, hidden=True)] == ["be kind", "q"]


def test_a_refusal_and_a_plain_name_have_a_place() -> None:
    with a_store() as store:
        talk = store.create()
        say(talk, "user", "q", author="ada")
        say(talk, "assistant", NoticePart("refusal", "No."))

        assert messages_of(store) == [
            {"role": "user", "content": "q", "name": "ada"},
            {"role": "assistant", "content": None, "refusal": "No."},
        ]


def test_what_was_written_is_read_as_the_same_words(tmp_path: Path) -> None:  # I-4, T-2
    odd = "one\u2028two\u0085three\r\n\x00 \ud83d"
    with a_store() as store:
        import_path(store, SAMPLES)
        say(store.create(), "user", odd)
        report = export_path(store, tmp_path / "out.jsonl", format="openai")
    data = (tmp_path / "out.jsonl").read_bytes()

    reading = read_path(tmp_path / "out.jsonl")

    assert reading.refusals == []
    assert data.count(b"\n") == len(reading.conversations) == report.conversations > 6
    texts = [part for c in reading.conversations for m in c.messages for part in m.parts]
    assert manent.parts.TextPart(odd) in texts


def test_a_conversation_without_words_has_no_line() -> None:
    with a_store() as store:
        store.create("nothing yet")

        data, report = exported(store, "openai")

    assert (data, report.conversations) == (b"", 0)
