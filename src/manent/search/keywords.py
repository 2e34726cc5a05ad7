"""
Keywords: the words of a message by which older ones on the same matter are found.

A word is a run of letters, digits and marks. Where a script writes no spaces (Han, Kana, Thai and the like)
every two characters that follow each other are one. From the end of a Korean word one particle is taken,
where at least two syllables remain: `프로젝트를` is looked for as `프로젝트`, and `사과` stays whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from manent.search.folding import fold

KEYWORD_MIN = 2
"""Characters; a single one says too little."""

CANDIDATES_MAX = 60
"""Of a long message only so many different words are looked at."""

PARTICLES = frozenset("은는이가을를에의도로와과")
"""The particles of one syllable that Korean puts behind a noun."""

_WORD = re.compile(r"[^\W_]+(?:_[^\W_]+)*")
_UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_RUNS = re.compile(f"(?P<unspaced>[{_UNSPACED}]+)|[^{_UNSPACED}]+")
_HANGUL = re.compile("[가-힣]+")


def keywords(text: str) -> tuple[str, ...]:
    """The different keywords of a text, folded as `search.folding` does, in the order of the text."""
    found: dict[str, None] = {}
    for word in _WORD.finditer(fold(text)):
        for piece in _pieces(word[0]):
            if len(piece) >= KEYWORD_MIN:
                found[piece] = None
        if len(found) >= CANDIDATES_MAX:
            break
    return tuple(found)[:CANDIDATES_MAX]


def _pieces(word: str) -> Iterator[str]:
    for run in _RUNS.finditer(word):
        if run["unspaced"]:
            yield from (run[0][at : at + 2] for at in range(len(run[0]) - 1))
        else:
            yield _stem(run[0])


def _stem(word: str) -> str:
    has_particle = len(word) > KEYWORD_MIN and word[-1] in PARTICLES and _HANGUL.fullmatch(word)
    return word[:-1] if has_particle else word
