"""What all contracts share: a backend on a workbench, and what a backend may lack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Protocol

import pytest

from manent.storage.port import Backend
from manent.testing.workbench import Workbench


class OpenBackend(Protocol):
    """
    Opens the backend under test.

    The same name is the same store, opened again where the backend keeps anything; another name is another
    store, empty at first. Each test has names of its own.
    """

    def __call__(self, name: str = "store") -> Backend:
        """A backend that is open."""


class Reopen(Protocol):
    """Closes the store and opens it anew."""

    def __call__(self) -> Workbench:
        """The store again, on a workbench."""


class Contract:
    """The base of all contracts. A subclass of one gives the fixture `open_backend`, an `OpenBackend`."""

    @pytest.fixture
    def backend(self, open_backend: OpenBackend) -> Iterator[Backend]:
        """A new store."""
        backend = open_backend()
        yield backend
        backend.close()

    @pytest.fixture
    def bench(self, backend: Backend) -> Workbench:
        """A new store on a workbench."""
        return Workbench(backend)

    @pytest.fixture
    def reopen(self, backend: Backend, open_backend: OpenBackend) -> Iterator[Reopen]:
        """Closes the store and opens it again; skips where nothing is kept."""
        require(backend, "durable")
        with ExitStack() as opened:

            def close_and_open() -> Workbench:
                backend.close()
                again = open_backend()
                opened.callback(again.close)
                return Workbench(again)

            yield close_and_open


def require(backend: Backend, capability: str) -> None:
    """Skip the test where the backend says that it cannot do this."""
    if not getattr(backend.capabilities, capability):
        pytest.skip(f"its capabilities say {capability}=False")
