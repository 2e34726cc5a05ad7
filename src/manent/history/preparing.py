"""
Preparing what is imported: what of a conversation is new here, named and masked, before anything is written.

Nothing is written and no lock is held meanwhile.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from manent.history.assembly import entry_parts, is_erased
from manent.history.awaiting import AwaitedLink, awaited_in, find_target, is_recorded, links_of
from manent.history.identifying import Identified, identify, read_undone, rename_all
from manent.history.masking import Masker
from manent.history.recording import open_leniently
from manent.history.removing import DELETED_SOURCE, source_mark
from manent.history.runtime import Runtime
from manent.history.workspaces import find_fence, find_workspace_info
from manent.model.events import MessageAdded
from manent.model.ids import Stamp
from manent.model.imported import ImportedConversation, ImportedMessage
from manent.model.metadata import title_of
from manent.model.parts import AnyPart, FilePart, plain_text
from manent.model.rows import MessageRow
from manent.storage.port import Reader

_WORDS_READ_MAX = 400
"""Characters of a question that its title is made of."""

NEW, GROWN, UNCHANGED, DELETED = "new", "grown", "unchanged", "deleted"


class Ready(NamedTuple):
    """
    A message that can be written: named, and without secrets.

    Args:
        hash: that of its raw record, made before masking.
        masked: what was masked in it, by kind.
        changed: it is here already and said something else.
    """

    message_id: str
    parent_id: str | None
    hash: str
    message: ImportedMessage
    masked: dict[str, int]
    changed: bool = False


class Prepared(msgspec.Struct, kw_only=True):
    """
    A conversation of a source, and what of it is to be written.

    Args:
        state: `new`, `grown`, `unchanged` or `deleted`, as things stood when it was prepared.
        origin: the conversation without its messages, masked; of one that is here only its identity.
        masked: what was masked in that, by kind.
        keys: what it may be known by here; the first is its key from now on.
        uid: the conversation here; None while it is not.
        ready: what is to be written, in the source's order.
        links: those that the log does not tell yet; `waiting_links` wait already, and `known_links` are told.
        head: where the source ends, by the id here.
        head_ns: the last message's claim of time.
        first_ns: the first claim of time.
    """

    state: str
    origin: ImportedConversation
    messages: int
    records: int
    masked: dict[str, int] = {}
    keys: tuple[str, ...] = ()
    uid: str | None = None
    ready: tuple[Ready, ...] = ()
    links: tuple[AwaitedLink, ...] = ()
    waiting_links: tuple[AwaitedLink, ...] = ()
    known_links: int = 0
    head: str | None = None
    head_ns: int | None = None
    first_ns: int | None = None


class Preparer:
    """Prepares one conversation after the other, against what the store holds."""

    def __init__(self, runtime: Runtime, allowed: frozenset[str]) -> None:
        self._runtime = runtime
        self._masker = Masker(allowed)
        self._covered: set[str] = set()
        with runtime.backend.reading() as reader:
            self._source_key = reader.info().source_key
            self._deleted = set(_deleted_sources(runtime, reader))
            fence = find_fence(runtime, reader)
            self._awaited = {link.field for _, link in awaited_in(reader, fence)} if fence else set()

    def cover(self, conversation: ImportedConversation) -> None:
        """Know the beginnings of lists without ids: a log of requests holds each list many times over."""
        if conversation.native_id is None:
            self._covered.update(item.hash for item in identify(conversation, self._source_key)[:-1])

    def prepare(self, conversation: ImportedConversation) -> Prepared:
        """Say what of a conversation is new; a list that is the beginning of another one here is in that."""
        identified = identify(conversation, self._source_key)
        if conversation.native_id is None and identified and identified[-1].hash in self._covered:
            return _leave(conversation, UNCHANGED)
        keys = _keys(conversation, identified)
        if self._deleted and any(source_mark(key, self._source_key) in self._deleted for key in keys):
            return _leave(conversation, DELETED)
        with self._runtime.backend.reading() as reader:
            fence = find_fence(self._runtime, reader)
            uid = find_by_keys(reader, fence, keys)
            if uid is not None:
                identified = rename_all(identified, read_undone(reader.read_registers(uid)))
            ready = tuple(self._read_new(reader, uid, conversation, identified))
            links, known_links = _new_links(reader, fence, uid, conversation)
        prepared = self._assemble(conversation, identified, keys, uid, ready)
        prepared.waiting_links = tuple(link for link in links if link.field in self._awaited)
        prepared.links = tuple(link for link in links if link.field not in self._awaited)
        prepared.known_links = known_links
        return prepared

    def _assemble(
        self,
        conversation: ImportedConversation,
        identified: Sequence[Identified],
        keys: tuple[str, ...],
        uid: str | None,
        ready: tuple[Ready, ...],
    ) -> Prepared:
        masked: Counter[str] = Counter()
        claims = [m.claim_ns for m in conversation.messages if m.claim_ns is not None]
        prepared = _leave(conversation, NEW if uid is None else GROWN if ready else UNCHANGED)
        if uid is None:
            prepared.origin = self._mask_origin(conversation, masked)
            if prepared.origin.title is None:
                prepared.origin = msgspec.structs.replace(prepared.origin, title=_first_words(ready))
        prepared.masked = dict(masked)
        prepared.keys, prepared.uid, prepared.ready = keys, uid, ready
        prepared.head = _head(conversation, identified)
        prepared.head_ns = conversation.messages[-1].claim_ns if conversation.messages else None
        prepared.first_ns = claims[0] if claims else None
        return prepared

    def _mask_origin(self, origin: ImportedConversation, masked: Counter[str]) -> ImportedConversation:
        mask = self._masker.mask_text
        return msgspec.structs.replace(
            origin,
            messages=(),
            place=mask(origin.place, masked),
            title=mask(origin.title, masked) if origin.title else None,
            project=mask(origin.project, masked) if origin.project else None,
            details=self._masker.mask_json(origin.details, masked),
        )

    def _read_new(
        self,
        reader: Reader,
        uid: str | None,
        conversation: ImportedConversation,
        identified: Sequence[Identified],
    ) -> Iterator[Ready]:
        """The messages that are not here yet, and those that say something else now."""
        rows = [reader.find_message(uid, item.message_id) if uid is not None else None for item in identified]
        suspects = [
            item
            for item, row in zip(identified, rows, strict=True)
            if row is None or (uid is not None and _has_other_source(reader, uid, item.hash, row))
        ]
        if suspects or uid is None:
            self._masker.learn(message.parts for message in conversation.messages)
        absent = {item.message_id for item, row in zip(identified, rows, strict=True) if row is None}
        for item in suspects:
            ready = self._mask(item)
            if item.message_id in absent:
                yield ready
            elif uid is not None and _says_otherwise(reader, uid, ready):
                yield ready._replace(changed=True)

    def _mask(self, item: Identified) -> Ready:
        masked: Counter[str] = Counter()
        masker, message = self._masker, item.message
        native = masker.mask_native(message.native)
        changes = {
            "parts": masker.mask_parts(message.parts, masked),
            "native": native,
            "place": masker.mask_text(message.place, masked),
        }
        if message.author is not None:
            changes["author"] = masker.mask_text(message.author, masked)
        if message.metadata is not None:
            changes["metadata"] = masker.mask_json(message.metadata, masked)
        message = msgspec.structs.replace(message, **changes)
        return Ready(item.message_id, item.parent_id, item.hash, message, dict(masked))


def _first_words(ready: Sequence[Ready]) -> str | None:
    """A title for a conversation whose source gives none: how the first question begins, masked as it is."""
    asked = (r.message for r in ready if r.message.role == "user" and not r.message.hidden)
    words = (plain_text(message.parts).strip() for message in asked)
    question = next(filter(None, words), None)
    return title_of(" ".join(question[:_WORDS_READ_MAX].split())) if question else None


def find_by_keys(reader: Reader, fence: str | None, keys: Sequence[str]) -> str | None:
    """The conversation of a workspace that has one of these keys."""
    for key in keys if fence is not None else ():
        if found := reader.find_by_key(fence, key):
            return found[0].uid
    return None


def _leave(conversation: ImportedConversation, state: str) -> Prepared:
    """A conversation of which nothing is written, unless somebody says so."""
    return Prepared(
        state=state,
        origin=msgspec.structs.replace(conversation, messages=(), title=None, project=None, details=None),
        messages=len(conversation.messages),
        records=sum(message.records for message in conversation.messages),
    )


def _keys(conversation: ImportedConversation, identified: Sequence[Identified]) -> tuple[str, ...]:
    """The keys that a conversation may be known by here; the first is the one that it has from now on."""
    if conversation.native_id is not None:
        return (f"{conversation.format}:{conversation.native_id}",)
    hashes = [item.hash for item in reversed(identified)] or ["empty"]
    return tuple(f"{conversation.format}:{hash}" for hash in hashes)


def _deleted_sources(runtime: Runtime, reader: Reader) -> Iterator[str]:
    """What says, in this workspace, that an imported conversation was deleted."""
    info = find_workspace_info(runtime, reader)
    for uid in info.streams if info is not None else ():
        for register in reader.read_registers(uid):
            if register.field.startswith(DELETED_SOURCE) and register.value is not None:
                yield register.field


def _new_links(
    reader: Reader, fence: str | None, uid: str | None, conversation: ImportedConversation
) -> tuple[tuple[AwaitedLink, ...], int]:
    """The links that the log does not tell yet, and how many it tells."""
    told = [link._replace(uid=uid or "") for link in links_of(conversation)]
    if uid is None or fence is None:
        return tuple(told), 0
    targets = [(link, find_target(reader, fence, link)) for link in told]
    new = [link for link, target in targets if target is None or not is_recorded(reader, link, target)]
    return tuple(new), len(told) - len(new)


def as_things_stand(reader: Reader, uid: str, ready: Ready) -> Ready | None:
    """A message that was prepared as a new one, by what is here now: None when it is known and unchanged."""
    row = None if ready.changed else reader.find_message(uid, ready.message_id)
    if row is None:
        return ready
    if _has_other_source(reader, uid, ready.hash, row) and _says_otherwise(reader, uid, ready):
        return ready._replace(changed=True)
    return None


def _has_other_source(reader: Reader, uid: str, hash: str, row: MessageRow) -> bool:
    """Whether a known message's record is not the one that it was imported from first."""
    entry = reader.find_entry(uid, Stamp(row.seq, row.writer))
    event = open_leniently(entry).event if entry else None
    return isinstance(event, MessageAdded) and (event.source or {}).get("hash") not in (None, hash)


def _says_otherwise(reader: Reader, uid: str, ready: Ready) -> bool:
    """Whether a known message's words here are not those of the source; bytes of files aside."""
    now = reader.read_branch(uid, ready.message_id, 1)
    if not now or is_erased(now[0]):
        return False
    return list(map(_named, entry_parts(now[0]))) != list(map(_named, ready.message.parts))


def _named(part: AnyPart) -> AnyPart:
    """A part, of a file only what its source says of it."""
    if not isinstance(part, FilePart):
        return part
    return msgspec.structs.replace(part, digest=None, size_bytes=None, state="")


def _head(conversation: ImportedConversation, identified: Sequence[Identified]) -> str | None:
    wanted = conversation.head_native_id
    if wanted is None:
        return None
    return next((item.message_id for item in reversed(identified) if item.message.native_id == wanted), None)
