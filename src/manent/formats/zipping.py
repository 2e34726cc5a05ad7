"""
Zip archives that are equal when their contents are: entries stored as they are, in the order given.

Names and bytes alone decide: times are the earliest that a zip knows, rights the owner's, and sizes stand
behind each entry, whatever it is written to. Written as a stream; nothing is held but one piece.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Iterator
from typing import IO, cast

from manent.model.exported import Entry

_EARLIEST = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_OWNER_ONLY = 0o100600 << 16


def zip_entries(entries: Iterable[Entry]) -> Iterator[bytes]:
    """The bytes of a zip with these entries, in pieces."""
    out = _Outlet()
    with zipfile.ZipFile(cast("IO[bytes]", out), "w", zipfile.ZIP_STORED) as archive:
        for entry in entries:
            with archive.open(_info(entry.name), "w", force_zip64=True) as stream:
                for piece in entry.pieces:
                    stream.write(piece)
                    yield from out.take()
            yield from out.take()
    yield from out.take()


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EARLIEST)
    info.create_system = _UNIX
    info.external_attr = _OWNER_ONLY
    return info


class _Outlet:
    """Takes what a zip writes and gives it on. It cannot be sought in, as a pipe cannot."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing waits here."""

    def take(self) -> list[bytes]:
        pieces, self._pieces = self._pieces, []
        return pieces
