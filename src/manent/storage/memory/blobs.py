"""Attachments in the state, and drafts in a dictionary beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from blake3 import blake3

from manent.errors import NotFoundError
from manent.storage.memory.state import State


class _Source(Protocol):
    @property
    def state(self) -> State: ...

    def changing(self) -> AbstractContextManager[State]: ...


class Inside:
    """Blobs are read and written in the state of a transaction that is open already."""

    def __init__(self, state: State) -> None:
        self.state = state

    def changing(self) -> AbstractContextManager[State]:
        """The state of the transaction, which its commit keeps."""
        return nullcontext(self.state)


class MemoryBlobs:
    """The port's `Blobs`."""

    def __init__(self, source: _Source) -> None:
        self._source = source

    def put(self, workspace: str, chunks: Iterable[bytes]) -> str:
        data = b"".join(chunks)
        digest = blake3(data).hexdigest()
        with self._source.changing() as state:
            state.blobs[workspace, digest] = data
        return digest

    def get(self, workspace: str, digest: str) -> Iterator[bytes]:
        data = self._source.state.blobs.get((workspace, digest))
        if data is None:
            raise NotFoundError("blob", digest)
        return iter((data,))

    def drop(self, workspace: str, digest: str) -> bool:
        with self._source.changing() as state:
            return state.blobs.pop((workspace, digest), None) is not None

    def list_digests(self, workspace: str) -> Sequence[str]:
        return sorted(digest for place, digest in self._source.state.blobs if place == workspace)


class _Lock(Protocol):
    def check_open(self) -> None: ...

    def writing(self) -> AbstractContextManager[None]: ...


class MemoryDrafts:
    """The port's `Drafts`."""

    def __init__(self, source: _Lock) -> None:
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
