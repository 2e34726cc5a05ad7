"""The tree and its turns, and building all rows again."""

from __future__ import annotations

import pytest

from manent.model.events import TurnState
from manent.model.ids import BEFORE_ALL
from manent.model.rows import Place
from manent.testing.builders import (
    a_conversation,
    a_turn,
    answered,
    edited,
    ended,
    removed,
    said,
    sealed,
    started,
)
from manent.testing.conformance.contract import Contract
from manent.testing.workbench import Workbench


class TreeContract(Contract):
    """Branches and turns."""

    def test_a_branch_is_a_message_and_its_ancestors(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, *a_conversation(turns=2), answered("another", id="b1", under="q1"))

        branch = bench.read(lambda reader: reader.read_branch(uid, "b1", 10))

        assert [entry.message_id for entry in branch] == ["b1", "q1"]
        assert [entry.leaves for entry in branch] == [
            (("content", b'"another"'),),
            (("content", b'"question 1"'),),
        ]

    def test_a_branch_is_read_up_to_its_limit(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, *a_conversation(turns=3))

        branch = bench.read(lambda reader: reader.read_branch(uid, "a3", 3))

        assert [entry.message_id for entry in branch] == ["a3", "q3", "a2"]

    def test_a_branch_of_no_message_is_empty(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, *a_conversation())

        assert list(bench.read(lambda reader: reader.read_branch(uid, "nobody", 10))) == []

    def test_messages_that_name_each_other_form_no_endless_branch(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, said("a", id="m1", under="m2"), said("b", id="m2", under="m1"))
        bench.record(uid, said("c", id="m3", under="m3"))

        first, second, third = (branch_of(bench, uid, id) for id in ("m1", "m2", "m3"))

        assert (first, second, third) == (["m1"], ["m2", "m1"], ["m3"])

    def test_an_id_that_is_made_of_a_stamp_means_only_what_that_turn_said(self, bench: Workbench) -> None:
        uid = bench.conversation()
        seq, writer = bench.record(uid, said("no turn's question", id="m1"), started("t1"))[0].header.stamp
        question, turn = f"{seq}.{writer}.q", f"{seq + 1}.{writer}"
        bench.record(uid, said("lost", id="m2", under=question), edited(question, "changed"))

        assert bench.message(uid, question) is None
        assert bench.turn(uid, turn) is None
        assert branch_of(bench, uid, "m2") == ["m2"]
        assert bench.texts(uid) == ["no turn's question", "lost"]

    def test_rows_of_the_tree_are_read_after_a_place(self, bench: Workbench) -> None:
        uid = bench.conversation()
        turn = bench.record(uid, a_turn(), said("more", id="m3"))[0].header.stamp

        rows = bench.read(lambda reader: list(reader.read_rows_after(uid, Place(*turn, 0))))

        assert [(row.role, row.ordinal) for row in rows] == [("assistant", 1), ("user", 0)]

    def test_messages_of_turns_come_turn_by_turn(self, bench: Workbench) -> None:
        uid = bench.conversation()
        first = bench.record(uid, said("q1", id="q1"))[0].header.stamp
        second = bench.record(uid, said("q2", id="q2", under="q1"))[0].header.stamp
        bench.record(uid, answered("a1, late", id="a1", under="q1"), a_turn("q3", "a3"))

        found = bench.read(lambda reader: reader.read_turn_messages(uid, first, second))

        assert [entry.message_id for entry in found] == ["q1", "a1", "q2"]
        assert [entry.turn_seq for entry in found] == [first.seq, first.seq, second.seq]

    def test_messages_of_no_turn_are_in_none(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, said("be kind", id="s1", role="system"))
        turn = bench.record(uid, said("q1", id="q1", under="s1"))[0].header.stamp

        found = bench.read(lambda reader: reader.read_turn_messages(uid, BEFORE_ALL, turn))

        assert [entry.message_id for entry in found] == ["q1"]
        assert [entry.turn_seq for entry in bench.messages(uid)] == [None, turn.seq]

    def test_messages_join_an_open_turn_by_its_id(self, bench: Workbench) -> None:  # D-4
        uid = bench.conversation()
        turn = bench.record(uid, started("t1"), said("q", turn_id="t1"), ended("t1"))[0].header.stamp

        assert bench.read(lambda reader: len(reader.read_turn_messages(uid, turn, turn))) == 1
        row = bench.turn(uid, "t1")
        assert row is not None and (row.stamp, row.state) == (turn, "complete")


class OpenTurnContract(Contract):
    """What `Reader.find_open_turn` promises."""

    def test_a_turn_that_has_not_ended_is_found(self, bench: Workbench) -> None:  # D-4
        uid, other = bench.conversation("c1"), bench.conversation("c2")
        bench.record(uid, a_turn(), started("t1"))

        assert bench.read(lambda reader: reader.find_open_turn(uid)) == bench.turn(uid, "t1")
        assert bench.read(lambda reader: reader.find_open_turn(other)) is None

    @pytest.mark.parametrize("state", [state for state in TurnState if state != TurnState.OPEN])
    def test_a_turn_that_has_ended_is_not(self, bench: Workbench, state: TurnState) -> None:  # D-4
        uid = bench.conversation()
        bench.record(uid, started("t1"), ended("t1", state))

        assert bench.read(lambda reader: reader.find_open_turn(uid)) is None

    def test_of_several_it_is_the_first(self, bench: Workbench) -> None:  # D-4
        uid = bench.conversation()
        bench.record(uid, started("t1"), started("t2"), started("t3"), ended("t1"))

        assert bench.read(lambda reader: reader.find_open_turn(uid)) == bench.turn(uid, "t2")

    def test_a_question_that_waits_for_its_answer_is_no_open_turn(self, bench: Workbench) -> None:  # D-4
        uid = bench.conversation()
        bench.record(uid, said("how much?"))

        assert bench.read(lambda reader: reader.find_open_turn(uid)) is None


class RefoldContract(Contract):
    """Dropping the rows and building them again gives the same rows."""

    def test_clearing_drops_all_rows_and_nothing_else(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        bench.record(uid, *a_conversation(turns=2), a_turn(idempotency_key="k"))
        bench.put_metadata(uid, "title", "kept")
        events = bench.events(uid)

        with bench.backend.transaction() as tx:
            tx.clear(uid)

        assert bench.rows(uid) == []
        assert bench.messages(uid) == []
        assert bench.listed(None) == []
        assert bench.events(uid) == events
        assert bench.registers(uid) == {"title": "kept"}

    def test_clearing_leaves_other_conversations_alone(self, bench: Workbench) -> None:  # P-1
        one, two = bench.conversation("c1"), bench.conversation("c2")
        bench.record(one, *a_conversation())
        bench.record(two, *a_conversation(), a_turn(idempotency_key="k"))
        rows = bench.rows(two)

        with bench.backend.transaction() as tx:
            tx.clear(one)

        assert bench.rows(two) == rows

    def test_folding_again_gives_the_same_rows(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        bench.record(uid, *a_conversation(turns=3), a_turn(idempotency_key="k"), started("t1"))
        bench.record(uid, edited("q1", "better"), removed("q3"), ended("t1", TurnState.FAILED))
        rows = bench.rows(uid)

        bench.refold(uid)

        assert bench.rows(uid) == rows

    def test_the_order_of_arrival_changes_no_row(self, bench: Workbench) -> None:  # P-1
        one, two = bench.conversation("c1"), bench.conversation("c2")
        ours = [said("q", id="q1"), answered("a", id="a1", under="q1")]
        theirs = [edited("q1", "theirs"), removed("a1")]

        bench.adopt(
            *sealed(one, *ours, writer="aa" * 8, seq=1), *sealed(one, *theirs, writer="bb" * 8, seq=3)
        )
        bench.adopt(*sealed(two, *theirs, writer="bb" * 8, seq=3))
        bench.adopt(*sealed(two, *ours, writer="aa" * 8, seq=1))

        assert bench.messages(one) == bench.messages(two)
        assert bench.texts(two) == ["theirs", "a"]
        assert [entry.state for entry in bench.messages(two)] == ["present", "removed"]


def branch_of(bench: Workbench, uid: str, message_id: str) -> list[str]:
    """The ids of a message and its ancestors."""
    return [entry.message_id for entry in bench.read(lambda reader: reader.read_branch(uid, message_id, 50))]
