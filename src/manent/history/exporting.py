"""
Exporting: the whole record as NDJSON of our own, to the last byte (I-4).

A header line; the workspaces; then each stream by uid: its identity, registers and tips, and its events by
(seq, writer); then the blobs. No position and no time of export: equal records give equal bytes.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

from manent.codec.chain import ENCODING
from manent.codec.ndjson import VERSION, event_to_line, record_to_line
from manent.history.recording import stream
from manent.history.verifying import read_uids
from manent.model.records import StreamInfo
from manent.storage.port import Backend, Reader

BLOB_CHUNK_BYTES = 192 * 1024


def export_lines(backend: Backend, workspace: str | None) -> Iterator[bytes]:
    """
    The lines of an export, each with its LF, from one snapshot.

    Args:
        workspace: only this one's streams; None for everything.
    """
    with backend.reading() as reader:
        yield record_to_line("export", _header(reader))
        shown = [w for w in reader.list_workspaces() if workspace in (None, w.uid)]
        for info in shown:
            aliases = [list(alias) for alias in info.aliases]
            fields = {"uid": info.uid, "streams": list(info.streams), "aliases": aliases}
            yield record_to_line("workspace", fields)
        for uid in read_uids(reader):
            identity = reader.find_stream(uid)
            if identity is not None and workspace in (None, identity.workspace):
                yield from _stream_lines(reader, identity)
    for info in shown:
        yield from _blob_lines(backend, info.uid)


def _header(reader: Reader) -> dict[str, Any]:
    return {"version": VERSION, "encoding": ENCODING, "sourceKey": reader.info().source_key.hex()}


def _stream_lines(reader: Reader, identity: StreamInfo) -> Iterator[bytes]:
    registers = [
        {"field": r.field, "value": r.value, "seq": r.stamp.seq, "writer": r.stamp.writer}
        for r in reader.read_registers(identity.uid)
    ]
    tips = [
        {"writer": t.writer, "seq": t.seq, "hash": t.hash.hex(), "count": t.total}
        for t in reader.read_tips(identity.uid)
    ]
    fields = {**identity._asdict(), "registers": registers, "tips": tips}
    yield record_to_line("stream", fields)
    for entry in stream(reader, identity.uid):
        yield event_to_line(entry)


def _blob_lines(backend: Backend, workspace: str) -> Iterator[bytes]:
    for digest in backend.blobs.list_digests(workspace):
        for chunk in backend.blobs.get(workspace, digest):
            for start in range(0, len(chunk), BLOB_CHUNK_BYTES):
                data = base64.b64encode(chunk[start : start + BLOB_CHUNK_BYTES]).decode("ascii")
                yield record_to_line("blob", {"workspace": workspace, "digest": digest, "data": data})
