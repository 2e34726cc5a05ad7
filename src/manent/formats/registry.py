"""The formats that can be read, and which one a file or folder is in: by its content, never by its name."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from manent.errors import FormatError
from manent.formats import claude_code, claude_code_lines, openai_messages, openai_parts
from manent.formats.source import Source
from manent.model.imported import ImportedConversation, Refusal

FILES_LOOKED_AT = 200
"""Files of a folder whose beginnings are read to know its format."""

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Items = Iterator[ImportedConversation | Refusal]


class Format(NamedTuple):
    """
    A format: its name in reports, what it looks like, the ends of its files' names, its two functions.

    `recognises(head, name)` is given up to `HEAD_BYTES` of a file; `read(source)` a file or folder.
    """

    name: str
    shape: str
    suffixes: tuple[str, ...]
    recognises: Callable[[bytes, str], bool]
    read: Callable[[Source], Items]


class Detected(NamedTuple):
    """What a path holds: the format's name, the number of its files, and its conversations, read lazily."""

    format: str
    files: int
    items: Items


FORMATS: tuple[Format, ...] = (
    Format(
        claude_code_lines.NAME,
        "a Claude Code session (.jsonl), the folder ~/.claude/projects, or a web session (.json)",
        (".jsonl",),
        claude_code.recognises,
        claude_code.read,
    ),
    Format(
        openai_parts.NAME,
        'OpenAI messages: {"messages": [...]} a line (.jsonl), or one such value (.json)',
        (".jsonl", ".json"),
        openai_messages.recognises,
        openai_messages.read,
    ),
)
"""Asked in this order; a format whose files another one would take too stands before it."""


def detect(path: Path, *, formats: Sequence[Format] = FORMATS) -> Detected:
    """
    Say what a file or folder is, and begin to read it.

    Raises:
        FormatError: as `find_format` does; later, while items are read, when the one file is gone.
    """
    found = find_format(path, formats=formats)
    source = Source(path)
    files = sum(isinstance(file, Source) for file in source.files(*found.suffixes))
    return Detected(found.name, files, found.read(source))


def find_format(path: Path, *, formats: Sequence[Format] = FORMATS) -> Format:
    """
    Say which format a file, or a folder's files, are in; nothing else is read.

    Raises:
        FormatError: none of them fits, or the path cannot be read; the text lists what can be.
    """
    source = Source(path)
    if not path.is_dir():
        found = _recognise(source, formats)
        if found is None:
            raise _unknown(source, formats)
        return found
    suffixes = sorted({suffix for format in formats for suffix in format.suffixes})
    files = (file for file in source.files(*suffixes) if isinstance(file, Source))
    for file in islice(files, FILES_LOOKED_AT):
        if (found := _recognise_if_readable(file, formats)) is not None:
            return found
    raise _unknown(source, formats)


def _recognise(source: Source, formats: Sequence[Format]) -> Format | None:
    head = source.head()
    if head.startswith(_UTF16):
        raise FormatError("the file is UTF-16; save it as UTF-8 and import that", place=source.name)
    return next((format for format in formats if format.recognises(head, source.name)), None)


def _recognise_if_readable(source: Source, formats: Sequence[Format]) -> Format | None:
    try:
        return _recognise(source, formats)
    except FormatError:
        return None


def _unknown(source: Source, formats: Sequence[Format]) -> FormatError:
    known = "; ".join(format.shape for format in formats)
    return FormatError(f"this is in no known format. What can be read: {known}", place=source.name)
