"""Content blocks of the Anthropic Messages shape, as parts; and its usage. Claude Code's lines hold both."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from manent.model.parts import (
    AnyPart,
    Citation,
    FilePart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    Usage,
)

_CALLS = {"tool_use", "server_tool_use", "mcp_tool_use"}


def content_to_parts(content: Any, origin: str) -> tuple[AnyPart, ...]:
    """
    Parts of a message's `content`, in its order.

    Args:
        content: a string, or a list of blocks; anything else becomes an opaque part.
        origin: the format's name, for opaque parts.
    """
    if isinstance(content, str):
        return (TextPart(content),)
    if not isinstance(content, list):
        return (OpaquePart(data=content, origin=origin),)
    return tuple(part for block in content for part in _block_to_parts(block, origin))


def _block_to_parts(block: Any, origin: str) -> Iterator[AnyPart]:
    """The parts of one block; what is unknown or oddly shaped stays whole."""
    kind = block.get("type") if isinstance(block, dict) else None
    if isinstance(block, str):
        yield TextPart(block)
    elif kind == "text" and isinstance(block.get("text"), str):
        yield TextPart(block["text"])
        yield from _citations(block.get("citations"))
    elif kind == "thinking" and isinstance(block.get("thinking"), str):
        yield ReasoningPart(text=block["thinking"], signature=text_or_none(block.get("signature")))
    elif kind == "redacted_thinking" and isinstance(block.get("data"), str):
        yield ReasoningPart(signature=block["data"])
    elif isinstance(kind, str) and kind in _CALLS and isinstance(block.get("name"), str):
        yield ToolCallPart(block["name"], block.get("input"), text_or_none(block.get("id")))
    elif isinstance(kind, str) and kind.endswith("tool_result"):
        yield _result(block)
    elif kind in ("image", "document") and isinstance(block.get("source"), dict):
        yield from _file(block, block["source"])
    else:
        yield OpaquePart(data=block, origin=f"{origin}:{kind}" if isinstance(kind, str) else origin)


def _result(block: dict[str, Any]) -> ToolResultPart:
    return ToolResultPart(
        content=lone_text(block.get("content", "")),
        call_id=text_or_none(block.get("tool_use_id")),
        is_error=block.get("is_error") is True,
    )


def lone_text(content: Any) -> Any:
    """The text of a list that holds one plain text block and nothing else; any other content as it came."""
    match content:
        case [{"type": "text", "text": str(text), **rest}] if not rest:
            return text
        case _:
            return content


def _file(block: dict[str, Any], source: dict[str, Any]) -> Iterator[AnyPart]:
    """A picture or document: its bytes as a data URI, its words, where it has them, as text beside it."""
    name = text_or_none(block.get("title")) or ""
    media_type = text_or_none(source.get("media_type")) or ""
    data = source.get("data")
    match source.get("type"):
        case "base64" if isinstance(data, str):
            yield FilePart(name, media_type, uri=f"data:{media_type};base64,{data}")
        case "url":
            yield FilePart(name, media_type, uri=text_or_none(source.get("url")))
        case "file":
            yield FilePart(name, media_type, uri=text_or_none(source.get("file_id")))
        case "text" if isinstance(data, str):
            yield FilePart(name, media_type or "text/plain")
            yield TextPart(data)
        case _:
            yield FilePart(name, media_type)
            yield OpaquePart(data=source, origin="document")


def _citations(citations: Any) -> Iterator[Citation]:
    for cited in citations if isinstance(citations, list) else ():
        if isinstance(cited, dict):
            yield Citation(
                marker="",
                target=text_or_none(cited.get("url")) or "",
                title=text_or_none(cited.get("title")) or text_or_none(cited.get("document_title")),
                quote=text_or_none(cited.get("cited_text")),
                details=cited,
            )


def read_usage(usage: Any, *, model: Any, request_id: str | None) -> Usage | None:
    """
    What one request cost; None where the source reports nothing.

    Anthropic counts cached tokens beside `input_tokens`; ours include them, read and written alike.
    """
    if not isinstance(usage, dict):
        return None
    read = _count(usage.get("cache_read_input_tokens"))
    written = _count(usage.get("cache_creation_input_tokens"))
    fresh = _count(usage.get("input_tokens"))
    output = _count(usage.get("output_tokens"))
    if fresh is None and output is None:
        return None
    return Usage(
        input_tokens=None if fresh is None else fresh + (read or 0) + (written or 0),
        output_tokens=output,
        cached_input_tokens=read,
        cache_write_tokens=written,
        model=text_or_none(model),
        request_id=request_id,
    )


def text_or_none(value: Any) -> str | None:
    """A string that is not empty, or None."""
    return value if isinstance(value, str) and value else None


def _count(value: Any) -> int | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63
    return value if is_count else None
