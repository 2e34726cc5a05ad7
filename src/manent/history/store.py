"""The store as an application sees it: conversations inside one workspace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from types import TracebackType
from typing import Self

from manent.errors import (
    AlreadyExistsError,
    AmbiguousPrefixError,
    InputError,
    NotFoundError,
    WorkspaceRequiredError,
)
from manent.history import exporting, following, restoring, verifying
from manent.history.appending import pending
from manent.history.conversation import Conversation
from manent.history.following import Arrivals
from manent.history.recording import record
from manent.history.restoring import Restored
from manent.history.runtime import Runtime, Target
from manent.history.workspaces import ensure_workspace, find_fence, is_there
from manent.model.events import ConversationCreated
from manent.model.ids import Position, check_name
from manent.model.imported import ImportedConversation, ImportReport, Refusal
from manent.model.log import StreamInfo
from manent.model.paging import Page, check_limit
from manent.model.records import ConversationSummary, Hit, Receipt, Report
from manent.model.rows import ConversationEntry
from manent.storage.port import Listing, Reader, Transaction

LIST_LIMIT = 50
SEARCH_LIMIT = 20
ARRIVALS_LIMIT = 500
_MATCHES_MAX = 100


class Store:
    """
    Everything behind one URL, seen from inside one workspace. Get one from `manent.open`.

    Usable from several threads; usable again in a forked child. Close it, or use it in a `with` block.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        fence = self._runtime.workspace
        return f"<Store {self.url} {fence.value if fence else 'all workspaces'!r}>"

    def close(self) -> None:
        """Release everything. May be called twice, and from any thread."""
        self._runtime.backend.close()

    @property
    def url(self) -> str:
        """Where the store is, as it was given."""
        return self._runtime.backend.url

    @property
    def wal_fallback_notice(self) -> str | None:
        """What to tell the user once about a place that cannot carry a write-ahead log, or None."""
        return self._runtime.backend.notice

    # --- conversations

    def create(
        self,
        title: str = "",
        *,
        persona: str | None = None,
        key: str | None = None,
        project: str | None = None,
    ) -> Conversation:
        """
        Begin a conversation.

        Args:
            title: for people; may change later.
            persona: who the machine plays.
            key: the caller's own name for it, unique in the workspace, matched exactly.
            project: what it belongs to, such as a folder.

        Raises:
            WorkspaceRequiredError: on the owner's handle.
            AlreadyExistsError: the key is taken.
            StoreBusyError, StorageFullError, ReadOnlyError: nothing was written.
        """
        with self._runtime.backend.transaction() as tx:
            registers = {"title": title or None, "persona": persona, "project": project}
            for name, value in registers.items():
                if value is not None and type(value) is not str:
                    raise InputError(f"{name} is text, not {type(value).__name__}.")
            target = self._begin(tx, key, {name: value for name, value in registers.items() if value})
        return Conversation(self._runtime, target)

    def conversation(
        self, id_or_prefix: str | None = None, *, key: str | None = None, create: bool = False
    ) -> Conversation:
        """
        A conversation that is there, by its id, the beginning of its id, or its key.

        Args:
            id_or_prefix: an exact id wins; else the beginning of exactly one id, case-sensitive. Never a
                key, and never created.
            key: the caller's own name, exact.
            create: with `key`, begin it when it is not there.

        Raises:
            NotFoundError: nothing here has that name.
            AmbiguousPrefixError: several ids begin so; lists them.
            WorkspaceRequiredError: `create` on the owner's handle.
            InputError: not exactly one of `id_or_prefix` and `key`, or `create` without `key`.
        """
        if (id_or_prefix is None) == (key is None):
            raise InputError("Give either an id (or its beginning) or key=, not both and not neither.")
        if id_or_prefix is not None:
            if create:
                raise InputError("create=True goes with key=; use create() for a new conversation.")
            return self._by_id(id_or_prefix)
        return self._by_key(check_name(key or "", "key"), create)

    def _by_id(self, prefix: str) -> Conversation:
        with self._runtime.backend.reading() as reader:
            if not is_there(self._runtime, reader):
                raise NotFoundError("conversation", prefix)
            fence = find_fence(self._runtime, reader)
            found = reader.find_ids(fence, prefix)
            if not found and prefix:
                found = reader.find_prefix(fence, prefix, _MATCHES_MAX)
        if not found:
            raise NotFoundError("conversation", prefix, "`list` shows what is there.")
        if len(found) > 1:
            raise AmbiguousPrefixError(prefix=prefix, matches=[_full_name(s, found) for s in found])
        return Conversation(self._runtime, _target(found[0]))

    def _by_key(self, key: str, create: bool) -> Conversation:
        if create and self._runtime.workspace is None:
            raise WorkspaceRequiredError
        with self._runtime.backend.reading() as reader:
            found = self._find_key(reader, key)
        if not found and create:
            return Conversation(self._runtime, self._find_or_begin(key))
        if not found:
            raise NotFoundError("conversation with key", key)
        if len(found) > 1:
            raise AmbiguousPrefixError(prefix=key, matches=[_full_name(s, found) for s in found])
        return Conversation(self._runtime, _target(found[0]))

    def _find_key(self, reader: Reader, key: str) -> Sequence[StreamInfo]:
        if not is_there(self._runtime, reader):
            return []
        return reader.find_by_key(find_fence(self._runtime, reader), key)

    def _find_or_begin(self, key: str) -> Target:
        with self._runtime.backend.transaction() as tx:
            found = self._find_key(tx.read, key)
            return _target(found[0]) if found else self._begin(tx, key, {})

    def _begin(self, tx: Transaction, key: str | None, registers: dict[str, str]) -> Target:
        workspace = ensure_workspace(self._runtime, tx)
        if key is not None and tx.read.find_by_key(workspace, check_name(key, "key")):
            raise AlreadyExistsError("key", key)
        uid = self._runtime.new_id()
        tx.put_stream(StreamInfo(uid, workspace, uid))
        record(tx, uid, pending(self._runtime, [ConversationCreated()]))
        for field, value in {**registers, **({"key": key} if key is not None else {})}.items():
            tx.put_metadata(uid, field, value)
        return Target(uid, uid)

    def list(
        self, *, limit: int = LIST_LIMIT, cursor: str | None = None, newest_first: bool = True
    ) -> Page[ConversationSummary]:
        """
        Conversations by activity, never by a clock.

        Args:
            limit: at most this many.
            cursor: the `next` of the page before. Each conversation that was there when the first page
                was read is shown exactly once, whatever is written in between.
            newest_first: the most recently active first; else the least recently active.

        Raises:
            InputError: a limit below 1, or a cursor that is none.
        """
        as_of, after = _parse_cursor(cursor) if cursor else (None, None)
        with self._runtime.backend.reading() as reader:
            if not is_there(self._runtime, reader):
                return Page(())
            as_of = reader.info().clock if as_of is None else as_of
            wanted = Listing(
                find_fence(self._runtime, reader), newest_first, check_limit(limit) + 1, as_of, after
            )
            found = reader.list_conversations(wanted)
        shown = found[:limit]
        more = f"{as_of}.{shown[-1].rank}.{shown[-1].uid}" if len(found) > limit else None
        return Page([to_summary(entry) for entry in shown], next=more)

    def search(self, words: str, *, limit: int = SEARCH_LIMIT) -> Sequence[Hit]:
        """
        Find messages that hold every word of `words`; "quoted words" stand together.

        Any script, any length, case, width and accents aside. The best hits first.

        Raises:
            EmptyQueryError: nothing is left to search.
        """
        from manent.history import searching
        from manent.search.query import parse_query

        query = parse_query(words)
        with self._runtime.backend.reading() as reader:
            if not is_there(self._runtime, reader):
                return []
            fence = find_fence(self._runtime, reader)
            return searching.search(reader, fence, query, limit=check_limit(limit))

    # --- the record as a whole

    def verify(
        self, *, receipt: Receipt | str | None = None, progress: verifying.Progress = lambda _: None
    ) -> Report:
        """
        Look for every undeclared change, in one snapshot; repair nothing (C-3).

        The whole store is looked at, whatever the workspace: chains do not stop at a fence. Findings name
        ids and places, never content, and conversations of this handle's workspace only.

        Args:
            receipt: one that `receipt()` gave earlier, to find a cut tail or a restored older file.
            progress: called now and then with the number of events looked at.
        """
        known = Receipt.from_json(receipt) if isinstance(receipt, str) else receipt
        with self._runtime.backend.reading() as reader:
            fenced = find_fence(self._runtime, reader) or verifying.NO_WORKSPACE
            fence = fenced if self._runtime.workspace else None
            return verifying.Verifier(reader, self._runtime.scratch, known, progress, fence=fence).run()

    def read_arrivals(self, *, after: Position | None = None, limit: int = ARRIVALS_LIMIT) -> Arrivals:
        """
        Read events of this workspace's conversations in the order in which they arrived here.

        Args:
            after: the `position` of the call before; None begins with the first event.
            limit: at most this many events are looked at; those of other workspaces are passed over.

        Returns:
            The events, and the position to go on from. An event that becomes visible later has a later
            position, so that no follower misses one (L-5).

        Raises:
            FollowResetError: the store was copied or restored since: read from the start.
        """
        with self._runtime.backend.reading() as reader:
            fence = find_fence(self._runtime, reader) or ""
            seen = fence if self._runtime.workspace else None
            return following.read_arrivals(reader, seen, after, check_limit(limit), store=self.url)

    def receipt(self) -> Receipt:
        """A small statement of everything as of now; keep it outside the store (C-4)."""
        with self._runtime.backend.reading() as reader:
            return verifying.make_receipt(reader, self._runtime.clock())

    def export_lines(self) -> Iterator[bytes]:
        """
        The record as lines of our NDJSON, from one snapshot: what this handle may see, to the last byte.

        Importing them into an empty store and exporting again gives the same bytes (I-4).
        """
        with self._runtime.backend.reading() as reader:
            exists, fence = is_there(self._runtime, reader), find_fence(self._runtime, reader)
        return exporting.export_lines(self._runtime.backend, fence if exists else "")

    def import_items(
        self,
        items: Iterable[ImportedConversation | Refusal],
        *,
        format: str,
        files: int = 1,
        dry_run: bool = False,
        progress: Callable[[int], None] = lambda _: None,
    ) -> ImportReport:
        """
        Import what a format read; arguments, report and errors are those of `importing.import_items`.

        Secrets are masked on the way in, in the native records too. What is known is skipped, what grew
        is continued; an interrupted import goes on when it is repeated.
        """
        from manent.history import importing

        return importing.import_items(
            self._runtime, items, format=format, files=files, dry_run=dry_run, progress=progress
        )

    def import_lines(self, lines: Iterable[bytes], *, name: str = "import") -> Restored:
        """
        Take in lines that `export_lines` gave, all or nothing.

        On the owner's handle workspaces come back as they were; else everything goes into this workspace.

        Raises:
            FormatError: a line is damaged or the file was cut.
            MergeNeededError: it brings another history of something that is here.
        """
        fenced = self._runtime.workspace is not None
        into = partial(ensure_workspace, self._runtime) if fenced else None
        return restoring.restore(self._runtime.backend, lines, into=into, name=name)


def to_summary(entry: ConversationEntry) -> ConversationSummary:
    """A conversation as a list shows it."""
    registers = {register.field: register.value for register in entry.registers}
    return ConversationSummary(
        id=entry.id,
        workspace=entry.workspace,
        title=registers.get("title") or "",
        persona=registers.get("persona"),
        key=registers.get("key"),
        project=registers.get("project"),
        end_reason=registers.get("end_reason"),
        activity_seq=entry.row.activity.seq,
        started_ns=entry.row.claim_first_ns,
        last_ns=entry.row.claim_max_ns,
    )


def _target(stream: StreamInfo) -> Target:
    return Target(stream.uid, stream.id or stream.uid)


def _full_name(stream: StreamInfo, among: Iterable[StreamInfo]) -> str:
    """An id, with its workspace where another one has the same."""
    shared = sum(other.id == stream.id for other in among) > 1
    return f"{stream.id} (workspace {stream.workspace[:8]})" if shared else str(stream.id)


def _parse_cursor(cursor: str) -> tuple[int, tuple[int, str]]:
    try:
        as_of, rank, uid = cursor.split(".")
        return int(as_of), (int(rank), bytes.fromhex(uid).hex())
    except ValueError as error:
        raise InputError(f"{cursor[:40]!r} is no cursor; pass one that a page gave.") from error
