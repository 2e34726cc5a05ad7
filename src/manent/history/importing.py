"""
Importing other tools' conversations: what is known is skipped, what grew is continued (I-1, I-2).

A source's identity is its own id, or without one a keyed hash of its raw messages up to each of them: a
longer copy has the shorter one's hash among its own and is known as its growth. Hashes are made before
secrets are masked, so that a better table of patterns changes no identity.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from blake3 import blake3

from manent.history.masking import Masker
from manent.history.recording import record
from manent.history.runtime import Runtime
from manent.history.workspaces import ensure_workspace, find_fence
from manent.model.events import ConversationCreated, Event, HeadMoved, MessageAdded
from manent.model.imported import ImportedConversation, ImportedMessage, ImportReport, Refusal
from manent.model.records import Pending, StreamInfo
from manent.storage.port import Reader, Transaction

BATCH = 500
"""
Messages written in one transaction: an interrupted import goes on where it stopped. What goes with a
conversation's first and last message, its identity and its head, is written together with them.
"""

_ID_LENGTH = 32
Progress = Callable[[int], None]
"""Called after each conversation with the number of records looked at."""


class _Identified(NamedTuple):
    """A message with the id that it has or would have here, and that of its parent."""

    message_id: str
    parent_id: str | None
    hash: str
    message: ImportedMessage


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
    for conversation in sorted(conversations, key=_last_claim_ns):
        run.take(conversation)
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
        self.counts: Counter[str] = Counter()
        self.refusals: list[Refusal] = []
        with runtime.backend.reading() as reader:
            self._source_key = reader.info().source_key

    def report(self, format: str, files: int) -> ImportReport:
        return ImportReport(
            format=format,
            files=files,
            secrets=dict(sorted(self._masker.counts.items())),
            refusals=tuple(self.refusals),
            **{name: self.counts[name] for name in _COUNTS},
        )

    def take(self, conversation: ImportedConversation) -> None:
        """Import one conversation."""
        identified = identify(conversation, self._source_key)
        uid, key = self._find(conversation, identified)
        fresh = self._select_new(uid, identified)
        self._count(conversation, uid, len(fresh))
        if self._dry_run or (uid is not None and not fresh):
            return
        for start in range(0, max(1, len(fresh)), BATCH):
            with self._runtime.backend.transaction() as tx:
                uid = uid or self._begin(tx, conversation, key)
                self._append(tx, uid, fresh[start : start + BATCH])
                if start + BATCH >= len(fresh):
                    self._finish(tx, uid, conversation, identified, key)

    def _count(self, conversation: ImportedConversation, uid: str | None, fresh: int) -> None:
        messages = len(conversation.messages)
        records = sum(message.records for message in conversation.messages)
        state = "new" if uid is None else "grown" if fresh else "unchanged"
        self.counts.update(
            conversations=1,
            messages=messages,
            records=records,
            merged_records=records - messages,
            added_messages=fresh,
            known_messages=messages - fresh,
        )
        self.counts[f"{state}_conversations"] += 1

    def _find(
        self, conversation: ImportedConversation, identified: Sequence[_Identified]
    ) -> tuple[str | None, str]:
        """The conversation that this one is, or continues; and the key that it has from now on."""
        if conversation.native_id is not None:
            keys = [f"{conversation.format}:{conversation.native_id}"]
        else:
            keys = [f"{conversation.format}:{item.hash}" for item in reversed(identified)]
        with self._runtime.backend.reading() as reader:
            fence = find_fence(self._runtime, reader)
            for key in keys if fence is not None else ():
                if found := reader.find_by_key(fence, key):
                    return found[0].uid, keys[0]
        return None, keys[0] if keys else f"{conversation.format}:empty"

    def _select_new(self, uid: str | None, identified: Sequence[_Identified]) -> list[_Identified]:
        if uid is None:
            return list(identified)
        with self._runtime.backend.reading() as reader:
            return [item for item in identified if not reader.find_message(uid, item.message_id)]

    def _begin(self, tx: Transaction, conversation: ImportedConversation, key: str) -> str:
        origin = {
            "format": conversation.format,
            "id": conversation.native_id,
            "place": conversation.place,
            "imported_ns": self._runtime.clock(),
            "details": self._masker.mask_json(conversation.details),
        }
        first = next((m.claim_ns for m in conversation.messages if m.claim_ns is not None), None)
        uid = self._runtime.new_id()
        workspace = ensure_workspace(self._runtime, tx)
        tx.put_stream(StreamInfo(uid, workspace, uid))
        self._record(tx, uid, [(ConversationCreated(origin=origin), first)])
        title = self._masker.mask_text(conversation.title) if conversation.title else None
        for field, value in (("title", title), ("project", conversation.project), ("key", key)):
            if value:
                tx.put_metadata(uid, field, value)
        return uid

    def _append(self, tx: Transaction, uid: str, batch: Sequence[_Identified]) -> None:
        self._record(tx, uid, [(self._to_event(item), item.message.claim_ns) for item in batch])

    def _record(self, tx: Transaction, uid: str, events: Sequence[tuple[Event, int | None]]) -> None:
        record(tx, uid, [Pending(event, self._runtime.new_id(), claim) for event, claim in events])

    def _to_event(self, item: _Identified) -> MessageAdded:
        message = item.message
        parts, native = self._masker.mask_message(message.parts, message.native)
        return MessageAdded(
            message_id=item.message_id,
            role=message.role,
            parent_id=item.parent_id,
            hidden=message.hidden,
            parts=parts,
            usage=message.usage,
            author=message.author,
            source={"id": message.native_id, "hash": item.hash, "place": message.place},
            native=native.decode("utf-8", "surrogateescape"),
        )

    def _finish(
        self,
        tx: Transaction,
        uid: str,
        conversation: ImportedConversation,
        identified: Sequence[_Identified],
        key: str,
    ) -> None:
        """Move the head to where the source has it, and give a conversation without an id its new key."""
        head = _head(conversation, identified)
        row = tx.read.find_row(uid)
        if head is not None and row is not None and row.head != head and tx.read.find_message(uid, head):
            claim = conversation.messages[-1].claim_ns
            self._record(tx, uid, [(HeadMoved(message_id=head), claim)])
        if _key_of(tx.read, uid) != key:
            tx.put_metadata(uid, "key", key)


_COUNTS = (
    "records",
    "messages",
    "conversations",
    "new_conversations",
    "grown_conversations",
    "unchanged_conversations",
    "added_messages",
    "known_messages",
    "merged_records",
)


def identify(conversation: ImportedConversation, source_key: bytes) -> list[_Identified]:
    """
    Name each message: by its own id, or by a hash that a re-import finds again.

    Args:
        source_key: 32 bytes, the store's own.
    """
    identified: list[_Identified] = []
    names: dict[str, str] = {}
    repeats: Counter[str] = Counter()
    rolling = b""
    for message in conversation.messages:
        rolling = blake3(rolling + message.native, key=source_key).digest()
        own = blake3(message.native, key=source_key).hexdigest()[:_ID_LENGTH]
        if message.native_id is not None:
            message_id, mark = message.native_id, own
        elif message.follows:
            message_id = mark = rolling.hex()[:_ID_LENGTH]
        else:
            repeats[own] += 1
            message_id, mark = f"{own}.{repeats[own]}", own
        if message.follows:
            parent_id = identified[-1].message_id if identified else None
        else:
            parent_id = names.get(message.parent_native_id) if message.parent_native_id else None
        if message.native_id is not None:
            names[message.native_id] = message_id
        identified.append(_Identified(message_id, parent_id, mark, message))
    return identified


def _head(conversation: ImportedConversation, identified: Sequence[_Identified]) -> str | None:
    if conversation.head_native_id is None:
        return None
    wanted = conversation.head_native_id
    return next((i.message_id for i in reversed(identified) if i.message.native_id == wanted), None)


def _key_of(reader: Reader, uid: str) -> object:
    return next((r.value for r in reader.read_registers(uid) if r.field == "key"), None)
