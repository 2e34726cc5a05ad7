"""Case 15: the same turn is appended again after an interruption."""

from __future__ import annotations

from pathlib import Path

import pytest

import manent
from manent.errors import IdempotencyError
from tests.processes import ChildFailedError, run
from tests.programs import append_once


def test_case_15_the_same_key_gives_the_first_turn_back_to_anybody_at_any_time(path: Path) -> None:  # L-7
    with manent.open(path) as store:
        conversation = store.create("s1")
        first = conversation.append_turn("when?", "ok, Thursday", idempotency_key="k1")
        again = conversation.append_turn("when?", "ok, Thursday", idempotency_key="k1")

    later = run(append_once, path, conversation.id, "when?", "ok, Thursday", "k1")

    assert again == first
    assert later == [first.seq, "ok, Thursday", list(first.message_ids)]
    with manent.open(path) as store:
        assert list(store.conversation(conversation.id).turns()) == [first]


def test_case_15_the_same_key_with_other_content_is_an_error_and_changes_nothing(path: Path) -> None:  # L-7
    with manent.open(path) as store:
        conversation = store.create("s1")
        first = conversation.append_turn("when?", "ok, Thursday", idempotency_key="k1")

        with pytest.raises(IdempotencyError):
            conversation.append_turn("when?", "ok, Friday", idempotency_key="k1")
        with pytest.raises(ChildFailedError, match="IdempotencyError"):
            run(append_once, path, conversation.id, "when?", "ok, Friday", "k1")

        assert list(conversation.turns()) == [first]


def test_case_15_another_key_or_none_is_another_turn(path: Path) -> None:  # L-7
    with manent.open(path) as store:
        conversation = store.create("s1")

        for key in ("k1", "k2", None, None):
            conversation.append_turn("when?", "ok, Thursday", idempotency_key=key)

        assert len(conversation.turns()) == 4
