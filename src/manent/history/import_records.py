"""
Records of imports: registers of the workspace's own stream, written in the transactions that they tell of.

One register says what the import was and did so far. One for each transaction names the conversations that
it wrote to, with the seqs of its own events there: a transaction's events in a conversation follow each
other, so that an undo finds exactly those. The registers belong to one store alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from manent.history.local_registers import IMPORT_FIELD
from manent.history.runtime import Runtime
from manent.history.workspaces import own_stream
from manent.model.imports import Import
from manent.model.log import Register
from manent.storage.port import Reader, Transaction

COUNTS = ("new_conversations", "grown_conversations", "added_messages", "changed_messages")


class Touched(NamedTuple):
    """
    What one transaction of an import wrote to one conversation.

    Args:
        uid: the conversation.
        writer, first, last: who wrote, and the seqs of the first and the last event.
        created: it began with this import.
        head, key: what these were before the import, of a conversation that was there.
    """

    uid: str
    writer: str
    first: int
    last: int
    created: bool
    head: str | None = None
    key: str = ""


class Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an import was, and what it did so far."""

    claim_ns: int
    format: str
    paths: tuple[str, ...] = ()
    finished: bool = False
    counts: dict[str, int] = {}


class KeptImport(NamedTuple):
    """A record, and the transactions of the import that it tells of, by the field of their register."""

    stream: str
    id: str
    record: Record
    touched: dict[str, tuple[Touched, ...]]

    def told(self, workspace: str, *, with_paths: bool) -> Import:
        """What callers are told of it."""
        return Import(
            id=self.id,
            workspace=workspace,
            claim_ns=self.record.claim_ns,
            format=self.record.format,
            paths=self.record.paths if with_paths else (),
            finished=self.record.finished,
            **{name: self.record.counts.get(name, 0) for name in COUNTS},
        )


class Keeper:
    """Keeps the record of one import as it goes."""

    def __init__(self, runtime: Runtime, format: str, paths: Sequence[str]) -> None:
        self._runtime = runtime
        self._record = Record(claim_ns=runtime.clock(), format=format, paths=tuple(paths))
        self._stream: str | None = None
        self._transactions = 0
        self.finished = False
        self.id = runtime.new_id()[:8]

    @property
    def claim_ns(self) -> int:
        """When the import began."""
        return self._record.claim_ns

    @property
    def began(self) -> bool:
        """Whether anything was written."""
        return self._transactions > 0

    def note(
        self,
        tx: Transaction,
        workspace: str,
        touched: Sequence[Touched],
        counts: Mapping[str, int],
        *,
        finished: bool,
    ) -> str:
        """Say, in the transaction itself, what it wrote; return the stream that says so, for `committed`."""
        stream = own_stream(self._runtime, tx, workspace) if self._stream is None else self._stream
        self._put(tx, stream, counts, finished=finished)
        field = f"{IMPORT_FIELD}{self.id}/{self._transactions}"
        tx.put_metadata(stream, field, msgspec.to_builtins(touched))
        return stream

    def committed(self, stream: str, *, finished: bool) -> None:
        """The transaction that was noted is in the store, and may have been the last one."""
        self._stream = stream
        self._transactions += 1
        self.finished = finished

    def finish(self, tx: Transaction, counts: Mapping[str, int]) -> None:
        """The import, which wrote something, came to its end without another transaction that did."""
        if self._stream is not None:
            self._put(tx, self._stream, counts, finished=True)

    def _put(self, tx: Transaction, stream: str, counts: Mapping[str, int], *, finished: bool) -> None:
        kept = {name: counts[name] for name in COUNTS if counts.get(name)}
        record = msgspec.structs.replace(self._record, counts=kept, finished=finished)
        tx.put_metadata(stream, f"{IMPORT_FIELD}{self.id}", msgspec.to_builtins(record))


def is_damaged(register: Register) -> bool:
    """Whether a register is about an import and cannot be read: its import can be undone by nobody."""
    if register.value is None or not register.field.startswith(IMPORT_FIELD):
        return False
    return not _to_touched(register) if "/" in register.field else _to_record(register) is None


def imports_in(reader: Reader, stream: str) -> Iterator[KeptImport]:
    """The imports that a stream keeps the records of, as they began; a damaged record is left out."""
    records: dict[str, Record] = {}
    touched: dict[str, dict[str, tuple[Touched, ...]]] = {}
    for register in reader.read_registers(stream):
        if register.value is None or not register.field.startswith(IMPORT_FIELD):
            continue
        id, slash, _ = register.field.removeprefix(IMPORT_FIELD).partition("/")
        if slash:
            touched.setdefault(id, {})[register.field] = _to_touched(register)
        elif (record := _to_record(register)) is not None:
            records[id] = record
    for id, record in records.items():
        yield KeptImport(stream, id, record, touched.get(id, {}))


def _to_record(register: Register) -> Record | None:
    try:
        return msgspec.convert(register.value, Record)
    except msgspec.ValidationError:
        return None


def _to_touched(register: Register) -> tuple[Touched, ...]:
    try:
        return msgspec.convert(register.value, tuple[Touched, ...])
    except msgspec.ValidationError:
        return ()


def forget(tx: Transaction, kept: KeptImport) -> None:
    """The record is not needed any more: all that it tells of was taken back."""
    tx.put_metadata(kept.stream, f"{IMPORT_FIELD}{kept.id}", None)
