"""Case 17: clocks stand still, go back and leap, and the order is what it was."""

from __future__ import annotations

from pathlib import Path

import manent
from manent.history.store import Store
from manent.model.records import Message
from manent.storage.sqlite.backend import SqliteBackend
from manent.testing.clocks import SettableClock, going_back
from tests.stores import store_over

HOUR_NS = 3_600 * 1_000_000_000
TEN_YEARS_NS = 10 * 365 * 24 * HOUR_NS

EXPECTED = [f"message {number}" for number in range(1, 21)]


def test_case_17_messages_keep_their_order_whatever_the_clock_does(path: Path) -> None:  # L-1
    clock = SettableClock()
    with store_over(SqliteBackend(path), clock=clock) as store:
        conversation = store.create("case 17")

        for number, text in enumerate(EXPECTED, 1):
            conversation.append_message(Message(role="user" if number % 2 else "assistant", parts=text))
            clock.advance({10: -HOUR_NS, 15: TEN_YEARS_NS}.get(number, 0))

        assert [message.text for message in conversation.messages()] == EXPECTED
        assert [message.text for message in conversation.messages(limit=7)] == EXPECTED[-7:]
        assert [text for turn in conversation.turns() for text in (turn.question, turn.answer)] == EXPECTED
        assert _exported(store, path.parent) == EXPECTED


def test_case_17_turns_keep_their_order_while_the_clock_runs_backwards(path: Path) -> None:  # L-1
    with store_over(SqliteBackend(path), clock=going_back(step_ns=HOUR_NS)) as store:
        conversation = store.create("case 17")

        for question, answer in zip(EXPECTED[::2], EXPECTED[1::2], strict=True):
            conversation.append_turn(question, answer)

        assert [turn.question for turn in conversation.turns()] == EXPECTED[::2]
        assert [message.text for message in conversation.messages()] == EXPECTED
        assert _exported(store, path.parent) == EXPECTED


def test_case_17_the_list_goes_by_activity_while_the_clock_runs_backwards(path: Path) -> None:  # L-8
    with store_over(SqliteBackend(path), clock=going_back(step_ns=HOUR_NS)) as store:
        first, second = store.create("first"), store.create("second")

        first.append_turn("q", "a")

        assert [summary.id for summary in store.list()] == [first.id, second.id]


def _exported(store: Store, folder: Path) -> list[str]:
    """The messages of the only conversation, once they went through an export into another store."""
    with manent.open(folder / "other.db") as other:
        other.import_lines(store.export_lines())
        return [message.text for message in other.conversation(other.list()[0].id).messages()]
