"""
Fetching attachments: the bytes of files that a source has, read before the transaction that stores them.

So no lock waits for a source, and a file that cannot be read leaves nothing behind.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import NamedTuple, Self

from manent.errors import FormatError
from manent.history.preparing import Ready
from manent.model.imported import ReadBytes, Refusal

FILE_BYTES_MAX = 256 << 20
"""A greater file is kept as a reference."""

SPOOL_BYTES_MAX = 8 << 20
"""What is kept in memory of files on their way in; more goes to a file without a name."""

READ_BYTES = 1 << 20


class _Fetched(NamedTuple):
    """Where a file's bytes lie."""

    offset: int
    size_bytes: int


class Attachments:
    """The files of the messages of one transaction, by message and place. Use it in a `with` block."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(SPOOL_BYTES_MAX)  # noqa: SIM115 - closed by __exit__
        self._fetched: dict[tuple[int, int], _Fetched] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    @property
    def size_bytes(self) -> int:
        """All that was fetched."""
        return sum(fetched.size_bytes for fetched in self._fetched.values())

    def fetch(self, ready: Sequence[Ready]) -> Iterator[Refusal]:
        """Read the files of messages; say which ones could not be read, and why."""
        for item in ready:
            for place, read in item.message.files:
                offset = self._file.seek(0, 2)
                try:
                    size_bytes = self._copy(read)
                except FormatError as error:
                    self._file.seek(offset)
                    self._file.truncate()
                    yield Refusal(
                        place=error.place or item.message.place, reason=f"attachment: {error.detail}"
                    )
                else:
                    self._fetched[id(item), place] = _Fetched(offset, size_bytes)

    def _copy(self, read: ReadBytes) -> int:
        size_bytes = 0
        for chunk in read():
            size_bytes += len(chunk)
            if size_bytes > FILE_BYTES_MAX:
                raise FormatError(f"a file of more than {FILE_BYTES_MAX:,} bytes", place="")
            self._file.write(chunk)
        return size_bytes

    def of(self, item: Ready) -> dict[int, int]:
        """The places of the files of a message that were fetched, each with its size in bytes."""
        places = (place for place, _ in item.message.files)
        found = ((place, self._fetched.get((id(item), place))) for place in places)
        return {place: fetched.size_bytes for place, fetched in found if fetched is not None}

    def read(self, item: Ready, place: int) -> Iterator[bytes]:
        """The bytes of a file that was fetched."""
        fetched = self._fetched[id(item), place]
        self._file.seek(fetched.offset)
        rest = fetched.size_bytes
        while rest > 0:
            chunk = self._file.read(min(rest, READ_BYTES))
            rest -= len(chunk)
            yield chunk
