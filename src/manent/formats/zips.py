"""
Zips, read like folders, never unpacked: a file in one is bytes with a label, and no name is a path.

What is hostile or out of reach costs that file and is named: a name that leads elsewhere, a link, an
encrypted file, one that is too large or swells too much, a zip inside a zip.
"""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple

from manent.errors import FormatError
from manent.model.imported import Refusal

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

FILES_MAX = 100_000
"""Files of one zip."""

DIRECTORY_BYTES_MAX = 32 << 20
"""The list of files at a zip's end, which has to be read whole."""

FILE_BYTES_MAX = 8 << 30
"""What one file may unpack to."""

TOTAL_BYTES_MAX = 64 << 30
"""What all files of one zip may unpack to; those beyond are refused."""

RATIO_MAX = 200
"""How many times its packed size a file may unpack to, when that is more than `RATIO_FREE_BYTES`."""

RATIO_FREE_BYTES = 16 << 20

_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_END = b"PK\x05\x06"
_END_BYTES = 22
_END_64 = b"PK\x06\x06"
_END_64_BYTES = 56
_LOCATOR_64_BYTES = 20
_COMMENT_BYTES_MAX = 1 << 16
_NAME_SHOWN_MAX = 300
_DRIVE = re.compile(r"[A-Za-z]:")
_READ_BYTES = 1 << 18
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
"""What the standard library raises for a file that it cannot read."""


def is_zip(head: bytes) -> bool:
    """Whether a file that begins like this is a zip."""
    return head.startswith(_MAGIC)


class ZipMember(NamedTuple):
    """A file in a zip. `name` has forward slashes and leads nowhere outside; `size` is in bytes, unpacked."""

    owner: Zip
    info: zipfile.ZipInfo

    @property
    def name(self) -> str:
        """Its label, such as `dalle-generations/file-1.webp`."""
        return self.info.filename

    @property
    def place(self) -> str:
        """The zip and the label, for reports."""
        return f"{self.owner.path.as_posix()}/{self.name}"

    @property
    def flaw(self) -> str | None:
        """Why its bytes are not read; None when they are."""
        info = self.info
        if info.flag_bits & 0x1:
            return "the file is encrypted; unpack it and import that"
        if info.compress_type not in _METHODS:
            return f"the file is packed by method {info.compress_type}; only deflate is read"
        if info.file_size > FILE_BYTES_MAX:
            return f"the file unpacks to {info.file_size:,} bytes; at most {FILE_BYTES_MAX:,} are read"
        if info.file_size > max(RATIO_FREE_BYTES, RATIO_MAX * info.compress_size):
            return f"the file swells to more than {RATIO_MAX} times its size"
        return None

    def stream(self) -> BinaryIO:
        """
        Its bytes, unpacked as they are read.

        Raises:
            FormatError: it is refused or damaged; also later, while it is read.
        """
        if self.flaw is not None:
            raise FormatError(self.flaw, place=self.place)
        return io.BufferedReader(_MemberStream(self), _READ_BYTES)


class Zip:
    """
    A zip. The file stays open as long as a file of it is in use.

    Raises:
        FormatError: it cannot be read as a zip, or lists more than `FILES_MAX` files.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        place = path.as_posix()
        try:
            _check_directory(path)
            self._zip = zipfile.ZipFile(path)
        except FormatError:
            raise
        except _DAMAGE as error:
            raise FormatError(f"the zip cannot be read: {type(error).__name__}", place=place) from error
        if len(self._zip.filelist) > FILES_MAX:
            raise FormatError(f"the zip has more than {FILES_MAX:,} files", place=place)

    def members(self) -> Iterator[ZipMember | Refusal]:
        """Its files in the order of their names; a name that is no plain one, or a link, is a refusal."""
        total = 0
        for info in sorted(self._zip.filelist, key=lambda info: info.filename):
            if info.is_dir():
                continue
            total += info.file_size
            reason = _why_refused(info) or (_TOO_MUCH if total > TOTAL_BYTES_MAX else None)
            if reason is None:
                yield ZipMember(self, info)
            else:
                shown = info.orig_filename[:_NAME_SHOWN_MAX].encode("utf-8", "backslashreplace").decode()
                yield Refusal(place=f"{self.path.as_posix()}: {shown!r}", reason=reason)

    def begin(self, info: zipfile.ZipInfo) -> IO[bytes]:
        """The bytes of a file in it; raises what the standard library does."""
        return self._zip.open(info)


_TOO_MUCH = f"the zip unpacks to more than {TOTAL_BYTES_MAX:,} bytes"


def _why_refused(info: zipfile.ZipInfo) -> str | None:
    """Why a file is not even looked at; None when its name is plain."""
    name = info.orig_filename
    leads_away = name.startswith("/") or ".." in name.split("/") or _DRIVE.match(name)
    if leads_away or "\\" in name or "\0" in name or not name:
        return "a name that leads out of the zip, or hides where it leads"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "a link in a zip is not followed"
    return None


def _check_directory(path: Path) -> None:
    """
    Look at what the zip says of its directory before that is read.

    Raises:
        FormatError: there is none, or it is larger than `DIRECTORY_BYTES_MAX`.
    """
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        start = max(0, size - _COMMENT_BYTES_MAX - _END_BYTES - _LOCATOR_64_BYTES - _END_64_BYTES)
        stream.seek(start)
        tail = stream.read()
    at = len(tail) - _END_BYTES
    if at < 0 or tail[at : at + 4] != _END or tail[-2:] != b"\0\0":
        at = tail.rfind(_END)
    if at < 0 or at + _END_BYTES > len(tail):
        raise FormatError("the zip has no directory at its end: it is cut off", place=path.as_posix())
    (length,) = struct.unpack_from("<L", tail, at + 12)
    at_64 = at - _LOCATOR_64_BYTES - _END_64_BYTES
    if at_64 >= 0 and tail.startswith(_END_64, at_64):
        length = max(struct.unpack_from("<Q", tail, at_64 + 40)[0], length if length != 0xFFFFFFFF else 0)
    if length > DIRECTORY_BYTES_MAX:
        raise FormatError(f"the zip has a directory of {length:,} bytes", place=path.as_posix())


class _MemberStream(io.RawIOBase):
    """The bytes of a file in a zip, with errors of one kind."""

    def __init__(self, member: ZipMember) -> None:
        super().__init__()
        self._member = member
        try:
            self._stream = member.owner.begin(member.info)
        except _DAMAGE as error:
            raise self._damaged(error) from error

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        try:
            piece = self._stream.read(len(view))
        except _DAMAGE as error:
            raise self._damaged(error) from error
        view[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        if not self.closed and hasattr(self, "_stream"):
            self._stream.close()
        super().close()

    def _damaged(self, error: Exception) -> FormatError:
        return FormatError(f"the file is damaged: {type(error).__name__}", place=self._member.place)
