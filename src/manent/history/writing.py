"""Writing what was prepared: one slice of a conversation inside a transaction that others share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from manent.history.awaiting import AWAITED, KNOWN, RECORDED, AwaitedLink, record_or_await
from manent.history.batching import Slice
from manent.history.fetching import Attachments
from manent.history.import_records import Keeper, Touched
from manent.history.masked import MaskedAt, MaskedTogether, remember
from manent.history.preparing import (
    DELETED,
    GROWN,
    NEW,
    UNCHANGED,
    Prepared,
    Ready,
    as_things_stand,
    find_by_keys,
)
from manent.history.recording import record
from manent.history.runtime import Runtime
from manent.model.events import (
    ConversationCreated,
    Event,
    HeadMoved,
    MessageAdded,
    MessageEdited,
    SourceUpdated,
)
from manent.model.log import KEY_FIELD, Pending, StoredEvent, StreamInfo, find_text
from manent.model.parts import AnyPart, FilePart
from manent.model.rows import ConversationRow
from manent.storage.port import Reader, Transaction

SOURCE_CHANGED = "source changed"
"""The reason of an edit that an import made."""


class Written(NamedTuple):
    """
    What one slice came to.

    Args:
        uid: the conversation; None when it was deleted meanwhile.
        began: it began with this slice.
        counts: for the record of the import: what was written, by the names there.
        touched: where; None when nothing was.
    """

    uid: str | None
    began: bool = False
    counts: Counter[str] = Counter()  # noqa: RUF012 - never changed
    masked: Counter[str] = Counter()  # noqa: RUF012 - never changed
    stored_files: int = 0
    kept_references: int = 0
    recorded_links: int = 0
    known_links: int = 0
    awaited_links: tuple[AwaitedLink, ...] = ()
    touched: Touched | None = None


class _Progress:
    """How far a conversation is."""

    def __init__(self, prepared: Prepared) -> None:
        self.prepared = prepared
        self.uid = prepared.uid
        self.began = self.touched = self.deleted = self.failed = False
        self.added = self.changed = 0


class Writer:
    """Writes slices of conversations, and knows how far each one is."""

    def __init__(self, runtime: Runtime, keeper: Keeper) -> None:
        self._runtime = runtime
        self._keeper = keeper
        self._under_way: dict[int, _Progress] = {}

    def _progress(self, prepared: Prepared) -> _Progress:
        return self._under_way.setdefault(id(prepared), _Progress(prepared))

    def has_failed(self, prepared: Prepared) -> bool:
        """Whether a conversation was given up."""
        return self._progress(prepared).failed

    def fail(self, prepared: Prepared) -> None:
        """Give a conversation up; what was written of it stays."""
        self._progress(prepared).failed = True

    def committed(self, prepared: Prepared, written: Written) -> None:
        """The transaction that wrote a slice is in the store."""
        progress = self._progress(prepared)
        progress.uid = written.uid or progress.uid
        progress.deleted |= written.uid is None
        progress.began |= written.began
        progress.touched |= written.touched is not None
        progress.added += written.counts["added_messages"]
        progress.changed += written.counts["changed_messages"]

    def end(self, prepared: Prepared) -> tuple[str, int, int]:
        """The state of a conversation of which all is written; how many messages were added and changed."""
        done = self._under_way.pop(id(prepared))
        if done.deleted:
            return DELETED, 0, 0
        grown = done.added or done.changed
        return NEW if done.began else GROWN if grown else UNCHANGED, done.added, done.changed

    def write(self, tx: Transaction, workspace: str, one: Slice, files: Attachments) -> Written:
        """Write a slice of a conversation, which begins where it is not here yet."""
        prepared, progress = one.prepared, self._progress(one.prepared)
        uid = progress.uid or find_by_keys(tx.read, workspace, prepared.keys)
        if uid is not None and _is_deleted(tx.read, uid):
            return Written(None)
        row = tx.read.find_row(uid) if uid is not None else None
        before = (row.head if row else None, _key(tx.read, uid) if uid is not None else "")
        began, ready = uid is None, one.ready
        if uid is None:
            uid = self._begin(tx, workspace)
        else:
            standing = (as_things_stand(tx.read, uid, item) for item in ready)
            ready = tuple(item for item in standing if item is not None)
        stored = self._record(tx, workspace, uid, ready, files, prepared if began else None, row)
        if began:
            self._describe(tx, uid, prepared)
        if one.is_last:
            stored += self._finish(tx, uid, prepared)
        links = self._link(tx, workspace, uid, prepared) if one.is_last else {}
        self._remember(tx, uid, ready, prepared if began else None, stored)
        return self._tell(uid, began, progress, ready, stored, before, files, prepared)._replace(
            recorded_links=list(links.values()).count(RECORDED),
            known_links=list(links.values()).count(KNOWN),
            awaited_links=tuple(link for link, state in links.items() if state == AWAITED),
        )

    def _begin(self, tx: Transaction, workspace: str) -> str:
        uid = self._runtime.new_id()
        tx.put_stream(StreamInfo(uid, workspace, uid))
        return uid

    def _record(
        self,
        tx: Transaction,
        workspace: str,
        uid: str,
        ready: Sequence[Ready],
        files: Attachments,
        begun: Prepared | None,
        row: ConversationRow | None,
    ) -> list[StoredEvent]:
        events: list[tuple[Event, int | None]] = []
        if begun is not None:
            events.append((self._created(begun), begun.first_ns))
        for item in ready:
            parts = _with_files(tx, workspace, item, files)
            claim_ns = item.message.claim_ns
            made = _to_edit(item, parts) if item.changed else (_to_event(item, parts),)
            events += [(event, claim_ns) for event in made]
        waiting = [Pending(event, self._runtime.new_id(), claim_ns) for event, claim_ns in events]
        return record(tx, uid, waiting, row)

    def _created(self, prepared: Prepared) -> ConversationCreated:
        conversation = prepared.origin
        origin = {
            "format": conversation.format,
            "id": conversation.native_id,
            "place": conversation.place,
            "imported_ns": self._runtime.clock(),
            "details": conversation.details,
        }
        return ConversationCreated(origin=origin)

    def _describe(self, tx: Transaction, uid: str, prepared: Prepared) -> None:
        registers = {"title": prepared.origin.title, "project": prepared.origin.project}
        for field, value in registers.items():
            if value:
                tx.put_metadata(uid, field, value)
        tx.put_metadata(uid, KEY_FIELD, prepared.keys[0])

    def _finish(self, tx: Transaction, uid: str, prepared: Prepared) -> list[StoredEvent]:
        """Move the head to where the source has it, and give a conversation without an id its new key."""
        if _key(tx.read, uid) != prepared.keys[0]:
            tx.put_metadata(uid, KEY_FIELD, prepared.keys[0])
        row = tx.read.find_row(uid)
        if prepared.head is None or row is None or row.head == prepared.head or not prepared.ready:
            return []
        if tx.read.find_message(uid, prepared.head) is None:
            return []
        moved = Pending(HeadMoved(message_id=prepared.head), self._runtime.new_id(), prepared.head_ns)
        return record(tx, uid, [moved])

    def _link(self, tx: Transaction, workspace: str, uid: str, prepared: Prepared) -> dict[AwaitedLink, str]:
        links = [link._replace(uid=uid) for link in prepared.links]
        return {link: record_or_await(self._runtime, tx, workspace, link) for link in links}

    def _remember(
        self,
        tx: Transaction,
        uid: str,
        ready: Sequence[Ready],
        begun: Prepared | None,
        stored: Sequence[StoredEvent],
    ) -> None:
        """Keep what was masked, beside it."""
        found = [MaskedAt(item.message_id, item.masked) for item in ready if item.masked]
        if begun is not None and begun.masked:
            found.insert(0, MaskedAt("", begun.masked))
        if found:
            told = MaskedTogether(
                claim_ns=self._runtime.clock(), found=tuple(found), import_id=self._keeper.id
            )
            remember(tx, uid, stored[0].header.seq, told)

    def _tell(
        self,
        uid: str,
        began: bool,
        progress: _Progress,
        ready: Sequence[Ready],
        stored: Sequence[StoredEvent],
        before: tuple[str | None, str],
        files: Attachments,
        prepared: Prepared,
    ) -> Written:
        masked: Counter[str] = Counter(prepared.masked if began else {})
        for item in ready:
            masked.update(item.masked)
        changed = sum(item.changed for item in ready)
        all_files = sum(len(item.message.files) for item in ready)
        kept_bytes = sum(len(files.of(item)) for item in ready)
        counts = Counter(added_messages=len(ready) - changed, changed_messages=changed)
        created = began or progress.began
        if stored and not progress.touched:
            counts["new_conversations" if created else "grown_conversations"] = 1
        touched = None
        if stored:
            first, last = stored[0].header, stored[-1].header
            was = (None, "") if created else before
            touched = Touched(uid, first.writer, first.seq, last.seq, created, *was)
        return Written(uid, began, counts, masked, kept_bytes, all_files - kept_bytes, touched=touched)


def _is_deleted(reader: Reader, uid: str) -> bool:
    stream = reader.find_stream(uid)
    return stream is None or stream.deleted


def _key(reader: Reader, uid: str) -> str:
    return find_text(reader.read_registers(uid), KEY_FIELD)


def _with_files(tx: Transaction, workspace: str, item: Ready, files: Attachments) -> tuple[AnyPart, ...]:
    """The parts of a message, those of files that the source gave leading to their bytes."""
    parts = list(item.message.parts)
    for place, size_bytes in files.of(item).items():
        part = parts[place]
        if isinstance(part, FilePart):
            digest = tx.blobs.put(workspace, files.read(item, place))
            parts[place] = msgspec.structs.replace(part, digest=digest, size_bytes=size_bytes, state="stored")
    return tuple(parts)


def _source(item: Ready) -> dict[str, str | None]:
    return {"id": item.message.native_id, "hash": item.hash, "place": item.message.place}


def _native(item: Ready) -> str:
    return item.message.native.decode("utf-8", "surrogateescape")


def _to_event(item: Ready, parts: tuple[AnyPart, ...]) -> MessageAdded:
    message = item.message
    return MessageAdded(
        message_id=item.message_id,
        role=message.role,
        parent_id=item.parent_id,
        hidden=message.hidden,
        parts=parts,
        usage=message.usage,
        author=message.author,
        metadata=message.metadata,
        source=_source(item),
        native=_native(item),
    )


def _to_edit(item: Ready, parts: tuple[AnyPart, ...]) -> tuple[SourceUpdated, MessageEdited]:
    """A message whose source says something else now: the new record, and its new words."""
    return (
        SourceUpdated(message_id=item.message_id, source=_source(item), native=_native(item)),
        MessageEdited(message_id=item.message_id, new_parts=parts, reason=SOURCE_CHANGED),
    )
