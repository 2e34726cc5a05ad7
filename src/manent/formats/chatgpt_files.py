"""Pictures, recordings and uploads of a ChatGPT export: pointers to files, and their bytes where they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Protocol

from manent.formats.blocks import text_or_none
from manent.formats.media_types import media_type_of
from manent.formats.source import READ_BYTES, Source
from manent.model.imported import ReadBytes
from manent.model.parts import AnyPart, FilePart

_ID = re.compile(r"(?:file-service|sediment)://(file[-_][A-Za-z0-9]+)")


class Assets(Protocol):
    """Finds a file by its id: `formats.source.Beside`."""

    def asset(self, asset_id: str) -> Source | None:
        """The file whose name begins with the id."""


def pointer_to_part(pointer: dict[str, Any]) -> FilePart | None:
    """A part for `{"asset_pointer": "sediment://file_00a1", …}`; None where there is no pointer."""
    uri = text_or_none(pointer.get("asset_pointer"))
    if uri is None:
        return None
    size, form = pointer.get("size_bytes"), text_or_none(pointer.get("format"))
    return FilePart(
        media_type=media_type_of(form or ""),
        size_bytes=size if isinstance(size, int) and 0 <= size < 1 << 63 else None,
        uri=uri,
    )


def attached_files(metadata: dict[str, Any], said: tuple[AnyPart, ...]) -> Iterator[FilePart]:
    """The uploads that a message names and that no pointer in it stands for already."""
    pointed = {_id_of(part) for part in said if isinstance(part, FilePart)}
    listed = metadata.get("attachments")
    for file in listed if isinstance(listed, list) else ():
        file_id = text_or_none(file.get("id")) if isinstance(file, dict) else None
        if file_id is not None and file_id not in pointed:
            scheme = "sediment" if file_id.startswith("file_") else "file-service"
            size = file.get("size")
            yield FilePart(
                name=text_or_none(file.get("name")) or "",
                media_type=text_or_none(file.get("mimeType") or file.get("mime_type")) or "",
                size_bytes=size if isinstance(size, int) and 0 <= size < 1 << 63 else None,
                uri=f"{scheme}://{file_id}",
            )


def find_bytes(parts: tuple[AnyPart, ...], assets: Assets | None) -> tuple[tuple[int, ReadBytes], ...]:
    """For each file part whose bytes the export holds: its place among the parts, and what reads them."""
    if assets is None:
        return ()
    files = ((number, _id_of(part)) for number, part in enumerate(parts) if isinstance(part, FilePart))
    found = ((number, assets.asset(asset_id)) for number, asset_id in files if asset_id is not None)
    return tuple((number, _reader(file)) for number, file in found if file is not None)


def name_files(
    parts: tuple[AnyPart, ...], metadata: dict[str, Any], assets: Assets | None
) -> tuple[AnyPart, ...]:
    """Give pointers the names and types that the message's list of uploads, or the file found, has."""
    if not any(isinstance(part, FilePart) for part in parts):
        return parts
    listed = metadata.get("attachments")
    uploads = [file for file in listed if isinstance(file, dict)] if isinstance(listed, list) else []
    by_id = {text_or_none(file.get("id")): file for file in uploads}
    return tuple(
        _named(part, by_id.get(_id_of(part), {}), assets) if isinstance(part, FilePart) else part
        for part in parts
    )


def _named(part: FilePart, upload: dict[str, Any], assets: Assets | None) -> FilePart:
    asset_id = _id_of(part)
    file = assets.asset(asset_id) if assets is not None and asset_id is not None else None
    name = part.name or text_or_none(upload.get("name")) or (file.path.name if file else "")
    told = text_or_none(upload.get("mimeType") or upload.get("mime_type")) or ""
    by_name = media_type_of(name)
    return FilePart(
        name=name,
        media_type=part.media_type or told or by_name,
        size_bytes=part.size_bytes,
        uri=part.uri,
    )


def _id_of(part: FilePart) -> str | None:
    found = _ID.match(part.uri or "")
    return found[1] if found else None


def _reader(file: Source) -> ReadBytes:
    def read() -> Iterator[bytes]:
        with file.stream() as stream:
            while piece := stream.read(READ_BYTES):
                yield piece

    return read
