"""Case 8: the disk is full for a while."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

import manent
from manent.errors import StorageFullError
from tests.processes import run
from tests.programs import fill_up, read_all
from tests.stores import TunedBackend, questions, store_over

ROOM_PAGES = 3
MESSAGE = "x" * 2_000


class Cap:
    """A limit of the number of pages, on every connection that a store has or opens."""

    def __init__(self) -> None:
        self._connections: list[apsw.Connection] = []
        self._pages = 0

    def add(self, connection: apsw.Connection) -> None:
        """Cap this connection too."""
        self._connections.append(connection)
        connection.pragma("max_page_count", self._pages or 0xFFFFFFFE)

    def set(self, pages: int) -> None:
        """Cap the store at its present size and that many pages more."""
        self._pages = self._connections[0].pragma("page_count") + pages
        for connection in self._connections:
            connection.pragma("max_page_count", self._pages)

    def lift(self) -> None:
        """There is room again."""
        self._pages = 0
        for connection in self._connections:
            connection.pragma("max_page_count", 0xFFFFFFFE)


def append_until_full(conversation: manent.Conversation, acknowledged: list[str]) -> None:
    """Append, and note what returned, until an append raises."""
    while True:
        acknowledged.append(conversation.append_turn(f"turn {len(acknowledged)}", MESSAGE).question)


def test_case_08_a_full_store_refuses_the_turn_and_works_again_by_itself(path: Path) -> None:  # D-3
    cap = Cap()
    with store_over(TunedBackend(path, cap.add)) as store:
        conversation = store.create("case 8")
        acknowledged = [conversation.append_turn("turn 0", MESSAGE).question]

        cap.set(ROOM_PAGES)
        with pytest.raises(StorageFullError, match=path.name):
            append_until_full(conversation, acknowledged)
        readable = questions(store, conversation.id)
        cap.lift()
        acknowledged.append(conversation.append_turn("afterwards", MESSAGE).question)

        assert readable == acknowledged[:-1]
        assert store.verify().ok
    assert run(read_all, path) == [acknowledged]


def test_case_08_a_full_store_is_full_for_everybody_until_it_is_not(path: Path) -> None:  # D-3
    cap = Cap()
    with store_over(TunedBackend(path, cap.add)) as store:
        conversation = store.create("case 8")
        cap.set(0)
        acknowledged: list[str] = []

        for _ in range(3):
            with pytest.raises(StorageFullError):
                append_until_full(conversation, acknowledged)
        cap.lift()
        with manent.open(path, wait=0.0) as other:
            other.conversation(conversation.id).append_turn("another", MESSAGE)

        assert questions(store, conversation.id) == [*acknowledged, "another"]


def test_case_08_a_limit_of_the_system_counts_as_a_full_disk(path: Path) -> None:  # D-3
    with manent.open(path) as store:
        conversation = store.create("case 8")

    acknowledged, failure = run(fill_up, path, conversation.id, 100_000)

    assert failure == "StorageFullError"
    with manent.open(path) as store:
        assert questions(store, conversation.id) == acknowledged
        assert store.verify().ok
