"""Workspaces and roadmaps from the command line."""

from __future__ import annotations

import pytest

from tests.surface.command_line import Desk
from tests.surface.terminal import at_a_terminal

TREE = """
[[subtask]]
id = "beans"
instruction = "Grow beans"

[[subtask]]
id = "sow"
instruction = "Sow in [May]"
parent = "beans"
"""


# --- workspaces


@pytest.fixture
def moved(desk: Desk) -> tuple[str, str]:
    """A folder that was renamed, with a conversation in it and one in a folder below; both names."""
    old, new = desk.folder / "old", desk.folder / "new"
    (old / "api").mkdir(parents=True)
    desk.type("--workspace", str(old), "new", "In old")
    desk.type("--workspace", str(old / "api"), "new", "In api")
    old.rename(new)
    return str(old), str(new)


def test_a_lost_folder_is_found_and_relinked(desk: Desk, moved: tuple[str, str]) -> None:
    old, new = moved

    lost = desk.type("workspace", "lost")
    asked = desk.type("workspace", "relink", old, new)
    done = desk.type("workspace", "relink", old, new, "--yes")

    assert lost.stdout == f"{old}  2 conversations\n"
    assert asked.exit_code == 2
    assert f"{old}: 2 workspaces, 2 conversations" in asked.stderr
    assert done.exit_code == 0
    assert f"{old} -> {new}" in done.stdout
    assert "In old" in desk.type("--workspace", new, "list").stdout
    assert desk.type("workspace", "lost").stdout == ""


def test_a_move_is_undone(desk: Desk, moved: tuple[str, str]) -> None:
    old, new = moved
    move = desk.read("workspace", "relink", old, new, "--yes")

    undone = desk.type("workspace", "undo", move["id"])

    assert undone.stdout.startswith("undone: ")
    assert desk.type("workspace", "moves").stderr == "manent: nothing was moved\n"
    assert desk.type("workspace", "undo", move["id"]).exit_code == 4


def test_two_workspaces_become_one(desk: Desk) -> None:
    desk.type("--workspace", "one", "new", "First", "--key", "k")
    desk.type("--workspace", "two", "new", "Second", "--key", "k")

    done = desk.type("workspace", "merge", "one", "two", "--yes")

    assert "both had the key 'k'" in done.stderr
    assert len(desk.read("--workspace", "one", "list")["conversations"]) == 2
    assert desk.type("workspace", "list").stdout.count("2 conversations  ") == 1


@pytest.mark.parametrize("words", [["relink", "nobody", "x"], ["merge", "nobody", "default"]])
def test_a_name_that_leads_nowhere_is_not_asked_about(desk: Desk, words: list[str]) -> None:  # U-2
    desk.begin()

    assert desk.type("workspace", *words).exit_code == 4


def test_a_terminal_is_asked_before_a_merge(desk: Desk) -> None:
    for name in ("one", "two"):
        desk.type("--workspace", name, "new", name)

    refused = at_a_terminal(desk, "workspace", "merge", "one", "two", typed="n\n")
    agreed = at_a_terminal(desk, "workspace", "merge", "one", "two", typed="y\n")

    assert (refused.exit_code, agreed.exit_code) == (1, 0)
    assert "nothing was changed" in refused.text


# --- roadmaps


def test_a_plan_is_kept_shown_and_replaced(desk: Desk) -> None:
    file = desk.folder / "garden.toml"
    file.write_text(TREE, encoding="utf-8")

    kept = desk.type("roadmap", "create", "garden", file, "--title", "The garden")
    again = desk.type("roadmap", "create", "garden", file)
    replaced = desk.type("roadmap", "create", "garden", "-", "--replace", "--title", "Other", stdin=TREE)
    shown = desk.type("roadmap", "load", "garden")

    assert kept.stderr == "manent: garden: 2 subtasks\n"
    assert again.exit_code == 1
    assert "--replace" in again.stderr
    assert replaced.exit_code == 0
    assert shown.stdout == "# Other\nbeans  [pending]  Grow beans\n  sow  [pending]  Sow in [May]\n"
    assert desk.type("roadmap", "list").stdout == "garden  2 subtasks  Other\n"


def test_what_load_writes_as_toml_update_takes(desk: Desk) -> None:
    desk.type("roadmap", "create", "garden", "-", stdin=TREE)

    toml = desk.type("roadmap", "load", "garden", "--toml").stdout
    updated = desk.read("roadmap", "load", "garden")["subtasks"]
    desk.type("roadmap", "update", "garden", "-", stdin=toml)

    assert desk.read("roadmap", "load", "garden")["subtasks"] == updated


def test_a_plan_that_is_none_names_the_field(desk: Desk) -> None:  # U-4
    desk.type("roadmap", "create", "garden", "-", stdin=TREE)

    result = desk.type("roadmap", "update", "garden", "-", stdin='[[subtask]]\nid = "beans"\n')
    binary = desk.type("roadmap", "update", "garden", "-", stdin=b"\xff")

    assert result.exit_code == 1
    assert "instruction" in result.stderr
    assert binary.exit_code == 2
    assert len(desk.read("roadmap", "load", "garden")["subtasks"]) == 2


def test_a_roadmap_that_is_not_there_is_missed(desk: Desk) -> None:  # U-2
    desk.begin()

    assert desk.type("roadmap", "load", "none").exit_code == 4
    assert desk.type("roadmap", "update", "none", "-", stdin=TREE).exit_code == 4


def test_a_roadmap_is_removed_when_somebody_agrees(desk: Desk) -> None:
    desk.type("roadmap", "create", "garden", "-", stdin=TREE)

    refused = at_a_terminal(desk, "roadmap", "delete", "garden", typed="n\n")
    alone = desk.type("roadmap", "delete", "garden")
    agreed = desk.type("roadmap", "delete", "garden", "--yes")

    assert (refused.exit_code, alone.exit_code, agreed.exit_code) == (1, 2, 0)
    assert desk.type("roadmap", "delete", "garden", "--yes").exit_code == 4


def test_a_conversation_is_linked_to_a_subtask(desk: Desk) -> None:
    conversation_id = desk.begin()

    desk.type("roadmap", "link", conversation_id, "garden", "beans")

    with desk.open_store() as store:
        link = store.conversation(conversation_id).metadata().roadmap_link
    assert link is not None
    assert (link.roadmap_id, link.node_id) == ("garden", "beans")
    assert desk.read("roadmap", "link", conversation_id, "--off")["roadmap_id"] is None
    assert desk.type("roadmap", "link", conversation_id, "garden").exit_code == 2
    assert desk.type("roadmap", "link", conversation_id, "garden", "beans", "--off").exit_code == 2
