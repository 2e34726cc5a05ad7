"""Waiting for a lock: bounded, in short random pauses, with an error that says who holds it (D-5)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

import apsw

from manent.errors import StoreBusyError
from manent.storage.sqlite import engine

T = TypeVar("T")


class Patience:
    """How long this handle waits for others. `wait_s` in seconds."""

    def __init__(self, url: str, path: str, wait_s: float) -> None:
        self._url = url
        self._path = path
        self.wait_s = wait_s

    def deadline(self) -> float:
        """When a wait that begins now ends, on the monotonic clock."""
        return time.monotonic() + self.wait_s

    def retry(self, attempt: Callable[[], T], deadline: float) -> T:
        """
        Try until no other connection is in the way.

        Raises:
            StoreBusyError: one was until `deadline`.
        """
        started = time.monotonic()
        while True:
            try:
                return attempt()
            except (apsw.BusyError, apsw.LockedError):
                now = time.monotonic()
                if now >= deadline:
                    holder = engine.lock_holder(self._path)
                    waited_s = now - started
                    raise StoreBusyError(store=self._url, waited_s=waited_s, holder=holder) from None
                time.sleep(min(engine.pause_s(started), deadline - now))

    def wait_for(self, attempt: Callable[[], bool], deadline: float) -> None:
        """
        Try until another thread of this process is done.

        Raises:
            StoreBusyError: it was not before `deadline`.
        """
        started = time.monotonic()
        while not attempt():
            now = time.monotonic()
            if now >= deadline:
                raise StoreBusyError(store=self._url, waited_s=now - started, holder="this process")
            time.sleep(min(engine.pause_s(started), deadline - now))
