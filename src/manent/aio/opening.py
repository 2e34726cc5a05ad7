"""Opening a store, importing and restoring paths, awaited."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Generator
from functools import partial
from types import TracebackType
from typing import Any, ParamSpec

from manent import opening
from manent.aio.store import AsyncStore
from manent.aio.twins import long_read, long_write
from manent.aio.workers import Lane, Workers
from manent.history.store import Store

P = ParamSpec("P")


class Opening:
    """
    A store that is about to be opened: await it, or enter it with `async with`, which also closes it.

    Args:
        work: opens it.
        url: where it is, for people.
    """

    def __init__(self, work: Callable[[], Store], url: str) -> None:
        self._work = work
        self._url = url
        self._store: AsyncStore | None = None

    def __repr__(self) -> str:
        return f"<Opening of {self._url}: await it, or use it in `async with`>"

    def __await__(self) -> Generator[Any, None, AsyncStore]:
        return self._open().__await__()

    async def __aenter__(self) -> AsyncStore:
        self._store = await self._open()
        return self._store

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._store is not None:
            await self._store.aclose()

    async def _open(self) -> AsyncStore:
        """Open it on a thread; whatever hinders that leaves no thread and no file open."""
        workers = Workers()
        try:
            return await workers.run(Lane.WRITE, lambda: AsyncStore(self._work(), workers))
        except BaseException:
            await workers.aclose()
            raise


def _taking(
    function: Callable[P, Store],
) -> Callable[[Callable[..., Opening]], Callable[P, Opening]]:
    """Let a function show the parameters of another one as its own, beside its own result."""

    def shown(twin: Callable[..., Opening]) -> Callable[P, Opening]:
        own, others = inspect.signature(twin), inspect.signature(function)
        signature = others.replace(return_annotation=own.return_annotation)
        vars(twin)["__signature__"] = signature  # what `help` and `inspect` read
        return twin

    return shown


@_taking(opening.open)
def aopen(url: str | os.PathLike[str], **settings: Any) -> Opening:
    """
    Open a store for an event loop: await it, or use it in `async with`, which closes the store at its end.

        async with manent.aopen("conversations.db") as store: ...
        store = await manent.aopen("conversations.db")  # close it with `await store.aclose()`

    Arguments and errors are those of `manent.open`. Nothing happens before it is awaited or entered, and then
    it does so on a thread.
    """
    return Opening(partial(opening.open, url, **settings), f"{url}")


import_path = long_write(opening.import_path)
"""`opening.import_path` for an event loop. While the source itself is read, a cancelled call goes on."""

restore_path = long_write(opening.restore_path)
"""`opening.restore_path` for an event loop. A cancelled call that has begun runs to its end."""

export_path = long_read(opening.export_path)
"""`opening.export_path` for an event loop. A cancelled export ends at the next line or conversation."""
