"""The pager: for what is longer than the screen, at a terminal, and nowhere else."""

from __future__ import annotations

import pytest

from tests.surface.command_line import Desk
from tests.surface.terminal import at_a_terminal, on_a_terminal

MARK = "sed s/^/PAGED:/"


@pytest.fixture
def long(desk: Desk) -> str:
    """A conversation of more lines than a screen has; its id."""
    conversation_id = desk.begin("A long one")
    desk.say(conversation_id, "q", "\n".join(f"line {number} beans" for number in range(60)))
    return conversation_id


def test_what_is_longer_than_the_screen_goes_through_the_pager(desk: Desk, long: str) -> None:
    lines = on_a_terminal(desk, "show", long, MANENT_PAGER=MARK).splitlines()

    assert len(lines) > 60
    assert all(line.startswith("PAGED:") for line in lines)


def test_what_fits_the_screen_does_not(desk: Desk, long: str) -> None:
    assert "PAGED" not in on_a_terminal(desk, "show", long, MANENT_PAGER=MARK, LINES="200")
    assert "PAGED" not in on_a_terminal(desk, "list", MANENT_PAGER=MARK)


@pytest.mark.parametrize(
    "words", [["list", "--limit", "9"], ["search", "beans"], ["show", "--key", "k", "--plain"]]
)
def test_each_command_that_is_read_has_it(desk: Desk, words: list[str]) -> None:
    desk.say(desk.begin("A title", "--key", "k"), "beans?", "beans")

    paged = on_a_terminal(desk, *words, MANENT_PAGER=MARK, LINES="1")
    without = on_a_terminal(desk, *words, "--no-pager", MANENT_PAGER=MARK, LINES="1")

    assert paged.startswith("PAGED:")
    assert "PAGED" not in without


@pytest.mark.parametrize("variables", [{"MANENT_PAGER": ""}, {"MANENT_PAGER": MARK, "TERM": "dumb"}])
def test_there_is_none_for_who_wants_none(desk: Desk, long: str, variables: dict[str, str]) -> None:
    seen = on_a_terminal(desk, "show", long, **variables)

    assert "PAGED" not in seen
    assert "line 59" in seen


def test_a_pipe_has_none(desk: Desk, long: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MANENT_PAGER", MARK)

    assert "PAGED" not in desk.type("show", long).stdout


def test_a_pager_that_is_not_there_hides_nothing(desk: Desk, long: str) -> None:
    seen = on_a_terminal(desk, "show", long, MANENT_PAGER="no-such-pager --at-all")

    assert "line 59" in seen
    assert "no-such-pager" in seen


def test_whoever_leaves_the_pager_early_has_seen_enough(desk: Desk, long: str) -> None:
    desk.say(long, "q", "word " * 200_000)

    seen = at_a_terminal(desk, "show", long, "--plain", MANENT_PAGER="head -n 2")

    assert (seen.exit_code, seen.text.count("\n")) == (0, 2)


def test_the_variable_of_everybody_counts_where_ours_is_not_set(desk: Desk) -> None:
    desk.type("config", "set", "pager", "cat")

    assert on_a_terminal(desk, "config", "show", PAGER=MARK).count("($MANENT_PAGER)") == 1
    assert desk.run("config", "show", PAGER=MARK).stdout.decode().count("($PAGER)") == 1
