"""Turns: an unanswered or failed one is a state that can be seen, never a gap (D-4)."""

from __future__ import annotations

import pytest

from manent.model.events import TurnState
from manent.model.parts import ToolCallPart
from manent.model.rows import TurnRow
from manent.storage.port import Span
from manent.testing.builders import a_turn, answered, ended, said, started
from manent.testing.workbench import Workbench


def turns(bench: Workbench, uid: str) -> list[TurnRow]:
    return list(bench.read(lambda reader: reader.read_turns(uid, Span())))


def turn_states(bench: Workbench, uid: str) -> list[str]:
    return [turn.state for turn in turns(bench, uid)]


def test_a_whole_turn_is_complete(bench: Workbench, uid: str) -> None:
    event = bench.record(uid, a_turn())[0]

    seq, writer = event.header.stamp
    assert turns(bench, uid) == [
        TurnRow(seq, writer, f"{seq}.{writer}", event.position, "complete", event.header.stamp, False, False)
    ]


def test_a_turn_that_tells_more_has_details(bench: Workbench, uid: str) -> None:
    bench.record(uid, a_turn(author="ada"))

    assert [turn.has_details for turn in turns(bench, uid)] == [True]


def test_a_question_opens_a_turn(bench: Workbench, uid: str) -> None:  # D-4
    bench.record(uid, said("anybody there?"))

    assert [(turn.state, turn.implicit) for turn in turns(bench, uid)] == [("open", True)]


def test_an_answer_completes_the_turn_of_its_question(bench: Workbench, uid: str) -> None:  # D-4
    bench.record(uid, said("q1", id="q1"), said("q2", id="q2", under="q1"))

    bench.record(uid, answered("a1", under="q1"))

    assert turn_states(bench, uid) == ["complete", "open"]


def test_a_tool_call_alone_completes_nothing(bench: Workbench, uid: str) -> None:  # D-4
    bench.record(uid, said("q", id="q1"), answered((ToolCallPart("find"),), id="c1", under="q1"))
    assert turn_states(bench, uid) == ["open"]

    bench.record(uid, said("found", id="r1", role="tool", under="c1"), answered("a", under="r1"))
    assert turn_states(bench, uid) == ["complete"]
    assert {entry.turn_seq for entry in bench.messages(uid)} == {turns(bench, uid)[0].seq}


def test_a_started_turn_is_open_until_it_is_ended(bench: Workbench, uid: str) -> None:  # D-4
    bench.record(uid, started("t1"), said("q", turn_id="t1"), answered("a", turn_id="t1"))
    assert turn_states(bench, uid) == ["open"]

    bench.record(uid, ended("t1"))
    assert turn_states(bench, uid) == ["complete"]


@pytest.mark.parametrize("state", [TurnState.FAILED, TurnState.INTERRUPTED, TurnState.ABANDONED])
def test_a_turn_ends_in_the_state_that_was_told(bench: Workbench, uid: str, state: TurnState) -> None:  # D-4
    bench.record(uid, started("t1"), ended("t1", state))

    assert turn_states(bench, uid) == [state.value]


def test_an_end_without_a_turn_changes_nothing(bench: Workbench, uid: str) -> None:
    bench.record(uid, said("q"), ended("nobody"))

    assert turn_states(bench, uid) == ["open"]


def test_a_message_of_an_unknown_turn_begins_it(bench: Workbench, uid: str) -> None:  # D-4
    first, _ = bench.record(uid, said("q", turn_id="t9"), answered("a", turn_id="t9"))

    assert [(turn.turn_id, turn.stamp, turn.state) for turn in turns(bench, uid)] == [
        ("t9", first.header.stamp, "complete")
    ]


@pytest.mark.parametrize("role", ["system", "assistant", "tool"])
def test_only_a_users_message_begins_a_turn(bench: Workbench, uid: str, role: str) -> None:
    bench.record(uid, said("words", role=role))

    assert turns(bench, uid) == []
    assert [entry.turn_seq for entry in bench.messages(uid)] == [None]


def test_what_a_program_put_in_begins_no_turn(bench: Workbench, uid: str) -> None:
    bench.record(uid, said("reminder", hidden=True))

    assert turns(bench, uid) == []


def test_a_turn_cannot_take_an_id_that_is_made_of_a_stamp(bench: Workbench, uid: str) -> None:
    bench.record(uid, started("7.00000000000000ff"), said("q", turn_id="8.00000000000000ff"))

    found = turns(bench, uid)
    assert [turn.turn_id for turn in found] == [f"{turn.seq}.{turn.writer}" for turn in found]
    assert len(found) == 1
