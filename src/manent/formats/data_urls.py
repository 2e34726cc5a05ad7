"""Data URLs: a file part that holds its bytes as text gives them as bytes, when they are wanted."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator

import msgspec

from manent.errors import FormatError
from manent.model.imported import ReadBytes
from manent.model.parts import AnyPart, FilePart

FILE_BYTES_MAX = 32 << 20
"""A larger file stays in the native record alone; its part says so by having neither digest nor address."""

_PIECE_CHARACTERS = 1 << 20
_DATA_URL = re.compile(r"data:(?P<type>[^;,\s]{0,255})(?:;[^;,\s]{0,255}){0,4}?;base64,", re.ASCII)
_BASE64 = re.compile(r"[A-Za-z0-9+/]*={0,2}\Z", re.ASCII)


class Base64(msgspec.Struct, frozen=True):
    """The bytes that a text in base64 stands for; call it to read them in pieces."""

    data: str

    def __call__(self) -> Iterator[bytes]:
        for start in range(0, len(self.data), _PIECE_CHARACTERS):
            try:
                yield base64.b64decode(self.data[start : start + _PIECE_CHARACTERS], validate=True)
            except binascii.Error as error:
                raise FormatError("a file whose base64 is damaged", place="data URL") from error


def take_files(parts: tuple[AnyPart, ...]) -> tuple[tuple[AnyPart, ...], tuple[tuple[int, ReadBytes], ...]]:
    """
    Parts without data URLs, and for each that had one its place and what reads its bytes.

    A URL that is no base64 stays as it is; one beyond `FILE_BYTES_MAX` goes, and nothing reads it.
    """
    shown: list[AnyPart] = []
    files: list[tuple[int, ReadBytes]] = []
    for place, part in enumerate(parts):
        taken = _take(part) if isinstance(part, FilePart) and part.uri else None
        if taken is None:
            shown.append(part)
            continue
        file, read = taken
        shown.append(file)
        if read is not None:
            files.append((place, read))
    return tuple(shown), tuple(files)


def _take(part: FilePart) -> tuple[FilePart, ReadBytes | None] | None:
    url = part.uri or ""
    found = _DATA_URL.match(url)
    if found is None or not _BASE64.match(url, found.end()) or (len(url) - found.end()) % 4:
        return None
    data = url[found.end() :]
    size_bytes = len(data) // 4 * 3 - data[-2:].count("=")
    media_type = part.media_type or found["type"]
    file = msgspec.structs.replace(part, uri=None, media_type=media_type, size_bytes=size_bytes)
    return file, Base64(data) if size_bytes <= FILE_BYTES_MAX else None
