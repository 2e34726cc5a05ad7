"""The pager: what a person reads when an answer is longer than the screen."""

from __future__ import annotations

import codecs
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence

from manent.cli import output, render
from manent.cli.preferences import PAGER

_EMPHASIS = re.compile(r"\x1b\[[0-9;]*m")
"""The only controls that a line of ours holds."""


def take_screen(lines: Iterator[str]) -> Iterator[str]:
    """The first lines: as many as fill the screen, and those that go beyond it."""
    left = shutil.get_terminal_size().lines
    for line in lines:
        yield line
        left -= rows_of(line)
        if left <= 0:
            return


def is_more(lines: Sequence[str]) -> bool:
    """Whether lines leave no room on the screen for the prompt that comes behind them."""
    return sum(map(rows_of, lines)) >= shutil.get_terminal_size().lines


def rows_of(line: str) -> int:
    """How many rows of the terminal a line takes."""
    cells = render.width(_EMPHASIS.sub("", line))
    return max(1, -(-cells // max(1, output.columns())))


def show(lines: Iterable[str], pager: str) -> None:
    """Give lines to the pager, until it ends; where it cannot be started, write them."""
    process = _start(pager)
    if process is None or process.stdin is None:
        for line in lines:
            output.write(line)
        return
    sys.stdout.flush()
    try:
        with process.stdin as stream:
            for line in lines:
                stream.write(f"{line}\n".encode(sys.stdout.encoding, "replace"))
    except (BrokenPipeError, KeyboardInterrupt):
        process.stdin = None  # whoever reads has seen enough; the pager itself says when it ends
    _wait(process)


def _start(pager: str) -> subprocess.Popen[bytes] | None:
    try:
        words = shlex.split(pager)
        if pager == PAGER and shutil.which(words[0]) is None:
            return None  # nobody asked for it by name
        return subprocess.Popen(words, stdin=subprocess.PIPE, env=_environment()) if words else None
    except (OSError, ValueError) as error:
        output.note(f"the pager {pager!r} cannot be started ({error}); --no-pager does without")
        return None


def _environment() -> dict[str, str]:
    """That of this process; `less` is told what it gets, since it might guess otherwise."""
    is_unicode = codecs.lookup(sys.stdout.encoding).name == "utf-8"
    return {"LESSCHARSET": "utf-8", **os.environ} if is_unicode else dict(os.environ)


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait for a pager, for which Ctrl-C is a key like any other."""
    while True:
        try:
            process.wait()
            return
        except KeyboardInterrupt:
            continue
