"""Case 82: pages are turned while things are added, touched and appended."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

import manent
from manent.history.store import Store
from manent.model.records import Message
from manent.storage.sqlite.backend import SqliteBackend
from manent.testing.clocks import fixed
from tests.stores import store_over

CONVERSATIONS = 250
PAGE = 20
BETWEEN = 3


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    """A store whose clock stands still, so that all claims are equal."""
    with store_over(SqliteBackend(path, durability="process"), clock=fixed()) as opened:
        yield opened


@pytest.mark.parametrize("newest_first", [True, False])
def test_case_82_each_conversation_is_listed_once_while_others_are_added_and_touched(
    store: Store, newest_first: bool
) -> None:  # L-6, L-8
    ids = [store.create(f"case 82 {number}").id for number in range(CONVERSATIONS)]

    listed = list(_all_conversations(store, newest_first=newest_first))

    assert listed == (ids[::-1] if newest_first else ids)


@pytest.mark.parametrize("branch", ["active", "all"])
def test_case_82_each_message_is_read_once_backwards_while_a_writer_appends(
    store: Store, branch: str
) -> None:
    texts, conversation = _a_conversation(store)  # L-6

    found = list(_backwards(conversation, branch))

    assert found == texts[::-1]


@pytest.mark.parametrize("branch", ["active", "all"])
def test_case_82_each_message_is_read_once_forwards_while_a_writer_appends(store: Store, branch: str) -> None:
    texts, conversation = _a_conversation(store)  # L-6

    found = list(_forwards(conversation, branch, len(texts)))

    assert found[: len(texts)] == texts
    assert len(set(found)) == len(found)


def test_case_82_each_turn_is_read_once_while_a_writer_appends(store: Store) -> None:  # L-6
    conversation = store.create("case 82")
    for number in range(CONVERSATIONS):
        conversation.append_turn(f"q {number}", "a")

    found, page = [], conversation.turns(limit=PAGE)
    while page:
        found += [turn.question for turn in reversed(page)]
        conversation.append_turn("meanwhile", "a")
        page = conversation.turns(limit=PAGE, before=page.previous) if page.previous else manent.Page(())

    assert found == [f"q {number}" for number in reversed(range(CONVERSATIONS))]


def _all_conversations(store: Store, *, newest_first: bool) -> Iterator[str]:
    """Turn pages, and between them add and touch; the ids of those that were there at first."""
    luck = random.Random(82)
    at_first = [summary.id for summary in store.list(limit=1_000)]
    page = store.list(limit=PAGE, newest_first=newest_first)
    while True:
        yield from (summary.id for summary in page)
        if page.next is None:
            return
        for _ in range(BETWEEN):
            store.create("added")
            store.conversation(luck.choice(at_first)).append_turn("touched", "so it is")
        page = store.list(limit=PAGE, cursor=page.next, newest_first=newest_first)


def _a_conversation(store: Store) -> tuple[list[str], manent.Conversation]:
    conversation = store.create("case 82")
    texts = [f"message {number}" for number in range(CONVERSATIONS)]
    conversation.append_messages([Message(role="user", parts=text) for text in texts])
    return texts, conversation


def _backwards(conversation: manent.Conversation, branch: str) -> Iterator[str]:
    page = conversation.messages(limit=PAGE, branch=branch)  # type: ignore[arg-type]
    while True:
        yield from (message.text for message in reversed(page))
        if page.previous is None:
            return
        _append(conversation, f"after {page.previous}")
        page = conversation.messages(limit=PAGE, before=page.previous, branch=branch)  # type: ignore[arg-type]


def _forwards(conversation: manent.Conversation, branch: str, enough: int) -> Iterator[str]:
    first = conversation.messages(branch=branch)[0]  # type: ignore[arg-type]
    yield first.text
    cursor: str | None = first.cursor
    while cursor is not None and enough > 0:
        _append(conversation, f"after {cursor}")
        page = conversation.messages(limit=PAGE, after=cursor, branch=branch)  # type: ignore[arg-type]
        yield from (message.text for message in page)
        cursor = page.next
        enough -= len(page)


def _append(conversation: manent.Conversation, text: str) -> None:
    conversation.append_message(Message(role="user", parts=text))
