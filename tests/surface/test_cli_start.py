"""A command loads what it needs and no more: starting is most of what a short command costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.surface.command_line import Desk, environment

HEAVY = {"apsw", "asyncio", "manent.opening", "markdown_it", "msgspec", "pygments", "rich", "tomlkit"}

LOADED = """
import sys
from manent.cli import main

try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def loaded_by(desk: Desk, *words: str) -> set[str]:
    """The modules that a command has loaded when it ends."""
    done = subprocess.run(
        (sys.executable, "-c", LOADED, "--store", str(desk.store), *words),
        env=environment({}),
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return set(done.stderr.split())


def test_telling_the_version_loads_nothing_of_the_store(desk: Desk) -> None:
    loaded = loaded_by(desk, "--version")

    assert loaded.isdisjoint({*HEAVY, "manent.cli.list_", "tomllib", "platformdirs"})


@pytest.mark.parametrize(
    "words", [["--help"], ["doctor", "--help"], ["claim", "--help"], ["config", "--help"]]
)
def test_explaining_loads_nothing_of_the_store(desk: Desk, words: list[str]) -> None:
    assert loaded_by(desk, *words).isdisjoint(HEAVY)


@pytest.mark.parametrize("words", [["config", "show"], ["config", "path"], ["completion", "zsh"]])
def test_what_needs_no_store_loads_none(desk: Desk, words: list[str]) -> None:
    assert loaded_by(desk, *words).isdisjoint(HEAVY - {"msgspec"})


@pytest.mark.parametrize("words", [["show"], ["stats"], ["tag"], ["owner"], ["rename", "Other"], ["doctor"]])
def test_a_command_into_a_pipe_loads_nothing_that_draws(desk: Desk, words: list[str]) -> None:
    desk.begin("Fix it", "--key", "k")
    name, *rest = words

    loaded = loaded_by(desk, name, *([] if name == "doctor" else ["--key", "k"]), *rest)

    assert loaded.isdisjoint({"rich", "markdown_it", "pygments", "tomlkit", "asyncio"})


def test_a_configuration_file_is_read_without_what_writes_it(desk: Desk) -> None:
    desk.begin("Fix it")
    desk.type("config", "set", "wait", "5")

    loaded = loaded_by(desk, "list")

    assert "tomllib" in loaded
    assert loaded.isdisjoint({"tomlkit", "rich"})


def test_a_list_into_a_pipe_loads_nothing_that_draws(desk: Desk) -> None:
    desk.begin("Fix it")

    loaded = loaded_by(desk, "list")

    assert loaded.isdisjoint({"rich", "asyncio", "manent.formats", "manent.search"})
