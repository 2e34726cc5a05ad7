"""
What a query asks for: words and "phrases", all of which must occur.

Whatever is typed is text. A pair of double quotes around words is the only sign with a meaning, and where
it is not one (a lone quote, a quote inside a word) it is text as well: nothing is a syntax error (S-2).
"""

from __future__ import annotations

import re
from unicodedata import category

import msgspec

from manent.errors import EmptyQueryError
from manent.search.folding import fold

_PHRASE_OR_WORD = re.compile(r'"([^"]*)"|(\S+)')

_UNSEEN_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"}
"""Not `Co` and `Cn`: a private or a very new character may well be seen."""


class Term(msgspec.Struct, frozen=True):
    """
    One thing to look for: `text` as it was typed, and its folded words, one or more.

    The words of a phrase must follow each other with nothing but white space in between.
    """

    text: str
    words: tuple[str, ...]


class Query(msgspec.Struct, frozen=True):
    """What must occur in a text, all of it: one or more terms, each different, in the order typed."""

    terms: tuple[Term, ...]


def parse_query(text: str) -> Query:
    """
    Read what somebody typed, any string.

    A term that shows nothing (format characters, controls, lone surrogates) and a term of quotes alone are
    left out; so is a term that folds to the same as one before it.

    Raises:
        EmptyQueryError: nothing is left to search.
    """
    by_words: dict[tuple[str, ...], Term] = {}
    for found in _PHRASE_OR_WORD.finditer(text):
        term = _term(found[0] if found[1] is None else found[1])
        if _shows_something(term):
            by_words.setdefault(term.words, term)
    if not by_words:
        raise EmptyQueryError
    return Query(tuple(by_words.values()))


def _term(typed: str) -> Term:
    folded = (fold(word) for word in typed.split())
    return Term(typed.strip(), tuple(word for word in folded if word))


def _shows_something(term: Term) -> bool:
    characters = set[str]().union(*term.words) - {'"'}
    return any(category(character) not in _UNSEEN_CATEGORIES for character in characters)
