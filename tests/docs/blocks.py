"""The code blocks of a Markdown page, and the commands in those of a terminal."""

from __future__ import annotations

import re
import textwrap
from typing import NamedTuple

_FENCE = re.compile(
    r"^(?P<indent> *)(?P<fence>`{3,})(?P<info>[^\n`]*)\n(?P<code>.*?)^(?P=indent)(?P=fence) *$",
    re.MULTILINE | re.DOTALL,
)
_CONTINUED = re.compile(r"\\\n(?:> ?)?")
_PROMPT = "$ "
_EXIT_CODE = re.compile(r"\s+# exit (?P<code>\d+)\s*\Z")


class Block(NamedTuple):
    """A fenced block: what stands behind the fence, its code, and the line on which the code begins."""

    language: str
    flags: frozenset[str]
    code: str
    line: int

    @property
    def runs(self) -> bool:
        """Whether a reader who follows the page would run it."""
        return "no-run" not in self.flags


class Command(NamedTuple):
    """A line that a reader would type, and the exit code that the page lets them expect."""

    text: str
    exit_code: int


def read_blocks(page: str) -> list[Block]:
    """All fenced blocks of a page, in their order."""
    return [_block(page, found) for found in _FENCE.finditer(page)]


def manent_commands(code: str) -> list[Command]:
    """The lines of a terminal block that call manent; a line that ends in a backslash goes on in the next."""
    lines = _CONTINUED.sub("", code).splitlines()
    typed = (line.removeprefix(_PROMPT) for line in lines if line.startswith(_PROMPT))
    return [_command(text) for text in typed if text.split(maxsplit=1)[:1] == ["manent"]]


def _block(page: str, found: re.Match[str]) -> Block:
    language, *flags = found["info"].split() or [""]
    line = page.count("\n", 0, found.start("code")) + 1
    return Block(language, frozenset(flags), textwrap.dedent(found["code"]), line)


def _command(text: str) -> Command:
    found = _EXIT_CODE.search(text)
    return Command(text[: found.start()], int(found["code"])) if found else Command(text, 0)
