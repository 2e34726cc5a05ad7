"""Measures: what is there by kind, and what providers reported; what nobody reported is no zero."""

from __future__ import annotations

from typing import Any

import pytest

from manent.model.changes import MessagePut
from manent.model.events import TurnState
from manent.model.ids import Stamp, new_uid
from manent.model.log import StreamInfo
from manent.model.parts import Usage
from manent.model.rows import Content, Measures, MessageRow
from manent.testing.builders import a_turn, answered, began, ended, removed, said, sealed, started
from manent.testing.clocks import NOON_NS
from manent.testing.conformance.contract import Contract
from manent.testing.workbench import Workbench

NOTHING = Measures(0, {}, {}, {}, None, None)
GREATEST = (1 << 63) - 1


def counted(**fields: Any) -> Measures:
    """Counts over one conversation whose events all claim noon, where nothing else is said."""
    return NOTHING._replace(conversations=1, **{"claim_first_ns": NOON_NS, "claim_max_ns": NOON_NS, **fields})


class MeasureContract(Contract):
    """What `Reader.measure` promises."""

    def test_a_store_without_anything_measures_nothing(self, bench: Workbench) -> None:
        workspace, uid = bench.workspace(), bench.conversation()

        assert bench.measures() == bench.measures(workspace) == bench.measures(uid=uid) == NOTHING
        assert bench.measures(new_uid()) == bench.measures(uid=new_uid()) == NOTHING

    def test_messages_are_counted_by_role_and_turns_by_state(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, a_turn(), said("open", id="m1"), started("t1"), said("odd", role="\x00 \\ \ud83d"))
        bench.record(uid, ended("t1", TurnState.FAILED), said("hm", role="user", hidden=True))

        assert bench.measures(uid=uid) == counted(
            messages={"user": 3, "assistant": 1, "\x00 \\ \ud83d": 1},
            turns={"complete": 1, "open": 1, "failed": 1},
        )

    def test_what_left_the_tree_or_never_hung_in_it_is_not_counted(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, said("q", id="q1"), answered("a", id="a1", under="q1"))
        bench.record(uid, removed("a1"), said("detached", under="nobody", role="tool"))

        assert bench.measures(uid=uid).messages == {"user": 1}

    def test_of_each_field_the_reports_are_counted_and_added_up(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, a_turn(usage=Usage(input_tokens=7, output_tokens=0, cost=0.25, currency="EUR")))
        bench.record(uid, answered("a", usage=Usage(input_tokens=3, cost=1, model="\ud83d")), a_turn())

        assert bench.measures(uid=uid).tokens == {
            "input_tokens": (2, 10),
            "output_tokens": (1, 0),
            "cost": (2, 1.25),
        }

    def test_what_nobody_reported_is_absent_and_no_zero(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, a_turn(), a_turn(usage=Usage(model="m")))

        assert bench.measures(uid=uid).tokens == {}

    def test_the_usage_of_a_turn_counts_once_although_it_put_two_messages(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, a_turn(author="ada", usage=Usage(output_tokens=5)))

        assert bench.measures(uid=uid).tokens == {"output_tokens": (1, 5)}

    def test_the_usage_of_a_message_that_was_removed_was_paid_all_the_same(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, said("q", id="q1"))
        bench.record(uid, answered("a", id="a1", under="q1", usage=Usage(output_tokens=5)), removed("a1"))

        measures = bench.measures(uid=uid)

        assert (measures.messages, measures.tokens) == ({"user": 1}, {"output_tokens": (1, 5)})

    def test_what_a_caller_notes_is_no_usage(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, answered("a", metadata={"input_tokens": 7}, usage=Usage(output_tokens=5)))

        assert bench.measures(uid=uid).tokens == {"output_tokens": (1, 5)}

    def test_great_sums_are_exact(self, bench: Workbench) -> None:
        uid = bench.conversation()
        many = Usage(input_tokens=GREATEST, output_tokens=-GREATEST - 1, reasoning_tokens=(1 << 53) + 1)
        bench.record(uid, a_turn(usage=many), a_turn(usage=many))

        assert bench.measures(uid=uid).tokens == {
            "input_tokens": (2, 2 * GREATEST),
            "output_tokens": (2, -2 * GREATEST - 2),
            "reasoning_tokens": (2, (1 << 54) + 2),
        }

    def test_usage_that_was_erased_counts_no_more(self, bench: Workbench) -> None:  # E-2
        uid = bench.conversation()
        stamp = bench.record(uid, a_turn(usage=Usage(output_tokens=5)))[0].header.stamp

        bench.erase(uid, stamp, "usage")

        assert bench.measures(uid=uid).tokens == {}

    def test_a_message_of_an_event_that_is_not_there_brings_no_usage(self, bench: Workbench) -> None:
        uid, stamp = bench.conversation(), Stamp(90, "cc" * 8)
        bench.record(uid, began())
        row = MessageRow(
            *stamp, 0, "m", None, "user", None, None, Content(1, 0, 0), stamp, "present", False, True, None
        )

        bench.apply(uid, MessagePut(row))

        assert bench.measures(uid=uid) == counted(messages={"user": 1})

    def test_claims_are_the_first_and_the_last_of_all(self, bench: Workbench) -> None:
        workspace, one, two = bench.workspace(), bench.conversation("c1"), bench.conversation("c2")
        bench.record(one, began(), claim_ns=50)
        bench.record(one, a_turn(), claim_ns=90)
        bench.record(two, began(), claim_ns=70)
        bench.record(two, a_turn(), claim_ns=20)

        found = [bench.measures(uid=one), bench.measures(uid=two), bench.measures(workspace)]

        claims = [(each.claim_first_ns, each.claim_max_ns) for each in found]
        assert claims == [(50, 90), (70, 70), (50, 90)]

    def test_where_nobody_states_a_time_there_is_none(self, bench: Workbench) -> None:
        one, two = bench.conversation("c1"), bench.conversation("c2")
        bench.record(one, began(), claim_ns=None)
        assert bench.measures() == counted(claim_first_ns=None, claim_max_ns=None)

        bench.record(two, began(), claim_ns=0)

        assert bench.measures() == counted(claim_first_ns=0, claim_max_ns=0)._replace(conversations=2)

    def test_a_workspace_is_the_sum_of_its_conversations(self, bench: Workbench) -> None:
        workspace = bench.workspace()
        for number, id in enumerate(("c1", "c2"), start=1):
            bench.record(bench.conversation(id), a_turn(usage=Usage(input_tokens=number)), said("more"))

        assert bench.measures(workspace) == counted(
            messages={"user": 4, "assistant": 2},
            turns={"complete": 2, "open": 2},
            tokens={"input_tokens": (2, 3)},
        )._replace(conversations=2)

    def test_a_measure_stays_in_its_workspace(self, bench: Workbench) -> None:  # N-1
        mine, yours = bench.workspace("mine"), bench.workspace("yours")
        one = bench.conversation("c1", workspace="mine")
        two = bench.conversation("c1", workspace="yours")
        bench.record(one, a_turn(usage=Usage(input_tokens=1)))
        bench.record(two, began())

        measured = counted(
            messages={"user": 1, "assistant": 1}, turns={"complete": 1}, tokens={"input_tokens": (1, 1)}
        )
        assert bench.measures(mine) == bench.measures(mine, one) == bench.measures(uid=one) == measured
        assert bench.measures(yours) == bench.measures(yours, two) == counted()
        assert bench.measures(mine, two) == bench.measures(yours, one) == NOTHING
        assert bench.measures() == measured._replace(conversations=2)

    def test_a_conversation_that_moved_counts_where_it_is(self, bench: Workbench) -> None:  # N-1
        here, there = bench.workspace("here"), bench.workspace("there")
        uid = bench.conversation("c1", workspace="here")
        bench.record(uid, began())

        bench.write(lambda tx: tx.move_stream(StreamInfo(uid, there, "c1")))

        assert bench.measures(here) == bench.measures(here, uid) == NOTHING
        assert bench.measures(there) == bench.measures(there, uid) == counted()

    @pytest.mark.parametrize("words", ["", "no usage at all"])
    def test_measuring_changes_nothing(self, bench: Workbench, words: str) -> None:
        uid = bench.conversation()
        bench.adopt(*sealed(uid, said(words), seq=3))
        before = bench.log(), bench.rows(uid)

        bench.measures()

        assert (bench.log(), bench.rows(uid)) == before
