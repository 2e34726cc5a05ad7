"""What the tests of written formats share: a store with one conversation in it, and its exports."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from pathlib import Path

import manent
from manent.model.exported import ExportReport
from manent.opening import export_path, export_stream
from manent.parts import FilePart, TextPart, ToolCallPart, ToolResultPart

PICTURE = b"\x89PNG\r\n" + bytes(40)
NOON_NS = 1_780_000_000_123_456_789


def a_store() -> manent.Store:
    """An empty store in memory, whose clock stands still."""
    return manent.open("memory:", clock=lambda: NOON_NS)


def say(
    conversation: manent.Conversation,
    role: str,
    *parts: manent.parts.AnyPart | str,
    id: str | None = None,
    parent: str | None = None,
    usage: manent.Usage | None = None,
    author: str | None = None,
    hidden: bool = False,
) -> None:
    """Append a message; text stands for a text part."""
    as_parts = [TextPart(part) if isinstance(part, str) else part for part in parts]
    message = manent.Message(role=role, parts=as_parts, id=id, usage=usage, author=author, hidden=hidden)
    conversation.append_message(message, parent=parent)


def attach(store: manent.Store, data: bytes, name: str, media_type: str = "image/png") -> FilePart:
    """A file that the store keeps."""
    backend = store._runtime.backend
    with backend.reading() as reader:
        (workspace,) = reader.list_workspaces()
    digest = backend.blobs.put(workspace.uid, [data])
    return FilePart(name, media_type, digest=digest, size_bytes=len(data), state="stored")


def call(name: str, arguments: object = None, call_id: str | None = None) -> ToolCallPart:
    """A call of a tool."""
    return ToolCallPart(name, arguments, call_id)


def result(content: object, call_id: str | None = None, name: str | None = None) -> ToolResultPart:
    """What a tool gave back."""
    return ToolResultPart(content, call_id, name)


def exported(
    store: manent.Store, format: str, *, named: Sequence[str] = (), hidden: bool = False
) -> tuple[bytes, ExportReport]:
    """An export as one piece of bytes, and its report."""
    stream = io.BytesIO()
    report = export_stream(store, stream, format=format, conversations=named, hidden=hidden)
    return stream.getvalue(), report


def unzipped(store: manent.Store, format: str, folder: Path) -> tuple[dict[str, bytes], ExportReport]:
    """The files of an export that has room for attachments, in the order in which they stand in it."""
    target = folder / "export.zip"
    report = export_path(store, target, format=format, replace=True)
    with zipfile.ZipFile(target) as archive:
        return {name: archive.read(name) for name in archive.namelist()}, report
