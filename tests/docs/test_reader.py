"""The reader of the docs runs what it should, and notices what fails."""

from __future__ import annotations

import stat
import sys
import textwrap
import traceback
from pathlib import Path

import pytest

from tests.docs.blocks import Block, Command, manent_commands, read_blocks
from tests.docs.reader import CommandFailedError, follow


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to follow a page in, with a `manent` that ends with the code that it is given."""
    program = tmp_path / "bin" / "manent"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nprintf '%s\\n' \"$*\" >> typed\nexit ${2:-0}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(sys, "executable", str(program.with_name("python")))
    desk = tmp_path / "desk"
    desk.mkdir()
    monkeypatch.chdir(desk)
    return desk


def a_page(folder: Path, text: str) -> Path:
    """A page outside the folder that it is followed in."""
    page = folder.parent / "page.md"
    page.write_text(textwrap.dedent(text), encoding="utf-8")
    return page


def test_a_block_has_a_language_flags_code_and_its_line() -> None:
    page = "# Title\n\n```python no-run\nx = 1\n```\n\n- item:\n\n  ```console\n  $ manent list\n  ```\n"

    assert read_blocks(page) == [
        Block("python", frozenset({"no-run"}), "x = 1\n", 4),
        Block("console", frozenset(), "$ manent list\n", 10),
    ]


def test_a_longer_fence_may_show_a_fence() -> None:
    assert [block.language for block in read_blocks("````markdown\n```python\nx\n```\n````\n")] == [
        "markdown"
    ]


def test_only_lines_that_call_manent_are_commands() -> None:
    code = (
        "$ pip install manent\n"
        "$ manent search 'a  b' \\\n"
        "> --json\n"
        "manent in the output\n"
        "$ manent show nothing   # exit 4\n"
        "$ manents\n"
        "$ \n"
    )

    assert manent_commands(code) == [
        Command("manent search 'a  b' --json", 0),
        Command("manent show nothing", 4),
    ]


def test_the_python_blocks_of_a_page_share_their_names(desk: Path) -> None:
    follow(a_page(desk, "```python\nname = 'a'\n```\nand\n```python\nopen(name, 'xb').close()\n```\n"))

    assert list(desk.iterdir()) == [desk / "a"]


def test_blocks_run_in_the_order_of_the_page(desk: Path) -> None:
    page = a_page(
        desk,
        """
        ```console
        $ manent list
        ```
        ```python
        from pathlib import Path
        assert Path("typed").read_text(encoding="utf-8") == "list\\n"
        ```
        """,
    )

    follow(page)


def test_a_fault_in_a_python_block_is_shown_at_its_line_of_the_page(desk: Path) -> None:
    page = a_page(desk, "one\n\n```python\nx = 1\nraise OSError\n```\n")

    with pytest.raises(OSError) as caught:
        follow(page)

    last = traceback.extract_tb(caught.tb)[-1]
    assert (last.filename, last.lineno, last.line) == (str(page), 5, "raise OSError")


def test_a_block_that_is_not_run_must_still_be_python(desk: Path) -> None:
    page = a_page(desk, "```python no-run\nraise OSError\n```\n```python no-run\nx = = 1\n```\n")

    with pytest.raises(SyntaxError) as caught:
        follow(page)

    assert caught.value.lineno == 5


def test_a_command_must_end_well(desk: Path) -> None:
    page = a_page(desk, "```console\n$ manent verify 1\n```\n")

    with pytest.raises(CommandFailedError, match="exit code 1, and the page says 0"):
        follow(page)


def test_a_command_may_end_as_the_page_says(desk: Path) -> None:
    follow(a_page(desk, "```console\n$ manent show 4  # exit 4\n```\n"))

    assert (desk / "typed").read_text(encoding="utf-8") == "show 4\n"


def test_a_command_that_ends_better_than_the_page_says_is_a_fault_too(desk: Path) -> None:
    with pytest.raises(CommandFailedError):
        follow(a_page(desk, "```console\n$ manent show  # exit 4\n```\n"))


def test_a_terminal_block_that_is_not_run_leaves_nothing(desk: Path) -> None:
    follow(a_page(desk, "```console no-run\n$ manent serve\n```\n"))

    assert list(desk.iterdir()) == []
