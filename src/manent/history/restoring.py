"""
Importing our own NDJSON: events come back as they were sealed, so that the chain goes on (I-4).

Until merge lands it accepts events that are here already (skipped) and events that extend a known chain,
an empty one included. Anything else is refused as a whole by MergeNeededError, and nothing is written.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

import msgspec

from manent.codec import chain
from manent.codec.ndjson import VERSION, line_to_event, line_to_record
from manent.codec.sealing import hash_of
from manent.errors import AlreadyExistsError, FormatError, MergeNeededError
from manent.history.recording import adopt
from manent.model.ids import Stamp
from manent.model.records import SealedEvent, StreamInfo, Tip, WorkspaceInfo
from manent.storage.port import Backend, Transaction

BATCH = 256
"""Events adopted at a time."""


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What an import of our own NDJSON did; `events` = `added` + `known`."""

    events: int
    added: int
    known: int
    conversations: int
    new_conversations: int
    blobs: int


class _StreamRecord(msgspec.Struct, frozen=True):
    uid: str
    workspace: str
    id: str | None
    registers: list[dict[str, Any]]
    tips: list[dict[str, Any]]


def is_export(head: bytes) -> bool:
    """Whether a file that begins so is an export of ours."""
    return head.startswith(b'{"manent":"export"')


def restore(
    backend: Backend, lines: Iterable[bytes], *, into: str | None = None, name: str = "import"
) -> Restored:
    """
    Import an export.

    Args:
        lines: its lines, each with its LF.
        into: put every conversation into this workspace; None keeps the workspaces of the export.
        name: what to call the file in errors.

    Raises:
        FormatError: a line is damaged, or the file ends too soon. Nothing was written.
        MergeNeededError: it brings another history of something that is here. Nothing was written.
    """
    run = _Restoration(backend, into, name)
    with backend.transaction() as tx:
        blobs = run.read(tx, lines)
        run.check_tips(tx)
    for workspace, digest, chunks in blobs:
        if backend.blobs.put(workspace, chunks) != digest:
            raise FormatError(f"blob {digest[:12]} is not what its digest says", place=name)
        run.blobs += 1
    return run.report()


class _Restoration:
    """One import, line by line."""

    def __init__(self, backend: Backend, into: str | None, name: str) -> None:
        self._backend = backend
        self._into = into
        self._name = name
        self._line = 0
        self._workspaces: dict[str, str] = {}
        self._tips: list[tuple[_StreamRecord, str]] = []
        self._pending: list[SealedEvent] = []
        self._ends: dict[tuple[str, str], Tip] = {}
        self.events = self.added = self.new = self.blobs = 0

    def report(self) -> Restored:
        return Restored(
            events=self.events,
            added=self.added,
            known=self.events - self.added,
            conversations=sum(record.id is not None for record, _ in self._tips),
            new_conversations=self.new,
            blobs=self.blobs,
        )

    @property
    def _place(self) -> str:
        return f"{self._name} line {self._line}"

    def read(self, tx: Transaction, lines: Iterable[bytes]) -> list[tuple[str, str, list[bytes]]]:
        """Take in every line; return the blobs, which are stored once the rest is sure."""
        chunks: list[tuple[str, str, bytes]] = []
        for self._line, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                raise FormatError("the line is cut", place=self._place)
            record = line_to_record(line, place=self._place)
            if record is None:
                self._take_event(tx, line)
            elif record["manent"] == "blob":
                chunks.append(self._take_blob(record))
            else:
                self._take_record(tx, record)
        if self._line == 0:
            raise FormatError("the file is empty", place=self._name)
        self._flush(tx)
        return [
            (workspace, digest, [data for _, _, data in group])
            for (workspace, digest), group in groupby(chunks, key=lambda chunk: chunk[:2])
        ]

    def _take_record(self, tx: Transaction, record: dict[str, Any]) -> None:
        kind = record["manent"]
        if (self._line == 1) != (kind == "export"):
            raise FormatError("a header belongs on the first line and only there", place=self._place)
        try:
            match kind:
                case "export":
                    self._take_header(tx, record)
                case "workspace":
                    self._take_workspace(tx, record)
                case "stream":
                    self._take_stream(tx, record)
                case _:
                    raise FormatError(f"a record {kind!r} that this release does not know", place=self._place)
        except (KeyError, TypeError, msgspec.MsgspecError) as error:
            raise FormatError(f"a {kind} record that lacks something", place=self._place) from error

    def _take_header(self, tx: Transaction, record: dict[str, Any]) -> None:
        if record["version"] > VERSION:
            detail = (
                f"export version {record['version']}, this manent reads up to {VERSION}: install a newer one"
            )
            raise FormatError(detail, place=self._place)
        if tx.read.info().clock == 0 and not tx.read.list_workspaces():
            tx.adopt_source_key(bytes.fromhex(record["sourceKey"]))

    def _take_workspace(self, tx: Transaction, record: dict[str, Any]) -> None:
        aliases = tuple((kind, value) for kind, value in record["aliases"])
        known = [uid for kind, value in aliases if (uid := tx.read.find_workspace(kind, value))]
        here = {w.uid for w in tx.read.list_workspaces()}
        uid = record["uid"] if record["uid"] in here or not known else known[0]
        if self._into is not None:
            uid, aliases = self._into, ()
        self._workspaces[record["uid"]] = uid
        tx.put_workspace(WorkspaceInfo(uid, (), aliases))

    def _take_stream(self, tx: Transaction, fields: dict[str, Any]) -> None:
        self._flush(tx)
        record = msgspec.convert({k: v for k, v in fields.items() if k != "manent"}, _StreamRecord)
        workspace = self._workspaces[record.workspace]
        known = tx.read.find_stream(record.uid)
        if known is None:
            self._put_stream(tx, StreamInfo(record.uid, workspace, record.id))
        elif known.workspace != workspace or known.id != record.id:
            raise MergeNeededError(what=f"Conversation {record.id or record.uid}")
        for register in record.registers:
            self._put_register(tx, record, workspace, register)
        self._tips.append((record, workspace))

    def _put_stream(self, tx: Transaction, identity: StreamInfo) -> None:
        try:
            tx.put_stream(identity)
        except AlreadyExistsError as error:
            raise MergeNeededError(what=f"Conversation {identity.id}") from error
        self.new += identity.id is not None

    def _put_register(
        self, tx: Transaction, record: _StreamRecord, workspace: str, register: dict[str, Any]
    ) -> None:
        stamp = Stamp(register["seq"], register["writer"])
        if register["field"] == "key" and register["value"] is not None:
            holders = tx.read.find_by_key(workspace, register["value"])
            if any(holder.uid != record.uid for holder in holders):
                raise MergeNeededError(what=f"The key of conversation {record.id}")
        tx.put_metadata(record.uid, register["field"], register["value"], stamp)

    def _take_event(self, tx: Transaction, line: bytes) -> None:
        event = line_to_event(line, place=self._place)
        header = event.header
        if not self._tips or self._tips[-1][0].uid != header.uid:
            raise FormatError("an event outside its stream", place=self._place)
        self.events += 1
        name = (header.uid, header.writer)
        if name not in self._ends:
            self._ends[name] = self._end_of(tx, *name)
        end = self._ends[name]
        if header.seq <= end.seq:
            self._require_equal(tx, event)
        elif header.prev_hash != end.hash:
            raise MergeNeededError(what=f"Conversation {self._tips[-1][0].id or header.uid}")
        else:
            self._ends[name] = Tip(*name, header.seq, hash_of(event), end.total + 1)
            self._pending.append(event)
            self.added += 1
            if len(self._pending) >= BATCH:
                self._flush(tx)

    def _end_of(self, tx: Transaction, uid: str, writer: str) -> Tip:
        empty = Tip(uid, writer, 0, chain.genesis(uid, writer), 0)
        return next((tip for tip in tx.read.read_tips(uid) if tip.writer == writer), empty)

    def _require_equal(self, tx: Transaction, event: SealedEvent) -> None:
        known = tx.read.find_entry(event.header.uid, event.header.stamp)
        if known is None or known.header != event.header or hash_of(known) != hash_of(event):
            raise MergeNeededError(what=f"Conversation {self._tips[-1][0].id or event.header.uid}")

    def _flush(self, tx: Transaction) -> None:
        if self._pending:
            adopt(tx, self._pending)
            self._pending = []

    def _take_blob(self, record: dict[str, Any]) -> tuple[str, str, bytes]:
        try:
            data = base64.b64decode(record["data"], validate=True)
            return self._workspaces[record["workspace"]], record["digest"], data
        except (KeyError, TypeError, binascii.Error) as error:
            raise FormatError("a damaged blob", place=self._place) from error

    def check_tips(self, tx: Transaction) -> None:
        """The chains reach at least as far as the export says: it was not cut."""
        for record, _ in self._tips:
            here = {tip.writer: tip for tip in tx.read.read_tips(record.uid)}
            for tip in record.tips:
                found = here.get(tip["writer"])
                if found is None or found.seq < tip["seq"]:
                    detail = f"events of {record.id or record.uid} are missing: the file was cut"
                    raise FormatError(detail, place=self._name)


def read_lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Lines with their LF out of chunks; JSON lines end at LF and nowhere else (T-2)."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n")
        yield from (line + b"\n" for line in whole)
    if rest:
        yield rest
