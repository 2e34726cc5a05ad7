"""The formats that can be written, by name; each gives the files of an export one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from manent.formats import writing_chatgpt, writing_markdown, writing_openai
from manent.model.exported import Choices, Entry, ExportedConversation, Tally

Write = Callable[[Iterable[ExportedConversation], Tally, Choices], Iterator[Entry]]
"""Writes conversations and counts into the tally. An entry is read to its end before the next one."""


class Writer(NamedTuple):
    """A format: its name, what it looks like, whether files may stand beside it, and what writes it."""

    name: str
    shape: str
    takes_files: bool
    write: Write


WRITERS: tuple[Writer, ...] = (
    Writer("openai", 'OpenAI messages: {"messages": [...]} a line', False, writing_openai.write),
    Writer("markdown", "a page for people, one for each conversation", True, writing_markdown.write),
    Writer("chatgpt", "ChatGPT's conversations.json, with all branches", True, writing_chatgpt.write),
)
"""In the order in which they are listed."""


NAMES = tuple(writer.name for writer in WRITERS)


def find_writer(name: str) -> Writer | None:
    """The format of a name, or None."""
    return next((writer for writer in WRITERS if writer.name == name), None)
