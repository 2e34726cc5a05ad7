"""
Verifying: every undeclared change is found, by kind and address; nothing is repaired (C-3).

One snapshot, streams one after the other, and no more memory than one page of events and what a stream
declares erased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import zip_longest

from manent.codec import chain
from manent.codec.receipt import RootHasher
from manent.codec.sealing import hash_of
from manent.history.recording import fold, open_leniently, stream
from manent.history.runtime import Scratch
from manent.model.events import KINDS, ContentRedacted, ConversationDeleted
from manent.model.ids import Stamp
from manent.model.records import (
    ConversationRow,
    Finding,
    FindingKind,
    KeyRow,
    LogEntry,
    MessageRow,
    Receipt,
    Report,
    StoredEvent,
    StreamInfo,
    Tip,
    TurnRow,
    WorkspaceInfo,
)
from manent.storage.port import Reader, ReadModelRow

UID_PAGE = 200
Progress = Callable[[int], None]
"""Called now and then with the number of events looked at."""


class Verifier:
    """One run over one snapshot. Give it streams, then ask for the report."""

    def __init__(self, reader: Reader, scratch: Scratch, receipt: Receipt | None, progress: Progress) -> None:
        self._reader = reader
        self._scratch = scratch
        self._receipt = receipt
        self._progress = progress
        self._findings: list[Finding] = []
        self._root = RootHasher()
        self._info = reader.info()
        self._deleted: set[str] = set()
        self._seq_max = 0
        self.streams = self.events = self.erased = self.unknown = 0

    def run(self) -> Report:
        """Look at everything."""
        self._deleted = set(self._read_deleted())
        for uid in read_uids(self._reader):
            try:
                self._verify_stream(uid)
            except UnicodeDecodeError:
                self.find(FindingKind.UNREADABLE, f"conversation:{uid}", "a text in its rows is no UTF-8")
        self._verify_store()
        return Report(
            findings=tuple(self._findings),
            streams=self.streams,
            events=self.events,
            erased_leaves=self.erased,
            unknown_kinds=self.unknown,
        )

    def find(self, kind: str, address: str, detail: str) -> None:
        """Add a finding."""
        self._findings.append(Finding(kind=kind, address=address, detail=detail))

    def counts(self, position: int) -> bool:
        """Whether an event belongs to what the receipt was given for."""
        return self._receipt is None or position <= self._receipt.position

    def holds(self, uid: str, stamp: Stamp, leaf: str) -> bool:
        """Whether an event has a leaf of that name."""
        entry = self._reader.find_entry(uid, stamp)
        return entry is not None and any(each.name == leaf for each in entry.leaves)

    def _read_deleted(self) -> Iterator[str]:
        for workspace in self._reader.list_workspaces():
            for uid in workspace.streams:
                with suppress(UnicodeDecodeError):  # found again where the stream is verified
                    yield from self._read_deleted_in(uid)

    def _read_deleted_in(self, uid: str) -> Iterator[str]:
        for entry in stream(self._reader, uid):
            event = open_leniently(entry).event
            if isinstance(event, ConversationDeleted):
                yield event.uid

    def _verify_stream(self, uid: str) -> None:
        info = self._reader.find_stream(uid)
        check = _StreamCheck(self, uid, name_of(info, uid), uid in self._deleted)
        self.streams += 1
        for entry in stream(self._reader, uid):
            check.take(entry)
            self.events += 1
            if self.events % UID_PAGE == 0:
                self._progress(self.events)
        check.finish(self._reader.read_tips(uid))
        self._seq_max = max(self._seq_max, check.seq_max)
        for tip in check.tips():
            self._root.add(tip)
        if info is None:
            self.find(FindingKind.ORPHAN, f"conversation:{uid}", "it is in no workspace")
        else:
            self._verify_rows(info, check.count)
            self._verify_registers(info)

    def _verify_rows(self, info: StreamInfo, events: int) -> None:
        """Fold the conversation again elsewhere and compare row by row (P-1)."""
        scratch = self._scratch.make(events)
        try:
            with scratch.transaction() as tx:
                tx.put_workspace(WorkspaceInfo(info.workspace, (), ()))
                tx.put_stream(info)
                for entry in stream(self._reader, info.uid):
                    fold(tx, info.uid, open_leniently(entry))
                self._compare(info, self._reader.read_rows(info.uid), tx.read.read_rows(info.uid))
        finally:
            scratch.close()

    def _compare(
        self, info: StreamInfo, found: Iterator[ReadModelRow], right: Iterator[ReadModelRow]
    ) -> None:
        for is_row, ought in zip_longest(found, right):
            if is_row != ought:
                first = min((row for row in (ought, is_row) if row), key=_row_order)
                address = _row_address(name_of(info, info.uid), first)
                self.find(
                    FindingKind.READ_MODEL, address, "the read model is not what the log gives; rebuild it"
                )
                return

    def _verify_registers(self, info: StreamInfo) -> None:
        registers = self._reader.read_registers(info.uid)
        self._seq_max = max([self._seq_max, *(register.stamp.seq for register in registers)])
        key = next((register.value for register in registers if register.field == "key"), None)
        if isinstance(key, str) and all(
            s.uid != info.uid for s in self._reader.find_by_key(info.workspace, key)
        ):
            self.find(FindingKind.READ_MODEL, f"conversation:{info.id}", "its key does not lead to it")

    def _verify_store(self) -> None:
        for place in self._reader.read_strays():
            self.find(FindingKind.ORPHAN, place, "something hangs on nothing here")
        if self._seq_max > self._info.clock:
            detail = f"the clock stands at {self._info.clock}, below seq {self._seq_max}"
            self.find(FindingKind.CLOCK, "store", detail)
        if self._receipt is not None:
            self._verify_receipt(self._receipt)

    def _verify_receipt(self, receipt: Receipt) -> None:
        for wrong, detail in (
            (receipt.store_id != self._info.store_id, "the receipt is of another store"),
            (
                receipt.encoding != chain.ENCODING,
                "the receipt has an encoding that this release does not know",
            ),
            (
                receipt.position > self._info.position or receipt.count > self._root.count,
                f"the receipt knows {receipt.count} events, the store has {self._root.count}: "
                "a tail was cut, or an older file was restored",
            ),
            (
                receipt.root != self._root.root(),
                "events up to the receipt are not those that it was given for",
            ),
        ):
            if wrong:
                self.find(FindingKind.RECEIPT, f"position {receipt.position}", detail)
                return


class _WriterCheck:
    """One writer's chain in one stream."""

    def __init__(self) -> None:
        self.hash = b""
        self.last: Stamp | None = None
        self.before_last: Stamp | None = None
        self.suspect = False
        self.position = 0
        self.count = 0
        self.tip: Tip | None = None


class _StreamCheck:
    """
    The chains of one stream.

    A link that does not fit says that the event before it changed, or is gone, if the event itself proves
    whole by the next link or the tip; else that the event itself changed.
    """

    def __init__(self, verifier: Verifier, uid: str, name: str, deleted: bool) -> None:
        self._verifier = verifier
        self._uid = uid
        self._name = name
        self._deleted = deleted
        self._writers: dict[str, _WriterCheck] = {}
        self._erased: set[tuple[Stamp, str]] = set()
        self._declared: set[tuple[Stamp, str]] = set()
        self.seq_max = 0
        self.count = 0

    def _address(self, stamp: Stamp) -> str:
        return f"event:{self._name}#{stamp.seq}@{stamp.writer}"

    def _find(self, kind: str, stamp: Stamp, detail: str) -> None:
        self._verifier.find(kind, self._address(stamp), detail)

    def take(self, entry: LogEntry) -> None:
        """Check the next event in causal order."""
        header = entry.header
        writer = self._writers.setdefault(header.writer, _WriterCheck())
        self.count += 1
        self.seq_max = max(self.seq_max, header.seq)
        if header.encoding != chain.ENCODING:
            self._find(FindingKind.UNKNOWN_ENCODING, header.stamp, f"encoding {header.encoding} is not known")
        self._check_link(writer, entry)
        self._check_leaves(entry)
        self._check_content(open_leniently(entry))
        self._advance(writer, entry)

    def _check_link(self, writer: _WriterCheck, entry: LogEntry) -> None:
        stamp = entry.header.stamp
        first = writer.last is None
        expected = chain.genesis(self._uid, stamp.writer) if first else writer.hash
        fits = entry.header.prev_hash == expected
        if writer.suspect:
            self._blame(writer, fits)
        writer.suspect = not fits

    def _blame(self, writer: _WriterCheck, last_is_whole: bool) -> None:
        """Say who broke the last link, now that it is known whether the last event is whole."""
        if writer.last is None:
            return
        if not last_is_whole:
            self._find(FindingKind.CONTENT, writer.last, "the event was changed")
        elif writer.before_last is None:
            self._find(
                FindingKind.GENESIS, writer.last, "it is not the first event that this writer wrote here"
            )
        else:
            detail = f"it was changed, or what stood between it and seq {writer.last.seq} is gone"
            self._find(FindingKind.LINK, writer.before_last, detail)

    def _check_leaves(self, entry: LogEntry) -> None:
        stamp = entry.header.stamp
        for leaf in entry.leaves:
            if leaf.data is None and leaf.salt is None:
                self._erased.add((stamp, leaf.name))
                self._verifier.erased += 1
            elif leaf.data is None or leaf.salt is None:
                self._find(FindingKind.CONTENT, stamp, f"leaf {leaf.name} has lost its bytes or its salt")
            elif leaf.digest is not None:
                self._find(FindingKind.CONTENT, stamp, f"leaf {leaf.name} is marked erased and is not")

    def _check_content(self, stored: StoredEvent) -> None:
        header = stored.header
        newest = KINDS[header.kind].SCHEMA_VERSION if header.kind in KINDS else 0
        match stored.event:
            case ContentRedacted() as event:
                target = Stamp(event.target_seq, event.target_writer)
                self._declared.update((target, name) for name in event.target_leaves)
            case event if not event.KIND and header.schema_version > newest:
                self._verifier.unknown += 1
            case event if not event.KIND and not self._lacks_skeleton(stored):
                self._find(FindingKind.UNREADABLE, header.stamp, f"it does not read as {header.kind}")
            case _:
                return

    @staticmethod
    def _lacks_skeleton(stored: StoredEvent) -> bool:
        return bool(stored.leaves) and stored.leaves[0].data is None

    def _advance(self, writer: _WriterCheck, entry: LogEntry) -> None:
        stamp = entry.header.stamp
        if entry.position <= writer.position:
            self._find(FindingKind.ORDER, stamp, "it stands before an event that it follows")
        writer.position = entry.position
        writer.hash = hash_of(entry)
        writer.before_last, writer.last = writer.last, stamp
        writer.count += 1
        tip = Tip(self._uid, stamp.writer, stamp.seq, writer.hash, writer.count)
        if self._verifier.counts(entry.position):
            writer.tip = tip

    def finish(self, tips: Sequence[Tip]) -> None:
        """Compare with the recorded tips, and what is erased with what is declared."""
        recorded = {tip.writer: tip for tip in tips}
        for name in sorted(recorded.keys() | self._writers.keys()):
            self._check_tip(name, self._writers.get(name, _WriterCheck()), recorded.get(name))
        if self._deleted:
            return
        for stamp, leaf in sorted(self._erased - self._declared):
            self._find(FindingKind.CONTENT, stamp, f"leaf {leaf} is gone and nothing declares it")
        for stamp, leaf in sorted(self._declared - self._erased):
            if self._verifier.holds(self._uid, stamp, leaf):
                self._find(FindingKind.CONTENT, stamp, f"leaf {leaf} is declared gone and is there")

    def _check_tip(self, name: str, writer: _WriterCheck, tip: Tip | None) -> None:
        whole = tip is not None and tip.hash == writer.hash
        if writer.suspect:
            self._blame(writer, whole)
        last = writer.last or Stamp(0, name)
        if tip is None:
            self._find(FindingKind.TIP, last, "no tip is recorded for its writer")
        elif tip.seq > last.seq or tip.total > writer.count:
            detail = f"the tip knows {tip.total} events up to seq {tip.seq}, {writer.count} are there"
            self._find(FindingKind.CUT_TAIL, last, detail)
        elif (tip.seq, tip.total) != (last.seq, writer.count):
            self._find(FindingKind.TIP, last, "the recorded tip is another one")
        elif not whole:
            self._find(FindingKind.CONTENT, last, "the last event or its tip was changed")

    def tips(self) -> Iterator[Tip]:
        """The tips, by writer: as of the receipt's position where one is given."""
        for name in sorted(self._writers):
            tip = self._writers[name].tip
            if tip is not None:
                yield tip


def read_uids(reader: Reader) -> Iterator[str]:
    """Every stream's uid, sorted."""
    after = ""
    while page := reader.read_uids(after, UID_PAGE):
        yield from page
        after = page[-1]


def name_of(info: StreamInfo | None, uid: str) -> str:
    """How an address names a stream: a conversation by its id, anything else by its uid."""
    return info.id if info and info.id is not None else uid


def _row_order(row: ReadModelRow) -> tuple[int, tuple[object, ...]]:
    """Where a row stands among a conversation's."""
    match row:
        case ConversationRow():
            return 0, ()
        case MessageRow(seq=seq, writer=writer, ordinal=ordinal):
            return 1, (seq, writer, ordinal)
        case TurnRow(seq=seq, writer=writer):
            return 2, (seq, writer)
        case KeyRow(key_digest=digest):
            return 3, (digest,)


def _row_address(name: str, row: ReadModelRow) -> str:
    match row:
        case ConversationRow():
            return f"conversation:{name}"
        case MessageRow(message_id=message_id):
            return f"message:{name}#{message_id}"
        case TurnRow(seq=seq):
            return f"turn:{name}#{seq}"
        case KeyRow(seq=seq):
            return f"key:{name}#{seq}"


def make_receipt(reader: Reader, now_ns: int) -> Receipt:
    """A receipt of everything as of now."""
    info = reader.info()
    root = RootHasher()
    for uid in read_uids(reader):
        for tip in reader.read_tips(uid):
            root.add(tip)
    return Receipt(
        store_id=info.store_id,
        position=info.position,
        count=root.count,
        root=root.root(),
        claim_ns=now_ns,
        encoding=chain.ENCODING,
    )
