"""What a Claude.ai message holds, as parts: blocks, citations, calls and results, pasted texts, files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from manent.formats.blocks import text_or_none
from manent.formats.media_types import media_type_of
from manent.model.parts import (
    AnyPart,
    Citation,
    FilePart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)

NAME = "claude-ai"


def message_to_parts(message: Any, native_id: str) -> tuple[AnyPart, ...]:
    """
    Parts in the order in which they are read: attachments, files, then what was said.

    The blocks of `content` are the truth. `text` is a flat copy of them, with a stock phrase in place of what
    could not be shown; it counts only where there are no blocks.
    """
    if not isinstance(message, dict):
        return (OpaquePart(data=message, origin=NAME),)
    blocks = message.get("content")
    said = tuple(_blocks(blocks, native_id)) if isinstance(blocks, list) else ()
    text = message.get("text")
    if not said and isinstance(blocks, str) and blocks:
        said = (TextPart(blocks),)
    elif not said and isinstance(text, str) and text:
        said = (TextPart(text),)
    return (*_attachments(message.get("attachments")), *_files(message), *said)


def _blocks(blocks: list[Any], native_id: str) -> Iterator[AnyPart]:
    """Blocks in their order; a call without an id gets one, and its result is the next one without."""
    waiting: list[ToolCallPart] = []
    for number, block in enumerate(blocks):
        for part in _block(block):
            if isinstance(part, ToolCallPart):
                call = (
                    part if part.call_id else ToolCallPart(part.name, part.arguments, f"{native_id}#{number}")
                )
                waiting.append(call)
                yield call
            elif isinstance(part, ToolResultPart):
                yield _answered(part, waiting)
            else:
                yield part


def _answered(result: ToolResultPart, waiting: list[ToolCallPart]) -> ToolResultPart:
    """A result with the id of its call: the one it names, or the first that waits and has its name."""
    if result.call_id is not None:
        waiting[:] = [call for call in waiting if call.call_id != result.call_id]
        return result
    call = next((call for call in waiting if result.name in (None, call.name)), None)
    if call is None:
        return result
    waiting.remove(call)
    return ToolResultPart(result.content, call.call_id, result.name, result.is_error)


def _block(block: Any) -> Iterator[AnyPart]:
    """The parts of one block; what is unknown or oddly shaped stays whole."""
    kind = block.get("type") if isinstance(block, dict) else None
    if isinstance(block, str):
        if block:
            yield TextPart(block)
    elif kind in (None, "text") and isinstance(block, dict) and isinstance(block.get("text"), str):
        if block["text"]:
            yield TextPart(block["text"])
        yield from _citations(block.get("citations"))
    elif kind == "thinking":
        yield from _thinking(block)
    elif kind == "tool_use" and isinstance(block.get("name"), str):
        yield ToolCallPart(block["name"], block.get("input"), text_or_none(block.get("id")))
    elif kind == "tool_result":
        yield _result(block)
    elif block is not None:
        yield OpaquePart(data=block, origin=f"{NAME}:{kind}" if isinstance(kind, str) else NAME)


def _thinking(block: dict[str, Any]) -> Iterator[AnyPart]:
    """The thoughts; where they are empty, the summaries of them."""
    text, listed = text_or_none(block.get("thinking")), block.get("summaries")
    summaries = (
        [each.get("summary") for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
    )
    told = [ReasoningPart(each, is_summary=True) for each in summaries if isinstance(each, str) and each]
    signature = text_or_none(block.get("signature"))
    if text is not None or signature is not None:
        yield ReasoningPart(text or "", signature=signature)
    if text is None:
        yield from told
        if not told and signature is None:
            yield OpaquePart(data=block, origin=f"{NAME}:thinking")


def _result(block: dict[str, Any]) -> ToolResultPart:
    content = block.get("content")
    return ToolResultPart(
        content=_lone_text("" if content is None else content),
        call_id=text_or_none(block.get("tool_use_id")),
        name=text_or_none(block.get("name")),
        is_error=block.get("is_error") is True,
    )


def _lone_text(content: Any) -> Any:
    """The text of a list that holds one text block; any other content as it came."""
    match content:
        case [{"type": "text", "text": str(text)}]:
            return text
        case _:
            return content


def _citations(citations: Any) -> Iterator[Citation]:
    """Sources of a text; their offsets stay in the details, since nobody says what they count."""
    for cited in citations if isinstance(citations, list) else ():
        if isinstance(cited, dict):
            inner = cited.get("details")
            more = inner if isinstance(inner, dict) else {}
            yield Citation(
                marker="",
                target=text_or_none(cited.get("url")) or text_or_none(more.get("url")) or "",
                title=text_or_none(cited.get("title")) or text_or_none(more.get("title")),
                quote=text_or_none(cited.get("cited_text")) or text_or_none(more.get("cited_text")),
                details=cited,
            )


def _attachments(attachments: Any) -> Iterator[AnyPart]:
    """A file that was read into the conversation: its name, and behind it the text that was taken from it."""
    for file in attachments if isinstance(attachments, list) else ():
        if not isinstance(file, dict):
            yield OpaquePart(data=file, origin=f"{NAME}:attachment")
            continue
        size, kind = file.get("file_size"), text_or_none(file.get("file_type")) or ""
        yield FilePart(
            name=text_or_none(file.get("file_name")) or "",
            media_type=kind if "/" in kind else media_type_of(kind),
            size_bytes=size if isinstance(size, int) and 0 <= size < 1 << 63 else None,
        )
        if isinstance(text := file.get("extracted_content"), str) and text:
            yield TextPart(text)


def _files(message: dict[str, Any]) -> Iterator[AnyPart]:
    """Files of which the export has only the names; newer exports list some of them twice."""
    seen: set[str] = set()
    for listed in (message.get("files"), message.get("files_v2")):
        for file in listed if isinstance(listed, list) else ():
            if not isinstance(file, dict):
                yield OpaquePart(data=file, origin=f"{NAME}:file")
                continue
            uuid, name = text_or_none(file.get("file_uuid")), text_or_none(file.get("file_name")) or ""
            if (uuid or name) not in seen:
                seen.add(uuid or name)
                yield FilePart(name, uri=uuid)
