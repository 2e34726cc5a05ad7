"""The formats that can be read, and which one a file, folder or zip is in: by content, never by name."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from manent.errors import FormatError
from manent.formats import (
    chatgpt,
    chatgpt_parts,
    claude_ai,
    claude_ai_parts,
    claude_code,
    claude_code_lines,
    openai_messages,
    openai_parts,
)
from manent.formats.exports import looks_like_conversations
from manent.formats.source import NESTED, Source
from manent.formats.zips import is_zip
from manent.model.imported import ImportedConversation, Refusal

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Items = Iterator[ImportedConversation | Refusal]


class Format(NamedTuple):
    """
    A format: its name in reports, what it looks like, the ends of its files' names, its two functions.

    `recognises(head, name)` is given up to `HEAD_BYTES` of a file; `read(source)` a file, folder or zip.
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
        (".jsonl", ".json"),
        claude_code.recognises,
        claude_code.read,
    ),
    Format(
        chatgpt_parts.NAME,
        "a ChatGPT export (the zip, its folder, or its conversations.json)",
        chatgpt.SUFFIXES,
        chatgpt.recognises,
        chatgpt.read,
    ),
    Format(
        claude_ai_parts.NAME,
        "a Claude.ai export (the zip, its folder, or its conversations.json)",
        claude_ai.SUFFIXES,
        claude_ai.recognises,
        claude_ai.read,
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
    Say what a path holds, and begin to read it; in a folder or zip each file goes by its own content.

    Raises:
        FormatError: nothing fits, or the path cannot be read; the text lists what can be. Later, while items
            are read, when the one file is gone.
    """
    source = Source(path)
    if not source.is_folder:
        found = find_format(path, formats=formats)
        return Detected(found.name, 1, found.read(source))
    names = [each.name for file in _files(source, formats) if (each := _recognise_if_readable(file, formats))]
    if not names:
        raise _unknown(source, formats)
    return Detected(" + ".join(sorted(set(names))), len(names), _read_folder(source, formats))


def find_format(path: Path, *, formats: Sequence[Format] = FORMATS) -> Format:
    """
    Say which format a file is in, or the first file of a folder or zip that is in any.

    Only beginnings are read.

    Raises:
        FormatError: none of them fits, or the path cannot be read; the text lists what can be.
    """
    source = Source(path)
    if source.is_folder:
        known = (_recognise_if_readable(file, formats) for file in _files(source, formats))
        found = next((format for format in known if format is not None), None)
    else:
        found = _recognise(source, formats)
    if found is None:
        raise _unknown(source, formats)
    return found


def _suffixes(formats: Sequence[Format]) -> list[str]:
    return sorted({suffix for format in formats for suffix in format.suffixes})


def _files(source: Source, formats: Sequence[Format]) -> Iterator[Source]:
    return (file for file in source.files(*_suffixes(formats)) if isinstance(file, Source))


def _read_folder(source: Source, formats: Sequence[Format]) -> Items:
    """Every file below a folder; one that cannot be read, or is something else, costs that file."""
    for file in source.files(*_suffixes(formats)):
        if isinstance(file, Refusal):
            yield file
            continue
        try:
            yield from _read_one_of_many(file, formats)
        except FormatError as error:
            yield Refusal(place=error.place, reason=error.detail)


def _read_one_of_many(file: Source, formats: Sequence[Format]) -> Items:
    found = _recognise(file, formats)
    if found is not None:
        yield from found.read(file)
    elif is_zip(file.head(4)):
        yield Refusal(place=file.name, reason=NESTED)
    elif (file.name.endswith(".jsonl") and file.head().strip()) or looks_like_conversations(file):
        # Other .json files stand in such folders by the hundred: settings, notes, states.
        yield Refusal(place=file.name, reason="in no known format; left out")


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
