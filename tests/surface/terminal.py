"""A terminal of its own for a command, and what a person in front of it gets to see."""

from __future__ import annotations

import os
import subprocess
from typing import NamedTuple

import pytest

from tests.surface.command_line import Desk, environment

pty = pytest.importorskip("pty", reason="there is no pseudo-terminal here")

SECONDS_MAX = 20


class Seen(NamedTuple):
    """What came of a command at a terminal."""

    text: str
    exit_code: int


def at_a_terminal(desk: Desk, *words: str, typed: str = "", **variables: str) -> Seen:
    """Run a command at a terminal of 40 columns, on which somebody has typed something ahead."""
    leader, follower = pty.openpty()
    variables = {"COLUMNS": "40", "TERM": "xterm", "MANENT_PAGER": "", **variables}
    process = subprocess.Popen(
        desk.command(*words),
        env=environment(variables),
        stdin=follower if typed else None,
        stdout=follower,
        stderr=subprocess.STDOUT,
    )
    os.close(follower)
    os.write(leader, typed.encode())
    seen = b"".join(iter(lambda: _read(leader), b""))
    os.close(leader)
    code = process.wait(timeout=SECONDS_MAX)
    return Seen(seen.decode("utf-8").replace("\r\n", "\n"), code)


def on_a_terminal(desk: Desk, *words: str, **variables: str) -> str:
    """What a terminal gets to see of a command that ends well."""
    seen = at_a_terminal(desk, *words, **variables)
    assert seen.exit_code == 0, seen
    return seen.text


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 65536)
    except OSError:  # Linux: the other end is closed
        return b""
