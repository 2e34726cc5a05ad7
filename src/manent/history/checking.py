"""Checking one stream: its links, its leaves and its tips, in one pass over its events (C-2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from manent.codec import chain
from manent.codec.sealing import hash_of
from manent.history.recording import open_leniently
from manent.model.events import KINDS, ContentRedacted
from manent.model.ids import Stamp
from manent.model.log import LogEntry, StoredEvent, Tip
from manent.model.records import FindingKind
from manent.storage.port import Reader


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


class StreamCheck:
    """
    The chains of one stream.

    A link that does not fit says that the event before it changed, or is gone, if the event itself proves
    whole by the next link or the tip; else that the event itself changed.

    Args:
        name: how addresses name the stream.
        deleted: whether its deletion is declared, so that every leaf may be gone.
        position_max: what `tips` gives is as of this position; None for all of it.
        find: takes the kind, the address and the detail of a finding.
    """

    def __init__(
        self,
        reader: Reader,
        uid: str,
        *,
        name: str,
        deleted: bool,
        position_max: int | None,
        find: Callable[[str, str, str], None],
    ) -> None:
        self._reader = reader
        self._uid = uid
        self._name = name
        self._deleted = deleted
        self._position_max = position_max
        self._found = find
        self._writers: dict[str, _WriterCheck] = {}
        self._erased: set[tuple[Stamp, str]] = set()
        self._declared: set[tuple[Stamp, str]] = set()
        self.seq_max = self.count = self.erased = self.unknown = 0

    def _find(self, kind: str, stamp: Stamp, detail: str) -> None:
        self._found(kind, f"event:{self._name}#{stamp.seq}@{stamp.writer}", detail)

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
                self.erased += 1
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
                self.unknown += 1
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
        if self._position_max is None or entry.position <= self._position_max:
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
            if self._holds(stamp, leaf):
                self._find(FindingKind.CONTENT, stamp, f"leaf {leaf} is declared gone and is there")

    def _holds(self, stamp: Stamp, leaf: str) -> bool:
        """Whether an event has a leaf of that name."""
        entry = self._reader.find_entry(self._uid, stamp)
        return entry is not None and any(each.name == leaf for each in entry.leaves)

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
