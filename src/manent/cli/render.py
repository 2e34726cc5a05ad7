"""
Stored text on a terminal: shown, never obeyed (T-3).

Controls become visible signs, what reorders or hides text becomes its code point, and nothing is cut inside
a grapheme. No markup is parsed: what comes out is the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""All but tab and newline: C0, DEL, C1, line separators, bidi embeddings and overrides, lone surrogates."""

_SPACES = re.compile(r"[\t\n]+")
_PICTURES = 0x2400
_ELLIPSIS = "…"


def inert(text: str) -> str:
    """Text with its newlines, in which nothing acts on a terminal."""
    return _CONTROLS.sub(lambda found: _picture(found[0]), text.replace("\r\n", "\n"))


def one_line(text: str) -> str:
    """Inert text without newlines and tabs, for a place in a line of ours."""
    return _SPACES.sub(" ", inert(text))


def _picture(sign: str) -> str:
    code = ord(sign)
    if code < 0x20:
        return chr(_PICTURES + code)
    if code == 0x7F:
        return "␡"
    if code < 0xA0:  # ECMA-48: a C1 control is ESC and the character 0x40 before it
        return f"␛{chr(code - 0x40)}"
    return f"<U+{code:04X}>"


def cut(text: str, columns: int) -> str:
    """At most so many columns of a line, cut between graphemes; an ellipsis says that there was more."""
    from rich.cells import cell_len

    used, kept = 0, 0
    for start, end in graphemes(text):
        used += cell_len(text[start:end])
        if used > columns:
            return text[:kept] + _ELLIPSIS
        if used < columns:
            kept = end
    return text


def width(text: str) -> int:
    """How many columns a line takes on a terminal, where wide letters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def pad(text: str, columns: int) -> str:
    """A line filled up with spaces to so many columns of a terminal."""
    return text + " " * (columns - width(text))


def graphemes(text: str) -> Iterator[tuple[int, int]]:
    """Where each grapheme begins and ends."""
    from manent.search.folding import is_grapheme_border

    start = 0
    for at in range(1, len(text) + 1):
        if is_grapheme_border(text, at):
            yield start, at
            start = at


def counted(count: int, noun: str) -> str:
    """A number and its noun: `1 event`, `1,000 events`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def local_time(claim_ns: int | None) -> str:
    """A claim of time in this machine's time zone, to the minute; `-` where there is none to show."""
    if claim_ns is None:
        return "-"
    try:
        return f"{datetime.fromtimestamp(claim_ns // 1_000_000_000):%Y-%m-%d %H:%M}"
    except (OverflowError, ValueError, OSError):
        return "-"
