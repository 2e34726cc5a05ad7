"""
Markdown for people: a page for each conversation, its active branch from top to bottom.

What was said stands in fences longer than any run of backticks in it, so that it is shown to the letter and
nothing in it acts: no heading, no link, no HTML. What stands outside of fences is escaped sign by sign.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from itertools import islice
from urllib.parse import quote

from manent.errors import InputError
from manent.formats.filenames import file_name, slug
from manent.model.exported import (
    Choices,
    Entry,
    ExportedConversation,
    Tally,
    count_beside,
    count_other_branches,
)
from manent.model.parts import (
    AnyPart,
    Citation,
    FilePart,
    NoticePart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from manent.model.records import StoredMessage

_FENCE_MIN = 3
_UID_LENGTH = 12
_DIGEST_LENGTH = 32
_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_BACKTICKS = re.compile(r"`+")
_ACTING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Controls, line separators, what reorders text, lone surrogates: shown by name in a page."""

_PICTURES = 0x2400


def write(conversations: Iterable[ExportedConversation], tally: Tally, choices: Choices) -> Iterator[Entry]:
    """
    A page for each conversation, and behind each page the files that it is the first to name.

    Raises:
        InputError: there is no room for files, and more than one conversation. Nothing was written.
    """
    remaining = iter(conversations)
    if not choices.files:
        first = list(islice(remaining, 2))
        if len(first) > 1:
            raise InputError("Several conversations are several pages: name a folder, or a file in .zip.")
        remaining = iter(first)
    written: set[str] = set()
    for conversation in remaining:
        page = _Page(conversation, tally, choices)
        yield Entry(page.name, (line.encode("utf-8") for line in page.lines()))
        for file in page.files:
            if file.name not in written:
                written.add(file.name)
                tally.attachments += 1
                yield file


class _Page:
    """One conversation as a page; `files` is what its lines lead to, once they were read."""

    def __init__(self, conversation: ExportedConversation, tally: Tally, choices: Choices) -> None:
        self._conversation = conversation
        self._tally = tally
        self._choices = choices
        self.files: list[Entry] = []

    @property
    def name(self) -> str:
        """The name of its file: of the title, which anybody may choose, and of the identity."""
        stem = slug(self._conversation.summary.title) or "conversation"
        return f"{stem}-{self._conversation.uid[:_UID_LENGTH]}.md"

    def lines(self) -> Iterator[str]:
        """The page in pieces, each with its line ends."""
        branch = self._branch()
        yield from self._heading()
        for message in branch:
            yield from self._message(message)
        self._tally.wrote(len(branch))

    def _branch(self) -> list[StoredMessage]:
        count_beside(self._conversation, self._tally)
        count_other_branches(self._conversation, self._tally)
        branch = self._conversation.active()
        if self._choices.hidden:
            return branch
        self._tally.leave_out("hidden", sum(message.hidden for message in branch))
        return [message for message in branch if not message.hidden]

    def _heading(self) -> Iterator[str]:
        summary = self._conversation.summary
        yield f"# {escaped(summary.title) or 'Conversation'}\n\n"
        yield f"- id: {escaped(summary.id)}\n"
        if summary.project:
            yield f"- project: {escaped(summary.project)}\n"
        for name, moment in (("began", _moment(summary.started_ns)), ("last", _moment(summary.last_ns))):
            yield f"- {name}: {moment}\n" if moment else ""

    def _message(self, message: StoredMessage) -> Iterator[str]:
        self._tally.leave_out("usage", message.usage is not None)
        who = f"{message.role} ({message.author})" if message.author else message.role
        mark = ", hidden" if message.hidden else ""
        when = _moment(message.claim_ns)
        yield f"\n## {escaped(who)}{mark}{f' · {when}' if when else ''}\n"
        for part in message.parts:
            yield from self._part(part)

    def _part(self, part: AnyPart) -> Iterator[str]:
        match part:
            case TextPart(text=text):
                yield from fenced(text, "text") if text else ()
            case ReasoningPart(text=text, signature=signature):
                self._tally.leave_out("signatures", signature is not None)
                yield from _labelled("Reasoning", text) if text else ()
            case ToolCallPart(name=name, arguments=arguments, call_id=call_id):
                self._tally.leave_out("call_ids", call_id is not None)
                yield from _labelled(f"Calls {escaped(name)}", arguments)
            case ToolResultPart(name=name, content=content, is_error=is_error):
                said = f"Result{f' of {escaped(name)}' if name else ''}{', failed' if is_error else ''}"
                yield from _labelled(said, content)
            case NoticePart(kind=kind, text=text):
                yield from _labelled(f"Notice: {escaped(kind)}", text)
            case Citation(marker=marker, target=target, title=title):
                shown = " ".join(escaped(each) for each in (marker, title or "", target) if each)
                yield f"\n- source: {shown}\n"
            case FilePart():
                yield from self._file(part)
            case OpaquePart():
                self._tally.leave_out("opaque")

    def _file(self, part: FilePart) -> Iterator[str]:
        label = escaped(part.name or part.media_type or "file")
        digest = part.digest or ""
        if not self._choices.files or digest not in self._conversation.files:
            self._tally.leave_out("attachments")
            yield f"\n- file: {label}\n"
            return
        name = f"files/{digest[:_DIGEST_LENGTH]}-{file_name(part.name)}"
        self.files.append(Entry(name, self._conversation.read_file(digest)))
        yield f"\n- file: [{label}](<{quote(name)}>)\n"


def fenced(text: str, language: str) -> Iterator[str]:
    """Text in a fence that nothing in it can close; controls are shown, line ends are LF."""
    shown = inert(text.replace("\r\n", "\n"))
    longest = max((len(run) for run in _BACKTICKS.findall(shown)), default=0)
    fence = "`" * max(_FENCE_MIN, longest + 1)
    yield f"\n{fence}{language}\n{shown}{'' if shown.endswith(chr(10)) else chr(10)}{fence}\n"


def escaped(text: str) -> str:
    """Text for a line outside of fences: every sign that Markdown or HTML could act on is escaped."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(inert(text).split()))


def inert(text: str) -> str:
    """Text in which nothing acts on a terminal, and no line ends but at LF."""
    return _ACTING.sub(lambda found: _picture(ord(found[0])), text)


def _picture(code: int) -> str:
    if code < 0x20:
        return chr(_PICTURES + code)
    return "\u2421" if code == 0x7F else f"[U+{code:04X}]"


def _labelled(label: str, value: object) -> Iterator[str]:
    """A line that says what follows, and that in a fence: text as it is, anything else as JSON."""
    text, language = (value, "text") if isinstance(value, str) else (_json(value), "json")
    yield f"\n{label}\n"
    yield from fenced(text, language) if text else ()


def _json(value: object) -> str:
    return "" if value is None else json.dumps(value, ensure_ascii=False, indent=2)


def _moment(claim_ns: int | None) -> str:
    """A claim of time in UTC, to the second; "" where there is none that a calendar has."""
    if claim_ns is None:
        return ""
    try:
        return f"{datetime.fromtimestamp(claim_ns // 1_000_000_000, UTC):%Y-%m-%d %H:%M:%S} UTC"
    except (OverflowError, ValueError, OSError):
        return ""
