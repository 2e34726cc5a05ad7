"""An interrupt in the middle of a read leaves nothing behind: no old snapshot, no lock (D-2, D-3)."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import manent
from manent.storage.sqlite import rows

READS: dict[str, Callable[[manent.Store, manent.Conversation], object]] = {
    "turns": lambda _store, conversation: conversation.turns(),
    "messages": lambda _store, conversation: conversation.messages(),
    "search": lambda store, _conversation: store.search("question"),
    "verify": lambda store, _conversation: store.verify(),
    "export": lambda store, _conversation: list(store.export_lines()),
}


class Interrupted(BaseException):
    """What the alarm raises."""


@contextmanager
def interrupted_at(monkeypatch: pytest.MonkeyPatch, function: str, call: int) -> Iterator[None]:
    """Let one call of a function that reads rows be the moment of an interrupt."""
    real, calls = getattr(rows, function), 0

    def once(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == call:
            raise KeyboardInterrupt
        return real(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(rows, function, once)
        with pytest.raises(KeyboardInterrupt):
            yield


@pytest.mark.parametrize(("function", "read"), [("_message", "turns"), ("_message", "messages")])
def test_after_an_interrupted_read_the_handle_sees_what_others_write_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, function: str, read: str
) -> None:  # D-2, D-3, L-5
    path = tmp_path / "conversations.db"
    with manent.open(path, wait=0.5) as store, manent.open(path) as other:
        conversation = store.create("interrupted")
        for number in range(300):
            conversation.append_turn(f"question {number}", "answer")

        with interrupted_at(monkeypatch, function, 3):
            READS[read](store, conversation)
        other.conversation(conversation.id).append_turn("from elsewhere", "yes")

        assert conversation.turns(limit=1)[0].question == "from elsewhere"
        assert conversation.append_turn("mine", "yes").question == "mine"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # an alarm in a destructor
@pytest.mark.parametrize("read", READS)
def test_alarms_at_any_moment_leave_the_handle_usable(tmp_path: Path, read: str) -> None:  # D-2, D-3
    path = tmp_path / "conversations.db"
    with manent.open(path, wait=0.5, durability="process") as store, manent.open(path) as other:
        conversation = store.create("interrupted")
        for number in range(200):
            conversation.append_turn(f"question {number}", "answer")

        for number in range(25):
            with alarm_after(0.0003 * (number + 1)):
                READS[read](store, conversation)
            told = other.conversation(conversation.id).append_turn(f"elsewhere {number}", "yes")
            assert conversation.turns(limit=1)[0].seq == told.seq
            conversation.append_turn(f"mine {number}", "yes")


@contextmanager
def alarm_after(seconds: float) -> Iterator[None]:
    """Raise in the block when the time is up, wherever it is then."""

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Interrupted

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Interrupted:
        return
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
