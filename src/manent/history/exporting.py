"""
Exporting: the whole record as NDJSON of our own, to the last byte (I-4).

A header line; the workspaces; then each stream by uid: its identity, registers and tips, and its events by
(seq, writer); then the blobs; then an end that proves the rest whole. No position and no time of export:
equal records give equal bytes.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator

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
from manent.history.local_registers import is_local
from manent.history.recording import stream
from manent.history.verifying import read_uids
from manent.model.log import StreamInfo
from manent.storage.port import Backend, Reader

BLOB_PIECE_BYTES = 192 * 1024


def export_lines(backend: Backend, workspace: str | None) -> Iterator[bytes]:
    """
    The lines of an export, each with its LF, from one snapshot.

    Args:
        workspace: only this one's streams; None for everything.
    """
    hasher = blake3()
    for line in _lines(backend, workspace):
        hasher.update(line)
        yield line
    yield record_to_line(EndRecord(hasher.hexdigest()))


def _lines(backend: Backend, workspace: str | None) -> Iterator[bytes]:
    with backend.reading() as reader:
        source_key = reader.info().source_key.hex()
        yield record_to_line(HeaderRecord(VERSION, ENCODING, source_key))
        shown = [w for w in reader.list_workspaces() if workspace in (None, w.uid)]
        for info in shown:
            yield record_to_line(WorkspaceRecord(info.uid, info.streams, info.aliases))
        for uid in read_uids(reader):
            identity = reader.find_stream(uid)
            if identity is not None and workspace in (None, identity.workspace):
                yield from _stream_lines(reader, identity)
    for info in shown:
        for digest in backend.blobs.list_digests(info.uid):
            for piece in _evenly(backend.blobs.get(info.uid, digest)):
                data = base64.b64encode(piece).decode("ascii")
                yield record_to_line(BlobRecord(info.uid, digest, data))


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
