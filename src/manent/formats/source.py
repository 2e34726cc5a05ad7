"""
A source: a file or folder of another tool, read as bytes, bounded in memory, and never run.

Lines end at LF and nowhere else (T-2): a CR before it, U+2028 or a form feed belong to the line. A byte
order mark is no part of the first line. What cannot be taken in becomes a `Refusal` that names its place.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from manent.errors import FormatError
from manent.model.imported import Refusal

LINE_BYTES_MAX = 64 << 20
"""A longer line, or a longer file where a format needs the whole of it, is refused."""

HEAD_BYTES = 64 << 10
"""What a recogniser sees of a file."""

REFUSED_BYTES_MAX = 64 << 10
"""The most of a refused record that is kept."""

_SKIP_BYTES = 1 << 20
_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One line, counted from 1: its bytes without the LF. `ended` is False where the file stops inside it."""

    number: int
    place: str
    raw: bytes
    ended: bool = True

    @property
    def is_blank(self) -> bool:
        """Nothing but white space: no record."""
        return not self.raw.strip()

    def refuse(self, reason: str) -> Refusal:
        """This line as a refusal; a torn one says so."""
        torn = "" if self.ended else ", where the file stops in the middle of a line"
        return Refusal(place=self.place, reason=f"{reason}{torn}", raw=self.raw[:REFUSED_BYTES_MAX])


class Source(msgspec.Struct, frozen=True):
    """
    A file or folder to read from. `line_bytes_max` bounds a line, and what `whole` returns.

    Places name the path as it was given, and the line.
    """

    path: Path
    line_bytes_max: int = LINE_BYTES_MAX

    @property
    def name(self) -> str:
        """The path as it stands in places."""
        return self.path.as_posix()

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """
        The first bytes, without a byte order mark.

        Raises:
            FormatError: the file cannot be opened, or is no regular file.
        """
        with self._open() as stream:
            return stream.read(size).removeprefix(_BOM)

    def whole(self) -> bytes:
        """
        All of the file, without a byte order mark.

        Raises:
            FormatError: the file is larger than `line_bytes_max`, or cannot be opened.
        """
        with self._open() as stream:
            content = stream.read(self.line_bytes_max + 1)
        if len(content) > self.line_bytes_max:
            raise FormatError(f"the file is longer than {self.line_bytes_max:,} bytes", place=self.name)
        return content.removeprefix(_BOM)

    def lines(self) -> Iterator[Line | Refusal]:
        """
        Each line that is not blank; a line above the bound is skipped without being held in memory.

        Raises:
            FormatError: the file cannot be opened.
        """
        with self._open() as stream:
            number = 0
            while raw := stream.readline(self.line_bytes_max + 1):
                number += 1
                place = f"{self.name}:{number}"
                if len(raw) > self.line_bytes_max and not raw.endswith(b"\n"):
                    yield self._skip(stream, raw, place)
                    continue
                line = Line(number, place, raw.removesuffix(b"\n"), raw.endswith(b"\n"))
                if number == 1:
                    line = line._replace(raw=line.raw.removeprefix(_BOM))
                if not line.is_blank:
                    yield line

    def files(self, *suffixes: str) -> Iterator[Source | Refusal]:
        """
        This file, or each file below this folder that ends in one of the suffixes.

        In the order of names, a folder's files before its subfolders. Links are refused rather than
        followed, so that a folder leads nowhere else; so is what is no regular file.
        """
        if not self.path.is_dir():
            yield self
            return
        pending = [self.path]
        while pending:
            folder = pending.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError as error:
                yield Refusal(place=folder.as_posix(), reason=f"the folder cannot be read: {error.strerror}")
                continue
            yield from self._files_of(entries, suffixes)
            pending += [folder / e.name for e in reversed(entries) if e.is_dir(follow_symlinks=False)]

    def _files_of(
        self, entries: list[os.DirEntry[str]], suffixes: tuple[str, ...]
    ) -> Iterator[Source | Refusal]:
        for entry in entries:
            path = Path(entry.path)
            if entry.is_symlink() and (entry.is_dir() or path.suffix in suffixes):
                yield Refusal(place=path.as_posix(), reason="a link is not followed; import what it leads to")
            elif path.suffix in suffixes and not entry.is_dir():
                yield Source(path, self.line_bytes_max)

    def _open(self) -> BinaryIO:
        try:
            is_file = stat.S_ISREG(self.path.stat().st_mode)
            stream = self.path.open("rb") if is_file else None
        except (OSError, ValueError) as error:
            raise FormatError(f"cannot be opened: {_why(error)}", place=self.name) from error
        if stream is None:
            raise FormatError("this is no regular file", place=self.name)
        return stream

    def _skip(self, stream: BinaryIO, start: bytes, place: str) -> Refusal:
        """Read past the rest of a line in pieces; keep its beginning."""
        size = len(start)
        while piece := stream.readline(_SKIP_BYTES):
            size += len(piece)
            if piece.endswith(b"\n"):
                break
        reason = f"a line of {size:,} bytes; at most {self.line_bytes_max:,} are read"
        return Refusal(place=place, reason=reason, raw=start[:REFUSED_BYTES_MAX])


def _why(error: OSError | ValueError) -> str:
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)
