"""Appending: whole or absent, in rising order, each event linked to the one before it."""

from __future__ import annotations

import pytest

from manent.codec.chain import SALT_BYTES, genesis
from manent.codec.leaves import event_to_leaves
from manent.codec.sealing import hash_of, open_event
from manent.errors import NotFoundError
from manent.model.ids import BEFORE_ALL, Stamp, new_uid
from manent.model.log import Header, Tip
from manent.model.parts import ReasoningPart, TextPart, ToolCallPart
from manent.testing.builders import a_conversation, a_turn, answered, pending, said, sealed
from manent.testing.clocks import NOON_NS
from manent.testing.conformance.contract import Contract
from manent.testing.workbench import ALL, Workbench


class AppendContract(Contract):
    """What `Transaction.append` promises."""

    def test_seqs_rise_within_a_call_and_from_call_to_call(self, bench: Workbench) -> None:  # L-1
        uid = bench.conversation()

        appended = [*bench.append(uid, said("a"), said("b")), *bench.append(uid, said("c"))]

        seqs = [entry.header.seq for entry in appended]
        assert seqs == sorted(set(seqs))
        assert seqs[0] > 0

    def test_a_seq_is_greater_than_every_seq_of_the_conversation(self, bench: Workbench) -> None:  # L-1
        uid = bench.conversation()
        bench.adopt(*sealed(uid, said("from elsewhere"), seq=1000))

        appended = bench.append(uid, said("here"))

        assert appended[0].header.seq > 1000

    def test_many_events_of_one_call_are_all_there(self, bench: Workbench) -> None:  # L-2
        uid = bench.conversation()
        events = a_conversation(turns=20)

        bench.append(uid, *events)

        assert [open_event(entry.position, entry).event for entry in bench.events(uid)] == events

    def test_an_append_returns_what_readers_find(self, bench: Workbench) -> None:  # P-2
        uid = bench.conversation()

        appended = list(bench.append(uid, said("a"), a_turn()))

        assert bench.events(uid) == appended
        assert bench.log() == appended
        assert bench.read(lambda r: [r.find_entry(uid, e.header.stamp) for e in appended]) == appended

    def test_an_append_of_nothing_changes_nothing(self, bench: Workbench) -> None:  # L-2
        uid = bench.conversation()
        before = bench.read(lambda reader: reader.info())

        assert list(bench.append(uid)) == []

        assert bench.read(lambda reader: reader.info()) == before

    def test_a_stream_that_is_not_there_takes_no_events(self, bench: Workbench) -> None:  # L-2
        bench.conversation()

        with pytest.raises(NotFoundError):
            bench.append(new_uid(), said("lost"))

        assert bench.log() == []

    def test_a_header_says_what_was_given(self, bench: Workbench) -> None:  # C-2
        uid = bench.conversation()
        item = pending(a_turn(), claim_ns=None)[0]

        with bench.backend.transaction() as tx:
            entry = tx.append(uid, [item])[0]

        writer = str(bench.backend.writer)
        assert entry.header == Header(
            uid=uid,
            writer=writer,
            seq=entry.header.seq,
            kind="turn_appended",
            schema_version=1,
            claim_ns=None,
            event_id=item.event_id,
            prev_hash=genesis(uid, writer),
            encoding=1,
        )

    def test_a_claim_of_time_comes_back_to_the_nanosecond(self, bench: Workbench) -> None:  # C-2
        uid = bench.conversation()

        bench.append(uid, said("a"), claim_ns=NOON_NS + 1)
        bench.append(uid, said("b"), claim_ns=-1)

        assert [entry.header.claim_ns for entry in bench.events(uid)] == [NOON_NS + 1, -1]

    def test_all_leaves_come_back_in_order(self, bench: Workbench) -> None:  # C-2
        uid = bench.conversation()
        parts = (TextPart("look"), ReasoningPart("hm"), ToolCallPart("find", {"a": [1, None]}))
        event = said(parts, author="ada", idempotency_key="k", native="{}", metadata={"x": 1})

        bench.append(uid, event)

        leaves = bench.events(uid)[0].leaves
        assert [(leaf.name, leaf.data) for leaf in leaves] == list(event_to_leaves(event))

    def test_what_is_not_there_is_none_or_empty(self, bench: Workbench) -> None:
        uid = bench.conversation()
        stamp = bench.append(uid, said("a"))[0].header.stamp

        assert bench.read(lambda reader: reader.find_entry(uid, Stamp(stamp.seq + 1, stamp.writer))) is None
        assert bench.read(lambda reader: reader.find_entry(new_uid(), stamp)) is None
        assert bench.events(new_uid()) == []
        assert list(bench.read(lambda reader: reader.read_tips(new_uid()))) == []


class ChainContract(Contract):
    """The chain of each writer in each conversation."""

    def test_each_event_links_to_the_one_before_it(self, bench: Workbench) -> None:  # C-2
        uid = bench.conversation()
        bench.append(uid, said("a"), answered("b"))
        bench.append(uid, said("c"))

        events = bench.events(uid)

        start = genesis(uid, str(bench.backend.writer))
        assert [e.header.prev_hash for e in events] == [start, hash_of(events[0]), hash_of(events[1])]

    def test_the_tip_is_the_last_event_and_counts_them_all(self, bench: Workbench) -> None:  # C-2
        uid = bench.conversation()
        bench.append(uid, said("a"), answered("b"))
        last = bench.append(uid, said("c"))[0]

        tips = bench.read(lambda reader: reader.read_tips(uid))

        assert list(tips) == [Tip(uid, last.header.writer, last.header.seq, hash_of(last), 3)]

    def test_conversations_have_chains_of_their_own(self, bench: Workbench) -> None:  # C-2
        one, two = bench.conversation("c1"), bench.conversation("c2")
        bench.append(one, said("a"))
        entry = bench.append(two, said("b"))[0]
        bench.append(one, said("c"))

        assert entry.header.prev_hash == genesis(two, entry.header.writer)
        assert [tip.total for tip in bench.read(lambda reader: reader.read_tips(two))] == [1]
        assert [tip.total for tip in bench.read(lambda reader: reader.read_tips(one))] == [2]

    def test_writers_have_chains_of_their_own(self, bench: Workbench) -> None:  # C-2
        uid = bench.conversation()
        theirs = sealed(uid, said("theirs"), said("theirs too"), writer="ff" * 8, seq=5)
        bench.append(uid, said("ours"))
        bench.adopt(*theirs)
        bench.append(uid, said("ours again"))

        tips = {tip.writer: tip for tip in bench.read(lambda reader: reader.read_tips(uid))}

        assert tips["ff" * 8] == Tip(uid, "ff" * 8, 6, hash_of(theirs[1]), 2)
        assert tips[str(bench.backend.writer)].total == 2

    def test_tips_are_given_by_writer(self, bench: Workbench) -> None:  # C-2
        uid = bench.conversation()
        bench.adopt(*sealed(uid, said("b"), writer="bb" * 8, seq=1))
        bench.adopt(*sealed(uid, said("a"), writer="aa" * 8, seq=2))

        tips = bench.read(lambda reader: reader.read_tips(uid))

        assert [tip.writer for tip in tips] == ["aa" * 8, "bb" * 8]

    def test_each_leaf_has_a_salt_of_its_own(self, bench: Workbench) -> None:  # C-2
        uid = bench.conversation()
        bench.append(uid, said("the same", author="ada"), said("the same", author="ada"))

        salts = [leaf.salt or b"" for entry in bench.events(uid) for leaf in entry.leaves]

        assert len(set(salts)) == len(salts) == 6
        assert {len(salt) for salt in salts} == {SALT_BYTES}


class OrderContract(Contract):
    """Order inside a conversation is (seq, writer), whatever clocks and arrivals say."""

    def test_a_stream_is_read_by_seq_and_not_by_arrival(self, bench: Workbench) -> None:  # L-1
        uid = bench.conversation()
        bench.adopt(*sealed(uid, said("late"), writer="aa" * 8, seq=9))
        bench.adopt(*sealed(uid, said("early"), said("next"), writer="bb" * 8, seq=3))

        stamps = [entry.header.stamp for entry in bench.events(uid)]

        assert stamps == [(3, "bb" * 8), (4, "bb" * 8), (9, "aa" * 8)]
        assert bench.texts(uid) == ["early", "next", "late"]

    def test_the_same_seq_of_two_writers_is_ordered_by_writer(self, bench: Workbench) -> None:  # L-1
        uid = bench.conversation()
        bench.adopt(*sealed(uid, said("second"), writer="bb" * 8, seq=7))
        bench.adopt(*sealed(uid, said("first"), writer="aa" * 8, seq=7))

        assert bench.texts(uid) == ["first", "second"]

    def test_a_clock_that_goes_back_changes_no_order(self, bench: Workbench) -> None:  # L-1
        uid = bench.conversation()
        bench.record(uid, said("first"), claim_ns=NOON_NS)
        bench.record(uid, said("second"), claim_ns=NOON_NS - 1_000)
        bench.record(uid, said("third"), claim_ns=None)

        assert bench.texts(uid) == ["first", "second", "third"]

    def test_the_log_is_read_by_arrival(self, bench: Workbench) -> None:  # L-6
        one, two = bench.conversation("c1"), bench.conversation("c2")
        bench.append(one, said("a"))
        bench.adopt(*sealed(two, said("b"), seq=1))
        bench.append(one, said("c"))

        log = bench.log()

        assert [entry.header.uid for entry in log] == [one, two, one]
        positions = [entry.position for entry in log]
        assert positions == sorted(set(positions))
        assert bench.read(lambda reader: reader.info()).position == positions[-1]

    def test_a_stream_is_read_after_a_stamp(self, bench: Workbench) -> None:  # L-6
        uid = bench.conversation()
        bench.adopt(*sealed(uid, said("a"), writer="aa" * 8, seq=7))
        bench.adopt(*sealed(uid, said("b"), writer="bb" * 8, seq=7))

        after_nothing = bench.read(lambda r: r.read_stream(uid, BEFORE_ALL, ALL))
        after_the_first = bench.read(lambda r: r.read_stream(uid, Stamp(7, "aa" * 8), ALL))

        assert [e.header.writer for e in after_nothing] == ["aa" * 8, "bb" * 8]
        assert [e.header.writer for e in after_the_first] == ["bb" * 8]
