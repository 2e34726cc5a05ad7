"""
Importing other tools' conversations: what is known is skipped, what grew is continued (I-1, I-2).

A message that says something else now is edited: the new state is read, the old one stays in the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from manent.errors import InputError
from manent.history.assembly import entry_parts, is_erased
from manent.history.identifying import Identified, identify
from manent.history.masking import Masker
from manent.history.recording import open_leniently, record
from manent.history.removing import DELETED_SOURCE, source_mark
from manent.history.runtime import Runtime
from manent.history.workspaces import ensure_workspace, find_fence, find_workspace_info
from manent.model.events import (
    ConversationCreated,
    Event,
    HeadMoved,
    MessageAdded,
    MessageEdited,
    SourceUpdated,
)
from manent.model.ids import Stamp
from manent.model.imported import ImportedConversation, ImportReport, Refusal
from manent.model.log import Pending, StreamInfo, find_text
from manent.model.rows import MessageRow
from manent.storage.port import Reader, Transaction

BATCH = 500
"""
Messages written in one transaction: an interrupted import goes on where it stopped. What goes with a
conversation's first and last message, its identity and its head, is written together with them.
"""

Claimed = tuple[Event, int | None]
"""An event and its claim of time."""

Progress = Callable[[int], None]
"""Called after each conversation with the number of records looked at."""


def import_items(
    runtime: Runtime,
    items: Iterable[ImportedConversation | Refusal],
    *,
    format: str,
    files: int = 1,
    dry_run: bool = False,
    progress: Progress = lambda _: None,
) -> ImportReport:
    """
    Import conversations, those first whose own last time is oldest; say what came in and what was refused.

    Lists then show the most recent one first, as the source did. All of the source is read before the first
    conversation is written.

    Args:
        dry_run: look, count, write nothing.

    Raises:
        WorkspaceRequiredError: on the owner's handle.
        StoreBusyError, StorageFullError, ReadOnlyError: what was written before stays; import again.
    """
    run = _Import(runtime, dry_run)
    conversations: list[ImportedConversation] = []
    for item in items:
        if isinstance(item, Refusal):
            run.refusals.append(item)
        else:
            conversations.append(item)
    run.cover(conversations)
    for conversation in sorted(conversations, key=_last_claim_ns):
        try:
            run.take(conversation)
        except InputError as error:
            run.refusals.append(Refusal(place=conversation.place, reason=str(error)))
        progress(run.counts["records"] + len(run.refusals))
    return run.report(format, files)


def _last_claim_ns(conversation: ImportedConversation) -> int:
    """The last time that a conversation states, or 0: those that state none come first, as they came."""
    return max((m.claim_ns for m in conversation.messages if m.claim_ns is not None), default=0)


class _Import:
    """One run: what it did so far."""

    def __init__(self, runtime: Runtime, dry_run: bool) -> None:
        self._runtime = runtime
        self._dry_run = dry_run
        self._masker = Masker()
        self._covered: set[str] = set()
        self.counts: Counter[str] = Counter()
        self.refusals: list[Refusal] = []
        with runtime.backend.reading() as reader:
            self._source_key = reader.info().source_key
            self._deleted = set(_deleted_sources(runtime, reader))

    def report(self, format: str, files: int) -> ImportReport:
        return ImportReport(
            format=format,
            files=files,
            secrets=dict(sorted(self._masker.counts.items())),
            refusals=tuple(self.refusals),
            **{name: self.counts[name] for name in _COUNTS},
        )

    def cover(self, conversations: Sequence[ImportedConversation]) -> None:
        """Know the beginnings of lists without ids: a log of requests holds each list many times over."""
        for conversation in conversations:
            if conversation.native_id is None:
                hashes = [item.hash for item in identify(conversation, self._source_key)]
                self._covered.update(hashes[:-1])

    def take(self, conversation: ImportedConversation) -> None:
        """Import one conversation; a list that is the beginning of another one of the source is in that."""
        identified = identify(conversation, self._source_key)
        if conversation.native_id is None and identified and identified[-1].hash in self._covered:
            self._count(conversation, "unchanged", 0, 0)
            return
        keys = _keys(conversation, identified)
        if self._deleted and any(source_mark(key, self._source_key) in self._deleted for key in keys):
            self._count(conversation, "deleted", 0, 0)
            return
        self._masker.learn(message.parts for message in conversation.messages)
        uid = self._find(keys)
        fresh, changed = self._compare(uid, identified)
        if not self._dry_run and (uid is None or fresh or changed):
            events = self._events(fresh, changed)
            if not self._write(conversation, identified, uid, keys[0], events):
                self._count(conversation, "deleted", 0, 0)
                return
        state = "new" if uid is None else "grown" if fresh or changed else "unchanged"
        self._count(conversation, state, len(fresh), len(changed))

    def _events(self, fresh: Sequence[Identified], changed: Sequence[Identified]) -> list[Claimed]:
        events: list[Claimed] = [(self._to_event(item), item.message.claim_ns) for item in fresh]
        for item in changed:
            events += self._to_edit(item)
        return events

    def _write(
        self,
        conversation: ImportedConversation,
        identified: Sequence[Identified],
        uid: str | None,
        key: str,
        events: Sequence[Claimed],
    ) -> bool:
        """Write what is new; return False when the conversation was deleted meanwhile."""
        for start in range(0, max(1, len(events)), BATCH):
            with self._runtime.backend.transaction() as tx:
                if _is_deleted(tx.read, uid):
                    return False
                uid = uid or self._find_key(tx.read, [key]) or self._begin(tx, conversation, key)
                self._record(tx, uid, _unknown(tx.read, uid, events[start : start + BATCH]))
                if start + BATCH >= len(events):
                    self._finish(tx, uid, conversation, identified, key)
        return True

    def _count(self, conversation: ImportedConversation, state: str, fresh: int, changed: int) -> None:
        messages = len(conversation.messages)
        records = sum(message.records for message in conversation.messages)
        self.counts.update(
            conversations=1,
            messages=messages,
            records=records,
            merged_records=records - messages,
            added_messages=fresh,
            known_messages=messages - fresh,
            changed_messages=changed,
        )
        self.counts[f"{state}_conversations"] += 1

    def _find(self, keys: Sequence[str]) -> str | None:
        """The conversation that has one of these keys."""
        with self._runtime.backend.reading() as reader:
            return self._find_key(reader, keys)

    def _find_key(self, reader: Reader, keys: Sequence[str]) -> str | None:
        fence = find_fence(self._runtime, reader)
        for key in keys if fence is not None else ():
            if found := reader.find_by_key(fence, key):
                return found[0].uid
        return None

    def _compare(
        self, uid: str | None, identified: Sequence[Identified]
    ) -> tuple[list[Identified], list[Identified]]:
        """The messages that are not here yet, and those that say something else now."""
        if uid is None:
            return list(identified), []
        with self._runtime.backend.reading() as reader:
            rows = [(item, reader.find_message(uid, item.message_id)) for item in identified]
            fresh = [item for item, row in rows if row is None]
            changed = [item for item, row in rows if row and self._is_changed(reader, uid, item, row)]
        return fresh, changed

    def _is_changed(self, reader: Reader, uid: str, item: Identified, row: MessageRow) -> bool:
        """Whether a known message's source changed and its words here are not the new ones yet."""
        entry = reader.find_entry(uid, Stamp(row.seq, row.writer))
        event = open_leniently(entry).event if entry else None
        if not isinstance(event, MessageAdded) or (event.source or {}).get("hash") in (None, item.hash):
            return False
        now = reader.read_branch(uid, item.message_id, 1)
        parts, _ = self._masker.mask_message(item.message.parts, b"", count=False)
        return bool(now) and not is_erased(now[0]) and entry_parts(now[0]) != parts

    def _begin(self, tx: Transaction, conversation: ImportedConversation, key: str) -> str:
        origin = {
            "format": conversation.format,
            "id": conversation.native_id,
            "place": self._masker.mask_text(conversation.place),
            "imported_ns": self._runtime.clock(),
            "details": self._masker.mask_json(conversation.details),
        }
        first = next((m.claim_ns for m in conversation.messages if m.claim_ns is not None), None)
        uid = self._runtime.new_id()
        workspace = ensure_workspace(self._runtime, tx)
        tx.put_stream(StreamInfo(uid, workspace, uid))
        self._record(tx, uid, [(ConversationCreated(origin=origin), first)])
        registers = {"title": conversation.title, "project": conversation.project}
        for field, value in registers.items():
            if value:
                tx.put_metadata(uid, field, self._masker.mask_text(value))
        tx.put_metadata(uid, "key", key)
        return uid

    def _record(self, tx: Transaction, uid: str, events: Sequence[Claimed]) -> None:
        record(tx, uid, [Pending(event, self._runtime.new_id(), claim) for event, claim in events])

    def _to_event(self, item: Identified) -> MessageAdded:
        message = item.message
        parts, native = self._masker.mask_message(message.parts, message.native)
        return MessageAdded(
            message_id=item.message_id,
            role=message.role,
            parent_id=item.parent_id,
            hidden=message.hidden,
            parts=parts,
            usage=message.usage,
            author=None if message.author is None else self._masker.mask_text(message.author),
            source={
                "id": message.native_id,
                "hash": item.hash,
                "place": self._masker.mask_text(message.place),
            },
            native=native.decode("utf-8", "surrogateescape"),
        )

    def _to_edit(self, item: Identified) -> list[Claimed]:
        """A message whose source says something else now: its new words, and the new record."""
        parts, native = self._masker.mask_message(item.message.parts, item.message.native)
        source = {"id": item.message.native_id, "hash": item.hash, "place": item.message.place}
        raw = native.decode("utf-8", "surrogateescape")
        updated = SourceUpdated(message_id=item.message_id, source=source, native=raw)
        edited = MessageEdited(message_id=item.message_id, new_parts=parts, reason="source changed")
        return [(updated, item.message.claim_ns), (edited, item.message.claim_ns)]

    def _finish(
        self,
        tx: Transaction,
        uid: str,
        conversation: ImportedConversation,
        identified: Sequence[Identified],
        key: str,
    ) -> None:
        """Move the head to where the source has it, and give a conversation without an id its new key."""
        head = _head(conversation, identified)
        row = tx.read.find_row(uid)
        if head is not None and row is not None and row.head != head and tx.read.find_message(uid, head):
            claim = conversation.messages[-1].claim_ns
            self._record(tx, uid, [(HeadMoved(message_id=head), claim)])
        if find_text(tx.read.read_registers(uid), "key") != key:
            tx.put_metadata(uid, "key", key)


def _is_deleted(reader: Reader, uid: str | None) -> bool:
    stream = reader.find_stream(uid) if uid is not None else None
    return stream is not None and stream.deleted


def _keys(conversation: ImportedConversation, identified: Sequence[Identified]) -> list[str]:
    """The keys that a conversation may be known by here; the first is the one that it has from now on."""
    if conversation.native_id is not None:
        return [f"{conversation.format}:{conversation.native_id}"]
    hashes = [item.hash for item in reversed(identified)] or ["empty"]
    return [f"{conversation.format}:{hash}" for hash in hashes]


def _deleted_sources(runtime: Runtime, reader: Reader) -> Iterator[str]:
    """What says, in this workspace, that an imported conversation was deleted."""
    info = find_workspace_info(runtime, reader)
    for uid in info.streams if info is not None else ():
        for register in reader.read_registers(uid):
            if register.field.startswith(DELETED_SOURCE):
                yield register.field


_COUNTS = (
    "records",
    "messages",
    "conversations",
    "new_conversations",
    "grown_conversations",
    "unchanged_conversations",
    "deleted_conversations",
    "added_messages",
    "known_messages",
    "changed_messages",
    "merged_records",
)


def _unknown(reader: Reader, uid: str, events: Sequence[Claimed]) -> list[Claimed]:
    """The events without messages that another import of the same source has brought meanwhile."""
    return [
        (event, claim)
        for event, claim in events
        if not (isinstance(event, MessageAdded) and reader.find_message(uid, event.message_id))
    ]


def _head(conversation: ImportedConversation, identified: Sequence[Identified]) -> str | None:
    if conversation.head_native_id is None:
        return None
    wanted = conversation.head_native_id
    return next((i.message_id for i in reversed(identified) if i.message.native_id == wanted), None)
