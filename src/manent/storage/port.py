"""
The port: what a store must offer so that everything else can be built on it.

A backend keeps three things: the log (append-only, chained), metadata (stamped registers beside it) and
the read model (rows that `apply` builds and `clear` drops). It knows nothing about conversations beyond
that. Two ports stand beside it: blobs and drafts. The page `docs/reference/port.md` draws all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol, runtime_checkable

from manent.model.changes import Change
from manent.model.ids import Position, Stamp
from manent.model.log import (
    LogEntry,
    Pending,
    Register,
    SealedEvent,
    StoreInfo,
    StreamInfo,
    Tip,
    WorkspaceInfo,
)
from manent.model.owners import Owner
from manent.model.rows import (
    ConversationEntry,
    ConversationRow,
    KeyRow,
    LinkRow,
    Measures,
    MessageEntry,
    MessageRow,
    Place,
    TurnRow,
)
from manent.projection.view import View


class Capabilities(NamedTuple):
    """
    What a backend can do beyond the port; the conformance suite skips by these, never by class.

    Args:
        durable: what was committed is there after the process was killed.
        processes: several processes may open the same store.
        keeps_files: the store is one or more files of this machine.
        reads_beside_writes: readers see the last commit while a transaction is open.
    """

    durable: bool
    processes: bool
    keeps_files: bool
    reads_beside_writes: bool


class Listing(NamedTuple):
    """
    What a listing of conversations asks for.

    Args:
        workspace: the fence; None lists every workspace (the owner's handle only).
        newest_first: the most recently active first; else the least recently active first.
        limit: at most this many.
        as_of: the clock when the listing began: later activity moves nothing in it. None: now.
        after: the (rank, uid) of the last conversation shown, exclusive.
        resumable: only what `latest_open` may offer: not ended, not spawned, and last spoken to here.
    """

    workspace: str | None
    newest_first: bool
    limit: int
    as_of: int | None = None
    after: tuple[int, str] | None = None
    resumable: bool = False


class Span(NamedTuple):
    """
    A stretch of a conversation's messages, by place; both bounds are exclusive.

    `newest_first` gives the end of the stretch, newest first; else its beginning, oldest first.
    """

    after: Place | None = None
    before: Place | None = None
    newest_first: bool = False
    limit: int = 1000


ReadModelRow = ConversationRow | MessageRow | TurnRow | LinkRow | KeyRow


class Reader(View, Protocol):
    """
    The named reads.

    One reader sees one moment of the store, and inside a transaction also what that transaction has
    written. Absent is None or empty; only damage and closed stores raise.
    """

    def info(self) -> StoreInfo:
        """The store's identity, generation, clock, last position and source key."""

    def find_workspace(self, kind: str, value: str) -> str | None:
        """The uid of the workspace that an alias leads to."""

    def list_workspaces(self) -> Sequence[WorkspaceInfo]:
        """Every workspace by uid, with its streams and aliases, each sorted."""

    def find_workspace_info(self, workspace: str) -> WorkspaceInfo | None:
        """One workspace by its uid."""

    def find_stream(self, uid: str) -> StreamInfo | None:
        """A stream by its uid, conversations and workspace streams alike."""

    def find_ids(self, workspace: str | None, id: str) -> Sequence[StreamInfo]:
        """The conversations with exactly this id: at most one in a workspace."""

    def find_prefix(self, workspace: str | None, prefix: str, limit: int) -> Sequence[StreamInfo]:
        """At most `limit` conversations whose id begins with `prefix`, case-sensitive, by id."""

    def find_by_key(self, workspace: str | None, key: str) -> Sequence[StreamInfo]:
        """The conversations with exactly this key: at most one in a workspace."""

    def read_registers(self, uid: str) -> Sequence[Register]:
        """All metadata of a conversation, by field; a register that was unset has the value None."""

    def find_owner(self, workspace: str, id: str) -> Owner | None:
        """Who owns the conversation with this id, there or not, alive or not."""

    def list_owners(self, workspace: str) -> Sequence[tuple[str, Owner]]:
        """Who owns what in a workspace, by id: conversations that are there, and ids that are not yet."""

    def count_conversations(self, workspace: str) -> int:
        """How many conversations a workspace lists."""

    def list_conversations(self, listing: Listing) -> Sequence[ConversationEntry]:
        """Conversations by (activity, uid), as `listing` asks."""

    def read_messages(self, uid: str, span: Span) -> Sequence[MessageEntry]:
        """Messages of every branch by place, removed and detached ones included."""

    def read_branch(self, uid: str, message_id: str, limit: int) -> Sequence[MessageEntry]:
        """A message and its ancestors, at most `limit`, newest first."""

    def read_turns(self, uid: str, span: Span) -> Sequence[TurnRow]:
        """Turns by stamp; the ordinals of the span's places do not count."""

    def read_turn_messages(self, uid: str, first: Stamp, last: Stamp) -> Sequence[MessageEntry]:
        """Messages of the turns from `first` to `last`, both included, by turn and in it by place."""

    def find_open_turn(self, uid: str) -> TurnRow | None:
        """The first turn that was begun by `turn_started` and has not ended."""

    def read_links(self, uid: str) -> Sequence[LinkRow]:
        """The relations of a conversation to others, by stamp."""

    def read_links_to(self, uid: str) -> Sequence[tuple[str, LinkRow]]:
        """The relations of others to a conversation, each with the other's uid, by stamp."""

    def measure(self, workspace: str | None, uid: str | None = None) -> Measures:
        """
        Counts over one conversation, or all of a workspace, or (both None) all of the store.

        A conversation is looked for in `workspace` where both are given.
        """

    def find_key(self, uid: str, key_digest: bytes) -> Stamp | None:
        """The event that an idempotency key stands for."""

    def find_entry(self, uid: str, stamp: Stamp) -> LogEntry | None:
        """One event of a stream."""

    def read_stream(self, uid: str, after: Stamp, limit: int) -> Sequence[LogEntry]:
        """Events of a stream by (seq, writer), after `after`, at most `limit`."""

    def read_log(self, after: int, limit: int) -> Sequence[LogEntry]:
        """Events of the store by position, after position `after`, at most `limit`."""

    def read_uids(self, after: str, limit: int) -> Sequence[str]:
        """Uids of streams by uid, after `after`, at most `limit`: with events, rows or an identity."""

    def read_tips(self, uid: str) -> Sequence[Tip]:
        """The recorded tips of a stream, by writer."""

    def read_rows(self, uid: str) -> Iterator[ReadModelRow]:
        """Every row of a conversation's read model: itself, messages, turns, links, keys, each by its key."""

    def read_strays(self) -> Sequence[str]:
        """Places of events and leaves that hang on nothing; only tampering leaves any."""


class Transaction(Protocol):
    """
    One atomic write. Leaving the `with` block commits; any exception on the way rolls all of it back.

    Reads of `read` see the writes so far. Not for several threads.
    """

    @property
    def read(self) -> Reader:
        """The named reads, inside this transaction."""

    @property
    def blobs(self) -> Blobs:
        """The store's attachments, inside this transaction: kept or dropped with all the rest of it."""

    def append(self, uid: str, pending: Sequence[Pending]) -> Sequence[LogEntry]:
        """
        Give events their seq, link and position in this writer's chain; return them as stored (L-1).

        Raises:
            NotFoundError: there is no such stream, or it is what is left of a deleted conversation.
        """

    def adopt(self, events: Sequence[SealedEvent]) -> Sequence[LogEntry]:
        """
        Store events that were sealed elsewhere, as they are, and raise the clock to their seq.

        Raises:
            AlreadyExistsError: a (stream, writer, seq) is there already.
        """

    def apply(self, uid: str, changes: Iterable[Change]) -> None:
        """Make the row changes, in order; a row set by a greater stamp stays."""

    def clear(self, uid: str) -> None:
        """Drop every read-model row of a conversation; the log and metadata stay."""

    def put_stream(self, stream: StreamInfo) -> None:
        """
        Give a stream its identity.

        Raises:
            AlreadyExistsError: the id is taken in the workspace, or the uid in the store, be it that of a
                deleted conversation.
            NotFoundError: there is no such workspace.
        """

    def put_workspace(self, workspace: WorkspaceInfo) -> None:
        """Add a workspace, or what it lacks of its streams and aliases."""

    def put_metadata(self, uid: str, field: str, value: Any, stamp: Stamp | None = None) -> Stamp:
        """
        Set a register with a new tick of the clock, or with `stamp` unless that or a greater one set it.

        Raises:
            AlreadyExistsError: the field is `key`, and another conversation of the workspace has this one.
            NotFoundError: there is no such stream, or it is what is left of a deleted conversation.
        """

    def tick(self) -> Stamp:
        """Take a tick of the clock that goes to nothing else: an epoch, or a stamp for several registers."""

    def put_owner(self, workspace: str, id: str, owner: Owner | None) -> None:
        """
        Say who owns the conversation with this id, or (None) that nobody does. It need not be there.

        Raises:
            NotFoundError: there is no such workspace in which somebody could own anything.
        """

    def delete_stream(self, uid: str) -> None:
        """
        Free a conversation's id and key, drop its rows, registers, drafts and owner.

        Its leaves are erased one by one before, by `erase_leaves`.

        The headers of its events stay, so that chains and receipts still hold. Once more changes nothing.
        """

    def move_stream(self, stream: StreamInfo) -> None:
        """
        Bring a stream into another workspace, or give it another id; its owner stays behind.

        Raises:
            AlreadyExistsError: the id or its key is taken there.
            NotFoundError: there is no such stream or workspace.
        """

    def move_alias(self, alias: tuple[str, str], workspace: str | None) -> None:
        """
        Let an alias lead to this workspace from now on, or (None) nowhere.

        Raises:
            NotFoundError: there is no such workspace.
        """

    def drop_workspace(self, workspace: str) -> None:
        """
        Remove a workspace that has no streams and no aliases left, and who owned what in it.

        Any other one stays as it is. What is left of a deleted conversation is a stream too.
        """

    def adopt_source_key(self, source_key: bytes) -> None:
        """An empty store takes over the source key of what it imports (32 bytes)."""

    def erase_leaves(self, uid: str, stamp: Stamp, names: Sequence[str]) -> int:
        """Delete the bytes and salts of leaves and keep their digests; return how many had any."""


@runtime_checkable
class Backend(Protocol):
    """
    A store behind the port. Usable from several threads; after a fork it reopens itself in the child.

    `url` names it for people. `writer` is who its appends are by: the same for all processes of one
    installation, another one in a copy of the store (L-4).
    """

    @property
    def capabilities(self) -> Capabilities:
        """What it can do beyond the port."""

    @property
    def url(self) -> str:
        """The store's name for people."""

    @property
    def blobs(self) -> Blobs:
        """The store's attachments."""

    @property
    def drafts(self) -> Drafts:
        """The store's drafts."""

    @property
    def writer(self) -> str | None:
        """The writer of this handle; None before its first write to a store that it did not know."""

    @property
    def notice(self) -> str | None:
        """What the user should be told once about this place (no WAL here), or None."""

    def transaction(self) -> AbstractContextManager[Transaction]:
        """
        Begin a write; one at a time in the whole store.

        Raises:
            StoreBusyError: the lock was not had within the store's `wait`.
            ReadOnlyError: the place cannot be written.
            StorageFullError: on commit, when there is no room.
        """

    def reading(self) -> AbstractContextManager[Reader]:
        """Read one moment of the store. A long read hinders no writer where the backend can help it."""

    def close(self) -> None:
        """Release everything; may be called twice and from any thread."""


class Blobs(Protocol):
    """Attachments by digest, each kept once in a workspace. A stored blob is whole or absent."""

    def put(self, workspace: str, chunks: Iterable[bytes]) -> str:
        """Store bytes; return their digest (BLAKE3-256, hex). The same bytes again change nothing."""

    def get(self, workspace: str, digest: str) -> Iterator[bytes]:
        """
        The bytes in chunks.

        Raises:
            NotFoundError: this workspace holds no such blob.
        """

    def drop(self, workspace: str, digest: str) -> bool:
        """Remove a blob; return whether it was there."""

    def list_digests(self, workspace: str) -> Sequence[str]:
        """The digests of a workspace's blobs, sorted; sweeping goes by it."""


class Drafts(Protocol):
    """Text that is streaming and not a message yet: replaced as it grows, dropped when it is one."""

    def put(self, uid: str, draft_id: str, data: bytes) -> None:
        """Keep `data` as the draft's whole state."""

    def get(self, uid: str, draft_id: str) -> bytes | None:
        """The draft's last state, or None."""

    def drop(self, uid: str, draft_id: str) -> bool:
        """Remove a draft; return whether it was there."""

    def list_ids(self, uid: str) -> Sequence[str]:
        """The ids of a conversation's drafts, sorted."""


def position_of(info: StoreInfo, value: int) -> Position:
    """A position of this store that a follower may keep."""
    return Position(info.generation, value)
