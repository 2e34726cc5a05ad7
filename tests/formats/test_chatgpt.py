"""The ChatGPT export: trees, hidden context, tools, files, citations; each conversation for itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import manent
from manent.formats.registry import detect
from manent.model.imported import ImportedConversation
from manent.model.parts import (
    AnyPart,
    Citation,
    FilePart,
    NoticePart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from manent.opening import import_path
from tests.formats import reading
from tests.formats.chat_exports import (
    NOON,
    chain,
    conversation,
    message,
    read_any,
    read_chatgpt,
    text,
    write_json,
    zip_folder,
)
from tests.formats.reading import SAMPLES, Counts, parents, words

SAMPLE = SAMPLES / "chatgpt"
NOON_NS = 1_767_614_400_000_000_000


def parts_of(folder: Path, said: dict[str, Any]) -> tuple[AnyPart, ...]:
    """The parts of a conversation's one message."""
    return read_chatgpt(folder, chain(said)).messages[0].parts


# --- the sample ---------------------------------------------------------------------------------


def test_the_sample_gives_its_tree_and_names_the_entry_without_messages() -> None:  # I-1
    found = read_any(SAMPLE)

    assert found.counts == Counts(2, 14, 14, 1)
    assert parents(found.conversations[0]) == {
        "ctx": None,
        "q1": "ctx",
        "t1": "q1",
        "r1": "t1",
        "c1": "r1",
        "w1": "c1",
        "a1": "w1",
        "a1b": "q1",
        "q2": "a1",
        "a2": "q2",
    }
    assert found.refusals[0].place.endswith("conversations.json: conversation 3")
    assert "without a 'mapping'" in found.refusals[0].reason


def test_the_sample_zipped_gives_the_same(tmp_path: Path) -> None:
    zipped = read_any(zip_folder(SAMPLE, tmp_path / "export.zip"))

    unzipped = read_any(SAMPLE)
    assert zipped.counts == unzipped.counts
    assert [m.parts for c in zipped.conversations for m in c.messages] == [
        m.parts for c in unzipped.conversations for m in c.messages
    ]


def test_importing_the_sample_again_adds_nothing(tmp_path: Path) -> None:  # I-2, case 65
    archive = zip_folder(SAMPLE, tmp_path / "export.zip")
    with manent.open("memory:") as store:
        first = import_path(store, SAMPLE)
        again = import_path(store, SAMPLE)
        zipped = import_path(store, archive)

    assert (first.added_messages, first.new_conversations, len(first.refusals)) == (14, 2, 1)
    assert (again.added_messages, again.unchanged_conversations) == (0, 2)
    assert (zipped.added_messages, zipped.unchanged_conversations) == (0, 2)


# --- shapes of the file -------------------------------------------------------------------------


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("wrap", ["list", "wrapper", "late wrapper", "bare"])
def test_a_list_a_wrapper_and_one_conversation_are_read(
    wrap: str, indent: int | None, tmp_path: Path
) -> None:
    one = conversation(chain(None, message("user", text("hi"))))
    shapes: dict[str, Any] = {
        "list": [one],
        "wrapper": {"conversations": [one], "exported": {"by": "x"}},
        "late wrapper": {"version": 2, "note": 'a "quoted" {word}', "more": [{}], "conversations": [one]},
        "bare": one,
    }

    file = write_json(tmp_path / "a file of any name", shapes[wrap], indent=indent)

    assert detect(file).format == "chatgpt"
    assert read_any(file).counts == Counts(1, 1, 1, 0)


def test_numbered_files_are_read_in_their_order_and_side_files_are_no_refusals(tmp_path: Path) -> None:
    for number in range(3):
        one = conversation(chain(message("user", text("hi"))), conversation_id=f"c{number}")
        write_json(tmp_path / f"conversations-{number:03}.json", [one])
    for name in ("user.json", "group_chats.json", "shopping.json", "model_comparisons.json"):
        write_json(tmp_path / name, {"id": 1})
    write_json(tmp_path / "shared_conversations.json", [{"id": "s", "conversation_id": "c1", "title": "T"}])
    (tmp_path / "chat.html").write_text("<html>", encoding="utf-8")

    found = read_any(tmp_path)

    assert [item.native_id for item in found.conversations] == ["c0", "c1", "c2"]
    assert found.refusals == []


def test_a_file_named_like_conversations_that_is_none_is_named(tmp_path: Path) -> None:  # I-1
    write_json(tmp_path / "conversations-000.json", [conversation(chain(message("user", text("hi"))))])
    write_json(tmp_path / "conversations-001.json", {"error": "not available"})
    write_json(tmp_path / "conversations-002.json", [])

    found = read_any(tmp_path)

    assert [refusal.place for refusal in found.refusals] == [(tmp_path / "conversations-001.json").as_posix()]


# --- each conversation for itself ---------------------------------------------------------------


def test_fields_that_are_absent_null_or_new_lose_nothing(tmp_path: Path) -> None:  # I-1, case 59
    bare = message("assistant", text("no metadata"))
    del bare["metadata"]
    odd: dict[str, Any] = {"id": "x", "content": None, "author": {"name": "who"}, "new_field": 1}
    mixed = message(
        "user",
        text("look", {"content_type": "image_asset_pointer", "asset_pointer": "x://1"}, {"text": "t"}, None),
    )
    context = {"content_type": "user_editable_context", "user_profile": "P", "user_instructions": "I"}
    file = write_json(
        tmp_path / "conversations.json",
        [
            conversation(chain(bare), conversation_id="c1", default_model_slug="m-default"),
            conversation(chain(odd), conversation_id="c2", title=None, create_time=None, update_time=None),
            conversation(chain(message("user", context), mixed), conversation_id="c3"),
            conversation(chain(message("user", text("good"))), conversation_id="c4"),
        ],
    )

    found = read_any(file)
    with manent.open("memory:") as store:
        report = import_path(store, file)

    assert found.counts == Counts(4, 5, 5, 0)
    assert (report.conversations, report.records, report.refusals) == (4, 5, ())
    assert found.conversations[0].messages[0].usage == Usage(model="m-default")
    assert [(m.role, m.parts) for m in found.conversations[1].messages] == [("unknown", ())]
    assert found.conversations[1].title is None
    profile, asked = found.conversations[2].messages
    assert (profile.hidden, asked.hidden) == (True, False)
    assert asked.parts == (TextPart("look"), FilePart(uri="x://1"), TextPart("t"))


def test_a_record_that_cannot_be_read_costs_that_record(tmp_path: Path) -> None:  # I-1, TORN
    good = json.dumps(chain(*(message("user", text(word)) for word in ("one", "two", "three"))))
    torn = good.replace('"two"', "two")
    whole = json.dumps(conversation("MAPPING"))
    file = tmp_path / "conversations.json"
    file.write_text(f"[{whole.replace(json.dumps('MAPPING'), torn)}]", encoding="utf-8")

    found = read_any(file)

    assert parents(found.conversations[0]) == {"n1": None, "n3": "n1"}
    assert words(found.conversations[0]) == ["one", "three"]
    assert [refusal.place.rpartition(": ")[2] for refusal in found.refusals] == ["conversation 1, node n2"]


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda entry: entry[:-1], id="its end is missing"),
        pytest.param(lambda entry: entry + "}", id="it ends twice"),
        pytest.param(lambda entry: entry[: len(entry) // 2], id="its second half is missing"),
        pytest.param(lambda entry: entry.replace('"title": "T"', '"title" "T"'), id="a colon is missing"),
        pytest.param(lambda _: "17", id="it is a number"),
        pytest.param(lambda _: '"}{]["', id="it is a text of brackets"),
        pytest.param(lambda _: "null", id="it is null"),
    ],
)
def test_a_damaged_entry_costs_that_entry(damage: Any, tmp_path: Path) -> None:  # I-1
    entries = [
        json.dumps(conversation(chain(message("user", text("hi"))), conversation_id=f"c{number}"))
        for number in range(4)
    ]
    entries[1] = damage(entries[1])
    file = tmp_path / "conversations.json"
    file.write_text("[" + ", ".join(entries) + "]", encoding="utf-8")

    found = read_any(file)

    kept = [item.native_id for item in found.conversations if item.native_id != "c1"]
    assert kept == ["c0", "c2", "c3"]
    assert len(found.refusals) == 1


def test_a_file_that_breaks_off_gives_what_stands_before(tmp_path: Path) -> None:  # I-1
    whole = json.dumps(
        [conversation(chain(message("user", text("hi"))), conversation_id=f"c{n}") for n in range(3)]
    )
    file = tmp_path / "conversations.json"
    file.write_text(whole[:-100], encoding="utf-8")

    found = read_any(file)

    assert [item.native_id for item in found.conversations] == ["c0", "c1"]
    assert "the file ends in the middle of it" in found.refusals[0].reason


# --- the tree -----------------------------------------------------------------------------------


def test_branches_stay_and_the_head_is_where_the_source_stands(tmp_path: Path) -> None:  # TREE
    mapping = chain(None, message("user", text("q")), message("assistant", text("first")))
    mapping["n4"] = {
        "id": "n4",
        "message": message("assistant", text("second")),
        "parent": "n2",
        "children": [],
    }

    found = read_chatgpt(tmp_path, mapping, current_node="n3")

    assert parents(found) == {"n2": None, "n3": "n2", "n4": "n2"}
    assert found.head_native_id == "n3"


@pytest.mark.parametrize("current", [None, "nowhere", 7])
def test_a_head_that_is_absent_or_elsewhere_is_the_newest_leaf(current: object, tmp_path: Path) -> None:
    mapping = chain(message("user", text("q")), message("assistant", text("a")))

    assert read_chatgpt(tmp_path, mapping, current_node=current).head_native_id == "n2"


def test_nodes_without_messages_are_passed_over_and_their_children_hang_above(tmp_path: Path) -> None:
    mapping = chain(None, message("user", text("1")), None, None, message("assistant", text("2")), None)

    found = read_chatgpt(tmp_path, mapping, current_node="n6")

    assert parents(found) == {"n2": None, "n5": "n2"}
    assert found.head_native_id == "n5"


def test_circles_and_orphans_become_roots_and_are_noted(tmp_path: Path) -> None:
    mapping = chain(*(message("user", text(str(number))) for number in range(4)))
    mapping["n1"]["parent"] = "n2"
    mapping["n3"]["parent"] = "gone"
    mapping["n2"]["children"] = []

    found = read_chatgpt(tmp_path, mapping)

    assert parents(found) == {"n1": None, "n2": "n1", "n3": None, "n4": "n3"}
    assert set((found.details or {})["notes"]) == {"absent_parent", "circle_of_parents"}


def test_a_parent_that_lists_its_child_is_enough(tmp_path: Path) -> None:
    mapping = chain(message("user", text("q")), message("assistant", text("a")))
    mapping["n2"]["parent"] = None

    assert parents(read_chatgpt(tmp_path, mapping)) == {"n1": None, "n2": "n1"}


def test_order_in_the_file_means_nothing(tmp_path: Path) -> None:  # ORDER
    mapping = chain(*(message("user", text(str(number))) for number in range(5)))

    found = read_chatgpt(tmp_path, dict(reversed(mapping.items())))

    assert words(found) == ["0", "1", "2", "3", "4"]
    assert parents(found) == {"n1": None, "n2": "n1", "n3": "n2", "n4": "n3", "n5": "n4"}


# --- what a message holds -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (text("one", "", None, "two"), (TextPart("one"), TextPart("two"))),
        ("bare", (TextPart("bare"),)),
        (None, ()),
        ({"content_type": "text", "parts": None}, ()),
        ({"content_type": "code", "language": "python", "text": "1 + 1"}, (TextPart("1 + 1"),)),
        (
            {"content_type": "thoughts", "thoughts": [{"summary": "S", "content": "C"}, {"summary": "only"}]},
            (ReasoningPart("S\n\nC"), ReasoningPart("only", is_summary=True)),
        ),
        (
            {"content_type": "reasoning_recap", "content": "Thought for 5s"},
            (NoticePart("reasoning_recap", "Thought for 5s"),),
        ),
        (
            {"content_type": "system_error", "name": "E", "text": "broke"},
            (NoticePart("system_error", "E: broke"),),
        ),
        (
            {
                "content_type": "multimodal_text",
                "parts": [{"content_type": "audio_transcription", "text": "hm"}],
            },
            (TextPart("hm"),),
        ),
        (
            {"content_type": "computer_output", "state": {"x": 1}},
            (
                OpaquePart(
                    data={"content_type": "computer_output", "state": {"x": 1}},
                    origin="chatgpt:computer_output",
                ),
            ),
        ),
        (
            text({"content_type": "new_thing", "x": [1]}),
            (OpaquePart(data={"content_type": "new_thing", "x": [1]}, origin="chatgpt:new_thing"),),
        ),
    ],
)
def test_each_kind_of_content_has_its_parts(
    content: Any, expected: tuple[AnyPart, ...], tmp_path: Path
) -> None:
    assert parts_of(tmp_path, message("assistant", content)) == expected


@pytest.mark.parametrize(
    "said",
    [
        message("system", text("rules"), weight=0),
        message("user", {"content_type": "user_editable_context", "user_profile": "p"}),
        message("user", {"content_type": "model_editable_context", "model_set_context": "p"}),
        message("assistant", text("x"), metadata={"is_visually_hidden_from_conversation": True}),
    ],
)
def test_what_a_program_put_in_is_kept_and_hidden(said: dict[str, Any], tmp_path: Path) -> None:
    found = read_chatgpt(tmp_path, chain(said)).messages[0]

    assert found.hidden
    assert found.parts


def test_a_recipient_makes_a_call_and_the_parent_link_finds_its_result(tmp_path: Path) -> None:  # TOOLPAIR
    found = read_chatgpt(
        tmp_path,
        chain(
            message("user", text("q")),
            message("assistant", {"content_type": "code", "text": '{"q": 1}'}, recipient="search.find"),
            message("assistant", text("print(2)"), recipient="python"),
            message("tool", {"content_type": "execution_output", "text": "2"}, name="python"),
            message("tool", text("found"), name="search"),
            message("tool", text("more"), name="search"),
            message("assistant", text("done")),
        ),
    )

    assert [part for item in found.messages[1:6] for part in item.parts] == [
        ToolCallPart("search.find", {"q": 1}, "n2"),
        ToolCallPart("python", "print(2)", "n3"),
        ToolResultPart("2", "n3", "python"),
        ToolResultPart("found", "n2", "search"),
        ToolResultPart("more", None, "search"),
    ]


def test_siblings_that_answer_one_call_both_name_it(tmp_path: Path) -> None:
    mapping = chain(message("assistant", text("x"), recipient="t"), message("tool", text("1"), name="t"))
    mapping["n3"] = {
        "id": "n3",
        "message": message("tool", text("2"), name="t"),
        "parent": "n1",
        "children": [],
    }

    results = [item.parts[0] for item in read_chatgpt(tmp_path, mapping).messages[1:]]

    assert results == [ToolResultPart("1", "n1", "t"), ToolResultPart("2", "n1", "t")]


def test_a_failed_tool_says_so(tmp_path: Path) -> None:
    error = message("tool", {"content_type": "system_error", "name": "Timeout", "text": "slow"}, name="t")
    failed = message(
        "tool",
        {"content_type": "execution_output", "text": "Traceback"},
        name="python",
        metadata={"aggregate_result": {"status": "failed_with_in_kernel_exception"}},
    )

    assert parts_of(tmp_path, error) == (ToolResultPart("Timeout: slow", None, "t", is_error=True),)
    assert parts_of(tmp_path, failed) == (ToolResultPart("Traceback", None, "python", is_error=True),)


def test_a_page_that_was_read_is_a_result_and_a_citation(tmp_path: Path) -> None:
    page = {"content_type": "tether_quote", "url": "https://a.example", "title": "A", "text": "words"}

    assert parts_of(tmp_path, message("tool", page, name="browser")) == (
        ToolResultPart("words", None, "browser"),
        Citation("", "https://a.example", "A"),
    )


def test_citations_come_after_a_text_that_is_untouched(tmp_path: Path) -> None:
    words = "Yes \ue200cite\ue202turn0search1\ue201 and 【1†source】."
    metadata = {
        "content_references": [
            {
                "matched_text": "\ue200cite\ue202turn0search1\ue201",
                "type": "grouped_webpages",
                "items": [{"title": "B", "url": "https://b.example", "snippet": "s"}],
            },
            {"matched_text": " ", "type": "sources_footnote", "sources": []},
        ],
        "citations": [
            {
                "start_ix": words.index("【"),
                "end_ix": words.index("】") + 1,
                "metadata": {"url": "https://c.example", "title": "C"},
            },
            {"start_ix": 1, "end_ix": 3, "metadata": {"url": "https://d.example"}},
        ],
    }

    assert parts_of(tmp_path, message("assistant", text(words), metadata=metadata)) == (
        TextPart(words),
        Citation("\ue200cite\ue202turn0search1\ue201", "https://b.example", "B", "s"),
        Citation("【1†source】", "https://c.example", "C"),
        Citation("", "https://d.example"),
    )


# --- files --------------------------------------------------------------------------------------


def read_files(found: ImportedConversation) -> list[tuple[str, bytes | None]]:
    """Each file part's name, and its bytes where the export has them."""
    return [
        (part.name, b"".join(readers[number]()) if number in readers else None)
        for item in found.messages
        if (readers := dict(item.files)) is not None
        for number, part in enumerate(item.parts)
        if isinstance(part, FilePart)
    ]


@pytest.mark.parametrize("zipped", [False, True])
def test_bytes_come_from_the_export_wherever_they_stand(zipped: bool, tmp_path: Path) -> None:
    folder = tmp_path / "export"
    pointers = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-Abc"},
        {"content_type": "image_asset_pointer", "asset_pointer": "sediment://file_00ff#page_2"},
        {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://file_00aa", "format": "wav"},
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-Gone"},
    ]
    upload = {
        "attachments": [{"id": "file-Doc", "name": "plan.pdf", "mimeType": "application/pdf", "size": 3}]
    }
    said = message("user", {"content_type": "multimodal_text", "parts": pointers}, metadata=upload)
    write_json(folder / "conversations.json", [conversation(chain(said))])
    for name, content in {
        "file-Abc-photo.png": b"1",
        "dalle-generations/file_00ff-9.webp": b"2",
        "user-x1/file_00aa-9.wav": b"3",
        "file-Doc-plan.pdf": b"pdf",
    }.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
    path = zip_folder(folder, tmp_path / "export.zip") if zipped else folder

    found = read_any(path)

    assert found.refusals == []
    assert read_files(found.conversations[0]) == [
        ("file-Abc-photo.png", b"1"),
        ("file_00ff-9.webp", b"2"),
        ("file_00aa-9.wav", b"3"),
        ("", None),
        ("plan.pdf", b"pdf"),
    ]


def test_without_the_folder_files_are_references() -> None:
    found = read_any(SAMPLE / "conversations.json")

    assert read_files(found.conversations[1]) == [("rose.png", None), ("", None)]


def test_feedback_stands_with_its_message() -> None:
    found = read_any(SAMPLE).conversations[0]

    told = {item.native_id: item.metadata["feedback"]["rating"] for item in found.messages if item.metadata}
    assert told == {"a1": "thumbsUp"}


# --- the rest -----------------------------------------------------------------------------------


def test_times_are_those_of_the_source_or_unknown(tmp_path: Path) -> None:  # case 48
    times = [1767583930.285031, 1767583930285, "2026-01-05T12:32:10+09:00", None, 0, "", 4_200_000_000]

    found = read_chatgpt(tmp_path, chain(*(message("user", text("x"), create_time=time) for time in times)))

    assert [item.claim_ns for item in found.messages] == [
        1_767_583_930_285_031_000,
        1_767_583_930_285_000_000,
        1_767_583_930_000_000_000,
        None,
        None,
        None,
        None,
    ]
    assert list((found.details or {})["notes"]) == ["time_out_of_range"]


def test_what_stands_beside_the_messages_goes_into_the_details(tmp_path: Path) -> None:
    found = read_chatgpt(
        tmp_path,
        chain(message("user", text("x"))),
        gizmo_id="g-p-1",
        is_archived=True,
        voice=None,
        safe_urls=[],
        brand_new={"a": 1},
    )

    assert (found.native_id, found.title, found.project) == ("conv-1", "T", "g-p-1")
    assert found.details == {
        "create_time": NOON,
        "update_time": NOON,
        "gizmo_id": "g-p-1",
        "is_archived": True,
        "brand_new": {"a": 1},
    }


def test_the_record_is_the_messages_own_bytes(tmp_path: Path) -> None:  # I-1
    file = tmp_path / "conversations.json"
    content = '{"content_type":"text","parts":["\\u00e9"]}'
    raw = f'{{"id":"n1",  "new": 1.50, "author":{{"role":"user"}},"content":{content}}}'
    file.write_text(f'[{{"title":"T","mapping":{{"n1":{{"message":{raw},"mark":"m"}}}}}}]', encoding="utf-8")

    found = read_any(file).conversations[0].messages[0]

    assert found.native == raw.encode()
    assert found.parts == (TextPart("é"),)
    assert found.metadata == {"node": {"mark": "m"}}


def test_a_grown_conversation_adds_its_growth(tmp_path: Path) -> None:  # I-2
    said = [message(role, text(role)) for role in ("user", "assistant", "user", "assistant")]
    file = tmp_path / "conversations.json"
    with manent.open("memory:") as store:
        for ids in ({}, {"conversation_id": None, "id": None}):
            write_json(file, [conversation(chain(*said[:2]), **ids)])
            first = import_path(store, file)
            write_json(file, [conversation(chain(*said), **ids)])
            grown = import_path(store, file)

            assert (first.new_conversations, first.added_messages) == (1, 2)
            assert (grown.grown_conversations, grown.added_messages, grown.changed_messages) == (1, 2, 0)


def test_a_file_can_be_read_by_the_format_that_was_found_for_it(tmp_path: Path) -> None:
    file = write_json(tmp_path / "c.json", [conversation(chain(message("user", text("hi"))))])

    assert reading.read_path(file).counts == Counts(1, 1, 1, 0)


def test_the_export_that_is_measured_is_the_same_each_time_and_comes_in_whole(tmp_path: Path) -> None:
    generator = pytest.importorskip("benchmarks.chatgpt_export", reason="a source archive has no benchmarks")
    first, second = tmp_path / "first.json", tmp_path / "second.json"

    messages = generator.write_export(first, 300_000)
    generator.write_export(second, 300_000)

    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size >= 300_000
    counts = read_any(first).counts
    assert (counts.messages, counts.records, counts.refusals) == (messages, messages, 0)
