"""Where a text answers a query, and how well."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from math import log

import msgspec

from manent.search.folding import fold, fold_with_offsets, widen_to_graphemes
from manent.search.query import Query, Term

SPANS_MAX = 1000
"""Places of one term that a match tells."""

HITS_MAX = 10_000
"""Places of one term that its score counts."""

_LENGTH_UNIT = 1000
"""Characters; a text of this length scores 1 / (1 + ln 2) of what a very short one does."""


class Match(msgspec.Struct, frozen=True):
    """
    A text that answers a query.

    `spans` are [start, end) code-point offsets in the text: rising, apart from each other, whole graphemes,
    at least one, and of each term the first `SPANS_MAX` at most. A greater `score` is better, and it is
    above 0; scores of one query compare, scores of different queries do not.
    """

    spans: tuple[tuple[int, int], ...]
    score: float


def match(query: Query, text: str) -> Match | None:
    """
    Find every term of a query in a text, inside words as well: `서버` is in `서버를`.

    The score is the sum over terms of 1 + ln(inside + 2 × whole), where `whole` counts the hits that are
    whole words and `inside` the others, divided by 1 + ln(1 + length / 1000), the length in characters.

    Returns:
        The match, or None where a term is missing.
    """
    folded = fold(text)
    if not all(word in folded for term in query.terms for word in term.words):
        return None
    weights = [_weight(term, folded) for term in query.terms]
    if not all(weights):
        return None
    score = sum(1 + log(weight) for weight in weights) / (1 + log(1 + len(folded) / _LENGTH_UNIT))
    return Match(_spans(query, text), score)


def _weight(term: Term, folded: str) -> int:
    """Hits in a folded text, those that are whole words counted twice; 0 where there is none."""
    return _count(_pattern(term.words), folded) + _count(_whole_pattern(term.words), folded)


def _count(pattern: re.Pattern[str], folded: str) -> int:
    return sum(1 for _ in islice(pattern.finditer(folded), HITS_MAX))


def _spans(query: Query, text: str) -> tuple[tuple[int, int], ...]:
    """The places of all terms in the original; where terms overlap, one place."""
    folded = fold_with_offsets(text)
    places = (
        widen_to_graphemes(text, folded.starts[found.start()], folded.ends[found.end() - 1])
        for term in query.terms
        for found in islice(_pattern(term.words).finditer(folded.text), SPANS_MAX)
    )
    return tuple(_merged(sorted(places)))


def _merged(places: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Sorted places; those that overlap as one."""
    start, end = 0, 0
    for next_start, next_end in places:
        if next_start < end:
            end = max(end, next_end)
            continue
        if end:
            yield start, end
        start, end = next_start, next_end
    yield start, end


@lru_cache(maxsize=1024)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, words)))


@lru_cache(maxsize=1024)
def _whole_pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """A term that starts or ends with a sign (`#42`, `c++`) is whole on that side wherever it stands."""
    before = r"(?<!\w)" if re.match(r"\w", words[0]) else ""
    after = r"(?!\w)" if re.match(r"\w", words[-1][-1]) else ""
    return re.compile(f"{before}{_pattern(words).pattern}{after}")
