"""
Verifying: every undeclared change is found, by kind and address; nothing is repaired (C-3).

One snapshot, streams one after the other, and no more memory than one page of events and what a stream
declares erased.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import zip_longest

from manent.codec import chain
from manent.codec.receipt import RootHasher
from manent.errors import MetadataError
from manent.history.checking import StreamCheck
from manent.history.import_records import is_damaged
from manent.history.masked import MASKED_FIELD, to_masked
from manent.history.moves import is_move, to_move
from manent.history.recording import fold, open_leniently, stream
from manent.history.runtime import Scratch
from manent.model.events import ConversationDeleted
from manent.model.ids import Stamp
from manent.model.log import StreamInfo, WorkspaceInfo
from manent.model.records import Finding, FindingKind, Receipt, Report
from manent.model.rows import ConversationRow, KeyRow, LinkRow, MessageRow, TurnRow
from manent.storage.port import Reader, ReadModelRow

UID_PAGE = 200
NO_WORKSPACE = "-"
"""The fence of a handle whose workspace is not in the store yet: it may name nothing."""

ELSEWHERE = "elsewhere"
"""How a fenced report names what is outside its workspace."""

Progress = Callable[[int], None]
"""Called now and then with the number of events looked at."""


class Verifier:
    """
    One run over one snapshot.

    Args:
        fence: the workspace whose conversations may be named; what is wrong elsewhere is said without its
            ids (N-1). None names everything.
    """

    def __init__(
        self,
        reader: Reader,
        scratch: Scratch,
        receipt: Receipt | None,
        progress: Progress,
        *,
        fence: str | None = None,
    ) -> None:
        self._reader = reader
        self._fence = fence
        self._scratch = scratch
        self._receipt = receipt
        self._progress = progress
        self._findings: list[Finding] = []
        self._root = RootHasher()
        self._info = reader.info()
        self._deleted: set[tuple[str, str]] = set()
        self._seq_max = 0
        self.streams = self.events = self.erased = self.unknown = 0

    def run(self) -> Report:
        """Look at everything."""
        self._deleted = set(self._read_deleted())
        for uid in read_uids(self._reader):
            try:
                self._verify_stream(uid)
            except UnicodeDecodeError:
                self._find_unreadable(uid, "a text in its rows is no UTF-8")
            except MetadataError as error:
                self._find_unreadable(uid, f"its register {error.field!r} is no JSON")
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

    def _find_unreadable(self, uid: str, detail: str) -> None:
        address = f"conversation:{ELSEWHERE if self._fence else uid}"
        self.find(FindingKind.UNREADABLE, address, detail)

    def _name(self, info: StreamInfo | None, uid: str) -> str:
        inside = self._fence is None or (info is not None and info.workspace == self._fence)
        return name_of(info, uid) if inside else ELSEWHERE

    def _read_deleted(self) -> Iterator[tuple[str, str]]:
        """What each workspace declares deleted; it can say so of its own conversations alone."""
        for workspace in self._reader.list_workspaces():
            for uid in workspace.streams:
                with suppress(UnicodeDecodeError):  # found again where the stream is verified
                    yield from ((workspace.uid, deleted) for deleted in self._read_deleted_in(uid))

    def _read_deleted_in(self, uid: str) -> Iterator[str]:
        for entry in stream(self._reader, uid):
            event = open_leniently(entry).event
            if isinstance(event, ConversationDeleted):
                yield event.uid

    def _verify_stream(self, uid: str) -> None:
        info = self._reader.find_stream(uid)
        is_declared = info is not None and (info.workspace, uid) in self._deleted
        check = StreamCheck(
            self._reader,
            uid,
            name=self._name(info, uid),
            deleted=is_declared,
            position_max=self._receipt.position if self._receipt else None,
            find=self.find,
        )
        self.streams += 1
        for entry in stream(self._reader, uid):
            check.take(entry)
            self.events += 1
            if self.events % UID_PAGE == 0:
                self._progress(self.events)
        check.finish(self._reader.read_tips(uid))
        self.erased += check.erased
        self.unknown += check.unknown
        self._seq_max = max(self._seq_max, check.seq_max)
        for tip in check.tips():
            self._root.add(tip)
        if info is None:
            address = f"conversation:{self._name(info, uid)}"
            self.find(FindingKind.ORPHAN, address, "it is in no workspace")
        else:
            if is_declared and not info.deleted:
                address = f"conversation:{self._name(info, uid)}"
                self.find(FindingKind.CONTENT, address, "it is declared deleted and is there")
            self._verify_rows(info, check.count)
            self._verify_registers(info)

    def _verify_rows(self, info: StreamInfo, events: int) -> None:
        """Fold the conversation again elsewhere and compare row by row (P-1)."""
        scratch = self._scratch.make(events)
        try:
            with scratch.transaction() as tx:
                tx.put_workspace(WorkspaceInfo(info.workspace, (), ()))
                tx.put_stream(info)
                for entry in stream(self._reader, info.uid) if not info.deleted else ():
                    fold(tx, info.uid, open_leniently(entry))
                self._compare(info, self._reader.read_rows(info.uid), tx.read.read_rows(info.uid))
        finally:
            scratch.close()

    def _provable(self, uid: str, rows: Iterator[ReadModelRow]) -> Iterator[ReadModelRow]:
        """The rows less those of idempotency keys whose leaf was erased: nothing tells the key any more."""
        for row in rows:
            if not (isinstance(row, KeyRow) and self._key_is_erased(uid, Stamp(row.seq, row.writer))):
                yield row

    def _key_is_erased(self, uid: str, stamp: Stamp) -> bool:
        entry = self._reader.find_entry(uid, stamp)
        return entry is not None and any(
            leaf.name == "idempotency_key" and leaf.data is None for leaf in entry.leaves
        )

    def _compare(
        self, info: StreamInfo, found: Iterator[ReadModelRow], right: Iterator[ReadModelRow]
    ) -> None:
        for is_row, ought in zip_longest(self._provable(info.uid, found), right):
            if is_row != ought:
                first = min((row for row in (ought, is_row) if row), key=_row_order)
                address = _row_address(self._name(info, info.uid), first)
                self.find(
                    FindingKind.READ_MODEL, address, "the read model is not what the log gives; rebuild it"
                )
                return

    def _verify_registers(self, info: StreamInfo) -> None:
        registers = self._reader.read_registers(info.uid)
        for register in filter(is_move, registers):
            if to_move(register) is None:
                self._find_unreadable(info.uid, f"its register {register.field!r} is no move")
        for register in registers:
            is_masked = register.field.startswith(MASKED_FIELD) and register.value is not None
            if is_damaged(register) or (is_masked and to_masked(register) is None):
                self._find_unreadable(info.uid, f"its register {register.field!r} is no record")
        self._seq_max = max([self._seq_max, *(register.stamp.seq for register in registers)])
        key = next((register.value for register in registers if register.field == "key"), None)
        if isinstance(key, str) and all(
            s.uid != info.uid for s in self._reader.find_by_key(info.workspace, key)
        ):
            address = f"conversation:{self._name(info, info.uid)}"
            self.find(FindingKind.READ_MODEL, address, "its key does not lead to it")

    def _verify_store(self) -> None:
        for place in self._reader.read_strays():
            self.find(
                FindingKind.ORPHAN, ELSEWHERE if self._fence else place, "something hangs on nothing here"
            )
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
        case LinkRow(seq=seq, writer=writer):
            return 3, (seq, writer)
        case KeyRow(key_digest=digest):
            return 4, (digest,)


def _row_address(name: str, row: ReadModelRow) -> str:
    match row:
        case ConversationRow():
            return f"conversation:{name}"
        case MessageRow(message_id=message_id):
            return f"message:{name}#{message_id}"
        case TurnRow(seq=seq):
            return f"turn:{name}#{seq}"
        case LinkRow(seq=seq):
            return f"link:{name}#{seq}"
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
