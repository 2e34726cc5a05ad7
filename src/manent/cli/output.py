"""What commands write: text for people, one JSON object for programs, progress and notes on stderr."""

from __future__ import annotations

import codecs
import io
import os
import re
import sys
import time
from collections.abc import Iterable
from itertools import chain
from typing import Any, NamedTuple

PROGRESS_S = 0.1
"""Progress is written at most this often."""

_UNSAFE_IN_JSON = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What JSON permits in a string and a terminal might obey, or no encoding can carry."""


class Taste(NamedTuple):
    """How somebody wants to read: `colour` is auto or never, `pager` a command or empty for none."""

    colour: str = "auto"
    pager: str = ""


taste = Taste()
"""As the environment and the configuration file say; the group of commands sets it."""


def prepare() -> None:
    """Let signs that this output cannot show be replaced, so that no text can stop a command (case 86)."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def write(text: str = "") -> None:
    """A line on stdout. The text is what a terminal may see: see `render`."""
    sys.stdout.write(text + "\n")


def write_pages(lines: Iterable[str], *, paged: bool = True) -> None:
    """
    Lines on stdout; on a terminal, what is longer than the screen goes through the pager.

    Args:
        paged: use the pager where there is one.
    """
    if not (paged and taste.pager and is_terminal() and os.environ.get("TERM") != "dumb"):
        for line in lines:
            write(line)
        return
    from manent.cli import paging

    rest = iter(lines)
    first = list(paging.take_screen(rest))
    if paging.is_more(first):
        paging.show(chain(first, rest), taste.pager)
    else:
        for line in first:
            write(line)


def write_json(value: Any) -> None:
    """One object on stdout, on one line. A program reads back the very strings; a terminal obeys none."""
    import json

    plain = _carries_unicode()
    text = json.dumps(value, ensure_ascii=not plain)
    write(_UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text))


def write_bytes(data: bytes) -> None:
    """Bytes on stdout, as they are."""
    sys.stdout.buffer.write(data)


def complain(text: str) -> None:
    """A line on stderr."""
    print(text, file=sys.stderr)


def note(text: str) -> None:
    """What a person should know, on one line of stderr, never between the results."""
    from manent.cli.render import one_line

    complain(f"manent: {one_line(text)}")


def is_terminal() -> bool:
    """Whether a person is looking at stdout."""
    return sys.stdout.isatty()


def columns() -> int:
    """How wide the terminal is."""
    import shutil

    return shutil.get_terminal_size().columns


def has_colour() -> bool:
    """Whether stdout shows emphasis: a terminal, and nobody said NO_COLOR or `colour = "never"`."""
    wanted = taste.colour != "never" and not os.environ.get("NO_COLOR")
    return is_terminal() and wanted and os.environ.get("TERM") != "dumb"


def bold(text: str) -> str:
    """Emphasis where it can be seen."""
    return f"\x1b[1m{text}\x1b[0m" if has_colour() else text


def faint(text: str) -> str:
    """The opposite of emphasis, where it can be seen."""
    return f"\x1b[2m{text}\x1b[0m" if has_colour() else text


class Progress:
    """A count on one line of stderr, when that is a terminal; call it with the number so far (U-1)."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._next_s = 0.0
        self._shown = False
        self.count = 0

    def __call__(self, count: int) -> None:
        self.count = count
        if sys.stderr.isatty() and time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + PROGRESS_S
            self._shown = True
            sys.stderr.write(f"\r{count:,} {self._what}")
            sys.stderr.flush()

    def clear(self) -> None:
        """Take the line away, before anything else is written."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            self._shown = False


def _carries_unicode() -> bool:
    return codecs.lookup(sys.stdout.encoding).name == "utf-8"
