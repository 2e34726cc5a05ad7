"""Interrupting a long call: it is asked to end, and does so at its next step."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

Progress = Callable[[int], None]
"""Called now and then with the number of records or events looked at."""


class CallInterruptedError(Exception):
    """A call ends because nobody awaits it any more. Ends in its thread, and is seen by nobody."""


class Interruption:
    """Whether one call should end. Make one on the event loop that awaits the call."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._loop = asyncio.get_running_loop()

    def ask(self) -> None:
        """Let the call end at its next step."""
        self._asked.set()

    def heed(self) -> None:
        """
        End the call here if that was asked.

        Raises:
            CallInterruptedError: it was.
        """
        if self._asked.is_set() or self._loop.is_closed():
            raise CallInterruptedError

    def reporting(self, progress: Progress | None) -> Progress:
        """What a call tells its progress, so that `progress` is called on the event loop."""

        def report(count: int) -> None:
            self.heed()
            if progress is not None:
                self._loop.call_soon_threadsafe(progress, count)

        return report

    def heeding(self, items: Iterable[T]) -> Iterator[T]:
        """The same items; the call ends before the next one if that was asked."""
        for item in items:
            self.heed()
            yield item
