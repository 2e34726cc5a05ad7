"""Opening a store, importing and restoring paths, awaited."""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial, wraps
from types import TracebackType
from typing import Any, ParamSpec

from manent import opening
from manent.aio.store import AsyncStore
from manent.aio.twins import long_write
from manent.aio.workers import Lane, Workers
from manent.history.store import Store

P = ParamSpec("P")


class Opening:
    """A store that is about to be opened: await it, or enter it with `async with`, which also closes it."""

    def __init__(self, work: Callable[[], Store]) -> None:
        self._work = work
        self._store: AsyncStore | None = None

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


def _opening(function: Callable[P, Store]) -> Callable[P, Opening]:
    @wraps(function)
    def twin(*args: P.args, **kwargs: P.kwargs) -> Opening:
        return Opening(partial(function, *args, **kwargs))

    return twin


aopen = _opening(opening.open)
"""`manent.open` for an event loop: `async with aopen(url) as store`, or `store = await aopen(url)`."""

import_path = long_write(opening.import_path)
"""`opening.import_path` for an event loop. While the source itself is read, a cancelled call goes on."""

restore_path = long_write(opening.restore_path)
"""`opening.restore_path` for an event loop. A cancelled call that has begun runs to its end."""
