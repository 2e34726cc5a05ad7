"""`manent export --format`: every format from the command line, and what it tells."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.surface.command_line import Desk


@pytest.fixture
def talk(desk: Desk) -> str:
    """The id of a conversation of two turns, the only one."""
    found = desk.begin("Fix it")
    desk.say(found, "why?", "because")
    desk.say(found, "and now?", "done")
    return found


def test_what_a_format_cannot_carry_is_a_note(desk: Desk, talk: str) -> None:  # I-4
    target = desk.folder / "out.jsonl"

    result = desk.type("export", "--format", "openai", "--conversation", talk[:8], target)

    assert result.stdout == (f"{target}: 1 conversation, 4 messages, {target.stat().st_size:,} bytes\n")
    assert result.stderr == "manent: not in it: the time of 4 messages, the title of 1 conversation\n"
    (line,) = target.read_text(encoding="utf-8").splitlines()
    assert [message["content"] for message in json.loads(line)["messages"]] == [
        "why?",
        "because",
        "and now?",
        "done",
    ]


@pytest.mark.usefixtures("talk")
def test_a_program_reads_the_same_in_json(desk: Desk) -> None:  # U-3
    target = desk.folder / "out.jsonl"

    found = desk.read("export", "--format", "openai", target)

    assert found == {
        "path": str(target),
        "bytes": target.stat().st_size,
        "format": "openai",
        "conversations": 1,
        "messages": 4,
        "attachments": 0,
        "lines": 0,
        "left_out": {"times": 4, "titles": 1},
    }


def test_an_archive_comes_back_through_the_command_line(desk: Desk, talk: str) -> None:  # I-4
    target = desk.folder / "backup.zip"
    assert desk.type("export", "--format", "archive", "--all-workspaces", target).exit_code == 0
    desk.store = desk.folder / "copy.db"

    result = desk.type("import", "--all-workspaces", target)
    again = desk.folder / "again.zip"
    desk.type("export", "--format", "archive", "--all-workspaces", again)

    assert result.exit_code == 0, result.stderr
    assert desk.read("list")["conversations"][0]["id"] == talk
    assert again.read_bytes() == target.read_bytes()


@pytest.mark.usefixtures("talk")
def test_pages_go_to_stdout_a_file_or_a_folder(desk: Desk) -> None:
    page = desk.run("export", "--format", "markdown")
    one = desk.type("export", "--format", "markdown", desk.folder / "one.md")
    folder = desk.type("export", "--format", "markdown", f"{desk.folder}/pages/")

    assert page.stdout.startswith(b"# Fix it\n")
    assert (desk.folder / "one.md").read_bytes() == page.stdout
    assert [path.read_bytes() for path in (desk.folder / "pages").iterdir()] == [page.stdout]
    assert (one.exit_code, folder.exit_code) == (0, 0)


@pytest.mark.usefixtures("talk")
def test_several_pages_for_one_file_are_a_wrong_usage(desk: Desk) -> None:  # U-2
    desk.say(desk.begin("another"))

    result = desk.type("export", "--format", "markdown", desk.folder / "one.md")

    assert result.exit_code == 2
    assert "name a folder" in result.stderr
    assert not (desk.folder / "one.md").exists()


@pytest.mark.usefixtures("talk")
def test_an_unknown_conversation_is_not_found_and_nothing_is_written(desk: Desk) -> None:  # U-2
    for format in ("ndjson", "archive", "openai", "markdown", "chatgpt"):
        target = desk.folder / f"out.{format}"
        result = desk.type("export", "--format", format, "--conversation", "nobody", target)
        assert (result.exit_code, target.exists()) == (4, False)


@pytest.mark.usefixtures("talk")
def test_chatgpts_shape_is_a_list(desk: Desk) -> None:
    data = desk.run("export", "--format", "chatgpt").stdout

    assert [entry["title"] for entry in json.loads(data)] == ["Fix it"]


@pytest.mark.usefixtures("talk")
@pytest.mark.parametrize("format", ["ndjson", "archive"])
def test_a_folder_takes_no_export_that_is_one_file(format: str, desk: Desk) -> None:  # U-2
    (desk.folder / "there").mkdir()

    result: tuple[int, list[Path]] = (
        desk.type("export", "--format", format, desk.folder / "there").exit_code,
        list((desk.folder / "there").iterdir()),
    )

    assert result == (2, [])
