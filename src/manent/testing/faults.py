"""Failing at every statement: what D-2 asks of a store, tried one statement after the other."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

from manent.errors import InjectedFaultError
from manent.storage.port import Backend
from manent.storage.wrappers import FaultPlan, faulty


def failing_at_each_statement(backend: Backend, write: Callable[[Backend], object]) -> Iterator[int]:
    """
    Let `write` fail at its first statement, at its second and so on, the commit included.

    Yields the number of the statement after each failure, for the test to look at the store. The last,
    undisturbed write is committed.

    Raises:
        AssertionError: the fault did not come out of `write`.
    """
    for statement in itertools.count(1):
        plan = FaultPlan(statement)
        try:
            write(faulty(backend, plan))
        except InjectedFaultError:
            yield statement
            continue
        assert not plan.fired, f"the fault at statement {statement} was swallowed"
        return
