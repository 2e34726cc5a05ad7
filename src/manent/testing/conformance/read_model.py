"""The read model: rows that changes build, where a greater stamp wins, and that can be built again."""

from __future__ import annotations

from manent.model.changes import (
    ConversationTouched,
    HeadSet,
    KeyClaimed,
    MessageContentSet,
    MessagePut,
    MessageStateSet,
    TurnPut,
    TurnStateSet,
)
from manent.model.events import TurnState
from manent.model.ids import BEFORE_ALL, Stamp, new_uid
from manent.model.rows import (
    Content,
    ConversationRow,
    KeyRow,
    MessageEntry,
    MessageRow,
    MessageState,
    TurnRow,
)
from manent.testing.builders import (
    said,
)
from manent.testing.clocks import NOON_NS
from manent.testing.conformance.contract import Contract
from manent.testing.workbench import Workbench

KEY, OTHER_KEY = bytes(16), bytes(15) + b"\x01"
W = "cc" * 8


def a_message_row(message_id: str = "m1", *, seq: int = 5, parent_id: str | None = None) -> MessageRow:
    """A message's row whose words are those of the store's first event."""
    return MessageRow(
        seq, W, 0, message_id, parent_id, "user", seq, W, Content(1, 1, 1), Stamp(seq, W), "present",
        False, False, NOON_NS,
    )  # fmt: skip


def a_turn_row(turn_id: str = "t1", *, seq: int = 5) -> TurnRow:
    """A turn's row."""
    return TurnRow(seq, W, turn_id, 1, "open", Stamp(seq, W), False, False)


class ReadModelContract(Contract):
    """What `Transaction.apply` and the reads of the read model promise."""

    def test_a_message_is_found_with_its_words(self, bench: Workbench) -> None:
        uid = bench.conversation()
        event = bench.record(uid, said("hi", id="m1", author="ada"))[0]

        seq, writer = event.header.stamp
        assert bench.messages(uid) == [
            MessageEntry(
                seq,
                writer,
                0,
                "m1",
                None,
                "user",
                seq,
                writer,
                "present",
                False,
                True,
                NOON_NS,
                (("content", b'"hi"'),),
            )
        ]

    def test_a_message_without_words_is_found_without_leaves(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, said((), id="m1"), said("hi", id="m2"))

        assert [entry.leaves for entry in bench.messages(uid)] == [(), (("content", b'"hi"'),)]

    def test_the_same_message_again_changes_nothing(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        bench.apply(uid, MessagePut(a_message_row("m1", seq=5)))

        bench.apply(uid, MessagePut(a_message_row("m1", seq=6)))

        assert bench.rows(uid) == [a_message_row("m1", seq=5)]

    def test_words_are_set_by_the_greater_stamp(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        edit, later = Content(1, 0, 1), Content(1, 0, 2)
        bench.apply(uid, MessagePut(a_message_row()))

        bench.apply(uid, MessageContentSet("m1", later, Stamp(9, W)))
        bench.apply(uid, MessageContentSet("m1", edit, Stamp(8, W)))
        bench.apply(uid, MessageContentSet("m1", edit, Stamp(9, W)))

        row = a_message_row()._replace(content=later, content_stamp=Stamp(9, W))
        assert bench.message(uid, "m1") == row

    def test_of_the_same_seq_the_greater_writer_sets_the_words(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        theirs, ours = Content(1, 0, 1), Content(1, 0, 2)
        bench.apply(uid, MessagePut(a_message_row()))

        bench.apply(uid, MessageContentSet("m1", theirs, Stamp(9, "dd" * 8)))
        bench.apply(uid, MessageContentSet("m1", ours, Stamp(9, "cc" * 8)))

        found = bench.message(uid, "m1")
        assert found is not None and found.content == theirs

    def test_words_older_than_the_message_lose(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        bench.apply(uid, MessagePut(a_message_row(seq=5)))

        bench.apply(uid, MessageContentSet("m1", Content(1, 0, 1), Stamp(4, W)))

        assert bench.message(uid, "m1") == a_message_row(seq=5)

    def test_a_message_changes_its_state(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        bench.apply(uid, MessagePut(a_message_row()))

        bench.apply(uid, MessageStateSet("m1", MessageState.REMOVED, Stamp(6, W)))

        assert bench.message(uid, "m1") == a_message_row()._replace(state="removed")

    def test_a_target_that_is_not_there_changes_nothing(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()

        bench.apply(
            uid,
            MessageContentSet("m1", Content(1, 0, 1), Stamp(6, W)),
            MessageStateSet("m1", MessageState.REMOVED, Stamp(6, W)),
            TurnStateSet("t1", TurnState.FAILED, Stamp(6, W)),
            HeadSet("m1", True, Stamp(6, W)),
        )

        assert bench.rows(uid) == []

    def test_activity_moves_up_only(self, bench: Workbench) -> None:  # L-8
        uid = bench.conversation()

        bench.apply(uid, ConversationTouched(Stamp(9, W), None))
        bench.apply(uid, ConversationTouched(Stamp(8, W), None))

        assert bench.row(uid) == ConversationRow(uid, Stamp(9, W), None, BEFORE_ALL, True, None, None)

    def test_claims_keep_their_first_and_their_greatest(self, bench: Workbench) -> None:
        uid = bench.conversation()

        for seq, claim_ns in enumerate((None, 50, 90, 20, None), start=1):
            bench.apply(uid, ConversationTouched(Stamp(seq, W), claim_ns))

        row = bench.row(uid)
        assert row is not None and (row.claim_first_ns, row.claim_max_ns) == (50, 90)

    def test_the_head_is_set_by_the_greater_stamp(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        bench.apply(uid, ConversationTouched(Stamp(3, W), None))

        bench.apply(uid, HeadSet("m2", False, Stamp(7, W)))
        bench.apply(uid, HeadSet("m1", True, Stamp(6, W)))

        assert bench.row(uid) == ConversationRow(uid, Stamp(3, W), "m2", Stamp(7, W), False, None, None)

    def test_the_head_can_stand_before_every_message(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        bench.apply(uid, ConversationTouched(Stamp(3, W), None), HeadSet("m1", True, Stamp(3, W)))

        bench.apply(uid, HeadSet(None, True, Stamp(4, W)))

        row = bench.row(uid)
        assert row is not None and row.head is None

    def test_a_turn_is_found_by_its_id_and_by_its_stamp(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.apply(uid, TurnPut(a_turn_row("t1", seq=5)), TurnPut(a_turn_row("t2", seq=6)))

        assert bench.turn(uid, "t2") == a_turn_row("t2", seq=6)
        assert bench.read(lambda r: r.find_turn_at(uid, Stamp(5, W))) == a_turn_row("t1", seq=5)
        assert bench.read(lambda r: r.find_turn_at(uid, Stamp(5, "dd" * 8))) is None

    def test_the_same_turn_again_changes_nothing(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        bench.apply(uid, TurnPut(a_turn_row("t1", seq=5)))

        bench.apply(uid, TurnPut(a_turn_row("t1", seq=6)))

        assert bench.rows(uid) == [a_turn_row("t1", seq=5)]

    def test_a_turn_ends_by_the_greater_stamp(self, bench: Workbench) -> None:  # D-4
        uid = bench.conversation()
        bench.apply(uid, TurnPut(a_turn_row()))

        bench.apply(uid, TurnStateSet("t1", TurnState.FAILED, Stamp(9, W)))
        bench.apply(uid, TurnStateSet("t1", TurnState.COMPLETE, Stamp(8, W)))

        assert bench.turn(uid, "t1") == a_turn_row()._replace(state="failed", state_stamp=Stamp(9, W))

    def test_the_first_event_under_a_key_keeps_it(self, bench: Workbench) -> None:  # L-7
        uid = bench.conversation()

        bench.apply(uid, KeyClaimed(KEY, Stamp(5, W)), KeyClaimed(KEY, Stamp(6, W)))

        assert bench.read(lambda reader: reader.find_key(uid, KEY)) == Stamp(5, W)
        assert bench.rows(uid) == [KeyRow(KEY, 5, W)]

    def test_a_key_stands_in_its_own_conversation_only(self, bench: Workbench) -> None:  # L-7
        one, two = bench.conversation("c1"), bench.conversation("c2")
        bench.apply(one, KeyClaimed(KEY, Stamp(5, W)))

        assert bench.read(lambda reader: reader.find_key(two, KEY)) is None
        assert bench.read(lambda reader: reader.find_key(one, OTHER_KEY)) is None

    def test_rows_come_each_by_its_key(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        touched = ConversationTouched(Stamp(9, W), None)
        keys = KeyClaimed(OTHER_KEY, Stamp(5, W)), KeyClaimed(KEY, Stamp(6, W))
        turns = TurnPut(a_turn_row("t1", seq=8)), TurnPut(a_turn_row("t2", seq=7))
        messages = MessagePut(a_message_row("m1", seq=8)), MessagePut(a_message_row("m2", seq=7))

        bench.apply(uid, *keys, *turns, *messages, touched)

        assert bench.rows(uid) == [
            ConversationRow(uid, Stamp(9, W), None, BEFORE_ALL, True, None, None),
            a_message_row("m2", seq=7),
            a_message_row("m1", seq=8),
            a_turn_row("t2", seq=7),
            a_turn_row("t1", seq=8),
            KeyRow(KEY, 6, W),
            KeyRow(OTHER_KEY, 5, W),
        ]

    def test_a_conversation_that_is_not_there_has_no_rows(self, bench: Workbench) -> None:
        bench.record(bench.conversation(), said("hi", id="m1"))
        absent = new_uid()

        assert bench.rows(absent) == []
        assert bench.row(absent) is None
        assert bench.message(absent, "m1") is None
        assert bench.messages(absent) == []
        assert list(bench.read(lambda reader: reader.read_branch(absent, "m1", 10))) == []
