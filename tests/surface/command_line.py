"""The command line as tests use it: in this process, and as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

import manent
from manent.cli.app import app

PROGRAM = (sys.executable, "-c", "import sys; from manent.cli import main; sys.exit(main())")
PROCESS_SECONDS_MAX = 120


class Desk:
    """A folder with a store in it, and a person who types commands."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.store = folder / "demo.db"

    def type(self, *words: str | Path, stdin: str | bytes | None = None) -> Result:
        """Run a command on the store in this process, its output going nowhere near a terminal."""
        return CliRunner().invoke(app, ["--store", str(self.store), *map(str, words)], input=stdin)

    def read(self, *words: str | Path) -> dict[str, Any]:
        """What a command that ends well answers with --json."""
        result = self.type(*words, "--json")
        assert result.exit_code == 0, result.stderr
        answer: dict[str, Any] = json.loads(result.stdout)
        return answer

    def begin(self, title: str = "", *words: str) -> str:
        """Begin a conversation; return its id."""
        return self.type("new", title, *words).stdout.strip()

    def say(self, conversation_id: str, question: str = "hi", answer: str = "hello") -> str:
        """Append a turn; return its address."""
        return self.type("append", conversation_id, "--", question, answer).stdout.strip()

    def run(self, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
        """Run a command as a process of its own, with more variables in its environment."""
        return subprocess.run(
            self.command(*words),
            env=environment(variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROCESS_SECONDS_MAX,
            check=False,
        )

    def command(self, *words: str | Path) -> Sequence[str]:
        """The words that start such a process."""
        return (*PROGRAM, "--store", str(self.store), *map(str, words))

    def open_store(self) -> manent.Store:
        """The store itself, to put things there that no command can."""
        return manent.open(self.store)


def environment(variables: Mapping[str, str]) -> dict[str, str]:
    """This process's environment, and more."""
    return {**os.environ, **variables}
