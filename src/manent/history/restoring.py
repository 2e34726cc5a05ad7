"""
Importing our own NDJSON: events come back as they were sealed, so that the chain goes on (I-4).

Until merge lands it accepts events that are here already (skipped) and events that extend a known chain,
an empty one included. Anything else is refused as a whole by MergeNeededError, and nothing is written.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

import msgspec
from blake3 import blake3

from manent.codec import chain
from manent.codec.ndjson import (
    AnyRecord,
    BlobRecord,
    EndRecord,
    HeaderRecord,
    StreamRecord,
    WorkspaceRecord,
    line_to_event,
    line_to_record,
)
from manent.errors import FormatError, MergeNeededError
from manent.history.extending import StreamImport
from manent.history.local_registers import is_local
from manent.history.spooling import BlobSpool
from manent.model.log import WorkspaceInfo
from manent.storage.port import Backend, Transaction

ChooseWorkspace = Callable[[Transaction], str]
"""Gives the uid of the workspace that takes every conversation."""

ReadBlob = Callable[[str], Iterable[bytes]]
"""Gives the bytes of a blob by its digest, in pieces. May raise FormatError: there is none, or not whole."""

_TEXTS = frozenset(("title", "persona", "key", "project", "end_reason"))
N = TypeVar("N", str, tuple[str, str])


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What an import of our own NDJSON did; `events` = `added` + `known`."""

    events: int
    added: int
    known: int
    conversations: int
    new_conversations: int
    blobs: int


def is_export(head: bytes) -> bool:
    """Whether a file that begins so is an export of ours."""
    return head.startswith(b'{"manent":"export"')


def restore(
    backend: Backend,
    lines: Iterable[bytes],
    *,
    into: ChooseWorkspace | None = None,
    name: str = "import",
    read_blob: ReadBlob | None = None,
) -> Restored:
    """
    Import an export.

    Args:
        lines: its lines, each with its LF.
        into: where every conversation goes; None keeps the workspaces of the export.
        name: what to call the file in errors.
        read_blob: reads a blob that the lines only name, as those of an archive do; else they hold it.

    Raises:
        FormatError: a line is damaged, or the file is not whole. Nothing was written.
        MergeNeededError: it brings another history of something that is here. Nothing was written.
    """
    with BlobSpool() as blobs:
        run = _Restoration(blobs, into, name, read_blob)
        with backend.transaction() as tx:
            run.read(tx, lines)
            for workspace, chunks in blobs.read():
                tx.blobs.put(workspace, chunks)
        return run.report(len(blobs))


class _Restoration:
    """One import, line by line."""

    def __init__(
        self, blobs: BlobSpool, into: ChooseWorkspace | None, name: str, read_blob: ReadBlob | None = None
    ) -> None:
        self._blobs = blobs
        self._read_blob = read_blob
        self._into = into
        self._name = name
        self._line = 0
        self._last: tuple[int, str, str] | None = None
        self._hasher = blake3()
        self._workspaces: dict[str, str] = {}
        self._awaited: dict[str, str] = {}
        self._undeclared: set[tuple[str, str]] = set()
        self._declared: set[tuple[str, str]] = set()
        self._stream: StreamImport | None = None
        self._counts = Counter[str]()

    def report(self, blobs: int) -> Restored:
        """What was done."""
        return Restored(
            events=self._counts["events"],
            added=self._counts["added"],
            known=self._counts["events"] - self._counts["added"],
            conversations=self._counts["conversations"],
            new_conversations=self._counts["new_conversations"],
            blobs=blobs,
        )

    @property
    def _place(self) -> str:
        return f"{self._name} line {self._line}"

    def read(self, tx: Transaction, lines: Iterable[bytes]) -> None:
        """Take in every line, and see that the file is whole."""
        for self._line, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                raise FormatError("the line is cut", place=self._place)
            if line.endswith(b"\r\n"):
                detail = "lines end at CRLF; copy the file without changing its lines"
                raise FormatError(detail, place=self._place)
            self._take(tx, line)
            self._hasher.update(line)
        if self._last is None or self._last[0] != _RANKS[EndRecord]:
            raise FormatError("the file was cut: its end is missing", place=self._place)

    def _take(self, tx: Transaction, line: bytes) -> None:
        record = line_to_record(line, place=self._place)
        if record is None:
            self._take_event(line)
            return
        self._check_order(_order_of(record), again=isinstance(record, BlobRecord) and self._read_blob is None)
        self._finish_stream()
        match record:
            case HeaderRecord():
                self._take_header(tx, record)
            case WorkspaceRecord():
                self._take_workspace(tx, record)
            case StreamRecord():
                self._take_stream(tx, record)
            case BlobRecord():
                self._take_blob(record)
            case EndRecord():
                self._take_end(tx, record)

    def _check_order(self, order: tuple[int, str, str], *, again: bool) -> None:
        if (self._last is None) != (order[0] == 0):
            raise FormatError("a header belongs on the first line and only there", place=self._place)
        if self._last is not None and (order < self._last or (order == self._last and not again)):
            raise FormatError("a record out of order", place=self._place)
        self._last = order

    def _take_header(self, tx: Transaction, header: HeaderRecord) -> None:
        if not 1 <= header.encoding <= chain.ENCODING:
            detail = f"encoding {header.encoding} is not known: install a newer manent"
            raise FormatError(detail, place=self._place)
        if tx.read.info().clock == 0 and not tx.read.list_workspaces():
            tx.adopt_source_key(bytes.fromhex(header.source_key))

    def _take_workspace(self, tx: Transaction, record: WorkspaceRecord) -> None:
        if not (_rises(record.streams) and _rises(record.aliases)):
            raise FormatError("a workspace whose streams or aliases are out of order", place=self._place)
        self._awaited.update(dict.fromkeys(record.streams, record.uid))
        if self._into is not None:
            self._workspaces[record.uid] = self._into(tx)
            return
        known = [uid for kind, value in record.aliases if (uid := tx.read.find_workspace(kind, value))]
        here = {workspace.uid for workspace in tx.read.list_workspaces()}
        uid = record.uid if record.uid in here or not known else known[0]
        self._workspaces[record.uid] = uid
        tx.put_workspace(WorkspaceInfo(uid, (), record.aliases))

    def _take_stream(self, tx: Transaction, record: StreamRecord) -> None:
        workspace = self._workspaces.get(record.workspace)
        if workspace is None:
            raise FormatError("a stream of a workspace that the file does not name", place=self._place)
        fields, writers = [r.field for r in record.registers], [t.writer for t in record.tips]
        if not (_rises(fields) and _rises(writers)):
            raise FormatError("a stream whose registers or tips are out of order", place=self._place)
        if any(map(is_local, fields)):
            raise FormatError("a register that belongs to one store alone", place=self._place)
        if any(r.field in _TEXTS and not isinstance(r.value, str | None) for r in record.registers):
            raise FormatError("a register that is no text", place=self._place)
        is_deleted = record.id is None and self._awaited.pop(record.uid, "") != record.workspace
        if is_deleted:
            self._undeclared.add((record.workspace, record.uid))
            if record.registers:
                raise FormatError("a deleted conversation that has metadata", place=self._place)
        self._stream = StreamImport(tx, record, is_deleted=is_deleted)
        is_new = self._stream.begin(workspace)
        if record.id is not None:
            self._counts.update(conversations=1, new_conversations=is_new)

    def _take_event(self, line: bytes) -> None:
        event = line_to_event(line, place=self._place)
        if self._stream is None or self._stream.record.uid != event.header.uid:
            raise FormatError("an event outside its stream", place=self._place)
        if not self._stream.follows(event):
            raise FormatError("it does not follow the event before it", place=self._place)
        if self._stream.is_deleted and any(leaf.data is not None for leaf in event.leaves):
            raise FormatError("a deleted conversation that still has words", place=self._place)
        if (uid := self._stream.deletion_of(event)) is not None:
            self._declared.add((self._stream.record.workspace, uid))
        self._counts.update(events=1, added=self._stream.take(event))

    def _finish_stream(self) -> None:
        if self._stream is not None and not self._stream.finish():
            detail = f"the events of {self._stream.name} are not those that its tips tell of"
            raise FormatError(detail, place=self._place)
        self._stream = None

    def _take_blob(self, record: BlobRecord) -> None:
        try:
            data = base64.b64decode(record.data, validate=True)
        except ValueError as error:
            raise FormatError("a damaged blob", place=self._place) from error
        if base64.b64encode(data).decode("ascii") != record.data:
            raise FormatError("a damaged blob", place=self._place)
        if record.workspace not in self._workspaces:
            raise FormatError("a blob of a workspace that the file does not name", place=self._place)
        workspace = self._workspaces[record.workspace]
        if self._read_blob is None:
            self._blobs.add(workspace, record.digest, data)
            return
        if data:
            raise FormatError("a blob among the lines of an archive", place=self._place)
        self._blobs.add(workspace, record.digest, b"")
        for piece in self._read_blob(record.digest):
            self._blobs.add(workspace, record.digest, piece)

    def _take_end(self, tx: Transaction, record: EndRecord) -> None:
        if damaged := self._blobs.find_damaged():
            raise FormatError(f"blob {damaged[:12]} is not what its digest says", place=self._place)
        if self._awaited:
            raise FormatError("a stream that a workspace names is missing", place=self._place)
        if self._undeclared - self._declared:
            raise FormatError("a stream that its workspace does not name", place=self._place)
        if record.digest != self._hasher.hexdigest():
            raise FormatError("the file is not as it was written", place=self._place)
        for workspace, uid in sorted(self._declared):
            stream = tx.read.find_stream(uid)
            if stream is not None and stream.workspace == self._workspaces[workspace] and not stream.deleted:
                raise MergeNeededError(what="A conversation that this file calls deleted")


_RANKS: dict[type[AnyRecord], int] = {
    HeaderRecord: 0,
    WorkspaceRecord: 1,
    StreamRecord: 2,
    BlobRecord: 3,
    EndRecord: 4,
}


def _order_of(record: AnyRecord) -> tuple[int, str, str]:
    """Where a record belongs in the file: the kinds follow each other, and in each the identities rise."""
    rank = _RANKS[type(record)]
    match record:
        case WorkspaceRecord(uid=uid) | StreamRecord(uid=uid):
            return rank, uid, ""
        case BlobRecord(workspace=workspace, digest=digest):
            return rank, workspace, digest
        case _:
            return rank, "", ""


def _rises(names: Sequence[N]) -> bool:
    """Whether each of these stands once, in order."""
    return list(names) == sorted(set(names))


def read_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with their LF out of chunks; JSON lines end at LF and nowhere else (T-2)."""
    rest = bytearray()
    for chunk in chunks:
        *ends, begin = chunk.split(b"\n")
        for end in ends:
            yield bytes(rest + end + b"\n")
            rest.clear()
        rest += begin
    if rest:
        yield bytes(rest)
