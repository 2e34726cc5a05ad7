"""The Claude.ai export: blocks before text, branches by parent, attachments, tools inside one message."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import manent
from manent.formats.registry import detect
from manent.model.parts import (
    AnyPart,
    Citation,
    FilePart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from manent.opening import import_path
from tests.formats.chat_exports import (
    NO_PARENT,
    read_any,
    read_claude,
    thread,
    write_json,
    wrote,
    zip_folder,
)
from tests.formats.reading import SAMPLES, Counts, branch, parents, words

SAMPLE = SAMPLES / "claude-ai"


def parts_of(folder: Path, **more: Any) -> tuple[AnyPart, ...]:
    """The parts of a conversation's one message."""
    return read_claude(folder, wrote("m1", "assistant", **more)).messages[0].parts


def said(words: str, **more: Any) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words, **more}


# --- the sample ---------------------------------------------------------------------------------


def test_the_sample_gives_its_tree_its_list_and_its_empty_conversation() -> None:  # I-1
    found = read_any(SAMPLE)

    assert found.counts == Counts(3, 7, 7, 0)
    assert parents(found.conversations[0]) == {"h1": None, "m1": "h1", "m1b": "h1", "h2": "m1", "m2": "h2"}
    assert branch(found.conversations[0]) == ["h1", "m1", "h2", "m2"]
    assert words(found.conversations[1]) == ["请推荐一本关于海的书。", "《白鲸》。"]
    assert [item.title for item in found.conversations] == ["Packing for Lisbon", None, "Never begun"]


def test_a_project_has_its_name_where_the_conversation_names_it() -> None:
    assert [item.project for item in read_any(SAMPLE).conversations] == ["Travel", None, None]


def test_a_list_of_projects_does_too(tmp_path: Path) -> None:
    write_json(tmp_path / "projects.json", [{"uuid": "p1", "name": "Garden"}])
    write_json(
        tmp_path / "conversations.json",
        [
            thread(wrote("m", "human", text="x"), uuid="a", project_uuid="p1"),
            thread(wrote("m", "human", text="x"), uuid="b", project={"uuid": "p2", "name": "Own"}),
            thread(wrote("m", "human", text="x"), uuid="c", project_uuid="p3"),
        ],
    )

    assert [item.project for item in read_any(tmp_path).conversations] == ["Garden", "Own", "p3"]


def test_files_without_conversations_are_named_in_a_note_once() -> None:
    notes: list[Any] = [(item.details or {}).get("notes") for item in read_any(SAMPLE).conversations]

    assert notes[1:] == [None, None]
    assert notes[0]["file_without_conversations"]["places"] == [
        (SAMPLE / name).as_posix() for name in ("memories.json", "users.json")
    ]


def test_importing_the_sample_again_or_as_a_zip_adds_nothing(tmp_path: Path) -> None:  # I-2, case 65
    archive = zip_folder(SAMPLE, tmp_path / "export.zip")
    with manent.open("memory:") as store:
        first = import_path(store, SAMPLE)
        again = import_path(store, archive)

    assert (first.added_messages, first.new_conversations, first.refusals) == (7, 3, ())
    assert (again.added_messages, again.unchanged_conversations, again.refusals) == (0, 3, ())


# --- shapes of the file -------------------------------------------------------------------------


@pytest.mark.parametrize("wrap", ["list", "wrapper", "bare"])
def test_a_list_a_wrapper_and_one_conversation_are_read(wrap: str, tmp_path: Path) -> None:
    one = thread(wrote("m1", "human", text="hi"))
    shapes: dict[str, Any] = {"list": [one], "wrapper": {"conversations": [one]}, "bare": one}

    file = write_json(tmp_path / "a file of any name", shapes[wrap])

    assert detect(file).format == "claude-ai"
    assert read_any(file).counts == Counts(1, 1, 1, 0)


def test_exports_of_two_products_in_one_folder_are_read_each_as_what_it_is() -> None:
    found = detect(SAMPLES)

    assert found.format == "chatgpt + claude-ai + claude-code + openai-messages"


# --- the tree -----------------------------------------------------------------------------------


def test_without_parents_the_list_is_the_order(tmp_path: Path) -> None:
    found = read_claude(tmp_path, *(wrote(f"m{number}", "human", text="x") for number in range(3)))

    assert parents(found) == {"m0": None, "m1": "m0", "m2": "m1"}
    assert found.head_native_id == "m2"


def test_edits_are_siblings_and_the_leaf_of_the_source_is_the_head(tmp_path: Path) -> None:  # TREE
    messages = [
        wrote("q", "human", NO_PARENT, text="q"),
        wrote("a", "assistant", "q", text="a"),
        wrote("q2", "human", NO_PARENT, text="q, edited"),
    ]

    told = read_claude(tmp_path, *messages, current_leaf_message_uuid="a")
    untold = read_claude(tmp_path, *messages)

    assert parents(told) == {"q": None, "a": "q", "q2": None}
    assert (told.head_native_id, untold.head_native_id) == ("a", "q2")


def test_circles_and_absent_parents_become_roots_and_are_noted(tmp_path: Path) -> None:
    found = read_claude(
        tmp_path,
        wrote("a", "human", "b", text="1"),
        wrote("b", "human", "a", text="2"),
        wrote("c", "human", "gone", text="3"),
    )

    assert parents(found) == {"a": None, "b": "a", "c": None}
    assert set((found.details or {})["notes"]) == {"absent_parent", "circle_of_parents"}


def test_a_copy_counts_with_the_first_and_other_words_stay(tmp_path: Path) -> None:
    first, other = wrote("a", "human", text="1"), wrote("a", "human", text="2")
    reading = read_any(write_json(tmp_path / "c.json", [thread(first, first, other)]))

    assert reading.counts == Counts(1, 2, 3, 0)
    assert parents(reading.conversations[0]) == {"a": None, "a#3": "a"}


def test_a_message_without_an_id_is_named_by_its_place(tmp_path: Path) -> None:
    first = wrote("a", "human", text="1")
    second = {"sender": "assistant", "text": "2"}

    assert parents(read_claude(tmp_path, first, second)) == {"a": None, "message-2": "a"}


# --- what a message holds -----------------------------------------------------------------------


def test_blocks_are_the_truth_and_text_counts_where_there_are_none(tmp_path: Path) -> None:
    flat = "This block is not supported on your current device yet."

    assert parts_of(tmp_path, content=[said("blocks")], text=flat) == (TextPart("blocks"),)
    assert parts_of(tmp_path, content=[], text="text") == (TextPart("text"),)
    assert parts_of(tmp_path, content=[said("blocks")], text="") == (TextPart("blocks"),)
    assert parts_of(tmp_path, content=[{"text": "untyped"}], text="") == (TextPart("untyped"),)
    assert parts_of(tmp_path) == ()


def test_thoughts_are_reasoning_and_their_summaries_stand_in_for_them(tmp_path: Path) -> None:
    whole = {"type": "thinking", "thinking": "deep", "summaries": [{"summary": "s"}], "cut_off": False}
    cut = {"type": "thinking", "thinking": "", "summaries": [{"summary": "s"}]}

    assert parts_of(tmp_path, content=[whole, cut]) == (
        ReasoningPart("deep"),
        ReasoningPart("s", is_summary=True),
    )


def test_calls_and_results_pair_by_id_or_by_their_order(tmp_path: Path) -> None:  # TOOLPAIR
    blocks = [
        {"type": "tool_use", "id": "t1", "name": "a", "input": {"x": 1}},
        {"type": "tool_use", "id": None, "name": "b", "input": {}},
        {"type": "tool_result", "tool_use_id": "t1", "name": "a", "content": [said("one")], "is_error": True},
        {"type": "tool_result", "tool_use_id": None, "name": "b", "content": [said("two", uuid="u")]},
        {"type": "tool_result", "content": None},
        said("done"),
    ]

    assert parts_of(tmp_path, content=blocks) == (
        ToolCallPart("a", {"x": 1}, "t1"),
        ToolCallPart("b", {}, "m1#1"),
        ToolResultPart("one", "t1", "a", is_error=True),
        ToolResultPart("two", "m1#1", "b"),
        ToolResultPart(""),
        TextPart("done"),
    )


def test_kinds_that_are_unknown_stay_whole(tmp_path: Path) -> None:
    budget = {"type": "token_budget", "remaining": 5}

    assert parts_of(tmp_path, content=[budget, 7]) == (
        OpaquePart(data=budget, origin="claude-ai:token_budget"),
        OpaquePart(data=7, origin="claude-ai"),
    )


def test_citations_follow_their_text(tmp_path: Path) -> None:
    cited = {"start_index": 0, "end_index": 3, "details": {"type": "web", "url": "https://a.example"}}

    assert parts_of(tmp_path, content=[said("Yes.", citations=[cited])]) == (
        TextPart("Yes."),
        Citation("", "https://a.example", details=cited),
    )


def test_pasted_texts_and_names_of_files_are_shown(tmp_path: Path) -> None:  # case 61
    parts = parts_of(
        tmp_path,
        content=[],
        attachments=[{"file_name": "a.txt", "file_size": 3, "file_type": "txt", "extracted_content": "abc"}],
        files=[{"file_uuid": "f1", "file_name": "p.png"}],
        files_v2=[{"file_uuid": "f1", "file_name": "p.png"}, {"file_name": "q.png"}],
    )

    assert parts == (
        FilePart("a.txt", "text/plain", size_bytes=3),
        TextPart("abc"),
        FilePart("p.png", uri="f1"),
        FilePart("q.png"),
    )


def test_the_model_is_known_where_the_source_says_it(tmp_path: Path) -> None:
    found = read_claude(tmp_path, wrote("q", "human"), wrote("a", "assistant"), model="m-1")

    assert [(item.role, item.usage) for item in found.messages] == [
        ("user", None),
        ("assistant", Usage(model="m-1")),
    ]


def test_times_are_instants_to_the_microsecond_or_unknown(tmp_path: Path) -> None:  # case 46, TIME
    times = ["2026-01-05T12:32:10.000001Z", "2026-01-05T21:32:10.000001+09:00", "2026-01-05T12:32:10", None]

    found = read_claude(tmp_path, *(wrote(f"m{n}", "human", created_at=at) for n, at in enumerate(times)))

    same = 1_767_616_330_000_001_000
    assert [item.claim_ns for item in found.messages] == [same, same, None, None]
    assert list((found.details or {})["notes"]) == ["time_without_zone"]


def test_what_is_no_conversation_is_named_and_the_others_come_in(tmp_path: Path) -> None:  # I-1
    lost = thread()
    del lost["chat_messages"]
    entries = [thread(wrote("m1", "human", text="x")), lost, 5, thread("words alone", uuid="b")]

    found = read_any(write_json(tmp_path / "conversations.json", entries))

    assert found.counts == Counts(2, 2, 2, 2)
    assert [refusal.place.rpartition(": ")[2] for refusal in found.refusals] == [
        "conversation 2",
        "conversation 3",
    ]
    assert found.conversations[1].messages[0].parts == (OpaquePart(data="words alone", origin="claude-ai"),)


def test_the_record_is_the_messages_own_bytes(tmp_path: Path) -> None:  # I-1
    file = tmp_path / "c.json"
    raw = '{"uuid": "m1",  "sender": "human", "text": "\\u00e9", "new": 1.0}'
    file.write_text(f'[{{"uuid": "c", "name": "", "chat_messages": [ {raw} ]}}]', encoding="utf-8")

    assert read_any(file).conversations[0].messages[0].native == raw.encode()
