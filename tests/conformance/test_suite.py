"""The suite itself: nothing of it is hidden, and none of our backends is spared."""

from __future__ import annotations

from collections import Counter

from manent.storage.memory.backend import MemoryBackend
from manent.storage.port import Capabilities
from manent.storage.sqlite.backend import SqliteBackend
from manent.testing.conformance import CONTRACTS, BackendConformance, Contract


def own_tests(contract: type[Contract]) -> list[str]:
    return [name for name in vars(contract) if name.startswith("test_")]


def test_no_two_contracts_have_a_test_of_the_same_name() -> None:
    names = Counter(name for contract in CONTRACTS for name in own_tests(contract))

    assert [name for name, count in names.items() if count > 1] == []


def test_the_bundle_holds_every_contract() -> None:
    assert set(CONTRACTS) <= set(BackendConformance.__mro__)
    assert own_tests(BackendConformance) == []


def test_our_backends_have_nothing_skipped_that_they_can_do() -> None:
    assert SqliteBackend.capabilities == Capabilities(
        durable=True, processes=True, keeps_files=True, reads_beside_writes=True
    )
    assert MemoryBackend.capabilities == Capabilities(
        durable=False, processes=False, keeps_files=False, reads_beside_writes=True
    )
