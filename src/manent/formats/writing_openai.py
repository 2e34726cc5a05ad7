"""
OpenAI chat messages, written: `{"messages": [...]}` a line, one for the active branch of each conversation.

What is written is what the interface takes: right behind the message that calls come the results, each with
the id of its call, which is made where the source had none; a call and its result are both there or both not.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import Any

from manent.formats import jsontext
from manent.formats.pairs import Spot, find_pairs
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
    json_text,
)
from manent.model.records import StoredMessage

PICTURE_BYTES_MAX = 4 << 20
"""A larger picture is left out: it would stand in the middle of a line, as base64."""

_ROLES = ("system", "user", "assistant")
_NAME_SIGNS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_NAME_MAX = 64
_REFUSAL = "refusal"


def write(conversations: Iterable[ExportedConversation], tally: Tally, choices: Choices) -> Iterator[Entry]:
    """One file of lines; a conversation of which nothing can be written has none."""
    yield Entry("messages.jsonl", (line for each in conversations for line in _lines(each, tally, choices)))


def _lines(conversation: ExportedConversation, tally: Tally, choices: Choices) -> Iterator[bytes]:
    count_beside(conversation, tally)
    count_other_branches(conversation, tally)
    tally.leave_out("titles", bool(conversation.summary.title))
    tally.leave_out("projects", conversation.summary.project is not None)
    branch = conversation.active()
    if not choices.hidden:
        tally.leave_out("hidden", sum(message.hidden for message in branch))
        branch = [message for message in branch if not message.hidden]
    messages = list(_Branch(conversation, branch, tally).messages())
    if messages:
        tally.wrote(len(messages))
        yield jsontext.dumps({"messages": messages}) + b"\n"


class _Branch:
    """The messages of one branch, made into those of the interface."""

    def __init__(self, conversation: ExportedConversation, branch: list[StoredMessage], tally: Tally) -> None:
        self._conversation = conversation
        self._branch = branch
        self._tally = tally
        self._pairs = find_pairs(branch)
        self._answered = {pair.result_at for pair in self._pairs.values()}

    def messages(self) -> Iterator[dict[str, Any]]:
        """The messages in order, each call followed by its results."""
        for place, message in enumerate(self._branch):
            self._count(place, message)
            if message.role in _ROLES:
                written = self._message(place, message)
                if written is not None:
                    yield written
                elif not any(isinstance(part, ToolCallPart | ToolResultPart) for part in message.parts):
                    self._tally.leave_out("empty")
            else:
                has_words = bool(self._content(message))
                is_tool = message.role == "tool"
                self._tally.leave_out(
                    "unpaired_results" if is_tool else "other_roles", has_words or not is_tool
                )
            for number in range(len(message.parts)):
                if pair := self._pairs.get(Spot(place, number)):
                    content = json_text(pair.result.content)
                    yield {"role": "tool", "tool_call_id": pair.call_id, "content": content}

    def _message(self, place: int, message: StoredMessage) -> dict[str, Any] | None:
        """A message without its results; None when nothing is left of it."""
        content = self._content(message)
        spots = [Spot(place, number) for number in range(len(message.parts))]
        calls = [_call(pair.call, pair.call_id) for spot in spots if (pair := self._pairs.get(spot))]
        notices = [part for part in message.parts if isinstance(part, NoticePart)]
        refusals = [notice.text for notice in notices if _is_refusal(message.role, notice)]
        if not (content or calls or refusals):
            return None
        written: dict[str, Any] = {"role": message.role, "content": content or None}
        if message.author and _is_name(message):
            written["name"] = message.author
        if refusals:
            written["refusal"] = "\n".join(refusals)
        if calls:
            written["tool_calls"] = calls
        return written

    def _content(self, message: StoredMessage) -> str | list[dict[str, Any]]:
        """Text where there is nothing else, else a list of pieces."""
        pieces = [piece for part in message.parts if (piece := self._piece(message.role, part))]
        if all(piece["type"] == "text" for piece in pieces):
            return "\n".join(piece["text"] for piece in pieces)
        return pieces

    def _piece(self, role: str, part: AnyPart) -> dict[str, Any] | None:
        match part:
            case TextPart(text=text):
                return {"type": "text", "text": text} if text else None
            case FilePart():
                url = self._picture(part) if role == "user" else None
                if url is not None:
                    self._tally.attachments += 1
                    return {"type": "image_url", "image_url": {"url": url}}
                self._tally.leave_out("attachments")
            case Citation():
                self._tally.leave_out("citations")
            case NoticePart():
                self._tally.leave_out("notices", not _is_refusal(role, part))
            case OpaquePart():
                self._tally.leave_out("opaque")
            case _:
                pass
        return None

    def _picture(self, file: FilePart) -> str | None:
        """A picture as a URL, with its bytes in it where they are here and few; None for any other file."""
        if file.digest is None:
            uri = file.uri or ""
            is_picture = file.media_type.startswith("image/") or not file.media_type
            if uri.startswith("data:image/"):
                return uri
            return uri if is_picture and uri.startswith(("https://", "http://")) else None
        if not file.media_type.startswith("image/") or file.digest not in self._conversation.files:
            return None
        data = bytearray()
        for piece in self._conversation.read_file(file.digest):
            data += piece
            if len(data) > PICTURE_BYTES_MAX:
                return None
        return f"data:{file.media_type};base64,{base64.b64encode(data).decode('ascii')}"

    def _count(self, place: int, message: StoredMessage) -> None:
        """What the interface has no place for."""
        tally = self._tally
        tally.leave_out("reasoning", any(isinstance(part, ReasoningPart) for part in message.parts))
        tally.leave_out("usage", message.usage is not None)
        tally.leave_out("times", message.claim_ns is not None)
        tally.leave_out("authors", message.author is not None and not _is_name(message))
        for number, part in enumerate(message.parts):
            here = Spot(place, number)
            if isinstance(part, ToolCallPart):
                tally.leave_out("unpaired_calls", here not in self._pairs)
            elif isinstance(part, ToolResultPart):
                tally.leave_out("unpaired_results", here not in self._answered)
                tally.leave_out("failed_results", part.is_error and here in self._answered)


def _call(call: ToolCallPart, call_id: str) -> dict[str, Any]:
    """Arguments are a string that holds JSON; what was no JSON stays the text that it was."""
    given = call.arguments
    arguments = given if isinstance(given, str) else json_text({} if given is None else given)
    return {"id": call_id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _is_refusal(role: str, notice: NoticePart) -> bool:
    return role == "assistant" and notice.kind == _REFUSAL


def _is_name(message: StoredMessage) -> bool:
    """Whether an author can stand as `name`: the interface takes few signs, and only a user's."""
    author = message.author or ""
    return message.role == "user" and 0 < len(author) <= _NAME_MAX and _NAME_SIGNS.issuperset(author)
