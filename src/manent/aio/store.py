"""The store, awaited."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Collection, Coroutine, Iterable, Sequence
from functools import partial, wraps
from types import TracebackType
from typing import Any, Concatenate, NamedTuple, ParamSpec, Self

from manent.aio.conversation import AsyncConversation
from manent.aio.imports import AsyncImports, AsyncSecrets
from manent.aio.interruption import Interruption, Progress
from manent.aio.pieces import Pieces, Spool, in_pieces
from manent.aio.roadmaps import AsyncRoadmaps
from manent.aio.twins import Twin, long_read, read, write
from manent.aio.workers import Lane, Workers
from manent.aio.workspaces import AsyncWorkspaces
from manent.history import restoring
from manent.history.conversation import Conversation
from manent.history.restoring import ReadBlob, Restored
from manent.history.resuming import Resumption
from manent.history.store import Store
from manent.model.imported import ImportedConversation, ImportReport, Refusal
from manent.model.owners import Owner

P = ParamSpec("P")

ImportItem = ImportedConversation | Refusal


class AsyncResumption(NamedTuple):
    """As `Resumption`, with an awaited conversation."""

    conversation: AsyncConversation
    continued_by: tuple[str, ...]
    end_reason: str | None
    owner: Owner | None


def _giving_handle(
    twin: Callable[Concatenate[AsyncStore, P], Coroutine[Any, Any, Conversation]],
) -> Callable[Concatenate[AsyncStore, P], Coroutine[Any, Any, AsyncConversation]]:
    """The same twin; the conversation that it gives is awaited too."""

    @wraps(twin)
    async def giving(self: AsyncStore, /, *args: P.args, **kwargs: P.kwargs) -> AsyncConversation:
        return AsyncConversation(await twin(self, *args, **kwargs), self._workers)

    return giving


def _finding_or_beginning(
    find: Callable[Concatenate[AsyncStore, P], Coroutine[Any, Any, Conversation]],
    begin: Callable[Concatenate[AsyncStore, P], Coroutine[Any, Any, Conversation]],
) -> Callable[Concatenate[AsyncStore, P], Coroutine[Any, Any, Conversation]]:
    """One call of two twins: that it may begin something is said by its argument `create`."""

    @wraps(find)
    async def choosing(self: AsyncStore, /, *args: P.args, **kwargs: P.kwargs) -> Conversation:
        chosen = begin if kwargs.get("create") else find
        return await chosen(self, *args, **kwargs)

    return choosing


def _giving_resumption(
    twin: Callable[Concatenate[AsyncStore, P], Coroutine[Any, Any, Resumption]],
) -> Callable[Concatenate[AsyncStore, P], Coroutine[Any, Any, AsyncResumption]]:
    """The same twin; the conversation in what it gives is awaited too."""

    @wraps(twin)
    async def giving(self: AsyncStore, /, *args: P.args, **kwargs: P.kwargs) -> AsyncResumption:
        found = await twin(self, *args, **kwargs)
        awaited = AsyncConversation(found.conversation, self._workers)
        return AsyncResumption(awaited, found.continued_by, found.end_reason, found.owner)

    return giving


class AsyncStore(Twin[Store]):
    """
    `Store` for an event loop: the same calls, awaited. Get one from `manent.aopen`.

    Every method is a coroutine, and so is what is a property of `Store` and reads it, such as
    `await store.writer()`. `url`, `wal_fallback_notice`, `roadmaps`, `imports`, `secrets` and `workspaces`
    cost nothing and stay attributes. Conversations that it gives are `AsyncConversation`. What is said in
    `Store` of arguments, results and errors holds here.

    Calls run on at most 8 threads of this store's own, so that the event loop is never blocked (U-5), in the
    context of the caller. Those that write do so one after the other, in the order in which they were called;
    `wait` begins when a call's turn comes. It belongs to no event loop: several may use it, also at once.

    After `CancelledError` a call that writes is whole or absent and is not under way any more: look, or
    repeat it with the same `idempotency_key`. A cancelled import ends with the conversation that it is at,
    and goes on when it is repeated. A call that had not begun never begins.

    Close it with `aclose`, or use it in an `async with` block.

    Args:
        store: an open store, which is closed with this one.
        workers: the threads of its calls; None makes new ones.
    """

    def __init__(self, store: Store, workers: Workers | None = None) -> None:
        super().__init__(store, workers or Workers())
        self._workers.store = store.url
        self._workers.at_end(store.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<Async{repr(self._sync)[1:]}"

    async def aclose(self) -> None:
        """
        Release everything: threads, files, and the snapshots of exports that nobody read to their end.

        Waits for calls that have begun, an import too; those that have not raise `StoreClosedError`. May be
        called twice, by several tasks, and from another event loop than the one that opened the store.
        """
        await self._workers.aclose()

    @property
    def url(self) -> str:
        """Where the store is, as it was given."""
        return self._sync.url

    @property
    def wal_fallback_notice(self) -> str | None:
        """What to tell the user once about a place that cannot carry a write-ahead log, or None."""
        return self._sync.wal_fallback_notice

    @property
    def roadmaps(self) -> AsyncRoadmaps:
        """Plans as trees, kept in this workspace."""
        return AsyncRoadmaps(self._sync.roadmaps, self._workers)

    @property
    def imports(self) -> AsyncImports:
        """What was imported into this workspace, and how it is undone."""
        return AsyncImports(self._sync.imports, self._workers)

    @property
    def secrets(self) -> AsyncSecrets:
        """What was masked in this workspace: kinds and places."""
        return AsyncSecrets(self._sync.secrets, self._workers)

    @property
    def workspaces(self) -> AsyncWorkspaces:
        """The workspaces of the store as a whole; for the owner's handle."""
        return AsyncWorkspaces(self._sync.workspaces, self._workers)

    writer = read(Store.writer)

    # --- beginning and removing

    create = _giving_handle(write(Store.create))
    create_with_id = _giving_handle(write(Store.create_with_id))
    reserve = _giving_handle(read(Store.reserve))
    delete = write(Store.delete)

    # --- finding

    conversation = _giving_handle(
        _finding_or_beginning(find=read(Store.conversation), begin=write(Store.conversation))
    )
    exists = read(Store.exists)
    resolve = read(Store.resolve)
    latest_open = read(Store.latest_open)
    resume = _giving_resumption(read(Store.resume))
    get = read(Store.get)
    find = read(Store.find)
    list = read(Store.list)
    search = read(Store.search)

    # --- the store

    stats = read(Store.stats)
    is_owner_live = read(Store.is_owner_live)
    verify = long_read(Store.verify)
    read_arrivals = read(Store.read_arrivals)
    receipt = read(Store.receipt)

    async def export_lines(self) -> AsyncIterator[bytes]:
        """
        As `Store.export_lines`, read on threads in pieces of about 256 KiB.

        Leaving the `async for` early gives the snapshot up; closing the store does so too.
        """
        pieces = Pieces(self._sync.export_lines)
        async with self._workers.keeping(pieces.close):
            while piece := await self._workers.run(Lane.READ, pieces.read):
                for line in piece:
                    yield line

    async def import_items(
        self,
        items: Iterable[ImportItem] | AsyncIterable[ImportItem],
        *,
        format: str,
        files: int = 1,
        paths: Sequence[str] = (),
        dry_run: bool = False,
        allow_secrets: Collection[str] = (),
        progress: Progress = lambda _: None,
    ) -> ImportReport:
        """
        As `Store.import_items`.

        Args:
            items: an async iterator is read to its end first, any other one on a thread.
            progress: called on the event loop.
        """
        interruption = Interruption()
        known = [item async for item in items] if isinstance(items, AsyncIterable) else items
        work = partial(
            self._sync.import_items,
            interruption.heeding(known),
            format=format,
            files=files,
            paths=paths,
            dry_run=dry_run,
            allow_secrets=allow_secrets,
            progress=interruption.reporting(progress),
        )
        return await self._workers.run(Lane.LONG_WRITE, work, interruption=interruption)

    async def import_lines(
        self,
        lines: Iterable[bytes] | AsyncIterable[bytes],
        *,
        name: str = "import",
        read_blob: ReadBlob | None = None,
    ) -> Restored:
        """
        As `Store.import_lines`.

        Args:
            lines: those of an async iterator may be cut anywhere, and are kept aside until all have come: the
                store's lock never waits for them. Any other iterator is read on a thread.
            read_blob: called on a thread.
        """
        if not isinstance(lines, AsyncIterable):
            return await self._import_lines(lines, name, read_blob)
        spool = Spool()
        async with self._workers.keeping(spool.close):
            async for piece in in_pieces(lines):
                await self._workers.run(Lane.LONG_WRITE, partial(spool.write, piece))
            return await self._import_lines(restoring.read_lines(spool.read()), name, read_blob)

    async def _import_lines(self, lines: Iterable[bytes], name: str, read_blob: ReadBlob | None) -> Restored:
        interruption = Interruption()
        work = partial(self._sync.import_lines, interruption.heeding(lines), name=name, read_blob=read_blob)
        return await self._workers.run(Lane.LONG_WRITE, work, interruption=interruption)
