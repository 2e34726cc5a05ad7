"""Attachments and drafts in two dictionaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from blake3 import blake3

from manent.errors import NotFoundError


class _Source(Protocol):
    def check_open(self) -> None: ...

    def writing(self) -> AbstractContextManager[None]: ...


class MemoryBlobs:
    """The port's `Blobs`."""

    def __init__(self, source: _Source) -> None:
        self._source = source
        self._kept: dict[tuple[str, str], bytes] = {}

    def put(self, workspace: str, chunks: Iterable[bytes]) -> str:
        data = b"".join(chunks)
        digest = blake3(data).hexdigest()
        with self._source.writing():
            self._kept[workspace, digest] = data
        return digest

    def get(self, workspace: str, digest: str) -> Iterator[bytes]:
        self._source.check_open()
        data = self._kept.get((workspace, digest))
        if data is None:
            raise NotFoundError("blob", digest)
        return iter((data,))

    def drop(self, workspace: str, digest: str) -> bool:
        with self._source.writing():
            return self._kept.pop((workspace, digest), None) is not None

    def holds(self, workspace: str, digest: str) -> bool:
        """Whether the blob is there."""
        return (workspace, digest) in self._kept

    def forget(self, places: Iterable[tuple[str, str]]) -> None:
        """Remove blobs that a transaction dropped."""
        for place in places:
            self._kept.pop(place, None)

    def list_digests(self, workspace: str) -> Sequence[str]:
        self._source.check_open()
        return sorted(digest for place, digest in self._kept.copy() if place == workspace)


class MemoryDrafts:
    """The port's `Drafts`."""

    def __init__(self, source: _Source) -> None:
        self._source = source
        self._kept: dict[tuple[str, str], bytes] = {}

    def put(self, uid: str, draft_id: str, data: bytes) -> None:
        with self._source.writing():
            self._kept[uid, draft_id] = bytes(data)

    def get(self, uid: str, draft_id: str) -> bytes | None:
        self._source.check_open()
        return self._kept.get((uid, draft_id))

    def drop(self, uid: str, draft_id: str) -> bool:
        with self._source.writing():
            return self._kept.pop((uid, draft_id), None) is not None

    def forget(self, uids: Iterable[str]) -> None:
        """Remove the drafts of conversations that were deleted."""
        for place in [place for place in self._kept if place[0] in uids]:
            del self._kept[place]

    def list_ids(self, uid: str) -> Sequence[str]:
        self._source.check_open()
        return sorted(draft_id for place, draft_id in self._kept.copy() if place == uid)
