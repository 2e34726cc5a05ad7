"""The store as an application sees it: conversations inside one workspace."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from manent.errors import InputError, NotFoundError, WorkspaceRequiredError
from manent.history import addressing, beginning, removing, resuming
from manent.history.beginning import Beginning, described
from manent.history.conversation import Conversation
from manent.history.linking import Named, find_other
from manent.history.listing import Wanted, parse_cursor, read_page, to_summary
from manent.history.processes import is_live
from manent.history.relinking import Workspaces
from manent.history.resolving import find_exact, find_key, only_one, resolve, resolve_all, to_target
from manent.history.resuming import Resumption
from manent.history.roadmaps import Roadmaps
from manent.history.runtime import Target
from manent.history.statistics import NOTHING, to_statistics
from manent.history.whole import Whole
from manent.history.workspaces import find_fence, is_there
from manent.model.events import CONTINUES, SPAWNED_BY
from manent.model.ids import Address, check_name, check_text
from manent.model.owners import Owner
from manent.model.paging import Page, check_limit
from manent.model.records import ConversationSummary, Hit, Statistics, StoredMessage, Turn
from manent.storage.port import Listing, Transaction

if TYPE_CHECKING:
    from manent.history.imports import Imports
    from manent.history.masked_secrets import Secrets

LIST_LIMIT = 50
SEARCH_LIMIT = 20


class Store(Whole):
    """
    Everything behind one URL, seen from inside one workspace. Get one from `manent.open`.

    Usable from several threads; usable again in a forked child. Close it, or use it in a `with` block.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        fence = self._runtime.workspace
        return f"<Store {self.url} {repr(fence.value) if fence else '(all workspaces)'}>"

    def close(self) -> None:
        """
        Release everything. May be called twice, and from any thread.

        What this process has claimed stays its own until it ends, or gives it up by `release`.
        """
        self._runtime.backend.close()

    @property
    def wal_fallback_notice(self) -> str | None:
        """What to tell the user once about a place that cannot carry a write-ahead log, or None."""
        return self._runtime.backend.notice

    @property
    def writer(self) -> str | None:
        """Who this handle's appends are by; None before its first write to a store that it did not know."""
        return self._runtime.backend.writer

    @property
    def roadmaps(self) -> Roadmaps:
        """Plans as trees, kept in this workspace."""
        return Roadmaps(self._runtime)

    @property
    def imports(self) -> Imports:
        """What was imported into this workspace, and how it is undone."""
        from manent.history.imports import Imports

        return Imports(self._runtime)

    @property
    def secrets(self) -> Secrets:
        """What was masked in this workspace: kinds and places."""
        from manent.history.masked_secrets import Secrets

        return Secrets(self._runtime)

    @property
    def workspaces(self) -> Workspaces:
        """The workspaces of the store as a whole; for the owner's handle."""
        return Workspaces(self._runtime)

    # --- beginning and removing

    def create(
        self,
        title: str = "",
        *,
        persona: str | None = None,
        key: str | None = None,
        project: str | None = None,
        continues: Named | str | None = None,
        spawned_by: Named | str | None = None,
        max_conversations: int = 0,
    ) -> Conversation:
        """
        Begin a conversation.

        Args:
            title: for people; trimmed; may change later.
            persona: who the machine plays.
            key: the caller's own name for it, unique in the workspace, matched exactly.
            project: what it belongs to, such as a folder.
            continues: the conversation that this one goes on from.
            spawned_by: the conversation that runs this one; it is then never offered as the latest.
            max_conversations: prune the workspace to this many, least recently active first; 0 never prunes,
                and appends never do. Spared is what is pinned, owned by a live process, or in a turn that
                `turn_started` began and that has not ended. An unanswered question alone spares nothing.

        Raises:
            WorkspaceRequiredError: on the owner's handle.
            AlreadyExistsError: the key is taken.
            NotFoundError: `continues` or `spawned_by` names nothing here.
            StoreBusyError, StorageFullError, ReadOnlyError: nothing was written.
        """
        registers = described(title=title, persona=persona, project=project)
        with self._runtime.backend.transaction() as tx:
            links = self._links(tx, continues, spawned_by)
            wanted = Beginning(None, key, registers, links)
            target = beginning.begin_within(self._runtime, tx, wanted, max_conversations)
        return Conversation(self._runtime, target)

    def create_with_id(
        self,
        id: str,
        title: str = "",
        *,
        persona: str | None = None,
        key: str | None = None,
        project: str | None = None,
        continues: Named | str | None = None,
        spawned_by: Named | str | None = None,
        replace: bool = False,
        max_conversations: int = 0,
    ) -> Conversation:
        """
        Begin a conversation under an id of the caller's choice; the rest is as in `create`.

        Args:
            id: any text of 1 to 512 bytes that is not blank, a value and never a path. An id of another
                workspace is simply free here.
            replace: delete the conversation that has this id now, in the same transaction.

        Raises:
            AlreadyExistsError: the id is taken and `replace` is not given.
            SparedError: what would be replaced is spared, as in `delete`.
        """
        registers = described(title=title, persona=persona, project=project)
        with self._runtime.backend.transaction() as tx:
            if replace:
                beginning.replace(self._runtime, tx, check_name(id, "id"))
            wanted = Beginning(id, key, registers, self._links(tx, continues, spawned_by))
            target = beginning.begin_within(self._runtime, tx, wanted, max_conversations)
        return Conversation(self._runtime, target)

    def reserve(self, id: str | None = None) -> Conversation:
        """
        A conversation whose id is known before it is there: it begins with its first turn or message.

        Nothing is written. It can be claimed, linked and described at once. An id that is there already leads
        to that conversation; the id of one that has not begun, with what was set on it, is reached only so.

        Raises:
            WorkspaceRequiredError: on the owner's handle.
        """
        if self._runtime.workspace is None:
            raise WorkspaceRequiredError
        uid = self._runtime.new_id()
        name = uid if id is None else check_name(id, "id")
        return Conversation(self._runtime, Target(uid, name, reserved=True))

    def _links(
        self, tx: Transaction, continues: Named | str | None, spawned_by: Named | str | None
    ) -> list[tuple[str, str]]:
        asked = {CONTINUES: continues, SPAWNED_BY: spawned_by}
        named = {relation: other for relation, other in asked.items() if other is not None}
        return [(relation, find_other(self._runtime, tx.read, o).uid) for relation, o in named.items()]

    def delete(self, id_or_prefix: str, *, reason: str | None = None, force: bool = False) -> str:
        """
        Delete a conversation for good, and return its id, which is free from then on.

        Its words, metadata, drafts, attachments and owner go; that it was deleted is said in the chain of
        the workspace, and `verify` still passes.

        Args:
            reason: kept in the record of the deletion.
            force: also what is spared: pinned, owned by another live process, or in a turn that
                `turn_started` began and that has not ended. An unanswered question alone spares nothing.

        Raises:
            NotFoundError, AmbiguousPrefixError: as `conversation`; of one that is only reserved, what was
                said of it goes by its whole id.
            SparedError: it is spared, and says why. Nothing was changed.
        """
        with self._runtime.backend.transaction() as tx:
            stream = resolve_all(self._runtime, tx.read, id_or_prefix)
            removing.remove(self._runtime, tx, stream, reason=reason, force=force)
        return stream.id or stream.uid

    # --- finding

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
            with self._runtime.backend.reading() as reader:
                return self._handle(to_target(resolve(self._runtime, reader, id_or_prefix)))
        return self._handle(self._by_key(check_name(key or "", "key"), create))

    def _handle(self, target: Target) -> Conversation:
        return Conversation(self._runtime, target)

    def _by_key(self, key: str, create: bool) -> Target:
        if create and self._runtime.workspace is None:
            raise WorkspaceRequiredError
        with self._runtime.backend.reading() as reader:
            found = find_key(self._runtime, reader, key)
        if found:
            return to_target(only_one(key, found))
        if not create:
            raise NotFoundError("conversation with key", key)
        with self._runtime.backend.transaction() as tx:
            found = find_key(self._runtime, tx.read, key)
            return to_target(found[0]) if found else beginning.begin(self._runtime, tx, Beginning(key=key))

    def exists(self, id: str) -> bool:
        """
        Whether a conversation with exactly this id is there; one that was only reserved is not.

        What hinders the look-up raises: a store that is busy is never read as "absent".
        """
        with self._runtime.backend.reading() as reader:
            return bool(find_exact(self._runtime, reader, check_text(id, "id of a conversation")))

    def resolve(self, id_or_prefix: str) -> str:
        """
        The whole id that an id or its beginning stands for.

        Raises:
            NotFoundError: none.
            AmbiguousPrefixError: several; `matches` lists them in the order of their ids.
        """
        with self._runtime.backend.reading() as reader:
            return to_target(resolve(self._runtime, reader, id_or_prefix)).id

    def latest_open(self, *, project: str | None = None) -> ConversationSummary | None:
        """
        The conversation to offer for going on, or None.

        The most recently active one that was not ended, that no other conversation runs, and in which the
        last word was said here rather than imported; one that was begun and never spoken in counts too.

        Args:
            project: only those of exactly this project, compared as text.
        """
        with self._runtime.backend.reading() as reader:
            entry = resuming.find_latest_open(self._runtime, reader, project)
        return to_summary(entry) if entry else None

    def resume(self, id_or_prefix: str) -> Resumption:
        """
        Open exactly the conversation that is named, ended or not, and say what one should know.

        Changes nothing.

        Raises:
            NotFoundError, AmbiguousPrefixError: as `conversation`.
        """
        found = self.conversation(id_or_prefix)
        after = [link.conversation_id for link in found.linked_from() if link.relation == CONTINUES]
        owner = found.live_owner()
        live = owner if owner is not None and self.is_owner_live(owner) else None
        return Resumption(found, tuple(dict.fromkeys(after)), found.end_reason, live)

    def get(self, address: Address | str) -> Turn | StoredMessage:
        """
        What stands at an address: a turn, or a message outside any turn.

        Args:
            address: as hits and turns give it, such as `turn:<conversation>#<seq>`; the conversation may be
                shortened to the beginning of its id.

        Raises:
            AddressError: text that is no address.
            NotFoundError: nothing there; what lies in another workspace is equally absent.
            AmbiguousPrefixError, AmbiguousAddressError: it fits several; lists them.
        """
        with self._runtime.backend.reading() as reader:
            return addressing.get(self._runtime, reader, address)

    def find(self, address: Address | str) -> Turn | StoredMessage | None:
        """As `get`, but None when nothing stands there."""
        try:
            return self.get(address)
        except NotFoundError:
            return None

    def list(
        self,
        *,
        limit: int = LIST_LIMIT,
        cursor: str | None = None,
        newest_first: bool = True,
        project: str | None = None,
        tag: str | None = None,
        is_open: bool | None = None,
        pinned: bool | None = None,
    ) -> Page[ConversationSummary]:
        """
        Conversations by activity, never by a clock.

        Args:
            limit: at most this many.
            cursor: the `next` of the page before, with the same other arguments. Each conversation that was
                there when the first page was read is shown exactly once, whatever is written in between.
            newest_first: the most recently active first; else the least recently active.
            project: only those of exactly this project.
            tag: only those with this tag.
            is_open: only those that were not ended; False: only those that were.
            pinned: only those that are pinned; False: only those that are not.

        Raises:
            InputError: a limit below 1, or a cursor that is none.
        """
        as_of, after = parse_cursor(cursor) if cursor else (None, None)
        with self._runtime.backend.reading() as reader:
            if not is_there(self._runtime, reader):
                return Page(())
            fence = find_fence(self._runtime, reader)
            listing = Listing(fence, newest_first, check_limit(limit), as_of, after)
            return read_page(reader, listing, Wanted(project, tag, is_open, pinned))

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

    # --- the store

    def stats(self) -> Statistics:
        """Counts over the conversations of this workspace; on the owner's handle over all of the store."""
        with self._runtime.backend.reading() as reader:
            if not is_there(self._runtime, reader):
                return to_statistics(NOTHING)
            return to_statistics(reader.measure(find_fence(self._runtime, reader)))

    def is_owner_live(self, owner: Owner) -> bool:
        """Whether the process that owns a conversation still runs: the judgement that `claim` makes."""
        return is_live(owner, self._runtime.processes, self._runtime.clock())
