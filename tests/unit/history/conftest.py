"""A store on every backend that there is, and a clock that a test moves."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from manent.storage.port import Backend
from manent.testing.clocks import SettableClock, fixed
from tests.unit.ndjson.histories import memory_store, sqlite_store


@pytest.fixture(params=["sqlite", "memory"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """An empty store."""
    if request.param == "memory":
        yield memory_store()
    else:
        with sqlite_store() as store:
            yield store


@pytest.fixture
def clock() -> SettableClock:
    """Noon, until the test says otherwise."""
    return fixed()
