"""A reader who follows a page from top to bottom, in an empty folder of their own."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import types
from pathlib import Path

from tests.docs.blocks import Block, Command, manent_commands, read_blocks

COMMAND_SECONDS_MAX = 60


class CommandFailedError(AssertionError):
    """A command of a page ended otherwise than the page says."""

    def __init__(self, command: Command, done: subprocess.CompletedProcess[str]) -> None:
        super().__init__(
            f"$ {command.text}\n{done.stdout}{done.stderr}"
            f"ended with exit code {done.returncode}, and the page says {command.exit_code}"
        )


def follow(page: Path) -> None:
    """
    Run the blocks of a page in their order, in the current folder.

    Python blocks share one namespace; a block marked `no-run` has only to be Python. In `console` blocks
    the lines `$ manent …` run, and must end with exit code 0, or with N where `# exit N` ends the line.
    Blocks in other languages are for the eye.

    Raises:
        CommandFailedError: a command ended with another exit code.
        SyntaxError: a Python block is none.
        Exception: whatever a Python block raises, with the line of the page in its traceback.
    """
    namespace = types.ModuleType("page")
    sys.modules[namespace.__name__] = namespace
    try:
        for block in read_blocks(page.read_text(encoding="utf-8")):
            _run(block, page, namespace)
    finally:
        del sys.modules[namespace.__name__]
        namespace.__dict__.clear()
        gc.collect()  # a store that the page left open is noticed here, and not in a later test


def _run(block: Block, page: Path, namespace: types.ModuleType) -> None:
    if block.language == "python":
        code = compile("\n" * (block.line - 1) + block.code, str(page), "exec", dont_inherit=True)
        if block.runs:
            exec(code, namespace.__dict__)
    if block.language == "console" and block.runs:
        for command in manent_commands(block.code):
            _type(command)


def _type(command: Command) -> None:
    """Give a line to the shell, as a reader would: with the `manent` that is installed beside this Python."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
    done = subprocess.run(
        command.text,
        shell=True,
        env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=COMMAND_SECONDS_MAX,
        check=False,
    )
    if done.returncode != command.exit_code:
        raise CommandFailedError(command, done)
