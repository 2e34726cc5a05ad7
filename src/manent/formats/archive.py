"""
Reading an archive of ours: the lines of the record and, beside them, each attachment under its digest.

An archive comes from anywhere. Only what our own writer makes is taken: entries that are stored and not
packed, under their two kinds of names, each once, no larger together than the file. So nothing can grow.
"""

from __future__ import annotations

import re
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from manent.errors import FormatError
from manent.model.exported import LINES_NAME, blob_name

READ_BYTES = 1 << 20
DIRECTORY_BYTES_MAX = 64 << 20
"""The directory at the end of a zip is held in memory: this much names 500,000 attachments."""

_START = b"PK\x03\x04"
_NAME_AT = 30
_END = b"PK\x05\x06"
_END_BYTES = 22
_ZIP64_END = b"PK\x06\x06"
_ZIP64_TAIL_BYTES = 56 + 20
_BLOB = re.compile(r"blobs/([0-9a-f]{2})/(\1[0-9a-f]{62})\Z")
_ENCRYPTED = 0x1


def is_archive(head: bytes) -> bool:
    """Whether a file that begins so (64 bytes are enough) is an archive of ours."""
    name = LINES_NAME.encode("ascii")
    return head.startswith(_START) and head[_NAME_AT : _NAME_AT + len(name)] == name


class Archive:
    """
    An archive that is open. Use it in a `with` block.

    Raises:
        FormatError: it is not what our writer makes, or it is not whole.
    """

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._stream = path.open("rb")
        try:
            self._zip = self._open(path.stat().st_size)
        except BaseException:
            self._stream.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._zip.close()
        self._stream.close()

    def lines(self) -> Iterator[bytes]:
        """The bytes of the lines, in pieces."""
        return self._read(LINES_NAME)

    def read_blob(self, digest: str) -> Iterator[bytes]:
        """
        The bytes of a blob, in pieces; whether they have its digest is the caller's to check.

        Raises:
            FormatError: there is none.
        """
        return self._read(blob_name(digest))

    def _read(self, name: str) -> Iterator[bytes]:
        try:
            with self._zip.open(name) as stream:
                while piece := stream.read(READ_BYTES):
                    yield piece
        except KeyError:
            raise self._refuse(f"{name} is missing") from None
        except (zipfile.BadZipFile, EOFError, RuntimeError) as error:
            raise self._refuse(f"{name} is damaged") from error

    def _open(self, size: int) -> zipfile.ZipFile:
        if _directory_bytes(self._stream, size) > DIRECTORY_BYTES_MAX:
            raise self._refuse(f"its directory is larger than {DIRECTORY_BYTES_MAX:,} bytes")
        try:
            opened = zipfile.ZipFile(self._stream)
        except (zipfile.BadZipFile, RuntimeError, ValueError) as error:
            raise self._refuse("it was cut or changed") from error
        try:
            self._check(opened.infolist(), size)
        except BaseException:
            opened.close()
            raise
        return opened

    def _check(self, entries: list[zipfile.ZipInfo], size: int) -> None:
        names = [entry.filename for entry in entries]
        if not names or names[0] != LINES_NAME:
            raise self._refuse(f"its first entry is not {LINES_NAME}")
        if len(set(names)) != len(names):
            raise self._refuse("a name stands in it twice")
        if not all(_BLOB.match(name) for name in names[1:]):
            raise self._refuse("an entry that is no attachment")
        if any(not _is_plain(entry) for entry in entries):
            raise self._refuse("an entry that is packed, encrypted or no file; zip it without compression")
        if sum(entry.file_size for entry in entries) > size:
            raise self._refuse("entries that overlap")

    def _refuse(self, detail: str) -> FormatError:
        return FormatError(f"this archive cannot be read: {detail}", place=self._name)


def _is_plain(entry: zipfile.ZipInfo) -> bool:
    mode = entry.external_attr >> 16
    is_file = not entry.is_dir() and (stat.S_IFMT(mode) in (0, stat.S_IFREG))
    is_stored = entry.compress_type == zipfile.ZIP_STORED and entry.compress_size == entry.file_size
    return is_file and is_stored and not entry.flag_bits & _ENCRYPTED


def _directory_bytes(stream: BinaryIO, size: int) -> int:
    """How large a zip says that its directory is; more than anybody reads where it does not end in one."""
    tail_bytes = min(size, _END_BYTES + _ZIP64_TAIL_BYTES)
    stream.seek(size - tail_bytes)
    tail = stream.read(tail_bytes)
    end = tail[-_END_BYTES:]
    if not end.startswith(_END):
        return DIRECTORY_BYTES_MAX + 1
    stated = int.from_bytes(end[12:16], "little")
    large = tail[:-_END_BYTES]
    if large.startswith(_ZIP64_END):
        return max(stated if stated != 0xFFFFFFFF else 0, int.from_bytes(large[40:48], "little"))
    return stated
