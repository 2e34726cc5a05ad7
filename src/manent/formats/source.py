"""
A source: a file, folder or zip of another tool, read as bytes, bounded in memory, and never run.

Lines end at LF and nowhere else (T-2): a CR before it, U+2028 or a form feed belong to the line. A byte
order mark is no part of the first line. What cannot be taken in becomes a `Refusal` that names its place.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

import msgspec

from manent.errors import FormatError
from manent.formats.zips import Zip, ZipMember, is_zip
from manent.model.imported import Refusal

LINE_BYTES_MAX = 64 << 20
"""A longer line, or a longer file where a format needs the whole of it, is refused."""

HEAD_BYTES = 64 << 10
"""What a recogniser sees of a file."""

REFUSED_BYTES_MAX = 64 << 10
"""The most of a refused record that is kept."""

ZIP_SUFFIX = ".zip"
"""Files of a folder that end so are looked into; a zip that is named itself is known by its content."""

NESTED = "a zip inside a zip is not opened; unpack it and import that"

READ_BYTES = 1 << 20
"""How much is read at once."""
_ASSET = re.compile(r"file[-_][A-Za-z0-9]+")
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
    A file, a folder, or a zip, which is read like a folder. Places name the path as given, and the line.

    Args:
        path: where it is. Of a file in a zip, the zip and a label: nothing stands there on disk.
        line_bytes_max: bounds a line, what `whole` returns, and one conversation of a list.
        member: the file in a zip that this is.
        beside: the folder or zip in which this was found, to look for files that belong to it.
    """

    path: Path
    line_bytes_max: int = LINE_BYTES_MAX
    member: ZipMember | None = None
    beside: Beside | None = None

    @property
    def name(self) -> str:
        """The path as it stands in places."""
        return self.path.as_posix()

    @property
    def is_folder(self) -> bool:
        """Whether there are files to find in it: a folder, or a zip, whatever its name is."""
        return self.member is None and (self.path.is_dir() or self._is_zip())

    def _is_zip(self) -> bool:
        try:
            with self.stream() as stream:
                return is_zip(stream.read(4))
        except (FormatError, OSError):
            return False  # whoever reads it says why

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """
        The first bytes, without a byte order mark.

        Raises:
            FormatError: the file cannot be opened, or is no regular file.
        """
        with self.stream() as stream:
            return stream.read(size).removeprefix(_BOM)

    def whole(self) -> bytes:
        """
        All of the file, without a byte order mark.

        Raises:
            FormatError: the file is larger than `line_bytes_max`, or cannot be opened.
        """
        with self.stream() as stream:
            content = stream.read(self.line_bytes_max + 1)
        if len(content) > self.line_bytes_max:
            raise FormatError(f"the file is longer than {self.line_bytes_max:,} bytes", place=self.name)
        return content.removeprefix(_BOM)

    def lines(self) -> Iterator[Line | Refusal]:
        """
        Each line that is not blank; a line above the bound is skipped without being held in memory.

        Raises:
            FormatError: the file cannot be opened. What is found damaged later is a refusal, the last item.
        """
        with self.stream() as stream:
            seen = 0
            try:
                for line in self._each_line(stream):
                    seen += 1
                    if isinstance(line, Refusal) or not line.is_blank:
                        yield line
            except FormatError as error:
                yield Refusal(place=f"{self.name}:{seen + 1}", reason=error.detail)

    def _each_line(self, stream: BinaryIO) -> Iterator[Line | Refusal]:
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
            yield line

    def files(self, *suffixes: str) -> Iterator[Source | Refusal]:
        """
        This file, or each file of this folder or zip that ends in one of the suffixes; any file without them.

        In the order of names, a folder's files before its subfolders, a zip among them like a folder. Links
        are refused rather than followed, so that a folder leads nowhere else; so is what is no regular file,
        and what a zip may not hold.
        """
        if not self.is_folder:
            yield self
        elif self.path.is_dir():
            beside = Beside(self)
            for found in self._walk(suffixes):
                yield found if isinstance(found, Refusal) else self._with(found, beside)
        else:
            yield from self._members(suffixes)

    @staticmethod
    def _with(found: Source, beside: Beside) -> Source:
        return found if found.beside is not None else msgspec.structs.replace(found, beside=beside)

    def _members(self, suffixes: tuple[str, ...]) -> Iterator[Source | Refusal]:
        beside = Beside(self)
        for member in Zip(self.path).members():
            if isinstance(member, Refusal):
                yield member
            elif suffixes and _is_zip_by_name(member.name):
                yield Refusal(place=member.place, reason=NESTED)
            elif not suffixes or member.name.endswith(suffixes):
                if suffixes and member.flaw is not None:
                    yield Refusal(place=member.place, reason=member.flaw)
                else:
                    yield Source(self.path / member.name, self.line_bytes_max, member, beside)

    def _walk(self, suffixes: tuple[str, ...]) -> Iterator[Source | Refusal]:
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
            is_wanted = not suffixes or path.suffix in suffixes
            if entry.is_symlink() and (entry.is_dir() or is_wanted):
                yield Refusal(place=path.as_posix(), reason="a link is not followed; import what it leads to")
            elif entry.is_symlink() or entry.is_dir():
                continue
            elif _is_zip_by_name(entry.name):
                yield from self._files_in(Source(path, self.line_bytes_max), suffixes)
            elif is_wanted:
                yield Source(path, self.line_bytes_max)

    def _files_in(self, zipped: Source, suffixes: tuple[str, ...]) -> Iterator[Source | Refusal]:
        """The files of a zip in a folder; one that cannot be read costs that zip."""
        if not zipped.is_folder:
            yield Refusal(place=zipped.name, reason="this is no zip that can be read")
            return
        try:
            yield from zipped.files(*suffixes)
        except FormatError as error:
            yield Refusal(place=error.place, reason=error.detail)

    def stream(self) -> BinaryIO:
        """
        The bytes from the beginning on, a byte order mark included; the caller closes it.

        Raises:
            FormatError: it cannot be opened, or is no regular file; in a zip also later, while it is read.
        """
        if self.member is not None:
            return self.member.stream()
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
        while piece := stream.readline(READ_BYTES):
            size += len(piece)
            if piece.endswith(b"\n"):
                break
        reason = f"a line of {size:,} bytes; at most {self.line_bytes_max:,} are read"
        return Refusal(place=place, reason=reason, raw=start[:REFUSED_BYTES_MAX])


def _is_zip_by_name(name: str) -> bool:
    """Whether a zip is one to look into, rather than an upload that an export holds as it was."""
    return name.lower().endswith(ZIP_SUFFIX) and not _ASSET.match(name.rpartition("/")[2])


def _why(error: OSError | ValueError) -> str:
    return (error.strerror or type(error).__name__) if isinstance(error, OSError) else str(error)


class Beside:
    """
    The files that stand in the same folder or zip as a file: for pictures, feedback, lists of projects.

    They are listed once, when one is first asked for. What is asked for is matched with names that were
    found; it is never made a path of.
    """

    def __init__(self, root: Source) -> None:
        self._root = root
        self._files: dict[str, Source] | None = None
        self._assets: dict[str, Source] = {}
        self.memo: dict[str, object] = {}
        """What a format found out for one file and needs for the next."""

    def files(self) -> dict[str, Source]:
        """Each file by the path that places name, in the order of names."""
        if self._files is None:
            self._files = {}
            for file in self._root.files():
                if isinstance(file, Source):
                    lone = msgspec.structs.replace(file, beside=None)
                    self._files[file.name] = lone
                    if (found := _ASSET.match(file.path.name)) is not None:
                        self._assets.setdefault(found[0], lone)
        return self._files

    def find(self, file: Source, name: str) -> Source | None:
        """The file called `name` in the same folder as another one."""
        return self.files().get((file.path.parent / name).as_posix())

    def asset(self, asset_id: str) -> Source | None:
        """The file whose name begins with an id such as `file-3kd` or `file_00a1`, wherever it stands."""
        self.files()
        return self._assets.get(asset_id)
