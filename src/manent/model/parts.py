"""Parts: the ordered pieces of a message, and what rides along with a turn."""

from __future__ import annotations

import json
from typing import Any, assert_never

import msgspec

from manent.errors import InputError

JSON_DEPTH_MAX = 200
JSON_VALUES_MAX = 2_000_000
"""What a free JSON value may hold: enough for any tool, and read again on any stack."""


class Part(msgspec.Struct, frozen=True, tag_field="type", omit_defaults=True):
    """The base of all parts; `type` names the kind in stored JSON."""


class TextPart(Part, frozen=True, tag="text", omit_defaults=True):
    """Words of whoever wrote the message."""

    text: str


class ReasoningPart(Part, frozen=True, tag="reasoning", omit_defaults=True):
    """A model's reasoning: readable, a summary of it, or only the provider's opaque `signature`."""

    text: str = ""
    signature: str | None = None
    is_summary: bool = False


class ToolCallPart(Part, frozen=True, tag="tool_call", omit_defaults=True):
    """A call that a model asked for; `arguments` is any JSON value, or text that is not JSON."""

    name: str
    arguments: Any = None
    call_id: str | None = None


class ToolResultPart(Part, frozen=True, tag="tool_result", omit_defaults=True):
    """What a tool gave back; `content` is text or any JSON value."""

    content: Any = ""
    call_id: str | None = None
    name: str | None = None
    is_error: bool = False


class FilePart(Part, frozen=True, tag="file", omit_defaults=True):
    """
    A file or picture. `digest` leads to its bytes in the store; without it only the name is known.

    `state` is `stored`, `reference` (the source named it without bytes) or `expired`.
    """

    name: str = ""
    media_type: str = ""
    digest: str | None = None
    size_bytes: int | None = None
    uri: str | None = None
    state: str = "reference"


class Citation(Part, frozen=True, tag="citation", omit_defaults=True):
    """Where an answer got something from: the `marker` in its text and the `target` it stands for."""

    marker: str
    target: str = ""
    title: str | None = None
    quote: str | None = None
    details: Any = None


class NoticePart(Part, frozen=True, tag="notice", omit_defaults=True):
    """Something the program said, in nobody's words: a compaction, a cancelled run, a changed model."""

    kind: str
    text: str = ""


class OpaquePart(Part, frozen=True, tag="opaque", omit_defaults=True):
    """A piece that this release does not know; `data` is its JSON as it came."""

    data: Any
    origin: str = ""


AnyPart = (
    TextPart | ReasoningPart | ToolCallPart | ToolResultPart | FilePart | Citation | NoticePart | OpaquePart
)


class ToolEvent(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool that ran during a turn: its name as called, a digest of its arguments, whether it worked."""

    tool: str
    args_digest: str = ""
    ok: bool = True
    duration_ms: int | None = None


class PhantomReach(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool name that a model reached for and that was not there, and how it was resolved."""

    name_as_called: str
    resolution: str
    detail: str | None = None
    context_features: tuple[str, ...] = ()


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """
    What a provider measured. `None` is "not reported", never zero.

    Token counts are whole tokens; `cost` is in `currency`; cached tokens are part of `input_tokens`.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cached_input_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    currency: str | None = None
    model: str | None = None
    request_id: str | None = None


USAGE_COUNTS = tuple(name for name in Usage.__struct_fields__ if name.endswith("_tokens"))
"""The fields of usage that count tokens."""


def plain_str(text: str) -> str:
    """A string as one of the plain type: markup classes are strings with manners of their own."""
    return str.__str__(text) if isinstance(text, str) else text


def plain_text(parts: tuple[AnyPart, ...]) -> str:
    """The words of a message: its text parts, one after the other, with a line between them."""
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return "\n".join(part.text for part in parts if isinstance(part, TextPart))


def visible_text(parts: tuple[AnyPart, ...]) -> str:
    """Everything in a message that a reader can see, one piece a line: what search looks through."""
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return "\n".join(piece for part in parts for piece in _visible_pieces(part) if piece)


def _visible_pieces(part: AnyPart) -> tuple[str, ...]:
    match part:
        case TextPart(text=text) | ReasoningPart(text=text) | NoticePart(text=text):
            return (text,)
        case ToolCallPart(name=name, arguments=arguments):
            return (name, json_text(arguments))
        case ToolResultPart(name=name, content=content):
            return (name or "", json_text(content))
        case FilePart(name=name, uri=uri):
            return (name, uri or "")
        case Citation(marker=marker, target=target, title=title, quote=quote):
            return (marker, target, title or "", quote or "")
        case OpaquePart(data=data):
            return (json_text(data),)
    assert_never(part)


def json_text(value: Any) -> str:
    """A JSON value for reading: text as it is, anything else as JSON in one line; nothing for None."""
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def check_json(value: object, where: str) -> None:
    """
    Refuse what JSON cannot carry, before a byte is written.

    Args:
        value: dictionaries with string keys, lists, tuples, strings, finite numbers, booleans, None.
        where: the argument's name, for the error.

    Raises:
        InputError: something else stands in `value`, or too much; names the type, never the content.
    """
    pending: list[tuple[object, int]] = [(value, 0)]
    seen = 0
    while pending:
        item, depth = pending.pop()
        seen += 1
        if depth > JSON_DEPTH_MAX or seen > JSON_VALUES_MAX:
            bounds = f"{JSON_DEPTH_MAX} containers inside each other and {JSON_VALUES_MAX:,} values"
            raise InputError(f"{where} is larger than {bounds}, or holds itself.")
        if isinstance(item, dict):
            pending.extend((child, depth + 1) for child in item.values())
            if not all(isinstance(key, str) for key in item):
                raise InputError(f"{where} has a dictionary key that is not a string; JSON has only strings.")
        elif isinstance(item, list | tuple):
            pending.extend((child, depth + 1) for child in item)
        elif isinstance(item, float):
            if item != item or item in (float("inf"), float("-inf")):
                raise InputError(f"{where} holds a number that JSON cannot write (NaN or infinite).")
        elif item is not None and not isinstance(item, str | int | bool):
            raise InputError(
                f"{where} holds something of type {type(item).__name__}, which JSON cannot carry."
            )
