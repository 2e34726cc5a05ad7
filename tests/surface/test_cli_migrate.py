"""Taking in an old tree of JSON files, with numbers that add up."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surface.command_line import Desk
from tests.surface.test_cli_shapes import put_old_tree


@pytest.fixture
def old(desk: Desk) -> Path:
    """A folder with a tree of one record that can be read and one that cannot."""
    folder = desk.folder / "old"
    put_old_tree(folder)
    return folder


def test_the_numbers_add_up(desk: Desk, old: Path) -> None:  # I-1
    first = desk.type("migrate-legacy", old)
    again = desk.type("migrate-legacy", old)

    assert (first.exit_code, again.exit_code) == (3, 1)
    assert first.stdout.splitlines() == [
        "2 records = 1 imported + 0 known + 0 that were deleted here and stay so + 1 refused",
        "1 turn, 0 other files passed over",
        f"the files are in {old / 'conversations.imported'} now",
    ]
    assert str(old / "conversations/0b1c/two.json") in first.stderr
    assert again.stdout.startswith("1 record = 0 imported + 0 known")


def test_what_came_in_is_found_in_the_workspace_of_its_key(desk: Desk, old: Path) -> None:
    desk.type("migrate-legacy", old)

    assert desk.read("stats", "--all-workspaces")["turns"] == {"complete": 1}
    assert desk.type("verify").exit_code == 0


def test_a_dry_run_writes_and_moves_nothing(desk: Desk, old: Path) -> None:
    before = sorted(old.rglob("*"))

    result = desk.type("migrate-legacy", old, "--dry-run")

    assert result.exit_code == 3
    assert result.stdout.startswith("2 records = 1 readable + 1 refused (dry run)\n1 turn, ")
    assert sorted(old.rglob("*")) == before
    assert not desk.store.exists()


def test_a_tree_that_was_taken_in_is_said_to_be(desk: Desk, old: Path) -> None:  # U-4
    (old / "conversations/0b1c/two.json").unlink()
    desk.type("migrate-legacy", old)

    result = desk.type("migrate-legacy", old)

    assert result.exit_code == 4
    assert "conversations.imported" in result.stderr


def test_a_folder_without_a_tree_makes_no_store(desk: Desk) -> None:  # U-2
    assert desk.type("migrate-legacy", desk.folder).exit_code == 4
    assert not desk.store.exists()
