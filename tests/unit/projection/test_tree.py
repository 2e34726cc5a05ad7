"""The tree of messages: what hangs where, where the head is, and what was removed."""

from __future__ import annotations

import pytest

from manent.model.events import Event
from manent.testing.builders import (
    a_conversation,
    a_turn,
    answered,
    edited,
    head_moved,
    removed,
    said,
)
from manent.testing.workbench import Workbench


def states(bench: Workbench, uid: str) -> dict[str, str]:
    return {entry.message_id: entry.state for entry in bench.messages(uid)}


def head(bench: Workbench, uid: str) -> tuple[str | None, bool]:
    row = bench.row(uid)
    assert row is not None
    return row.head, row.linear


def branch(bench: Workbench, uid: str, message_id: str) -> list[str]:
    return [entry.message_id for entry in bench.read(lambda r: r.read_branch(uid, message_id, 100))]


def test_each_message_becomes_the_head(bench: Workbench, uid: str) -> None:
    bench.record(uid, *a_conversation(turns=2))

    assert head(bench, uid) == ("a2", True)
    assert branch(bench, uid, "a2") == ["a2", "q2", "a1", "q1"]


def test_a_turn_is_a_question_under_the_head_and_an_answer_under_it(bench: Workbench, uid: str) -> None:
    bench.record(uid, said("before", id="m1"))

    turn = bench.record(uid, a_turn("how much?", "42", parent_id="m1"))[0]

    asked, answer = (f"{turn.header.seq}.{turn.header.writer}.{which}" for which in "qa")
    assert head(bench, uid) == (answer, True)
    assert branch(bench, uid, answer) == [answer, asked, "m1"]
    assert [(m.role, m.ordinal) for m in bench.messages(uid)[1:]] == [("user", 0), ("assistant", 1)]


def test_a_message_beside_another_begins_a_branch(bench: Workbench, uid: str) -> None:
    bench.record(uid, *a_conversation(), answered("otherwise", id="b1", under="q1"))

    assert head(bench, uid) == ("b1", False)
    assert branch(bench, uid, "b1") == ["b1", "q1"]


def test_a_second_root_begins_a_branch(bench: Workbench, uid: str) -> None:
    bench.record(uid, said("one", id="m1"), said("another", id="m2"))

    assert head(bench, uid) == ("m2", False)
    assert branch(bench, uid, "m2") == ["m2"]


def test_the_head_moves_to_a_message_and_before_every_message(bench: Workbench, uid: str) -> None:
    bench.record(uid, *a_conversation(turns=2), head_moved("q1"))
    assert head(bench, uid) == ("q1", False)

    bench.record(uid, head_moved(None))
    assert head(bench, uid) == (None, False)


def test_moving_the_head_to_where_it_is_begins_no_branch(bench: Workbench, uid: str) -> None:
    bench.record(uid, *a_conversation(), head_moved("a1"))

    assert head(bench, uid) == ("a1", True)


def test_a_removed_message_takes_everything_under_it_along(bench: Workbench, uid: str) -> None:
    bench.record(uid, *a_conversation(turns=2), answered("b", id="b1", under="q1"), removed("a1"))

    assert states(bench, uid) == {
        "q1": "present",
        "a1": "removed",
        "q2": "removed",
        "a2": "removed",
        "b1": "present",
    }


def test_a_removed_head_gives_way_to_the_parent_of_what_was_removed(bench: Workbench, uid: str) -> None:
    bench.record(uid, *a_conversation(turns=2), removed("q2"))

    assert head(bench, uid) == ("a1", True)


def test_removing_beside_the_active_branch_leaves_the_head(bench: Workbench, uid: str) -> None:
    bench.record(uid, *a_conversation(), answered("b", id="b1", under="q1"), removed("a1"))

    assert head(bench, uid) == ("b1", False)


def test_removing_the_root_leaves_no_head(bench: Workbench, uid: str) -> None:
    bench.record(uid, *a_conversation(turns=2), removed("q1"))

    assert head(bench, uid) == (None, True)
    assert set(states(bench, uid).values()) == {"removed"}


def test_a_conversation_goes_on_after_a_removal(bench: Workbench, uid: str) -> None:
    bench.record(uid, *a_conversation(turns=2), removed("q2"), said("instead", id="m3", under="a1"))

    assert head(bench, uid) == ("m3", True)
    assert branch(bench, uid, "m3") == ["m3", "a1", "q1"]


@pytest.mark.parametrize("parent", ["nobody", "q1", "m4"])
def test_a_message_under_what_is_gone_is_detached_and_moves_no_head(
    bench: Workbench, uid: str, parent: str
) -> None:
    bench.record(uid, said("root", id="m0"), said("gone", id="q1", under="m0"), removed("q1"))

    bench.record(uid, said("lost", id="m4", under=parent), said("lost too", id="m5", under="m4"))

    assert states(bench, uid) == {"m0": "present", "q1": "removed", "m4": "detached", "m5": "detached"}
    assert head(bench, uid) == ("m0", True)


def test_a_turn_under_what_is_gone_is_detached(bench: Workbench, uid: str) -> None:
    bench.record(uid, said("root", id="m0"))

    bench.record(uid, a_turn(parent_id="nobody"))

    assert [entry.state for entry in bench.messages(uid)] == ["present", "detached", "detached"]
    assert head(bench, uid) == ("m0", True)


def test_an_edit_replaces_the_words_and_nothing_else(bench: Workbench, uid: str) -> None:
    bench.record(uid, *a_conversation(turns=2))
    before = bench.messages(uid)

    bench.record(uid, edited("q1", "better"))

    after = bench.messages(uid)
    assert bench.texts(uid) == ["better", "answer 1", "question 2", "answer 2"]
    assert [entry._replace(leaves=()) for entry in after] == [entry._replace(leaves=()) for entry in before]
    assert head(bench, uid) == ("a2", True)


def test_a_message_that_comes_again_is_new_words_in_its_old_place(bench: Workbench, uid: str) -> None:
    bench.record(uid, said("so far", id="m1"), said("more", id="m2", under="m1"))

    bench.record(uid, said("complete", id="m1", under="m2"))

    assert bench.texts(uid) == ["complete", "more"]
    assert head(bench, uid) == ("m2", True)


def test_a_removed_message_that_comes_again_stays_removed(bench: Workbench, uid: str) -> None:
    bench.record(uid, said("one", id="m1"), removed("m1"), said("one again", id="m1"))

    assert states(bench, uid) == {"m1": "removed"}
    assert head(bench, uid) == (None, True)


@pytest.mark.parametrize(
    "event",
    [edited("nobody", "?"), removed("nobody"), head_moved("nobody"), said("?", id="1.00000000000000ff.q")],
    ids=lambda event: event.KIND,
)
def test_what_names_nothing_that_is_there_changes_no_tree(bench: Workbench, uid: str, event: Event) -> None:
    bench.record(uid, *a_conversation())
    messages, was = bench.messages(uid), head(bench, uid)

    bench.record(uid, event)

    assert (bench.messages(uid), head(bench, uid)) == (messages, was)


def test_the_head_cannot_move_to_what_was_removed(bench: Workbench, uid: str) -> None:
    bench.record(uid, *a_conversation(turns=2), removed("q2"), head_moved("q2"))

    assert head(bench, uid) == ("a1", True)
