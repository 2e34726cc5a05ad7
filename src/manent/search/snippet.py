"""What to show of a text that was found: a piece around its first match, and where the matches are in it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from manent.errors import InputError
from manent.search.folding import is_grapheme_border, widen_to_graphemes

_WORD_SOUGHT = 20
"""Code points that a snippet may give up so as to start and end with a whole word."""


class Snippet(msgspec.Struct, frozen=True):
    """
    A piece of a text, as it was written: line breaks, controls and markup are for the display to make inert.

    `highlights` are [start, end) code-point offsets in `text`, rising and apart from each other; there are
    no markers that content could imitate. `cut_before` and `cut_after` say that the original goes on there.
    """

    text: str
    highlights: tuple[tuple[int, int], ...]
    cut_before: bool
    cut_after: bool


def cut_snippet(text: str, spans: Sequence[tuple[int, int]], *, width_max: int = 160) -> Snippet:
    """
    Cut the piece around the first match; the beginning, where there is none.

    It is cut between graphemes, and where white space is near, between words and without that space.

    Args:
        text: The whole original.
        spans: [start, end) code-point offsets of matches, rising and apart from each other, as `match` gives.
        width_max: Code points, 1 or more. Only a first grapheme longer than that makes the snippet longer.

    Raises:
        InputError: `width_max` is less than 1.
    """
    if width_max < 1:
        raise InputError(f"width_max is {width_max}; a snippet needs at least 1 character.")
    start, end = _window(text, spans[0] if spans else (0, 0), width_max)
    return Snippet(
        text=text[start:end],
        highlights=tuple(_highlights(spans, start, end)),
        cut_before=start > 0,
        cut_after=end < len(text),
    )


def _window(text: str, first: tuple[int, int], width_max: int) -> tuple[int, int]:
    """The piece of a text that has the first match in its middle, as far as the text reaches."""
    match_start, match_end = first
    spare = max(width_max - (match_end - match_start), 0)
    after = min(len(text) - match_end, spare - spare // 2)
    start = _trim_start(text, max(match_start - (spare - after), 0), match_start)
    end = min(start + width_max, len(text))
    return start, _trim_end(text, end, match_end, start)


def _trim_start(text: str, start: int, last: int) -> int:
    """Go on to the next word, or else to the next grapheme, but not beyond `last`."""
    if start == 0:
        return 0
    for at in range(start, min(start + _WORD_SOUGHT, last) + 1):
        if text[at - 1].isspace() and not text[at : at + 1].isspace() and is_grapheme_border(text, at):
            return at
    return min(widen_to_graphemes(text, start, start)[1], last)


def _trim_end(text: str, end: int, first: int, start: int) -> int:
    """Go back to the end of a word, or else of a grapheme, but not before `first`, and keep something."""
    if end == len(text):
        return end
    for at in range(end, max(end - _WORD_SOUGHT, first, start + 1) - 1, -1):
        if text[at].isspace() and not text[at - 1].isspace() and is_grapheme_border(text, at):
            return at
    shorter, longer = widen_to_graphemes(text, end, end)
    return shorter if shorter > start else longer


def _highlights(spans: Sequence[tuple[int, int]], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Spans as far as they lie before `end`, counted from `start`; none is before it."""
    for span_start, span_end in spans:
        if span_start < end:
            yield span_start - start, min(span_end, end) - start
