"""Extending: one stream of an export is compared with what the store holds, and goes on there."""

from __future__ import annotations

from manent.codec import chain
from manent.codec.ndjson import RegisterEntry, StreamRecord, TipEntry
from manent.codec.sealing import hash_of
from manent.errors import AlreadyExistsError, MergeNeededError
from manent.history.recording import adopt, open_leniently
from manent.model.events import ConversationDeleted
from manent.model.ids import BEFORE_ALL, Stamp
from manent.model.log import LogEntry, SealedEvent, StreamInfo, Tip
from manent.storage.port import Transaction

BATCH = 256
"""Events adopted at a time."""


class StreamImport:
    """
    One stream on its way in.

    What an export holds of a stream is a chain of its own: each event links to the one before it in the
    file, or the file is damaged. Only then it is compared with what the store holds.
    """

    def __init__(self, tx: Transaction, record: StreamRecord, *, is_deleted: bool) -> None:
        self.record = record
        self.is_deleted = is_deleted
        self.name = f"conversation {record.id}" if record.id is not None else f"stream {record.uid}"
        self._tx = tx
        self._last = BEFORE_ALL
        self._ends: dict[str, Tip] = {}
        self._known: dict[str, Tip] = {}
        self._pending: list[SealedEvent] = []

    def _differs(self) -> MergeNeededError:
        return MergeNeededError(what=self.name[:1].upper() + self.name[1:])

    def begin(self, workspace: str) -> bool:
        """Find or make the stream and set its registers; return whether it is new."""
        identity = StreamInfo(self.record.uid, workspace, self.record.id, self.is_deleted)
        found = self._tx.read.find_stream(identity.uid)
        if found is None:
            try:
                self._tx.put_stream(identity)
            except AlreadyExistsError as error:
                raise self._differs() from error
        elif found != identity:
            raise self._differs()
        for register in self.record.registers:
            self._put_register(workspace, register)
        self._known = {tip.writer: tip for tip in self._tx.read.read_tips(identity.uid)}
        return found is None

    def _put_register(self, workspace: str, register: RegisterEntry) -> None:
        if register.field == "key" and register.value is not None:
            holders = self._tx.read.find_by_key(workspace, register.value)
            if any(holder.uid != self.record.uid for holder in holders):
                raise MergeNeededError(what=f"The key of {self.name}")
        stamp = Stamp(register.seq, register.writer)
        self._tx.put_metadata(self.record.uid, register.field, register.value, stamp)

    def follows(self, event: SealedEvent) -> bool:
        """Whether an event stands after all before it, and links to the last one of its writer."""
        header = event.header
        return header.stamp > self._last and header.prev_hash == self._end_of(header.writer).hash

    def _end_of(self, writer: str) -> Tip:
        uid = self.record.uid
        return self._ends.get(writer) or Tip(uid, writer, 0, chain.genesis(uid, writer), 0)

    def deletion_of(self, event: SealedEvent) -> str | None:
        """The uid of the conversation that an event of a workspace's own stream declares deleted."""
        if self.record.id is not None or self.is_deleted or event.header.kind != ConversationDeleted.KIND:
            return None
        said = open_leniently(LogEntry(0, event.header, event.leaves)).event
        return said.uid if isinstance(said, ConversationDeleted) else None

    def take(self, event: SealedEvent) -> bool:
        """
        Take in an event that follows; return whether it is new here.

        Raises:
            MergeNeededError: the store's chain is another one.
        """
        uid, writer, seq = event.header.uid, event.header.writer, event.header.seq
        before, here = self._end_of(writer), self._known.get(writer)
        end = Tip(uid, writer, seq, hash_of(event), before.total + 1)
        self._last, self._ends[writer] = event.header.stamp, end
        if here is not None and seq <= here.seq:
            self._require_equal(event, end.hash)
            return False
        if here is not None and before.seq <= here.seq and before.hash != here.hash:
            raise self._differs()
        self._pending.append(event)
        if len(self._pending) >= BATCH:
            self._flush()
        return True

    def _require_equal(self, event: SealedEvent, hash: bytes) -> None:
        found = self._tx.read.find_entry(event.header.uid, event.header.stamp)
        if found is None or hash_of(found) != hash:
            raise self._differs()

    def _flush(self) -> None:
        if self._pending:
            adopt(self._tx, self._pending)
            self._pending = []

    def finish(self) -> bool:
        """Store what is left; return whether the events were those of the stream's tips."""
        self._flush()
        ends = [TipEntry(t.writer, t.seq, t.hash.hex(), t.total) for _, t in sorted(self._ends.items())]
        return ends == list(self.record.tips)
