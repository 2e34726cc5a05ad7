"""Likeness: the backend does what memory does, whatever happens."""

from __future__ import annotations

import itertools

from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from manent.testing.agreement import Agreement
from manent.testing.conformance.contract import Contract, OpenBackend

STORIES = settings(
    max_examples=25,
    stateful_step_count=12,
    deadline=None,
    derandomize=True,  # the same everywhere: a backend conforms or it does not
    database=None,
    suppress_health_check=list(HealthCheck),
)
"""How many stories are told of a backend, and how long."""


class AgreementContract(Contract):
    """Every read gives what memory gives, after any story."""

    def test_it_agrees_with_memory_whatever_happens(self, open_backend: OpenBackend) -> None:  # P-1, L-6
        numbers = itertools.count(1)

        class Story(Agreement):
            def __init__(self) -> None:
                name = f"story-{next(numbers)}"
                super().__init__(lambda: open_backend(name))

        run_state_machine_as_test(Story, settings=STORIES)
