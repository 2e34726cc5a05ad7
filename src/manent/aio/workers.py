"""
The worker threads of an awaited store: which there are, who may wait for whom, and how they end.

The event loop itself never touches the store (U-5). Short and long, reads and writes have threads of their
own, so that a write that waits for the store's lock keeps no read from a thread, and an import or `verify`
keeps no short call from one.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager, suppress
from enum import Enum
from typing import Any, TypeVar

from manent.aio.interruption import Interruption
from manent.errors import StoreBusyError, StoreClosedError

T = TypeVar("T")


class Lane(Enum):
    """A kind of call: the name of its threads, and how many there are at most."""

    READ = ("read", 4)
    WRITE = ("write", 1)
    LONG_READ = ("long-read", 2)
    LONG_WRITE = ("long-write", 1)

    @property
    def thread_name(self) -> str:
        """What the names of its threads begin with."""
        return f"manent-{self.value[0]}"

    @property
    def threads_max(self) -> int:
        """One for writes: a store has one writer at a time, and so they happen in the order of the calls."""
        return self.value[1]

    @property
    def writes(self) -> bool:
        """Whether its calls change anything."""
        return self in (Lane.WRITE, Lane.LONG_WRITE)


class Workers:
    """
    Runs calls on threads, from any event loop, until it is closed.

    Threads are started when they are first needed, and again in a forked child. `store` is what the store is
    called in errors.
    """

    def __init__(self) -> None:
        self.store = "The store"
        self._ends: dict[Callable[[], None], None] = {}
        self._closing: Future[None] | None = None
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._mutex = threading.Lock()
        self._queues = {lane: _Queue(lane) for lane in Lane}

    async def run(self, lane: Lane, work: Callable[[], T], *, interruption: Interruption | None = None) -> T:
        """
        Do something on a thread of a lane, in the context of the caller, and give its result.

        A cancelled call that has not begun never begins. One that reads is left to end by itself. For one
        that writes the end is awaited first: after `CancelledError` it is whole or absent, and stays so.

        Args:
            interruption: is asked for when the call is cancelled, so that it ends sooner.

        Raises:
            StoreClosedError: the store was closed before the call began.
        """
        attempt = self._queues[lane].attempting(work)
        call = self._submit(lane, attempt)
        ended = asyncio.wrap_future(call)
        try:
            return await asyncio.shield(ended)
        except asyncio.CancelledError:
            ended.add_done_callback(_take_note)
            if not call.cancel():
                if interruption is not None:
                    interruption.ask()
                if lane.writes:
                    await _outlast(ended)
            raise

    @asynccontextmanager
    async def keeping(self, close: Callable[[], None]) -> AsyncIterator[None]:
        """Close something on a thread at the end of the block, whatever happens, or when the store closes."""
        self.at_end(close)
        try:
            yield
        finally:
            with suppress(StoreClosedError):  # whoever closes the store closes this too
                ended = asyncio.wrap_future(self._submit(Lane.READ, lambda: self._end(close)))
                await asyncio.shield(ended)

    def at_end(self, close: Callable[[], None]) -> None:
        """Do this when the store is closed and every call has ended; what came last first."""
        with self._guarded():
            self._refuse_closed()
            self._ends[close] = None

    def _end(self, close: Callable[[], None]) -> None:
        close()
        self._ends.pop(close, None)

    def _submit(self, lane: Lane, work: Callable[[], T]) -> Future[T]:
        context = contextvars.copy_context()
        with self._guarded():
            self._refuse_closed()
            return self._queues[lane].submit(lambda: context.run(self._begin, work))

    def _guarded(self) -> threading.Lock:
        """The lock over who begins and who closes; in a child new, like the threads: the parent kept them."""
        if self._pid != os.getpid():
            self._start()
        return self._mutex

    def _begin(self, work: Callable[[], T]) -> T:
        self._refuse_closed()
        return work()

    def _refuse_closed(self) -> None:
        if self._closing is not None:
            raise StoreClosedError(store=self.store)

    async def aclose(self) -> None:
        """Refuse what has not begun, wait for what has, and end every thread. May be called again."""
        with self._guarded():
            if self._closing is None:
                self._closer = ThreadPoolExecutor(1, "manent-close")
                self._closing = self._closer.submit(self._close)
        ended = asyncio.wrap_future(self._closing)
        try:
            await asyncio.shield(ended)
        finally:
            await _outlast(ended)
            self._closer.shutdown()

    def _close(self) -> None:
        for queue in self._queues.values():
            queue.end()
        with ExitStack() as stack:
            for close in self._ends:
                stack.callback(close)
        self._ends.clear()


class _Queue:
    """The calls of one lane, in the order in which they were made."""

    def __init__(self, lane: Lane) -> None:
        self._executor = ThreadPoolExecutor(lane.threads_max, lane.thread_name)
        self._given_up: tuple[float, StoreBusyError] | None = None

    def submit(self, work: Callable[[], T]) -> Future[T]:
        return self._executor.submit(work)

    def attempting(self, work: Callable[[], T]) -> Callable[[], T]:
        """
        What is asked for at this moment; refused where a call that began later waited for the lock in vain.

        It has waited just as long then. So a lock that nobody gives back costs no call more than twice
        `wait`, however many queue (D-5).
        """
        asked = time.monotonic()

        def attempt() -> T:
            if self._given_up is not None and asked <= self._given_up[0]:
                error = self._given_up[1]
                waited_s = time.monotonic() - asked
                raise StoreBusyError(store=error.store, waited_s=waited_s, holder=error.holder)
            began = time.monotonic()
            try:
                return work()
            except StoreBusyError as error:
                self._given_up = (began, error)
                raise

        return attempt

    def end(self) -> None:
        """Wait for its calls and end its threads."""
        self._executor.shutdown()


def _take_note(ended: asyncio.Future[Any]) -> None:
    """An error of a call that nobody awaits any more is nobody's: asyncio is not to report it."""
    if not ended.cancelled():
        ended.exception()


async def _outlast(ended: asyncio.Future[Any]) -> None:
    """Wait for the end of something, also while being cancelled: the caller raises what there is to raise."""
    while not ended.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([ended])
