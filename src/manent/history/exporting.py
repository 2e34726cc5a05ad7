"""
Exporting: the whole record as NDJSON of our own, to the last byte (I-4).

A header line; the workspaces; then each stream by uid: its identity, registers and tips, and its events by
(seq, writer); then the blobs; then an end that proves the rest whole. No position and no time of export:
equal records give equal bytes. An archive holds the same lines and, behind them, each blob as a file.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from blake3 import blake3

from manent.codec.chain import ENCODING
from manent.codec.ndjson import (
    VERSION,
    BlobRecord,
    EndRecord,
    HeaderRecord,
    RegisterEntry,
    StreamRecord,
    TipEntry,
    WorkspaceRecord,
    event_to_line,
    record_to_line,
)
from manent.history.attachments import find_digests
from manent.history.local_registers import is_local
from manent.history.recording import stream
from manent.history.verifying import read_uids
from manent.model.exported import LINES_NAME, Entry, Tally, blob_name
from manent.model.log import StreamInfo
from manent.storage.port import Backend, Reader

BLOB_PIECE_BYTES = 192 * 1024


class Part(NamedTuple):
    """
    Which part of a store is exported.

    Args:
        workspace: only this one's streams; None for all of them.
        conversations: of the conversations only these, by uid; None for all of them.
    """

    workspace: str | None
    conversations: frozenset[str] | None = None

    def holds(self, stream: StreamInfo) -> bool:
        """Whether a stream belongs to it. What tells of a whole workspace, and of what was deleted, does."""
        is_asked = self.conversations is None or stream.uid in self.conversations
        return self.workspace in (None, stream.workspace) and (is_asked or stream.id is None)


def export_lines(backend: Backend, workspace: str | None) -> Iterator[bytes]:
    """
    The lines of an export, each with its LF, from one snapshot.

    Args:
        workspace: only this one's streams; None for everything.
    """
    return export_part(backend, Part(workspace))


def export_part(backend: Backend, part: Part, tally: Tally | None = None) -> Iterator[bytes]:
    """The lines of an export of a part of a store, each with its LF, from one snapshot."""
    return _proved(_lines(backend, part, _Blobs(), tally or Tally()))


def archive_entries(backend: Backend, part: Part, tally: Tally) -> Iterator[Entry]:
    """
    The files of an archive: the lines, whose blobs have no data, and each blob by its digest.

    The lines are read to their end before the first blob is asked for.
    """
    blobs = _Blobs(inline=False)
    yield Entry(LINES_NAME, _proved(_lines(backend, part, blobs, tally)))
    for digest, workspace in sorted(blobs.named.items()):
        yield Entry(blob_name(digest), backend.blobs.get(workspace, digest))


def _proved(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The lines, and one that proves them whole."""
    hasher = blake3()
    for line in lines:
        hasher.update(line)
        yield line
    yield record_to_line(EndRecord(hasher.hexdigest()))


class _Blobs:
    """What becomes of blobs: they stand among the lines, or are named there and kept in mind."""

    def __init__(self, *, inline: bool = True) -> None:
        self._inline = inline
        self.named: dict[str, str] = {}

    def lines(self, backend: Backend, workspace: str, digest: str) -> Iterator[bytes]:
        """The records of one blob."""
        if not self._inline:
            self.named.setdefault(digest, workspace)
            yield record_to_line(BlobRecord(workspace, digest, ""))
            return
        for piece in _evenly(backend.blobs.get(workspace, digest)):
            data = base64.b64encode(piece).decode("ascii")
            yield record_to_line(BlobRecord(workspace, digest, data))


def _lines(backend: Backend, part: Part, blobs: _Blobs, tally: Tally) -> Iterator[bytes]:
    with backend.reading() as reader:
        source_key = reader.info().source_key.hex()
        yield record_to_line(HeaderRecord(VERSION, ENCODING, source_key))
        shown = {w.uid: w for w in reader.list_workspaces() if _is_shown(reader, part, w.uid)}
        for info in shown.values():
            yield record_to_line(WorkspaceRecord(info.uid, info.streams, info.aliases))
        for uid in read_uids(reader):
            identity = reader.find_stream(uid)
            if identity is not None and identity.workspace in shown and part.holds(identity):
                tally.conversations += identity.id is not None
                yield from _stream_lines(reader, identity)
        wanted = _wanted_digests(reader, part)
    for workspace in shown:
        for digest in backend.blobs.list_digests(workspace):
            if wanted is None or digest in wanted:
                tally.attachments += 1
                yield from blobs.lines(backend, workspace, digest)


def _is_shown(reader: Reader, part: Part, workspace: str) -> bool:
    """Whether a workspace belongs to a part: of some conversations only those that they stand in."""
    asked = (reader.find_stream(uid) for uid in part.conversations or ())
    holds_any = part.conversations is None or any(each and each.workspace == workspace for each in asked)
    return holds_any and part.workspace in (None, workspace)


def _wanted_digests(reader: Reader, part: Part) -> set[str] | None:
    """The blobs that the conversations of a part refer to; None for all that there are."""
    if part.conversations is None:
        return None
    return set[str]().union(*(find_digests(reader, uid) for uid in part.conversations))


def _stream_lines(reader: Reader, identity: StreamInfo) -> Iterator[bytes]:
    registers = [
        RegisterEntry(r.field, r.value, *r.stamp)
        for r in reader.read_registers(identity.uid)
        if not is_local(r.field)
    ]
    tips = [TipEntry(t.writer, t.seq, t.hash.hex(), t.total) for t in reader.read_tips(identity.uid)]
    yield record_to_line(
        StreamRecord(identity.uid, identity.workspace, identity.id, tuple(registers), tuple(tips))
    )
    for entry in stream(reader, identity.uid):
        yield event_to_line(entry)


def _evenly(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes in pieces of one size, whatever the backend's are; one empty piece for none."""
    piece, pieces = bytearray(), 0
    for chunk in chunks:
        for start in range(0, len(chunk), BLOB_PIECE_BYTES):
            piece += chunk[start : start + BLOB_PIECE_BYTES]
            if len(piece) >= BLOB_PIECE_BYTES:
                yield bytes(piece[:BLOB_PIECE_BYTES])
                del piece[:BLOB_PIECE_BYTES]
                pieces += 1
    if piece or not pieces:
        yield bytes(piece)
