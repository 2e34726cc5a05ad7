"""Lines in pieces: many are carried between a thread and the event loop at once."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import AsyncIterable, AsyncIterator, Callable, Generator, Iterable, Iterator
from typing import IO

PIECE_BYTES = 256 * 1024
"""About as much of an export is read or written by a thread at once."""

SPOOL_BYTES_MAX = 8 << 20
"""What is kept in memory of lines on their way in; more goes to a file without a name."""

READ_BYTES = 1 << 20


class Pieces:
    """
    Lines that are read piece by piece, each time by whatever thread asks; never by two at once.

    Args:
        begin: gives the lines; called when the first piece is asked for.
    """

    def __init__(self, begin: Callable[[], Iterable[bytes]]) -> None:
        self._lines = _begun_late(begin)
        self._lock = threading.Lock()

    def read(self) -> list[bytes]:
        """The next lines; none at the end."""
        piece: list[bytes] = []
        size_bytes = 0
        with self._lock:
            for line in self._lines:
                piece.append(line)
                size_bytes += len(line)
                if size_bytes >= PIECE_BYTES:
                    break
        return piece

    def close(self) -> None:
        """Give up the snapshot that the lines come from."""
        with self._lock:
            self._lines.close()


def _begun_late(begin: Callable[[], Iterable[bytes]]) -> Generator[bytes, None, None]:
    yield from begin()


class Spool:
    """Bytes that are kept aside until all of them have come, small in memory."""

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None

    def write(self, lines: list[bytes]) -> None:
        """Take more bytes."""
        if self._file is None:
            self._file = tempfile.SpooledTemporaryFile(SPOOL_BYTES_MAX)  # noqa: SIM115 - see close
        self._file.writelines(lines)

    def read(self) -> Iterator[bytes]:
        """All bytes, from the first one on."""
        if self._file is not None:
            self._file.seek(0)
            while chunk := self._file.read(READ_BYTES):
                yield chunk

    def close(self) -> None:
        """Forget the bytes."""
        if self._file is not None:
            self._file.close()


async def in_pieces(lines: AsyncIterable[bytes]) -> AsyncIterator[list[bytes]]:
    """The same lines, as many at once as make a piece."""
    piece: list[bytes] = []
    size_bytes = 0
    async for line in lines:
        piece.append(line)
        size_bytes += len(line)
        if size_bytes >= PIECE_BYTES:
            yield piece
            piece, size_bytes = [], 0
    if piece:
        yield piece
