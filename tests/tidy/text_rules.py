"""The rules that any file of the repository keeps, each a function from a file to what breaks it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from tests.tidy.tree import File, Finding


class Ban(NamedTuple):
    """
    Words that have no place here, and the folders where they may stand.

    A pattern has brackets or escapes inside, so that this file does not hold the words themselves.
    """

    pattern: str
    why: str
    allowed_below: tuple[str, ...] = ()


BANS = (
    Ban(r"\bpypi\.org|pythonhosted\.org|npmjs\.(?:org|com)", "the host of a package registry"),
    Ban(r"\bdeb\.debian\.org|\bcrates\.io|\bgolang\.org", "the host of a package registry"),
    Ban(r"(?<![\w.~}/-])/wor[k]/\w", "a folder of one machine"),
    Ban(r"/opt/(?:whee[l]s|pyp[i])", "a folder of one machine"),
    Ban(r"\bfar[m]s?\b", "a word about how this was made"),
    Ban(r"\bC[E]O\b", "a word about how this was made"),
    Ban(r"\b(?:Clau[d]e|an AI|a language model) wrote\b", "a word about how this was made"),
    Ban(r"\b(?:written|generated|made) (?:by|with) (?:Clau[d]e|an AI)\b", "a word about how this was made"),
    Ban(r"\bco-authored-b[y]\b", "a word about how this was made"),
    Ban(
        r"\bsub-?agent[s]?\b",
        "a word about how this was made, other than in a format that knows it",
        allowed_below=("docs/", "samples/", "src/manent/formats/", "tests/formats/"),
    ),
)

_UNFINISHED = re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X])\b|NotImplemented[E]rror|\bfor no[w]\b")

_OUR_TEXT = {".css", ".html", ".js", ".md", ".py", ".sql", ".toml", ".txt", ".yml", ""}
"""Suffixes of what is ours. Other tools' files are kept byte for byte, whatever they are."""

_KEPT_BYTE_FOR_BYTE = re.compile(r"\A(?:samples|tests/golden)/|/fixtures/")

_QUERY = re.compile(r"^-- name: *(?P<name>.*)\n(?P<next>.*)", re.MULTILINE)


def banned_words(file: File) -> Iterator[Finding]:
    """Nothing here tells of the machine that it was made on, or leads to a registry by its host."""
    for ban in BANS:
        if not file.path.startswith(ban.allowed_below):
            for found in re.finditer(ban.pattern, file.text, re.IGNORECASE):
                yield _at(file, found, f"{found[0]!r} is {ban.why}")


def unfinished_marks(file: File) -> Iterator[Finding]:
    """What is here is finished; what is not is an issue."""
    for found in _UNFINISHED.finditer(file.text):
        yield _at(file, found, f"{found[0]!r}: finish it, or file it")


def foreign_encoding(file: File) -> Iterator[Finding]:
    """Our text is UTF-8 without a mark, and its lines end at LF, the last one too (T-2)."""
    if PurePosixPath(file.path).suffix in _OUR_TEXT and not _KEPT_BYTE_FOR_BYTE.search(file.path):
        if not _is_utf8(file.content):
            yield Finding(1, "this is not UTF-8")
        if file.content.startswith(b"\xef\xbb\xbf"):
            yield Finding(1, "this begins with a byte order mark")
        if b"\r" in file.content:
            yield Finding(file.content.split(b"\r")[0].count(b"\n") + 1, "a line ends at CR")
        if file.content and not file.content.endswith(b"\n"):
            yield Finding(file.content.count(b"\n") + 1, "the last line has no end")


def unexplained_queries(file: File) -> Iterator[Finding]:
    """Under the name of each query stands what it is for."""
    for found in _QUERY.finditer(file.text):
        if not re.match(r"-- *\S", found["next"]):
            yield _at(file, found, f"query {found['name']} has no comment under its name")


def repeated_queries(file: File) -> Iterator[Finding]:
    """A name means one query."""
    seen: set[str] = set()
    for found in _QUERY.finditer(file.text):
        if found["name"] in seen:
            yield _at(file, found, f"a second query has the name {found['name']}")
        seen.add(found["name"])


def _at(file: File, found: re.Match[str], what: str) -> Finding:
    return Finding(file.text.count("\n", 0, found.start()) + 1, what)


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
