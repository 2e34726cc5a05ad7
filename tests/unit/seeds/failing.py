"""
Faults at every statement of a call, through all the transactions and reads that it makes.

A call that commits and then still does something can raise although it has written; counting on from one
transaction to the next finds that.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from manent.errors import InjectedFaultError
from manent.storage.port import Backend, Reader, Transaction
from manent.storage.wrappers.wrapper import Wrapper, stepped_into
from manent.testing.snapshots import take_snapshot

OWNED = ("s-1", "s-8", "s-9")
"""The ids whose owners count."""


class FailingOnce(Wrapper):
    """
    A backend that fails once, before the statement `at` does anything; from then on it works again.

    Statements are counted from 1, over everything that is done through it: each call of a transaction or a
    reader, each commit, and the beginning of each of them.
    """

    def __init__(self, inner: Backend, at: int) -> None:
        super().__init__(inner)
        self._at = at
        self._numbers = itertools.count(1)
        self.fired = False

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        self._step("begin", lambda: None)
        with self.inner.transaction() as tx:
            yield stepped_into("transaction", tx, self._step, read=stepped_into("read", tx.read, self._step))
            self._step("commit", lambda: None)

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        self._step("begin", lambda: None)
        with self.inner.reading() as reader:
            yield stepped_into("read", reader, self._step)

    def _step(self, _name: str, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if next(self._numbers) == self._at:
            self.fired = True
            raise InjectedFaultError(f"A fault was injected at statement {self._at}.", store=self.url)
        return method(*args, **kwargs)


def failing_anywhere(backend: Backend, write: Callable[[Backend], object]) -> Iterator[int]:
    """
    Let `write` fail at its first statement, at its second and so on, wherever it stands.

    Yields the number of the statement after each failure. The last, undisturbed write is committed.

    Raises:
        AssertionError: the fault did not come out of `write`.
    """
    for statement in itertools.count(1):
        failing = FailingOnce(backend, statement)
        try:
            write(failing)
        except InjectedFaultError:
            yield statement
            continue
        assert not failing.fired, f"the fault at statement {statement} was swallowed"
        return


def everything(backend: Backend) -> object:
    """All that a store says, and who owns the ids of the tests."""
    with backend.reading() as reader:
        owners = [
            reader.find_owner(workspace.uid, id) for workspace in reader.list_workspaces() for id in OWNED
        ]
        return take_snapshot(reader), owners
