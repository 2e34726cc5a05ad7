"""A backend that tells what it is asked: names, durations and numbers, never content."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from manent.storage.port import Backend, Blobs, Drafts, Reader, Transaction
from manent.storage.wrappers.wrapper import Wrapper, stepped_into, stepped_into_transaction


class Call(NamedTuple):
    """
    One call of a backend.

    Args:
        name: the port's name for it, such as `transaction.append`, `read.read_messages` or `blobs.put`;
            `transaction` and `reading` are the whole `with` block, commit included.
        duration_ns: how long it took. A call that hands out an iterator ends before that is read.
        items: how many things went in or came out, in a `with` block how many calls were made.
        error: the class of the exception that ended it, or None.
    """

    name: str
    duration_ns: int
    items: int
    error: str | None


Sink = Callable[[Call], None]


def traced(backend: Backend, sink: Sink) -> Backend:
    """The same store; each call is told to `sink` when it has ended, in the thread that made it."""
    return _Traced(backend, sink)


class _Traced(Wrapper):
    def __init__(self, inner: Backend, sink: Sink) -> None:
        super().__init__(inner)
        self._sink = sink

    @property
    def blobs(self) -> Blobs:
        return stepped_into("blobs", self.inner.blobs, _Teller(self._sink))

    @property
    def drafts(self) -> Drafts:
        return stepped_into("drafts", self.inner.drafts, _Teller(self._sink))

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        with _Teller(self._sink).telling("transaction") as teller, self.inner.transaction() as tx:
            yield stepped_into_transaction(tx, teller)

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        with _Teller(self._sink).telling("reading") as teller, self.inner.reading() as reader:
            yield stepped_into("read", reader, teller)


class _Teller:
    """Makes calls and tells of them."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink
        self._calls = 0

    def __call__(self, name: str, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        self._calls += 1
        started_ns = time.perf_counter_ns()
        try:
            result = method(*args, **kwargs)
        except BaseException as error:
            self._tell(name, started_ns, 0, error)
            raise
        self._tell(name, started_ns, _items(result, *args), None)
        return result

    @contextmanager
    def telling(self, name: str) -> Iterator[_Teller]:
        """Tell of a `with` block as one call."""
        started_ns = time.perf_counter_ns()
        try:
            yield self
        except BaseException as error:
            self._tell(name, started_ns, self._calls, error)
            raise
        self._tell(name, started_ns, self._calls, None)

    def _tell(self, name: str, started_ns: int, items: int, error: BaseException | None) -> None:
        duration_ns = time.perf_counter_ns() - started_ns
        self._sink(Call(name, duration_ns, items, type(error).__name__ if error is not None else None))


def _items(result: object, *args: object) -> int:
    """The length of the first list among result and arguments; else 1 for a result, 0 for none."""
    for value in (result, *args):
        if isinstance(value, list) or type(value) is tuple:
            return len(value)
    return 0 if result is None else 1
