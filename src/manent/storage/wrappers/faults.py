"""A backend that fails where it is told to: proof that a failure leaves the store as it was (D-2)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from manent.errors import InjectedFaultError
from manent.storage.port import Backend, Blobs, Drafts, Transaction
from manent.storage.wrappers.wrapper import Between, Wrapper, stepped_into, stepped_into_transaction


class FaultPlan:
    """
    Where a transaction fails, and how. A plan fires once; from then on the backend works again.

    Args:
        at: the statement, counted from 1 in each transaction: every call of the transaction, of its
            `read` and of its `blobs`, and the commit as the last one. A call of the backend's own blobs or
            drafts is a statement alone.
        error: what is raised, such as StorageFullError or KeyboardInterrupt; InjectedFaultError when None.
    """

    def __init__(self, at: int, error: BaseException | None = None) -> None:
        self.at = at
        self.error = error
        self.fired = False

    def reach(self, statement: int, store: str) -> None:
        """Raise the fault when this is its statement."""
        if self.fired or statement != self.at:
            return
        self.fired = True
        if self.error is not None:
            raise self.error
        raise InjectedFaultError(f"A fault was injected at statement {statement}.", store=store)


def faulty(backend: Backend, plan: FaultPlan) -> Backend:
    """The same store, in which one transaction fails as `plan` says, before that statement does anything."""
    return _Faulty(backend, plan)


class _Faulty(Wrapper):
    def __init__(self, inner: Backend, plan: FaultPlan) -> None:
        super().__init__(inner)
        self._plan = plan

    @property
    def blobs(self) -> Blobs:
        return stepped_into("blobs", self.inner.blobs, self._alone)

    @property
    def drafts(self) -> Drafts:
        return stepped_into("drafts", self.inner.drafts, self._alone)

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        count = self._counted()
        with self.inner.transaction() as tx:
            yield stepped_into_transaction(tx, count)
            count("commit", lambda: None)

    def _alone(self, _name: str, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        self._plan.reach(1, self.url)
        return method(*args, **kwargs)

    def _counted(self) -> Between:
        """Counts the statements of one transaction, and fails at that of the plan."""
        numbers = itertools.count(1)

        def count(_name: str, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
            self._plan.reach(next(numbers), self.url)
            return method(*args, **kwargs)

        return count
