"""Standing in for graphemes: whatever breaks lines between characters then breaks none inside a grapheme."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from manent.cli import render

_NARROW = range(0xF0000, 0xFFFFE)
_WIDE = range(0x3E000, 0x3FFFE)
"""Characters of one and of two columns that Unicode has given no meaning."""


class Standing(NamedTuple):
    """
    A text in which one character stands for each grapheme of several.

    Args:
        text: the text with them.
        graphemes: what each of them stands for.
    """

    text: str
    graphemes: dict[str, str]

    def restored(self, text: str) -> str:
        """A piece of the text, or of a picture of it, with its graphemes again."""
        return "".join(self.graphemes.get(sign, sign) for sign in text) if self.graphemes else text


def stand_in(text: str) -> Standing:
    """Put one character of the same width for each grapheme of several; one without a width stays."""
    if text.isascii():
        return Standing(text, {})
    used = set(text)
    fresh = {1: _unused(_NARROW, used), 2: _unused(_WIDE, used)}
    chosen: dict[str, str] = {}
    standing = "".join(_replaced(text[start:end], chosen, fresh) for start, end in render.graphemes(text))
    return Standing(standing, {sign: grapheme for grapheme, sign in chosen.items()})


def _replaced(grapheme: str, chosen: dict[str, str], fresh: dict[int, Iterator[str]]) -> str:
    if len(grapheme) == 1 or "\n" in grapheme or "\t" in grapheme:
        return grapheme
    if grapheme not in chosen:
        sign = next(fresh.get(render.width(grapheme), iter(())), None)
        if sign is None:
            return grapheme
        chosen[grapheme] = sign
    return chosen[grapheme]


def _unused(signs: range, used: set[str]) -> Iterator[str]:
    return (chr(sign) for sign in signs if chr(sign) not in used)
