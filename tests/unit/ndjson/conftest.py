"""A store to export: on every backend that there is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from manent.storage.port import Backend
from tests.unit.ndjson.histories import memory_store, sqlite_store


@pytest.fixture(params=["sqlite", "memory"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """An empty store."""
    if request.param == "memory":
        yield memory_store()
    else:
        with sqlite_store() as store:
            yield store
