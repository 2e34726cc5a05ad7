"""A command loads what it needs and no more: starting is most of what a short command costs."""

from __future__ import annotations

import subprocess
import sys

from tests.surface.command_line import Desk, environment

LOADED = """
import sys
from manent.cli import main

main()
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

    assert loaded.isdisjoint({"msgspec", "rich", "apsw", "manent.opening", "manent.cli.list_"})


def test_a_list_into_a_pipe_loads_nothing_that_draws(desk: Desk) -> None:
    desk.begin("Fix it")

    loaded = loaded_by(desk, "list")

    assert loaded.isdisjoint({"rich", "asyncio", "manent.formats", "manent.search"})
