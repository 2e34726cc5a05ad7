"""Spooling: blobs on their way in are kept aside until the rest of an import is sure, small in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from blake3 import blake3

SPOOL_BYTES_MAX = 8 << 20
"""What is kept in memory; more goes to a file without a name."""

READ_BYTES = 1 << 20


class BlobSpool:
    """Blobs of known digests, taken piece by piece and given back one by one. Use it in a `with` block."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=SPOOL_BYTES_MAX)  # noqa: SIM115 - closed by __exit__
        self._blobs: list[_Blob] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def __len__(self) -> int:
        return len(self._blobs)

    def add(self, workspace: str, digest: str, data: bytes) -> None:
        """Take the next piece of a blob; the pieces of one follow each other."""
        if not self._blobs or self._blobs[-1].name != (workspace, digest):
            self._blobs.append(_Blob(workspace, digest))
        self._blobs[-1].size_bytes += len(data)
        self._blobs[-1].hasher.update(data)
        self._file.write(data)

    def find_damaged(self) -> str | None:
        """The digest of a blob whose bytes have another one."""
        return next((blob.name[1] for blob in self._blobs if blob.hasher.hexdigest() != blob.name[1]), None)

    def read(self) -> Iterator[tuple[str, Iterator[bytes]]]:
        """The workspace and the bytes of each blob; read one to its end before the next."""
        self._file.seek(0)
        for blob in self._blobs:
            yield blob.name[0], self._read(blob.size_bytes)

    def _read(self, size_bytes: int) -> Iterator[bytes]:
        while size_bytes > 0:
            data = self._file.read(min(size_bytes, READ_BYTES))
            size_bytes -= len(data)
            yield data


class _Blob:
    """A blob so far."""

    def __init__(self, workspace: str, digest: str) -> None:
        self.name = (workspace, digest)
        self.size_bytes = 0
        self.hasher = blake3()
