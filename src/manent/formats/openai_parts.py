"""What an OpenAI chat message holds, as parts: content, refusals, audio, calls and results."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from manent.errors import FormatError
from manent.formats import jsontext
from manent.formats.blocks import lone_text, text_or_none
from manent.model.parts import (
    AnyPart,
    FilePart,
    NoticePart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

NAME = "openai-messages"
_WORDS = ("text", "input_text", "output_text")


def message_to_parts(message: dict[str, Any], role: str) -> tuple[AnyPart, ...]:
    """Parts in the order in which they are read: reasoning, content, refusal, audio, calls."""
    if role in ("tool", "function"):
        return (_result(message),)
    return (*_reasoning(message), *_content(message.get("content")), *_outcome(message), *_calls(message))


def _result(message: dict[str, Any]) -> ToolResultPart:
    content = message.get("content")
    return ToolResultPart(
        content="" if content is None else lone_text(content),
        call_id=text_or_none(message.get("tool_call_id")),
        name=text_or_none(message.get("name")),
    )


def _reasoning(message: dict[str, Any]) -> Iterator[AnyPart]:
    """Not OpenAI's own: servers that speak its dialect put a model's reasoning here."""
    text = message.get("reasoning_content") or message.get("reasoning")
    if isinstance(text, str) and text:
        yield ReasoningPart(text=text)


def _content(content: Any) -> Iterator[AnyPart]:
    if isinstance(content, str):
        yield TextPart(content)
    elif isinstance(content, list):
        for piece in content:
            yield _piece(piece)
    elif content is not None:
        yield OpaquePart(data=content, origin=NAME)


def _piece(piece: Any) -> AnyPart:
    match piece:
        case str(text):
            return TextPart(text)
        case {"type": kind, "text": str(text)} if kind in _WORDS:
            return TextPart(text)
        case {"type": "refusal", "refusal": str(text)}:
            return NoticePart("refusal", text)
        case {"type": "image_url", "image_url": str(url) | {"url": str(url)}}:
            return FilePart(media_type=_media_type(url), uri=url)
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(kind)}}:
            return FilePart(media_type=f"audio/{kind}", uri=f"data:audio/{kind};base64,{data}")
        case {"type": "file", "file": dict(file)}:
            return _file(file)
        case {"type": str(kind)}:
            return OpaquePart(data=piece, origin=f"{NAME}:{kind}")
        case _:
            return OpaquePart(data=piece, origin=NAME)


def _file(file: dict[str, Any]) -> FilePart:
    uri = text_or_none(file.get("file_data")) or text_or_none(file.get("file_id"))
    return FilePart(text_or_none(file.get("filename")) or "", _media_type(uri or ""), uri=uri)


def _media_type(url: str) -> str:
    """The type in a data URL; empty where the address does not tell."""
    head, comma, _ = url[:200].partition(",")
    return head.removeprefix("data:").split(";")[0] if comma and head.startswith("data:") else ""


def _outcome(message: dict[str, Any]) -> Iterator[AnyPart]:
    """What stands beside the content: a refusal, and spoken words with their transcript."""
    refusal, audio = message.get("refusal"), message.get("audio")
    if isinstance(refusal, str) and refusal:
        yield NoticePart("refusal", refusal)
    if isinstance(audio, dict):
        if isinstance(audio.get("transcript"), str) and not message.get("content"):
            yield TextPart(audio["transcript"])
        yield OpaquePart(data=audio, origin=f"{NAME}:audio")


def _calls(message: dict[str, Any]) -> Iterator[AnyPart]:
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        yield _call(call)
    match message.get("function_call"):
        case {"name": str(name), **rest}:
            yield ToolCallPart(name, _arguments(rest.get("arguments")))


def _call(call: Any) -> AnyPart:
    match call:
        case {"function": {"name": str(name), **rest}}:
            return ToolCallPart(name, _arguments(rest.get("arguments")), text_or_none(call.get("id")))
        case {"custom": {"name": str(name), **rest}}:
            return ToolCallPart(name, rest.get("input"), text_or_none(call.get("id")))
        case _:
            return OpaquePart(data=call, origin=f"{NAME}:tool_call")


def _arguments(arguments: Any) -> Any:
    """JSON in a string as its value; text that is no JSON, or only a quoted text, as it came."""
    if not isinstance(arguments, str):
        return arguments
    try:
        value = jsontext.loads(arguments.encode("utf-8", "surrogatepass"), place="arguments")
    except FormatError:
        return arguments
    return arguments if isinstance(value, str) else value
