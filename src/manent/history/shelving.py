"""
Shelving: conversations of a source are put in the order of their own last time, in bounded memory.

A source gives them in any order, and all of it has to be seen before the first one is written. Those that
do not fit into memory are prepared, so that their secrets are masked, and wait in a file without a name.
"""

from __future__ import annotations

import pickle
import tempfile
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import IO, NamedTuple, Self

import msgspec

from manent.history.preparing import Prepared
from manent.model.imported import ImportedConversation, ReadBytes

SHELF_BYTES_MAX = 24 << 20
"""What raw records that wait in memory may come to; parts and all, that is a few times as much."""

Files = dict[int, tuple[tuple[int, ReadBytes], ...]]
"""The readers of a conversation's files, by the place of the message among the ready ones."""


class _Waiting(NamedTuple):
    """One conversation on the shelf: itself, or where it lies in the file, and the readers of its files."""

    last_ns: int
    raw: ImportedConversation | None
    offset: int = 0
    files: Files = {}  # noqa: RUF012 - never changed


class Shelf:
    """
    Conversations that wait. Use it in a `with` block.

    Args:
        prepare: what is done with each before it is written.
    """

    def __init__(self, prepare: Callable[[ImportedConversation], Prepared]) -> None:
        self._prepare = prepare
        self._bytes = 0
        self._waiting: list[_Waiting] = []
        self._file: IO[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, conversation: ImportedConversation) -> None:
        """Put a conversation on the shelf."""
        self._waiting.append(_Waiting(_last_claim_ns(conversation), conversation))
        self._bytes += sum(len(message.native) for message in conversation.messages)
        if self._bytes > SHELF_BYTES_MAX:
            self._spill()

    def take(self) -> Iterator[Prepared]:
        """Every conversation, prepared; first those whose own last time is oldest, else as they came."""
        waiting = sorted(self._waiting, key=lambda one: one.last_ns)
        self._waiting = []
        for place, one in enumerate(waiting):
            waiting[place] = _Waiting(0, None)  # nothing keeps what was taken in memory
            yield self._prepare(one.raw) if one.raw is not None else self._load(one)

    def _spill(self) -> None:
        """Move what waits in memory into the file."""
        for place, one in enumerate(self._waiting):
            if one.raw is not None:
                self._waiting[place] = self._store(one.last_ns, self._prepare(one.raw))
        self._bytes = 0

    def _store(self, last_ns: int, prepared: Prepared) -> _Waiting:
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="manent-import-")  # noqa: SIM115 - closed by __exit__
        files = {n: ready.message.files for n, ready in enumerate(prepared.ready) if ready.message.files}
        offset = self._file.seek(0, 2)
        pickle.dump(_with_files(prepared, dict.fromkeys(files, ())), self._file, pickle.HIGHEST_PROTOCOL)
        return _Waiting(last_ns, None, offset, files)

    def _load(self, one: _Waiting) -> Prepared:
        """What `_store` wrote: nobody else can reach a file that has no name."""
        if self._file is None:
            raise LookupError("nothing was put into the file")
        self._file.seek(one.offset)
        prepared: Prepared = pickle.load(self._file)
        return _with_files(prepared, one.files)


def _with_files(prepared: Prepared, files: Files) -> Prepared:
    """The same with these readers of files."""
    if not files:
        return prepared
    ready = list(prepared.ready)
    for place, readers in files.items():
        message = msgspec.structs.replace(ready[place].message, files=readers)
        ready[place] = ready[place]._replace(message=message)
    return msgspec.structs.replace(prepared, ready=tuple(ready))


def _last_claim_ns(conversation: ImportedConversation) -> int:
    """The last time that a conversation states, or 0: those that state none come first, as they came."""
    return max((m.claim_ns for m in conversation.messages if m.claim_ns is not None), default=0)
