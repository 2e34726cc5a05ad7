"""Faults for the memory backend: each breaks one rule, and names the contract that must notice."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple
from unittest.mock import patch

from manent.codec import chain
from manent.codec.chain import hash_fields
from manent.history import recording
from manent.model.changes import (
    Change,
    ConversationTouched,
    HeadSet,
    KeyClaimed,
    MessageContentSet,
    TurnStateSet,
)
from manent.model.ids import Stamp
from manent.model.log import Leaf, LogEntry, SealedEvent, StreamInfo
from manent.model.rows import MessageEntry
from manent.storage.memory import reader as reading
from manent.storage.memory import transaction as writing
from manent.storage.memory.backend import MemoryBackend
from manent.storage.memory.blobs import MemoryBlobs, MemoryDrafts
from manent.storage.memory.changes import make_change
from manent.storage.memory.reader import MemoryReader
from manent.storage.memory.state import State, Stream
from manent.storage.memory.transaction import MemoryTransaction
from manent.storage.port import Listing
from manent.testing.conformance import Contract
from manent.testing.conformance.adopting import AdoptContract
from manent.testing.conformance.appending import AppendContract, ChainContract, OrderContract
from manent.testing.conformance.attachments import BlobContract, DraftContract
from manent.testing.conformance.concurrency import ConcurrencyContract
from manent.testing.conformance.erasing import ErasureContract
from manent.testing.conformance.fences import WorkspaceFenceContract
from manent.testing.conformance.identities import IdentityContract
from manent.testing.conformance.listing import ListingContract
from manent.testing.conformance.metadata import KeyContract, MetadataContract
from manent.testing.conformance.paging import PagingContract
from manent.testing.conformance.read_model import ReadModelContract
from manent.testing.conformance.texts import TextContract
from manent.testing.conformance.transactions import CloseContract, TransactionContract
from manent.testing.conformance.tree import RefoldContract, TreeContract

Method = Callable[..., Any]


class Fault(NamedTuple):
    """One broken rule: what is wrong, who must notice, and what stands in the place of which method."""

    what: str
    found_by: type[Contract]
    place: object
    method: str
    broken: Method

    def planted(self) -> AbstractContextManager[object]:
        """The fault is there for the `with` block."""
        return patch.object(self.place, self.method, self.broken)


FAULTS: list[Fault] = []


def fault(what: str, found_by: type[Contract], place: object, method: str) -> Callable[[Method], Method]:
    """Register a function that gets the sound method and gives the broken one."""

    def register(make: Method) -> Method:
        FAULTS.append(Fault(what, found_by, place, method, make(getattr(place, method))))
        return make

    return register


# --- the log


@fault("the clock stands still", AppendContract, MemoryTransaction, "append")
def same_seqs_again(append: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str, pending: Sequence[Any]) -> Sequence[LogEntry]:
        clock = self.read._state.clock
        entries: Sequence[LogEntry] = append(self, uid, pending)
        self.read._state.clock = clock
        return entries

    return broken


@fault("the last leaf is lost", AppendContract, MemoryTransaction, "_insert")
def lost_leaf(insert: Method) -> Method:
    def broken(self: MemoryTransaction, stream: Stream, event: SealedEvent) -> LogEntry:
        kept = event.leaves[:-1] if len(event.leaves) > 2 else event.leaves
        entry: LogEntry = insert(self, stream, event._replace(leaves=kept))
        return entry

    return broken


@fault("the tip stays where it was", ChainContract, MemoryTransaction, "append")
def tip_not_moved(append: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str, pending: Sequence[Any]) -> Sequence[LogEntry]:
        tips = dict(self._stream(uid).tips)
        entries: Sequence[LogEntry] = append(self, uid, pending)
        self._stream(uid).tips.update(tips)
        return entries

    return broken


@fault("every chain begins with the same hash", ChainContract, chain, "genesis")
def same_genesis(_: Method) -> Method:
    return lambda *_: bytes(32)


@fault("all leaves share a salt", ChainContract, writing, "seal")
def shared_salt(seal: Method) -> Method:
    return lambda pending, **values: seal(pending, **{**values, "new_salts": bytes})


@fault("a stream is read by arrival", OrderContract, MemoryReader, "read_stream")
def arrival_order(_: Method) -> Method:
    def broken(self: MemoryReader, uid: str, after: Stamp, limit: int) -> Sequence[LogEntry]:
        entries = [entry for entry in self._stream(uid).entries.values() if entry.header.stamp > after]
        return entries[:limit]

    return broken


@fault("a stream is read by seq alone", OrderContract, MemoryReader, "read_stream")
def order_by_seq_alone(_: Method) -> Method:
    def broken(self: MemoryReader, uid: str, after: Stamp, limit: int) -> Sequence[LogEntry]:
        entries = [entry for entry in self._stream(uid).entries.values() if entry.header.seq > after.seq]
        return sorted(entries, key=lambda entry: entry.header.seq)[:limit]

    return broken


@fault("a late event is folded where it arrives", RefoldContract, recording, "refold")
def no_refold(_: Method) -> Method:
    return lambda *_: None


@fault("adopting does not raise the clock", AdoptContract, MemoryTransaction, "_raise_clock")
def clock_not_raised(_: Method) -> Method:
    return lambda *_: None


@fault("adopting sets the clock, back as well", AdoptContract, MemoryTransaction, "_raise_clock")
def clock_set_back(_: Method) -> Method:
    def broken(self: MemoryTransaction, seq: int) -> None:
        self.read._state.clock = seq

    return broken


@fault("what is there already is adopted again", AdoptContract, MemoryTransaction, "_adopt_one")
def adopted_twice(adopt_one: Method) -> Method:
    def broken(self: MemoryTransaction, event: SealedEvent) -> LogEntry:
        self._stream(event.header.uid).tips.pop(event.header.writer, None)
        entry: LogEntry = adopt_one(self, event)
        return entry

    return broken


# --- erasing


@fault("the kept digest has no salt", ErasureContract, writing, "_erased")
def unsalted_digest(_: Method) -> Method:
    return lambda leaf: Leaf(leaf.name, None, None, hash_fields(b"manent.leaf.1", leaf.data))


@fault("erasing takes the digest as well", ErasureContract, writing, "_erased")
def no_digest(_: Method) -> Method:
    return lambda leaf: Leaf(leaf.name, None, None, None)


@fault("erasing leaves the salt", ErasureContract, writing, "_erased")
def salt_left(erased: Method) -> Method:
    return lambda leaf: erased(leaf)._replace(salt=leaf.salt)


@fault("erasing takes every leaf of the event", ErasureContract, MemoryTransaction, "erase_leaves")
def all_leaves_erased(erase: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str, stamp: Stamp, names: Sequence[str]) -> int:
        entry = self._stream(uid).entries.get(stamp)
        every = [leaf.name for leaf in entry.leaves] if entry and names else names
        erased: int = erase(self, uid, stamp, every)
        return min(erased, len(names))

    return broken


# --- the read model


def whatever_its_stamp(broken_change: type[Change]) -> Method:
    """A `make_change` that makes one kind of change whatever its stamp."""

    def broken(stream: Stream, change: Any) -> None:
        is_broken = type(change) is broken_change
        make_change(stream, change._replace(stamp=Stamp(1 << 62, "")) if is_broken else change)

    return broken


@fault("words of a lower stamp win", ReadModelContract, writing, "make_change")
def lower_words_win(_: Method) -> Method:
    return whatever_its_stamp(MessageContentSet)


@fault("a head of a lower stamp wins", ReadModelContract, writing, "make_change")
def lower_head_wins(_: Method) -> Method:
    return whatever_its_stamp(HeadSet)


@fault("a turn's state of a lower stamp wins", ReadModelContract, writing, "make_change")
def lower_state_wins(_: Method) -> Method:
    return whatever_its_stamp(TurnStateSet)


@fault("activity goes back", ReadModelContract, writing, "make_change")
def activity_goes_back(make_change: Method) -> Method:
    def broken(stream: Stream, change: Change) -> None:
        make_change(stream, change)
        if isinstance(change, ConversationTouched) and stream.row is not None:
            stream.row = stream.row._replace(activity=change.stamp)

    return broken


@fault("the last claim stands for the greatest", ReadModelContract, writing, "make_change")
def claims_do_not_run(make_change: Method) -> Method:
    def broken(stream: Stream, change: Change) -> None:
        make_change(stream, change)
        if isinstance(change, ConversationTouched) and stream.row is not None:
            stream.row = stream.row._replace(claim_max_ns=change.claim_ns)

    return broken


@fault("a key is claimed by whoever comes last", ReadModelContract, writing, "make_change")
def no_idempotency_guard(make_change: Method) -> Method:
    def broken(stream: Stream, change: Change) -> None:
        make_change(stream, change)
        if isinstance(change, KeyClaimed):
            stream.keys[change.key_digest] = change.stamp

    return broken


@fault("clearing leaves the turns", RefoldContract, MemoryTransaction, "clear")
def turns_not_cleared(clear: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str) -> None:
        turns = dict(self._stream(uid).turns)
        clear(self, uid)
        self._stream(uid).turns.update(turns)

    return broken


@fault("clearing takes the metadata as well", RefoldContract, MemoryTransaction, "clear")
def metadata_cleared(clear: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str) -> None:
        clear(self, uid)
        self._stream(uid).registers.clear()

    return broken


@fault("messages of turns come by place alone", TreeContract, MemoryReader, "read_turn_messages")
def turns_mixed(read: Method) -> Method:
    def broken(self: MemoryReader, uid: str, first: Stamp, last: Stamp) -> Sequence[MessageEntry]:
        return sorted(read(self, uid, first, last), key=lambda entry: entry.place)

    return broken


# --- pages and lists


@fault("a page begins with its bound", PagingContract, reading, "_is_inside")
def bound_inside(_: Method) -> Method:
    return lambda place, after, before: (
        (after is None or place >= after) and (before is None or place < before)
    )


@fault("a page ends with its bound", PagingContract, reading, "_is_inside")
def other_bound_inside(_: Method) -> Method:
    return lambda place, after, before: (
        (after is None or place > after) and (before is None or place <= before)
    )


@fault("a page of the log skips one", PagingContract, MemoryReader, "read_log")
def skipped(read: Method) -> Method:
    return lambda self, after, limit: read(self, after + 1 if after else 0, limit)


@fault("a limit counts one too many", PagingContract, reading, "_first")
def one_too_many(first: Method) -> Method:
    return lambda items, limit: first(items, limit + 1)


@fault("metadata move activity", ListingContract, MemoryTransaction, "put_metadata")
def activity_by_metadata(put: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str, *values: Any) -> Stamp:
        stamp: Stamp = put(self, uid, *values)
        stream = self._stream(uid)
        if stream.row is not None:
            stream.row = stream.row._replace(activity=stamp)
        return stamp

    return broken


@fault("a list forgets when it began", ListingContract, MemoryReader, "list_conversations")
def as_of_ignored(list_: Method) -> Method:
    return lambda self, listing: list_(self, listing._replace(as_of=None))


@fault("a list leaves out what has moved since it began", ListingContract, reading, "_rank")
def moved_ones_left_out(_: Method) -> Method:
    def broken(stream: Stream, as_of: int | None) -> int | None:
        seq = stream.row.activity.seq if stream.row else None
        return None if seq is None or (as_of is not None and seq > as_of) else seq

    return broken


@fault("a list shows what has begun since it began", ListingContract, reading, "_rank")
def new_ones_shown(rank: Method) -> Method:
    def broken(stream: Stream, as_of: int | None) -> int | None:
        found: int | None = rank(stream, as_of)
        return as_of if found is None and stream.row is not None else found

    return broken


# --- metadata and names


@fault("metadata of a lower stamp win", MetadataContract, MemoryTransaction, "put_metadata")
def lower_metadata_win(put: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str, field: str, *values: Any) -> Stamp:
        self._stream(uid).registers.pop(field, None)
        stamp: Stamp = put(self, uid, field, *values)
        return stamp

    return broken


@fault("a key that was given up stays taken", KeyContract, MemoryTransaction, "_move_key")
def key_not_freed(move: Method) -> Method:
    return lambda self, info, key: None if key is None else move(self, info, key)


@fault("a taken key moves to whoever asks", KeyContract, MemoryTransaction, "_move_key")
def key_moves(move: Method) -> Method:
    def broken(self: MemoryTransaction, info: StreamInfo, key: str | None) -> None:
        self.read._state.keys.pop((info.workspace, key or ""), None)
        move(self, info, key)

    return broken


@fault("an id is given twice", IdentityContract, MemoryTransaction, "put_stream")
def id_given_twice(put: Method) -> Method:
    def broken(self: MemoryTransaction, stream: StreamInfo) -> None:
        self.read._state.ids.pop((stream.workspace, stream.id or ""), None)
        put(self, stream)

    return broken


@fault("ids are found whatever their case", IdentityContract, MemoryReader, "find_prefix")
def case_ignored(find: Method) -> Method:
    def broken(self: MemoryReader, workspace: str | None, prefix: str, limit: int) -> list[StreamInfo]:
        found: list[StreamInfo] = find(self, workspace, "", 1000)
        return [info for info in found if (info.id or "").lower().startswith(prefix.lower())][:limit]

    return broken


@fault("NUL is dropped", TextContract, MemoryTransaction, "_insert")
def nul_dropped(insert: Method) -> Method:
    def broken(self: MemoryTransaction, stream: Stream, event: SealedEvent) -> LogEntry:
        leaves = [leaf._replace(data=(leaf.data or b"").replace(b"\\u0000", b"")) for leaf in event.leaves]
        entry: LogEntry = insert(self, stream, event._replace(leaves=tuple(leaves)))
        return entry

    return broken


# --- the fence


@fault("ids of all workspaces are found", WorkspaceFenceContract, MemoryReader, "find_ids")
def ids_unfenced(find: Method) -> Method:
    return lambda self, _, id: find(self, None, id)


@fault("keys of all workspaces are found", WorkspaceFenceContract, MemoryReader, "find_by_key")
def keys_unfenced(find: Method) -> Method:
    return lambda self, _, key: find(self, None, key)


@fault("beginnings in all workspaces are found", WorkspaceFenceContract, MemoryReader, "find_prefix")
def beginnings_unfenced(find: Method) -> Method:
    return lambda self, _, prefix, limit: find(self, None, prefix, limit)


@fault("all workspaces are listed", WorkspaceFenceContract, MemoryReader, "list_conversations")
def lists_unfenced(list_: Method) -> Method:
    def broken(self: MemoryReader, listing: Listing) -> Any:
        return list_(self, listing._replace(workspace=None))

    return broken


@fault("a blob of another workspace is read", WorkspaceFenceContract, MemoryBlobs, "get")
def blobs_unfenced(get: Method) -> Method:
    def broken(self: MemoryBlobs, workspace: str, digest: str) -> Iterator[bytes]:
        kept = self._source.state.blobs
        owner = next((place for place, known in kept if known == digest), workspace)
        found: Iterator[bytes] = get(self, owner, digest)
        return found

    return broken


@fault("the same blob is kept once for all workspaces", WorkspaceFenceContract, MemoryBlobs, "drop")
def blobs_shared(drop: Method) -> Method:
    def broken(self: MemoryBlobs, workspace: str, digest: str) -> bool:
        dropped: bool = drop(self, workspace, digest)
        with self._source.changing() as state:
            for place in [place for place in state.blobs if dropped and place[1] == digest]:
                del state.blobs[place]
        return dropped

    return broken


# --- transactions


@fault("a rollback commits", TransactionContract, MemoryBackend, "transaction")
def rollback_commits(transaction: Method) -> Method:
    @contextmanager
    def broken(self: MemoryBackend) -> Iterator[MemoryTransaction]:
        failed: BaseException | None = None
        with transaction(self) as tx:
            try:
                yield tx
            except BaseException as error:  # noqa: BLE001 - the fault: it is raised after the commit
                failed = error
        if failed is not None:
            raise failed

    return broken


@fault("only some exceptions roll back", TransactionContract, MemoryBackend, "transaction")
def interrupt_commits(transaction: Method) -> Method:
    @contextmanager
    def broken(self: MemoryBackend) -> Iterator[MemoryTransaction]:
        failed: BaseException | None = None
        with transaction(self) as tx:
            try:
                yield tx
            except Exception:
                raise
            except BaseException as error:  # noqa: BLE001 - the fault: it is raised after the commit
                failed = error
        if failed is not None:
            raise failed

    return broken


@fault("readers see what is not committed", TransactionContract, MemoryBackend, "transaction")
def dirty_reads(transaction: Method) -> Method:
    @contextmanager
    def broken(self: MemoryBackend) -> Iterator[MemoryTransaction]:
        with transaction(self) as tx:
            before = self._state
            self._state = tx.read._state
            try:
                yield tx
            except BaseException:
                self._state = before
                raise

    return broken


@fault("a reader moves on with the store", TransactionContract, MemoryBackend, "reading")
def moving_reader(_: Method) -> Method:
    class Moving(MemoryReader):
        def __init__(self, backend: MemoryBackend) -> None:
            self.backend = backend

        @property
        def _state(self) -> State:  # type: ignore[override]
            return self.backend._state

    @contextmanager
    def broken(self: MemoryBackend) -> Iterator[MemoryReader]:
        self.check_open()
        yield Moving(self)

    return broken


@fault("a transaction changes what is committed", TransactionContract, MemoryTransaction, "_stream")
def shared_streams(_: Method) -> Method:
    return lambda self, uid: self.read._state.streams[uid]


@fault("a lock is kept after a rollback", TransactionContract, MemoryBackend, "writing")
def lock_kept(_: Method) -> Method:
    @contextmanager
    def broken(self: MemoryBackend) -> Iterator[None]:
        self.check_open()
        assert self._lock.acquire(timeout=0.05), "the lock is held"
        yield
        self._lock.release()

    return broken


@fault("two write at once", ConcurrencyContract, MemoryBackend, "writing")
def no_lock(_: Method) -> Method:
    @contextmanager
    def broken(self: MemoryBackend) -> Iterator[None]:
        self.check_open()
        yield

    return broken


@fault("a closed store goes on", CloseContract, MemoryBackend, "check_open")
def never_closed(_: Method) -> Method:
    return lambda *_: None


# --- beside the store


@fault("a blob is kept although its source failed", BlobContract, MemoryBlobs, "put")
def half_a_blob(put: Method) -> Method:
    def broken(self: MemoryBlobs, workspace: str, chunks: Any) -> str:
        received: list[bytes] = []
        try:
            received += chunks if isinstance(chunks, list) else list(_kept_as_it_comes(chunks, received))
        finally:
            digest: str = put(self, workspace, received)
        return digest

    return broken


def _kept_as_it_comes(chunks: Iterator[bytes], received: list[bytes]) -> Iterator[bytes]:
    for chunk in chunks:
        received.append(chunk)
        yield from ()


@fault("drafts of all conversations share their names", DraftContract, MemoryDrafts, "put")
def shared_drafts(put: Method) -> Method:
    def broken(self: MemoryDrafts, uid: str, draft_id: str, data: bytes) -> None:
        for place in [place for place in self._kept if place[1] == draft_id]:
            self._kept[place] = data
        put(self, uid, draft_id, data)

    return broken
