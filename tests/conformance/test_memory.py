"""The reference backend keeps its own contract."""

from __future__ import annotations

import pytest

from manent.errors import StoreBusyError
from manent.storage.memory.backend import MemoryBackend
from manent.testing.conformance import BackendConformance, OpenBackend


class TestMemory(BackendConformance):
    @pytest.fixture
    def open_backend(self) -> OpenBackend:
        return lambda name="store": MemoryBackend(name=f"memory:{name}")


def test_a_writer_that_waited_too_long_is_told_whom_for() -> None:  # D-5
    backend = MemoryBackend(wait_s=0.02)

    with backend.transaction(), pytest.raises(StoreBusyError) as caught, backend.transaction():
        pass

    assert (caught.value.store, caught.value.holder) == ("memory:", "this process")
    assert caught.value.waited_s >= 0.02


def test_the_writer_and_the_salts_can_be_given() -> None:
    backend = MemoryBackend(writer="ab" * 8, new_salts=bytes)

    assert backend.writer == "ab" * 8
