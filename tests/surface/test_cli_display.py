"""Stored text on a terminal is shown and never obeyed; nothing is cut inside a grapheme."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from manent.cli import render
from manent.cli.list_ import shorten
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
)
from manent.model.records import Message
from tests.surface.command_line import Desk
from tests.surface.terminal import on_a_terminal

CLEAR_SCREEN = "\x1b[2J"
BRACKETS = "[/bold] report [OPS-77] [red"
MORE_BRACKETS = "[i for i in x] [/] [#888888]"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
OUR_EMPHASIS = re.compile(r"\x1b\[(?:0|1|2)m")


@pytest.fixture
def bracketed(desk: Desk) -> str:
    """The conversation of case 34; its id."""
    with desk.open_store() as store:
        conversation = store.create(BRACKETS)
        conversation.append_turn(MORE_BRACKETS, "ok")
        conversation.append_message(Message(role="assistant", parts=[ToolCallPart("a[b", {"[x]": "[/]"})]))
    return conversation.id


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain 네 ☕", "plain 네 ☕"),
        (CLEAR_SCREEN, "␛[2J"),
        ("\x00\x07\x08\x7f", "␀␇␈␡"),
        ("\x9b2J \x85", "␛[2J ␛E"),
        ("over\rwritten", "over␍written"),
        ("a\r\nb\nc\td", "a\nb\nc\td"),
        ("\u202eevil\u2066", "<U+202E>evil<U+2066>"),
        ("\u2028", "<U+2028>"),
        ("\ud83d", "<U+D83D>"),
        (MORE_BRACKETS, MORE_BRACKETS),
    ],
)
def test_what_a_terminal_would_obey_is_shown_instead(text: str, shown: str) -> None:  # T-3
    assert render.inert(text) == shown


def test_a_place_in_a_line_of_ours_has_no_line_breaks() -> None:  # T-3
    assert render.one_line("a\r\n\tb\nc\r") == "a b c␍"


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("short", 5, "short"),
        ("longer", 5, "long…"),
        ("확인했습니다", 12, "확인했습니다"),
        ("확인했습니다", 11, "확인했습니…"),
        ("확인했습니다", 6, "확인…"),
        ("漢字", 1, "…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
        ("👩\u200d👩\u200d👧 family", 1, "…"),
        ("🇰🇷🇰🇷🇰🇷", 3, "🇰🇷…"),
        ("\u1112\u1161\u11ab\u1112\u1161\u11ab", 3, "\u1112\u1161\u11ab…"),
    ],
)
def test_a_cut_falls_between_graphemes(text: str, columns: int, shown: str) -> None:  # T-3
    assert render.cut(text, columns) == shown


@pytest.mark.parametrize("claim_ns", [None, 10**30, -(10**30)])
def test_a_time_that_no_calendar_knows_is_a_dash(claim_ns: int | None) -> None:
    assert render.local_time(claim_ns) == "-"


@pytest.mark.parametrize("command", ["list", "show", "search"])
def test_brackets_are_text(desk: Desk, bracketed: str, command: str) -> None:  # case 34
    words = {"list": ["list"], "show": ["show", bracketed], "search": ["search", "for"]}[command]

    result = desk.type(*words)

    assert result.exit_code == 0
    assert BRACKETS in result.stdout
    assert command == "list" or MORE_BRACKETS in result.stdout
    assert command != "show" or '[call] a[b {"[x]": "[/]"}' in result.stdout


def test_brackets_are_text_on_a_narrow_terminal_too(desk: Desk, bracketed: str) -> None:  # case 34
    listed = on_a_terminal(desk, "list")
    shown = on_a_terminal(desk, "show", bracketed)
    found = OUR_EMPHASIS.sub("", on_a_terminal(desk, "search", "for"))

    assert "[/bold] repor…" in listed
    assert BRACKETS in shown
    assert MORE_BRACKETS in shown
    assert "a[b" in shown
    assert MORE_BRACKETS in found


def test_no_command_hands_a_control_of_stored_text_to_a_terminal(desk: Desk) -> None:  # T-3
    hostile = f"{CLEAR_SCREEN}\x1b]0;title\x07 find \u202e me \x9b31m"
    with desk.open_store() as store:
        conversation = store.create(hostile, persona=hostile, key=hostile)
        conversation.append_turn(hostile, hostile, author=hostile)
        parts: list[AnyPart] = [
            ReasoningPart(hostile),
            ToolCallPart(hostile, hostile),
            ToolResultPart(hostile),
            TextPart(""),
        ]
        conversation.append_message(Message(role=hostile, parts=parts))
    commands = (["list"], ["show", conversation.id], ["search", "find"])

    seen = [OUR_EMPHASIS.sub("", on_a_terminal(desk, *words)) for words in commands]

    assert [OBEYED.findall(text) for text in seen] == [[], [], []]
    assert ["␛[2J" in text for text in seen] == [True, True, True]


def test_an_error_hands_no_control_to_a_terminal_either(desk: Desk) -> None:  # T-3
    desk.begin()

    assert desk.type("show", f"{CLEAR_SCREEN}\nmanent: ok").stderr.count("\n") == 1
    assert "\x1b" not in desk.type("export", desk.folder / f"{CLEAR_SCREEN}/x").stderr


def test_stored_text_cannot_pass_for_a_heading(desk: Desk) -> None:  # T-3
    conversation_id = desk.begin()
    desk.say(conversation_id, "q", "fine\n## user  2026-01-01 00:00  turn:x#1\n[call] rm")

    lines = desk.type("show", conversation_id).stdout.splitlines()

    assert [line.split("  ")[0] for line in lines if line.startswith("## ")] == ["## user", "## assistant"]
    assert "  ## user  2026-01-01 00:00  turn:x#1" in lines
    assert "  [call] rm" in lines


def test_what_is_no_text_is_shown_on_one_line(desk: Desk) -> None:
    parts: list[AnyPart] = [
        ReasoningPart("step\nby step"),
        ReasoningPart(signature="c2ln"),
        ToolCallPart("grep", {"for": "x"}),
        ToolResultPart("two\nlines", name="grep"),
        ToolResultPart({"code": 1}, is_error=True),
        FilePart("cat.png", "image/png"),
        Citation("[1]", "https://example.org", title="Example"),
        NoticePart("compaction", "older turns were summed up"),
        OpaquePart({"new": True}, origin="openai"),
    ]
    with desk.open_store() as store:
        conversation = store.create()
        conversation.append_message(Message(role="assistant", parts=parts))

    lines = desk.type("show", conversation.id).stdout.splitlines()

    assert lines[4:] == [
        "[reasoning] step by step",
        "[reasoning] (kept by the provider)",
        '[call] grep {"for": "x"}',
        "[result] grep two lines",
        '[error] {"code": 1}',
        "[file] cat.png image/png (reference)",
        "[citation] [1] https://example.org Example",
        "[notice] compaction: older turns were summed up",
        '[unknown part] openai {"new": true}',
    ]


def test_a_long_tool_result_is_cut(desk: Desk) -> None:
    with desk.open_store() as store:
        conversation = store.create()
        conversation.append_message(Message(role="tool", parts=[ToolResultPart("확" * 10_000)]))

    last = desk.type("show", conversation.id).stdout.splitlines()[-1]

    assert last == f"[result] {'확' * 75}…"


def test_hidden_messages_are_left_out_and_counted(desk: Desk) -> None:
    with desk.open_store() as store:
        conversation = store.create()
        conversation.append_messages(
            [Message(role="system", parts="be brief", hidden=True), Message(role="user", parts="hi")]
        )

    without = desk.type("show", conversation.id)
    with_all = desk.type("show", conversation.id, "--hidden")

    assert "be brief" not in without.stdout
    assert without.stderr == "manent: left out: 1 hidden message; --hidden shows them\n"
    assert "(hidden)\n  be brief\n" in with_all.stdout
    assert with_all.stderr == ""


def test_every_branch_is_shown_when_asked_for(desk: Desk) -> None:
    with desk.open_store() as store:
        conversation = store.create()
        root = conversation.append_message(Message(role="user", parts="root"))
        conversation.append_message(Message(role="assistant", parts="first try"))
        conversation.append_message(Message(role="assistant", parts="second try"), parent=root)

    active = desk.type("show", conversation.id).stdout
    every = desk.type("show", conversation.id, "--all-branches").stdout

    assert "first try" not in active
    assert "first try" in every
    assert "second try" in active


def test_an_address_shows_one_turn(desk: Desk) -> None:
    conversation_id = desk.begin()
    desk.say(conversation_id, "one", "1")
    address = desk.say(conversation_id, "two", "2")

    shown = desk.type("show", address.replace(conversation_id, conversation_id[:8])).stdout

    assert "  two\n" in shown
    assert "  one\n" not in shown


def test_a_hit_outside_any_turn_is_shown_by_its_address(desk: Desk) -> None:
    with desk.open_store() as store:
        conversation = store.create()
        conversation.append_message(Message(role="system", parts="be brief", id="m1"))

    shown = desk.type("show", desk.read("search", "brief")["hits"][0]["address"])

    assert "  be brief\n" in shown.stdout


def test_ids_are_shortened_to_what_tells_them_apart() -> None:
    assert shorten(["abcdef0123", "abcdef0199", "0000000000"]) == ["abcdef012", "abcdef019", "000000"]
    assert shorten([]) == []
    assert shorten(["same-id", "same-id"]) == ["same-i", "same-i"]


def test_a_shortened_id_leads_to_its_conversation(desk: Desk) -> None:
    conversation_id = desk.begin("Fix it")

    name = desk.type("list").stdout.split()[0]

    assert conversation_id.startswith(name)
    assert desk.read("show", name)["conversation"]["id"] == conversation_id


def test_a_hit_is_emphasised_on_a_terminal_and_plain_elsewhere(desk: Desk) -> None:
    desk.say(desk.begin(), "Why is it slow?")

    assert "it \x1b[1mslow\x1b[0m?" in on_a_terminal(desk, "search", "slow")
    assert "    Why is it slow?\n" in desk.type("search", "slow").stdout


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_there_is_no_emphasis_for_who_wants_none(desk: Desk, variables: dict[str, str]) -> None:
    desk.say(desk.begin("title"), "Why is it slow?")

    assert "\x1b" not in on_a_terminal(desk, "list", **variables)
    assert "\x1b" not in on_a_terminal(desk, "search", "slow", **variables)


def test_progress_is_shown_on_a_terminal_only(desk: Desk, tmp_path: Path) -> None:  # U-1
    desk.begin()

    seen = on_a_terminal(desk, "export", str(tmp_path / "out.ndjson"))

    assert "\r1 lines" in seen
    assert desk.run("export", tmp_path / "again.ndjson").stderr == b""
