"""
What somebody typed, made into a query of SQLite's full-text search that cannot fail.

There are six rules:

1. Text between two double quotes is a phrase; a quote without a partner is no sign at all.
2. Outside phrases the characters ( ) * ^ are dropped.
3. AND, OR and NOT in capitals are operators between two terms; elsewhere they vanish, and of several
   that follow each other the first stays. NEAR in capitals is a word and is quoted.
4. A word with any other ASCII punctuation is quoted.
5. A word or phrase without a letter or digit, in whatever script, is dropped.
6. When nothing is left, that is an error, and never a query that fits everything.
"""

from __future__ import annotations

import string
from collections.abc import Iterator
from typing import NamedTuple

from manent.errors import EmptyQueryError

OPERATORS = ("AND", "OR", "NOT")
_RESERVED = "NEAR"
_DROPPED = str.maketrans("", "", '()*^"')
_PUNCTUATION = frozenset(string.punctuation)


class Token(NamedTuple):
    """One piece of a query: a word, a phrase, or one of `OPERATORS`."""

    text: str
    is_operator: bool = False
    is_quoted: bool = False

    def __str__(self) -> str:
        return f'"{self.text}"' if self.is_quoted else self.text


def sanitize_fts5_query(text: str) -> str:
    """
    Make a query of what somebody typed.

    Raises:
        EmptyQueryError: nothing is left to search.
    """
    return " ".join(map(str, read_tokens(text)))


def read_tokens(text: str) -> list[Token]:
    """
    The pieces of a query: terms, with an operator between two of them at most.

    Raises:
        EmptyQueryError: nothing is left to search.
    """
    tokens: list[Token] = []
    for token in _tokens(text):
        if not (token.is_operator and (not tokens or tokens[-1].is_operator)):
            tokens.append(token)
    if tokens and tokens[-1].is_operator:
        tokens.pop()
    if not tokens:
        raise EmptyQueryError
    return tokens


def _tokens(text: str) -> Iterator[Token]:
    pieces = text.split('"')
    if len(pieces) % 2 == 0:
        pieces[-2:] = [" ".join(pieces[-2:])]
    for number, piece in enumerate(pieces):
        yield from _phrase(piece) if number % 2 else _words(piece)


def _phrase(text: str) -> Iterator[Token]:
    if _says_something(text):
        yield Token(text.strip(), is_quoted=True)


def _words(text: str) -> Iterator[Token]:
    for typed in text.split():
        word = typed.translate(_DROPPED)
        if word in OPERATORS:
            yield Token(word, is_operator=True)
        elif _says_something(word):
            yield Token(word, is_quoted=word == _RESERVED or not _PUNCTUATION.isdisjoint(word))


def _says_something(text: str) -> bool:
    return any(map(str.isalnum, text))
