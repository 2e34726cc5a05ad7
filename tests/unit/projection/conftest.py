"""A conversation on a workbench, for the tests of the projections."""

from __future__ import annotations

import pytest

from manent.storage.memory.backend import MemoryBackend
from manent.testing.workbench import Workbench


@pytest.fixture
def bench() -> Workbench:
    """A new store."""
    return Workbench(MemoryBackend())


@pytest.fixture
def uid(bench: Workbench) -> str:
    """A conversation without any event."""
    return bench.conversation()
