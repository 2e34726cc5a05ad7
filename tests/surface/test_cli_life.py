"""The daily life of conversations: named, tagged, pinned, ended, deleted, counted."""

from __future__ import annotations

import pytest

from manent.model.parts import FilePart, Usage
from manent.model.records import Message
from tests.surface.command_line import Desk
from tests.surface.terminal import at_a_terminal, on_a_terminal


@pytest.fixture
def beans(desk: Desk) -> str:
    """A conversation with a turn in it; its id."""
    conversation_id = desk.begin("On beans", "--key", "beans")
    desk.say(conversation_id, "When?", "In May.")
    return conversation_id


def test_a_conversation_gets_another_title_and_loses_it(desk: Desk, beans: str) -> None:
    named = desk.read("rename", beans[:8], "  On peas ")
    unnamed = desk.read("rename", "--key", "beans", "")

    assert named == {"id": beans, "title": "On peas"}
    assert unnamed == {"id": beans, "title": ""}


def test_a_title_of_several_words_stands_in_quotes(desk: Desk, beans: str) -> None:
    result = desk.type("rename", beans, "On", "peas")

    assert result.exit_code == 2
    assert "quotes" in result.stderr


def test_tags_are_added_removed_and_shown(desk: Desk, beans: str) -> None:
    desk.type("tag", beans, "--add", "정원", "--add", "spring")

    assert desk.type("tag", beans).stdout == "spring\n정원\n"
    assert desk.read("tag", beans, "--remove", "spring", "--remove", "never there")["tags"] == ["정원"]
    assert desk.type("tag", beans, "--add", "x", "--remove", "x").exit_code == 2
    assert desk.type("tag", beans, "--remove", "정원").stderr == f"manent: {beans} has no tags\n"


def test_a_tag_that_would_be_obeyed_is_shown(desk: Desk, beans: str) -> None:  # T-3
    assert desk.type("tag", beans, "--add", "\x1b[2J\nx").stdout == "␛[2J x\n"


def test_lists_show_what_was_asked_for(desk: Desk, beans: str) -> None:
    other = desk.begin("Other")
    desk.type("tag", beans, "--add", "garden")
    desk.type("pin", beans)
    desk.type("end", other, "--reason", "solved")

    def ids(*words: str) -> list[str]:
        return [entry["id"] for entry in desk.read("list", *words)["conversations"]]

    assert ids("--tag", "garden") == ids("--pinned") == ids("--open") == [beans]
    assert ids("--unpinned") == ids("--ended") == [other]
    assert ids("--tag", "garden", "--ended") == []
    assert "no conversations like that" in desk.type("list", "--tag", "none").stderr
    assert desk.read("list", "--ended")["conversations"][0]["end_reason"] == "solved"


def test_an_end_is_taken_back(desk: Desk, beans: str) -> None:
    assert desk.read("end", beans) == {"id": beans, "end_reason": "ended by hand"}
    assert desk.read("reopen", beans) == {"id": beans, "end_reason": None}
    assert desk.type("end", beans, "--reason", " ").exit_code == 2


def test_a_pin_is_taken_back(desk: Desk, beans: str) -> None:
    assert desk.read("pin", beans)["pinned"] is True
    assert desk.read("pin", beans, "--off")["pinned"] is False


# --- deleting


def test_a_deletion_shows_what_goes_and_needs_a_yes(desk: Desk, beans: str) -> None:
    asked = desk.type("delete", beans[:8])
    done = desk.type("delete", beans[:8], "--yes", "--reason", "asked by the user")

    assert (asked.exit_code, done.exit_code) == (2, 0)
    assert "--yes" in asked.stderr
    assert asked.stdout == done.stdout == f"{beans}  On beans\n    2 messages, 1 turn, 0 attachments\n"
    assert done.stderr == "manent: deleted 1 conversation\n"
    assert desk.type("show", beans).exit_code == 4
    assert desk.type("verify").exit_code == 0


def test_a_dry_run_deletes_nothing(desk: Desk, beans: str) -> None:
    seen = desk.read("delete", beans, "--dry-run", "--yes")

    assert seen["conversations"] == [
        {
            "id": beans,
            "title": "On beans",
            "turns": 1,
            "messages": 2,
            "attachments": 0,
            "spared": [],
            "deleted": False,
        }
    ]
    assert desk.type("show", beans).exit_code == 0


def test_attachments_are_counted_before_they_go(desk: Desk, beans: str) -> None:
    file = FilePart("beans.png", "image/png", digest="ab" * 32, state="stored")
    with desk.open_store() as store:
        store.conversation(beans).append_message(Message(role="user", parts=[file, file]))

    assert desk.type("delete", beans, "--dry-run").stdout.endswith("    3 messages, 2 turns, 1 attachment\n")


def test_what_is_pinned_is_spared_and_said_to_be(desk: Desk, beans: str) -> None:
    other = desk.begin("Other")
    desk.type("pin", beans)

    both = desk.type("delete", beans, other, "--yes")
    alone = desk.type("delete", beans, "--yes")
    forced = desk.type("delete", beans, "--yes", "--force")

    assert (both.exit_code, alone.exit_code, forced.exit_code) == (3, 1, 0)
    assert f"{beans} is spared: pinned; --force" in both.stderr
    assert desk.read("list")["conversations"] == []


def test_one_name_that_is_wrong_deletes_nothing(desk: Desk, beans: str) -> None:
    assert desk.type("delete", beans, "no such", "--yes").exit_code == 4
    assert desk.type("show", beans).exit_code == 0


def test_a_conversation_named_twice_is_deleted_once(desk: Desk, beans: str) -> None:
    assert len(desk.read("delete", beans, beans[:8], "--yes")["conversations"]) == 1


@pytest.mark.parametrize(("typed", "code", "left"), [("n\n", 1, 1), ("y\n", 0, 0)])
def test_a_terminal_is_asked(desk: Desk, beans: str, typed: str, code: int, left: int) -> None:
    seen = at_a_terminal(desk, "delete", beans, typed=typed)

    assert seen.exit_code == code, seen.text
    assert "Delete this conversation for good?" in seen.text
    assert len(desk.read("list")["conversations"]) == left


# --- counting


def test_unknown_tokens_are_not_zero(desk: Desk, beans: str) -> None:
    before = desk.type("stats", beans).stdout
    with desk.open_store() as store:
        store.conversation(beans).append_turn("q", "a", usage=Usage(input_tokens=900, output_tokens=1234))

    after = desk.type("stats", "--key", "beans").stdout

    assert "input tokens   unknown: no provider reported any\n" in before
    assert "turns          1  (1 complete)\nmessages       2  (1 assistant, 1 user)\n" in before
    assert "input tokens   900  (1 report)\noutput tokens  1,234  (1 report)\n" in after


def test_counts_of_every_workspace(desk: Desk, beans: str) -> None:
    desk.type("--workspace", "other", "new", "Elsewhere")

    assert desk.read("stats")["conversations"] == 1
    assert desk.read("stats", beans)["messages"] == {"user": 1, "assistant": 1}
    assert desk.read("stats", "--all-workspaces")["conversations"] == 2
    assert desk.read("--workspace", "nobody wrote", "stats")["turns"] == {}


def test_counts_are_shown_on_a_terminal_too(desk: Desk, beans: str) -> None:
    assert "conversations  1" in on_a_terminal(desk, "stats", beans[:8])
