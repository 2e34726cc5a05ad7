"""Claude Code: sessions become conversations, lines become messages of a tree, and nothing is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from manent.errors import FormatError
from manent.formats import claude_code
from manent.formats.registry import detect, find_format
from manent.model.parts import (
    FilePart,
    NoticePart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)
from tests.formats.reading import (
    FIXTURES,
    SAMPLES,
    Counts,
    answered,
    branch,
    call,
    message,
    needs_fixtures,
    parents,
    read_one,
    read_path,
    result,
    said,
    text,
    words,
    write_lines,
)

SESSION = "5f0c1d9e-3b7a-4c52-9e41-7a1b2c3d4e5f"
SAMPLE = SAMPLES / "claude-code" / "-home-ada-shop" / f"{SESSION}.jsonl"
USAGE = {"input_tokens": 2, "cache_read_input_tokens": 8, "output_tokens": 100}


# --- every known file adds up (I-1) -------------------------------------------------------------


@needs_fixtures
@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("agentsview/valid_session.jsonl", Counts(1, 4, 4, 0)),
        ("claude-code-log-2026/dag_compact_after_rewind.jsonl", Counts(1, 12, 12, 0)),
        ("claude-code-log/edge_cases.jsonl", Counts(2, 16, 16, 3)),
        ("claude-code-log/representative_messages.jsonl", Counts(1, 12, 12, 0)),
        ("claude-code-log/todowrite_examples.jsonl", Counts(1, 12, 12, 0)),
        ("claude-code-viewer/1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl", Counts(1, 21, 29, 0)),
        ("claude-code-viewer/agent-test-hash-123.jsonl", Counts(1, 2, 2, 0)),
        ("claude-code-viewer/agent-test-hash-456.jsonl", Counts(1, 2, 2, 0)),
        ("simonw/sample_session.json", Counts(1, 33, 33, 0)),
        ("simonw/sample_session.jsonl", Counts(1, 8, 8, 0)),
        ("talkreplay/tool-session.jsonl", Counts(1, 5, 5, 0)),
    ],
)
def test_a_known_file_gives_what_is_in_it(file: str, expected: Counts) -> None:  # I-1
    assert read_path(FIXTURES / "claude-code" / file).counts == expected


@needs_fixtures
def test_the_table_above_names_every_fixture() -> None:
    files = [path for path in (FIXTURES / "claude-code").rglob("*") if path.is_file()]

    assert len(files) == 11


def test_every_line_of_the_sample_is_counted() -> None:  # I-1
    lines = SAMPLE.read_bytes().count(b"\n")

    assert read_path(SAMPLE).counts == Counts(1, 20, lines, 0)


# --- one answer is several lines ----------------------------------------------------------------


def test_the_lines_of_one_answer_are_one_message() -> None:
    answer = message(read_one(SAMPLE), "00000003-1111-4aaa-8bbb-000000000003")

    assert [type(part) for part in answer.parts] == [ReasoningPart, TextPart, ToolCallPart, ToolCallPart]
    assert answer.records == 4
    assert answer.native.count(b"\n") == 3


def test_usage_is_that_of_the_last_line_and_counts_once(tmp_path: Path) -> None:  # case 84
    early = USAGE | {"output_tokens": 1}
    file = write_lines(
        tmp_path / "s1.jsonl",
        said("u1", None),
        answered("a1", "u1", text("one"), answer="m", usage=early),
        answered("a2", "a1", text("two"), answer="m", usage=early),
        answered("a3", "a2", text("three"), answer="m", usage=USAGE),
    )

    usages = [found.usage for found in read_one(file).messages]

    expected = Usage(
        input_tokens=10, output_tokens=100, cached_input_tokens=8, model="m1", request_id="req_m"
    )
    assert usages == [None, expected]


def test_lines_that_are_replayed_count_no_tokens_and_no_words_again(tmp_path: Path) -> None:  # case 84
    once = [
        answered("a1", "u1", text("one"), answer="m", usage=USAGE),
        answered("a2", "a1", text("two"), answer="m", usage=USAGE),
    ]
    again = [line | {"uuid": f"{line['uuid']}-again"} for line in once]
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), *once, *again)

    conversation = read_one(file)

    assert words(conversation) == ["hi", "one\ntwo"]
    assert conversation.messages[1].records == 4


def test_a_request_without_id_stands_for_itself_and_an_absent_usage_is_unknown(tmp_path: Path) -> None:
    nameless = answered("a1", "u1", text("one"), usage=USAGE)  # case 84
    del nameless["requestId"], nameless["message"]["id"]
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), nameless, answered("a2", "a1", text("two")))

    _, first, second = read_one(file).messages

    assert first.usage == Usage(input_tokens=10, output_tokens=100, cached_input_tokens=8, model="m1")
    assert second.usage is None


# --- roles, parts, what is hidden ---------------------------------------------------------------


def test_blocks_become_parts(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "thinking", "thinking": "", "signature": "only"},
        {"type": "redacted_thinking", "data": "opaque"},
        call("t1"),
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {"type": "document", "title": "a.txt", "source": {"type": "text", "data": "words of it"}},
        {"type": "hologram", "shape": [1, 2]},
    ]
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), answered("a1", "u1", *blocks))

    assert message(read_one(file), "a1").parts == (
        ReasoningPart("hm", "sig"),
        ReasoningPart("", "only"),
        ReasoningPart("", "opaque"),
        ToolCallPart("Bash", {"command": "ls"}, "t1"),
        FilePart(media_type="image/png", size_bytes=3),
        FilePart("a.txt", "text/plain"),
        TextPart("words of it"),
        OpaquePart({"type": "hologram", "shape": [1, 2]}, "claude-code:hologram"),
    )


def test_a_line_that_holds_only_results_is_the_tools(tmp_path: Path) -> None:
    failed = {"type": "tool_result", "tool_use_id": "t1", "content": "no such file", "is_error": True}
    file = write_lines(tmp_path / "s1.jsonl", answered("a1", None, call("t1")), said("r1", "a1", [failed]))

    found = message(read_one(file), "r1")

    assert found.role == "tool"
    assert found.parts == (ToolResultPart("no such file", "t1", is_error=True),)


def test_a_result_with_words_beside_it_stays_the_users(tmp_path: Path) -> None:
    both = [{"type": "tool_result", "tool_use_id": "t1", "content": "done"}, text("and now?")]
    file = write_lines(tmp_path / "s1.jsonl", said("r1", None, both))

    assert message(read_one(file), "r1").role == "user"


@pytest.mark.parametrize("flag", ["isMeta", "isCompactSummary", "isVisibleInTranscriptOnly"])
def test_what_the_program_injected_is_hidden(flag: str, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None, **{flag: True}))

    assert [found.hidden for found in read_one(file).messages] == [True]


@pytest.mark.parametrize("content", [{"odd": 1}, 7, None])
def test_content_of_no_known_shape_is_kept_whole(content: object, tmp_path: Path) -> None:  # I-1
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None, content))

    assert read_one(file).messages[0].parts == (OpaquePart(content, "claude-code"),)


def test_a_line_of_a_kind_yet_to_come_is_kept_as_a_hidden_notice(tmp_path: Path) -> None:  # I-1
    raw = b'{"type":"hologram-state","sessionId":"s1","x":[1]}'
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), raw + b"\n")

    kept = read_one(file).messages[1]

    assert (kept.role, kept.hidden, kept.native) == ("system", True, raw)
    assert kept.parts == (NoticePart("claude-code:hologram-state"),)
    assert kept.parent_native_id == "u1"


def test_what_the_program_says_of_a_failed_call_is_a_notice(tmp_path: Path) -> None:
    failed = answered("a1", "u1", text("API Error: 529"), isApiErrorMessage=True)
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), failed)

    assert message(read_one(file), "a1").parts == (NoticePart("api_error", "API Error: 529"),)


# --- the tree -----------------------------------------------------------------------------------


def test_a_rewind_is_a_branch() -> None:
    above = parents(read_one(SAMPLE))
    asked_twice = [
        uuid for uuid, parent in above.items() if uuid and parent and parent.startswith("00000009")
    ]

    assert [uuid[:8] for uuid in asked_twice] == ["0000000a", "0000000c"]


def test_the_walk_from_the_head_passes_a_compaction_and_reaches_the_first_message() -> None:
    shown = [str(uuid)[6:8] for uuid in branch(read_one(SAMPLE))]

    assert shown == ["01", "02", "03", "07", "08", "09", "0c", "0d", "0e", "10", "11", "12", "13", "14"]


@needs_fixtures
def test_a_compaction_after_a_rewind_loses_nothing_before_it() -> None:
    file = FIXTURES / "claude-code" / "claude-code-log-2026" / "dag_compact_after_rewind.jsonl"

    conversation = read_one(file)

    assert branch(conversation) == ["u1", "a1", "b2u", "b2a", "b2u2", "b2a2", "cb", "cs", "p1u", "p1a"]
    assert branch(conversation, "b1a") == ["u1", "a1", "b1u", "b1a"]
    assert message(conversation, "cb").parts == (NoticePart("compact_boundary", "Conversation compacted"),)


@pytest.mark.parametrize("next_parent", ["r1", "r2"])
def test_results_of_parallel_calls_are_all_on_the_branch_that_goes_on(
    next_parent: str, tmp_path: Path
) -> None:
    file = write_lines(
        tmp_path / "s1.jsonl",
        said("u1", None),
        answered("a1", "u1", call("t1"), answer="m"),
        answered("a2", "a1", call("t2"), answer="m"),
        result("r2", "a2", "t2"),
        result("r1", "a1", "t1"),
        answered("a3", next_parent, text("both are there")),
    )

    assert branch(read_one(file)) == ["u1", "a1", "r2", "r1", "a3"]


def test_a_result_between_two_lines_of_one_answer_keeps_its_place_behind_it(tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "s1.jsonl",
        answered("a1", None, call("t1"), answer="m"),
        result("r1", "a1", "t1"),
        answered("a2", "r1", call("t2"), answer="m"),
        result("r2", "a2", "t2"),
    )

    conversation = read_one(file)

    assert branch(conversation) == ["a1", "r1", "r2"]
    assert conversation.messages[0].records == 2


def test_a_call_that_is_answered_again_has_its_other_result_on_another_branch(tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "s1.jsonl",
        answered("a1", None, call("t1")),
        result("r1", "a1", "t1"),
        said("r2", "a1", [{"type": "tool_result", "tool_use_id": "t1", "content": "another"}]),
    )

    assert parents(read_one(file)) == {"a1": None, "r1": "a1", "r2": "a1"}


def test_what_follows_a_notice_that_names_nobody_follows_what_stood_before_it(tmp_path: Path) -> None:
    lost = {"type": "system", "subtype": "info", "uuid": "n1", "parentUuid": None, "sessionId": "s1"}
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), said("u2", "u1"), lost, said("u3", "n1"))

    assert branch(read_one(file)) == ["u1", "u2", "u3"]


def test_a_notice_hangs_under_the_message_before_and_bears_nobody(tmp_path: Path) -> None:
    progress = {"type": "progress", "uuid": "p1", "parentUuid": "u1", "sessionId": "s1", "data": {}}
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), progress, answered("a1", "p1", text("done")))

    assert parents(read_one(file)) == {"u1": None, "p1": "u1", "a1": "u1"}


def test_a_parent_that_is_not_in_the_file_makes_a_root_and_is_noted(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), said("u2", "gone"))

    conversation = read_one(file)

    assert parents(conversation) == {"u1": None, "u2": None}
    assert conversation.details is not None
    assert conversation.details["notes"] == {
        "absent_parent": {"count": 1, "places": [f"{file.as_posix()}:2"]}
    }


def test_a_circle_of_parents_is_opened_at_its_first_message(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", said("u1", "u3"), said("u2", "u1"), said("u3", "u2"))

    assert parents(read_one(file)) == {"u1": None, "u2": "u1", "u3": "u2"}


def test_a_parent_stands_before_its_children_wherever_the_file_has_it(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), said("u3", "u2"), said("u2", "u1"))

    assert [found.native_id for found in read_one(file).messages] == ["u1", "u2", "u3"]


def test_a_file_that_names_no_parent_at_all_is_a_list(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), said("u2", None), said("u3", None))

    assert branch(read_one(file)) == ["u1", "u2", "u3"]


def test_messages_without_ids_follow_each_other(tmp_path: Path) -> None:
    line = {"type": "user", "timestamp": "2026-01-05T12:32:10Z", "message": {"content": "hi"}}
    file = write_lines(tmp_path / "s1.jsonl", line, line)

    found = read_one(file).messages

    assert [(item.native_id, item.follows) for item in found] == [(None, False), (None, True)]


def test_a_line_copied_within_a_session_counts_with_the_first(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), said("u2", "u1"), said("u1", None))

    conversation = read_one(file)

    assert [(found.native_id, found.records) for found in conversation.messages] == [("u1", 2), ("u2", 1)]


def test_other_words_under_a_known_id_are_kept_as_a_message(tmp_path: Path) -> None:  # I-1
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None, "first"), said("u1", None, "second"))

    conversation = read_one(file)

    assert words(conversation) == ["first", "second"]
    assert [found.native_id for found in conversation.messages] == ["u1", "u1#2"]


# --- conversations ------------------------------------------------------------------------------


def test_a_folder_gives_sessions_and_their_sub_agents() -> None:
    reading = read_path(SAMPLES / "claude-code")

    main, agent = reading.conversations
    assert (main.native_id, agent.native_id) == (SESSION, f"{SESSION}/a7c31f02")
    assert (main.title, main.project) == ("Exact totals in the checkout", "/home/ada/shop")
    assert main.details is not None and main.details["agents"] == {"a7c31f02": "toolu_03"}
    assert agent.details is not None and agent.details["spawned_by"] == SESSION


def test_the_number_of_files_is_known_before_they_are_read() -> None:
    found = detect(SAMPLES / "claude-code")

    assert (found.format, found.files) == ("claude-code", 2)


def test_a_sidechain_inside_a_session_is_a_conversation_of_its_own(tmp_path: Path) -> None:
    task = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "look around"}}
    file = write_lines(
        tmp_path / "s1.jsonl",
        said("u1", None),
        answered("a1", "u1", task),
        said("x1", None, "look around", isSidechain=True),
        answered("x2", "x1", text("nothing"), isSidechain=True),
        result("r1", "a1", "t1"),
    )

    main, side = read_path(file).conversations

    assert branch(main) == ["u1", "a1", "r1"]
    assert side.native_id == "s1/x1"
    assert branch(side) == ["x1", "x2"]
    assert side.details == {"session": "s1", "agent": "x1", "spawned_by": "s1", "call_id": "t1"}


def test_an_agents_old_file_stands_beside_the_session(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "agent-b2.jsonl", said("x1", None, isSidechain=True))

    assert read_one(file).native_id == "s1/b2"


def test_several_sessions_in_one_file_are_several_conversations(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "any.jsonl", said("u1", None), said("v1", None, sessionId="s2"))

    assert [found.native_id for found in read_path(file).conversations] == ["s1", "s2"]


def test_lines_without_a_session_belong_to_the_one_that_the_file_is_called_after(tmp_path: Path) -> None:
    snapshot = {"type": "file-history-snapshot", "messageId": "u1", "snapshot": {}}
    file = write_lines(tmp_path / "s1.jsonl", said("v1", None, sessionId="s0"), snapshot, said("u1", None))

    counted = {found.native_id: len(found.messages) for found in read_path(file).conversations}

    assert counted == {"s0": 1, "s1": 2}


@pytest.mark.parametrize(
    ("lines", "title"),
    [
        ([{"type": "summary", "summary": "S", "leafUuid": "u1"}], "S"),
        ([{"type": "summary", "summary": "of another file", "leafUuid": "elsewhere"}], None),
        ([{"type": "summary", "summary": "S"}, {"type": "ai-title", "aiTitle": "A"}], "A"),
        ([{"type": "custom-title", "customTitle": "C"}, {"type": "ai-title", "aiTitle": "A"}], "C"),
        ([{"type": "ai-title", "aiTitle": "old"}, {"type": "ai-title", "aiTitle": "new"}], "new"),
    ],
)
def test_the_title_is_the_persons_then_the_models_then_a_summary_of_this_conversation(
    lines: list[dict[str, str]], title: str | None, tmp_path: Path
) -> None:
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), *lines)

    assert read_one(file).title == title


@needs_fixtures
def test_a_web_session_is_read_record_by_record_each_with_its_own_bytes() -> None:
    file = FIXTURES / "claude-code" / "simonw" / "sample_session.json"

    conversation = read_one(file)

    assert conversation.messages[0].native.startswith(b'{\n      "type": "user"')
    assert [found.hidden for found in conversation.messages].count(True) == 1


def test_a_cut_web_session_keeps_what_stands_before_the_cut(tmp_path: Path) -> None:  # case 10
    file = tmp_path / "web.json"
    file.write_bytes(b'{"id": "w1", "loglines": [{"type": "user", "message": {"content": "a"}}, {"type": "us')

    reading = read_path(file)

    assert reading.counts == Counts(1, 1, 1, 1)
    assert reading.conversations[0].details == {"session": "web", "id": "w1"}


def test_a_growing_file_gives_the_same_messages_and_then_more(tmp_path: Path) -> None:  # I-2
    lines = [said("u1", None), answered("a1", "u1", text("one")), said("u2", "a1")]
    before = read_one(write_lines(tmp_path / "s1.jsonl", *lines)).messages

    after = read_one(write_lines(tmp_path / "s1.jsonl", *lines, answered("a2", "u2", text("two")))).messages

    assert after[: len(before)] == before


# --- times --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stated", "claim_ns"),
    [
        ("2026-01-05T12:32:10+09:00", 1_767_583_930_000_000_000),  # case 48
        ("2026-01-05T03:32:10.285031Z", 1_767_583_930_285_031_000),
        ("2026-01-05T03:32:10.123456789Z", 1_767_583_930_123_456_789),
        (1767583930.285031, 1_767_583_930_285_031_000),
        (1767583930285, 1_767_583_930_285_000_000),
        (None, None),
        (0, None),
        ("", None),
    ],
)
def test_times_are_exact_and_an_unknown_one_stays_unknown(
    stated: object, claim_ns: int | None, tmp_path: Path
) -> None:
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None, timestamp=stated))

    conversation = read_one(file)

    assert conversation.messages[0].claim_ns == claim_ns
    assert conversation.details == {"session": "s1"}


@pytest.mark.parametrize(
    ("stated", "problem"),
    [
        ("2101-01-01T00:00:00Z", "time_out_of_range"),  # case 48
        (99_999_999_999_999_999_999, "time_out_of_range"),
        ("1999-12-31T23:59:59Z", "time_out_of_range"),
        ("2026-01-05T12:32:10", "time_without_zone"),
        ("2026-02-30T12:32:10Z", "unreadable_time"),
        ("yesterday", "unreadable_time"),
        ({"$date": 1}, "unreadable_time"),
    ],
)
def test_a_time_that_cannot_be_is_unknown_and_noted(stated: object, problem: str, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None, timestamp=stated))

    conversation = read_one(file)

    assert conversation.messages[0].claim_ns is None
    assert conversation.details is not None and list(conversation.details["notes"]) == [problem]


# --- recognition --------------------------------------------------------------------------------


def test_a_session_is_known_by_its_content_whatever_it_is_called(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "notes.txt", said("u1", None))

    assert find_format(file).name == "claude-code"


@needs_fixtures
def test_no_file_of_another_tool_is_taken_for_a_session() -> None:
    others = [path for path in FIXTURES.rglob("*.json*") if "claude-code" not in path.parts]

    taken = [path for path in others if claude_code.recognises(path.read_bytes()[:65_536], path.name)]

    assert taken == []


def test_what_nothing_recognises_is_refused_with_a_list_of_what_can_be_read(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "session.jsonl", {"kind": "of another tool"})

    with pytest.raises(FormatError, match=r"What can be read: .*Claude Code.*OpenAI"):
        find_format(file)


def test_a_file_of_another_kind_in_the_folder_is_named_and_left_out(tmp_path: Path) -> None:  # I-1
    write_lines(tmp_path / "p" / "s1.jsonl", said("u1", None))
    write_lines(tmp_path / "history.jsonl", {"display": "hi", "project": "/p"})

    reading = read_path(tmp_path)

    assert reading.counts == Counts(1, 1, 1, 1)
    assert reading.refusals[0].reason == "no Claude Code session; left out"
