"""What a ChatGPT message holds, as parts: texts, thoughts, code, results, pages, pictures, citations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from manent.formats.blocks import text_or_none
from manent.formats.chatgpt_files import pointer_to_part
from manent.model.parts import (
    AnyPart,
    Citation,
    FilePart,
    NoticePart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolResultPart,
)

NAME = "chatgpt"

_PAGES = ("tether_quote", "sonic_webpage")
_CONTEXT = ("user_editable_context", "model_editable_context")
_POINTERS = ("asset_pointer", "audio_asset_pointer", "video_container_asset_pointer")
_MARKER_SIGNS = ("\ue200", "【")
_MARKER_LENGTH_MAX = 2_000


def words_of(content: Any) -> str | None:
    """The text of content that is nothing but text: of `text`, `code`, `execution_output`; else None."""
    if not isinstance(content, dict):
        return content if isinstance(content, str) else None
    parts = content.get("parts")
    if isinstance(parts, list):
        texts = [part for part in parts if part is not None]
        return "\n".join(texts) if all(isinstance(text, str) for text in texts) else None
    text = content.get("text")
    return text if isinstance(text, str) else None


def content_to_parts(content: Any, metadata: dict[str, Any]) -> tuple[AnyPart, ...]:
    """
    Parts of a message's `content`, in its order; kinds that are unknown stay whole.

    Args:
        content: `{"content_type": …, …}`, or null.
        metadata: the message's; a program's output has its pictures there.
    """
    if content is None:
        return ()
    if not isinstance(content, dict):
        pieces = content if isinstance(content, list) else [content]
        return tuple(part for piece in pieces for part in _piece(piece))
    return tuple(_of_kind(content.get("content_type"), content, metadata))


def _of_kind(kind: Any, content: dict[str, Any], metadata: dict[str, Any]) -> Iterator[AnyPart]:
    pieces, text = content.get("parts"), content.get("text")
    if isinstance(pieces, list):
        for piece in pieces:
            yield from _piece(piece)
    elif kind == "thoughts" and isinstance(content.get("thoughts"), list):
        for thought in content["thoughts"]:
            yield _thought(thought)
    elif kind == "reasoning_recap" and isinstance(content.get("content"), str):
        yield NoticePart("reasoning_recap", content["content"])
    elif kind == "system_error":
        yield NoticePart("system_error", _error_text(content))
    elif kind in _PAGES:
        yield from _page(content)
    elif kind == "tether_browsing_display":
        yield from _texts(content, ("result", "summary"))
    elif kind in _CONTEXT:
        yield from _texts(content, tuple(name for name in content if name != "content_type"))
    elif isinstance(text, str):
        yield from _piece(text)
        yield from _output_pictures(metadata)
    elif set(content) - {"content_type", "parts"}:
        yield OpaquePart(data=content, origin=f"{NAME}:{kind}" if isinstance(kind, str) else NAME)


def _piece(piece: Any) -> Iterator[AnyPart]:
    """One of the `parts`: a text, a pointer to a file, spoken words; nulls and empty texts are nothing."""
    if piece is None or piece == "":
        return
    if isinstance(piece, str):
        yield TextPart(piece)
        return
    kind = piece.get("content_type") if isinstance(piece, dict) else None
    if kind == "audio_transcription" and isinstance(piece.get("text"), str):
        yield from _piece(piece["text"])
    elif files := list(_pointers(piece)):
        yield from files
    elif isinstance(piece, dict) and kind in (None, "text") and isinstance(piece.get("text"), str):
        yield TextPart(piece["text"])
    else:
        yield OpaquePart(data=piece, origin=f"{NAME}:{kind}" if isinstance(kind, str) else NAME)


def _pointers(piece: Any) -> Iterator[FilePart]:
    """The files that a piece points at: itself, or those of a recording with its sound and frames."""
    if not isinstance(piece, dict):
        return
    nested = [piece.get(name) for name in _POINTERS[1:]]
    frames = piece.get("frames_asset_pointers")
    nested += frames if isinstance(frames, list) else []
    for pointer in (piece, *nested):
        if isinstance(pointer, str) and "://" in pointer:
            yield FilePart(uri=pointer)
        elif isinstance(pointer, dict) and (part := pointer_to_part(pointer)) is not None:
            yield part


def _thought(thought: Any) -> AnyPart:
    if not isinstance(thought, dict):
        return ReasoningPart(thought) if isinstance(thought, str) else OpaquePart(data=thought, origin=NAME)
    summary, text = text_or_none(thought.get("summary")), text_or_none(thought.get("content"))
    if summary is None and text is None:
        return OpaquePart(data=thought, origin=f"{NAME}:thought")
    return ReasoningPart("\n\n".join(filter(None, (summary, text))), is_summary=text is None)


def _error_text(content: dict[str, Any]) -> str:
    return ": ".join(filter(None, (text_or_none(content.get("name")), text_or_none(content.get("text")))))


def _page(content: dict[str, Any]) -> Iterator[AnyPart]:
    """A page of the web that was read: its words, and where they stand."""
    yield from _texts(content, ("text", "snippet"))
    if (url := text_or_none(content.get("url"))) is not None:
        yield Citation(marker="", target=url, title=text_or_none(content.get("title")))


def _texts(content: dict[str, Any], names: tuple[str, ...]) -> Iterator[TextPart]:
    texts = (content.get(name) for name in names)
    return (TextPart(text) for text in texts if isinstance(text, str) and text)


def _output_pictures(metadata: dict[str, Any]) -> Iterator[FilePart]:
    """What a program drew: `{"aggregate_result": {"messages": [{"image_url": "file-service://…"}]}}`."""
    result = metadata.get("aggregate_result")
    drawn = result.get("messages") if isinstance(result, dict) else None
    for picture in drawn if isinstance(drawn, list) else ():
        if isinstance(picture, dict) and (url := text_or_none(picture.get("image_url"))) is not None:
            yield FilePart(media_type="image/png", uri=url)


def result_to_parts(
    content: Any, metadata: dict[str, Any], *, call_id: str | None, name: str | None
) -> tuple[AnyPart, ...]:
    """What a tool gave back: its words as one result, and everything else behind it."""
    parts = content_to_parts(content, metadata)
    is_error = _has_failed(content, metadata)
    words = [part.text for part in parts if isinstance(part, TextPart | NoticePart)]
    others = [part for part in parts if not isinstance(part, TextPart | NoticePart)]
    result = ToolResultPart(content="\n".join(words), call_id=call_id, name=name, is_error=is_error)
    return (result, *others)


def _has_failed(content: Any, metadata: dict[str, Any]) -> bool:
    result = metadata.get("aggregate_result")
    status = result.get("status") if isinstance(result, dict) else None
    is_error = isinstance(content, dict) and content.get("content_type") == "system_error"
    return is_error or (isinstance(status, str) and status.startswith("failed"))


def cited(metadata: dict[str, Any], text: str) -> Iterator[Citation]:
    """Where a message has its claims from, each source once; markers are the placeholders in its text."""
    seen: set[tuple[str, str]] = set()
    for citation in (*_references(metadata.get("content_references")), *_citations(metadata, text)):
        key = (citation.marker, citation.target)
        if key not in seen:
            seen.add(key)
            yield citation


def _references(references: Any) -> Iterator[Citation]:
    """`content_references`: a run of the text, and one or several sources."""
    for reference in references if isinstance(references, list) else ():
        if not isinstance(reference, dict):
            continue
        marker = reference.get("matched_text")
        marker = marker.strip()[:_MARKER_LENGTH_MAX] if isinstance(marker, str) else ""
        listed = [reference.get(name) for name in ("items", "sources")]
        items = [item for group in listed if isinstance(group, list) for item in group]
        for source in (reference, *items):
            if isinstance(source, dict) and (text_or_none(source.get("url")) or _names_file(source)):
                yield _citation(marker, source)


def _names_file(source: dict[str, Any]) -> bool:
    return source.get("type") == "file" and text_or_none(source.get("name")) is not None


def _citations(metadata: dict[str, Any], text: str) -> Iterator[Citation]:
    """`citations`: offsets in the text, in code points or in UTF-16 units, and one source."""
    listed = metadata.get("citations")
    for citation in listed if isinstance(listed, list) else ():
        source = citation.get("metadata") if isinstance(citation, dict) else None
        if isinstance(source, dict):
            yield _citation(_marker_at(text, citation.get("start_ix"), citation.get("end_ix")), source)


def _marker_at(text: str, start: Any, end: Any) -> str:
    """What stands between two offsets, if it is a placeholder; offsets that count otherwise give nothing."""
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end <= len(text):
        return ""
    marker = text[start : min(end, start + _MARKER_LENGTH_MAX)]
    return marker if marker.startswith(_MARKER_SIGNS) else ""


def _citation(marker: str, source: dict[str, Any]) -> Citation:
    names = (text_or_none(source.get(name)) for name in ("url", "id", "name"))
    quotes = (text_or_none(source.get(name)) for name in ("snippet", "text"))
    return Citation(
        marker=marker,
        target=next(filter(None, names), ""),
        title=text_or_none(source.get("title")) or text_or_none(source.get("name")),
        quote=next(filter(None, quotes), None),
    )
