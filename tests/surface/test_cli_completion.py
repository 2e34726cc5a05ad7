"""Completion in a shell: commands, options, and ids of conversations."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.surface.command_line import PROGRAM, Desk, environment


def completed(desk: Desk, *line: str, store: Path | None = None) -> list[str]:
    """What is offered for the last word of a line, by the mechanism that the script for bash uses."""
    words = ["manent", *line]
    asked = {
        "MANENT_STORE": str(store or desk.store),
        "_MANENT_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(words),
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        PROGRAM, env=environment(asked), capture_output=True, encoding="utf-8", timeout=60, check=False
    )
    assert done.stderr == ""
    return [line.partition(",")[2] for line in done.stdout.splitlines() if line]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_script_asks_manent(desk: Desk, shell: str) -> None:
    script = desk.type("completion", shell).stdout

    assert f"_MANENT_COMPLETE={shell}_complete" in script
    assert "manent" in script


def test_another_shell_is_refused(desk: Desk) -> None:
    assert desk.type("completion", "tcsh").exit_code == 2


def test_commands_and_options_complete(desk: Desk) -> None:
    assert completed(desk, "work") == ["workspace"]
    assert completed(desk, "workspace", "re") == ["relink"]
    assert completed(desk, "list", "--pin") == ["--pinned"]
    assert completed(desk, "config", "set", "dur") == ["durability"]


def test_an_option_of_the_group_names_the_store(desk: Desk) -> None:
    conversation_id = desk.begin()

    found = completed(desk, "--store", str(desk.store), "show", "", store=desk.folder / "none.db")

    assert found == [conversation_id]


@pytest.mark.parametrize("command", ["show", "rename", "tag", "delete", "append", "stats", "claim"])
def test_ids_complete(desk: Desk, command: str) -> None:
    one, other = desk.begin("One"), desk.begin("Other")

    assert sorted(completed(desk, command, "")) == sorted([one, other])
    assert completed(desk, command, one[:8]) == [one]
    assert completed(desk, command, "no such") == []


def test_an_old_conversation_completes_by_its_beginning(desk: Desk) -> None:
    oldest = desk.begin("Oldest")
    with desk.open_store() as store:
        for number in range(60):
            store.create(f"Newer {number}")

    assert len(completed(desk, "show", "")) == 50
    assert completed(desk, "show", oldest[:12]) == [oldest]


def test_words_of_ones_own_are_not_completed(desk: Desk) -> None:
    conversation_id = desk.begin()

    assert completed(desk, "append", conversation_id, "") == []


def test_an_id_that_a_shell_would_obey_is_not_offered(desk: Desk) -> None:  # T-3
    with desk.open_store() as store:
        store.create_with_id("a\x1b[2J")
        store.create_with_id("b\nc")

    assert completed(desk, "show", "") == []


def test_completion_stays_inside_the_workspace(desk: Desk) -> None:  # N-1
    desk.type("--workspace", "other", "new", "Elsewhere")

    assert completed(desk, "show", "") == []
    assert len(completed(desk, "--workspace", "other", "show", "")) == 1
    assert len(completed(desk, "show", "--workspace", "other", "")) == 1


def test_whatever_is_wrong_gives_nothing_and_makes_nothing(desk: Desk) -> None:
    broken = desk.folder / "broken.db"
    broken.write_text("no store " * 100, encoding="utf-8")

    assert completed(desk, "show", "") == []
    assert not desk.store.exists()
    assert completed(desk, "show", "", store=broken) == []
