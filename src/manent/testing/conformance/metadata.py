"""Metadata: registers with stamps, and the key that leads to a conversation."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from manent.errors import AlreadyExistsError, NotFoundError
from manent.model.ids import Stamp, new_uid
from manent.model.log import Register
from manent.testing.builders import a_turn, pending, said
from manent.testing.conformance.contract import Contract
from manent.testing.conformance.sampling import sampled
from manent.testing.strategies import json_values
from manent.testing.workbench import Workbench

LOW, HIGH = "00" * 8, "ff" * 8


class MetadataContract(Contract):
    """What `Transaction.put_metadata` and the reads of registers promise."""

    def test_a_register_comes_back_with_its_stamp(self, bench: Workbench) -> None:
        uid = bench.conversation()

        stamp = bench.put_metadata(uid, "title", "On names")

        assert bench.read(lambda r: list(r.read_registers(uid))) == [Register("title", "On names", stamp)]
        assert stamp.writer == bench.backend.writer

    def test_registers_come_by_field(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.put_metadata(uid, "title", "b")
        bench.put_metadata(uid, "persona", "a")

        assert list(bench.registers(uid)) == ["persona", "title"]

    def test_a_register_that_was_unset_is_none(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.put_metadata(uid, "title", "once")

        bench.put_metadata(uid, "title", None)

        assert bench.registers(uid) == {"title": None}

    def test_a_later_value_replaces_an_earlier_one(self, bench: Workbench) -> None:
        uid = bench.conversation()

        first = bench.put_metadata(uid, "title", "first")
        second = bench.put_metadata(uid, "title", "second")

        assert bench.registers(uid) == {"title": "second"}
        assert second > first

    def test_a_stamp_takes_a_tick_of_the_clock(self, bench: Workbench) -> None:  # L-1
        uid = bench.conversation()
        event = bench.append(uid, said("a"))[0]

        stamp = bench.put_metadata(uid, "title", "t")

        assert stamp.seq > event.header.seq
        assert bench.append(uid, said("b"))[0].header.seq > stamp.seq

    def test_a_tick_goes_to_nothing_else(self, bench: Workbench) -> None:  # L-1
        uid = bench.conversation()
        event = bench.append(uid, said("a"))[0]

        ticks = [bench.write(lambda tx: tx.tick()) for _ in range(2)]

        assert event.header.seq < ticks[0].seq < ticks[1].seq == bench.read(lambda r: r.info()).clock
        assert {tick.writer for tick in ticks} == {bench.backend.writer}
        assert bench.append(uid, said("b"))[0].header.seq > ticks[1].seq
        assert bench.put_metadata(uid, "title", "t").seq > ticks[1].seq + 1

    def test_several_ticks_in_one_transaction_all_differ(self, bench: Workbench) -> None:  # L-1
        uid = bench.conversation()

        with bench.backend.transaction() as tx:
            seqs = [
                tx.tick().seq,
                tx.append(uid, pending(said("a")))[0].header.seq,
                tx.tick().seq,
                tx.tick().seq,
                tx.put_metadata(uid, "title", "t").seq,
            ]

        assert seqs == sorted(set(seqs))

    def test_one_tick_stamps_several_registers(self, bench: Workbench) -> None:
        uid = bench.conversation()

        with bench.backend.transaction() as tx:
            stamp = tx.tick()
            for field in ("title", "persona"):
                tx.put_metadata(uid, field, "t", stamp)

        registers = [Register("persona", "t", stamp), Register("title", "t", stamp)]
        assert bench.read(lambda reader: list(reader.read_registers(uid))) == registers

    def test_a_tick_that_was_taken_back_may_be_taken_again(self, bench: Workbench) -> None:  # D-2
        with pytest.raises(KeyboardInterrupt), bench.backend.transaction() as tx:
            lost = tx.tick()
            raise KeyboardInterrupt

        assert bench.write(lambda tx: tx.tick()).seq == lost.seq

    @pytest.mark.parametrize(("seq", "writer"), [(9, HIGH), (10, LOW), (10, "aa" * 8)])
    def test_a_stamp_that_is_not_greater_loses(self, bench: Workbench, seq: int, writer: str) -> None:  # I-5
        uid = bench.conversation()
        bench.put_metadata(uid, "title", "ours", Stamp(10, "aa" * 8))

        bench.put_metadata(uid, "title", "theirs", Stamp(seq, writer))

        assert bench.registers(uid) == {"title": "ours"}

    @pytest.mark.parametrize(("seq", "writer"), [(11, LOW), (10, HIGH)])
    def test_a_greater_stamp_wins(self, bench: Workbench, seq: int, writer: str) -> None:  # I-5
        uid = bench.conversation()
        bench.put_metadata(uid, "title", "ours", Stamp(10, "aa" * 8))

        bench.put_metadata(uid, "title", "theirs", Stamp(seq, writer))

        assert bench.registers(uid) == {"title": "theirs"}

    def test_the_clock_rises_to_a_given_stamp(self, bench: Workbench) -> None:  # L-1
        uid = bench.conversation()

        bench.put_metadata(uid, "title", "t", Stamp(700, HIGH))

        assert bench.append(uid, said("a"))[0].header.seq > 700

    def test_metadata_touch_no_event_and_no_row(self, bench: Workbench) -> None:  # L-8
        uid = bench.conversation()
        bench.record(uid, a_turn())
        before = bench.events(uid), bench.rows(uid)

        bench.put_metadata(uid, "title", "t")

        assert (bench.events(uid), bench.rows(uid)) == before

    def test_conversations_have_registers_of_their_own(self, bench: Workbench) -> None:  # N-1
        one, two = bench.conversation("c1"), bench.conversation("c2")

        bench.put_metadata(one, "title", "t")

        assert bench.registers(two) == {}

    def test_a_stream_that_is_not_there_has_no_metadata(self, bench: Workbench) -> None:
        bench.workspace()

        with pytest.raises(NotFoundError):
            bench.put_metadata(new_uid(), "title", "t")

        assert bench.registers(new_uid()) == {}

    @sampled
    @given(value=json_values())
    def test_any_json_value_comes_back_equal(self, bench: Workbench, value: Any) -> None:  # T-1
        uid = bench.conversation(new_uid())

        bench.put_metadata(uid, "config_snapshot", value)

        assert bench.registers(uid) == {"config_snapshot": value}

    def test_a_value_that_was_handed_out_changes_nothing(self, bench: Workbench) -> None:
        uid = bench.conversation()
        value: dict[str, Any] = {"tags": ["a"]}
        bench.put_metadata(uid, "plan", value)

        value["tags"].append("b")
        bench.registers(uid)["plan"]["tags"].append("c")

        assert bench.registers(uid) == {"plan": {"tags": ["a"]}}


class KeyContract(Contract):
    """The register `key` leads to its conversation."""

    def test_a_conversation_is_found_by_its_key(self, bench: Workbench) -> None:
        uid = bench.conversation("c1", key="telegram:123")
        workspace = bench.workspace()

        found = bench.read(lambda reader: reader.find_by_key(workspace, "telegram:123"))

        assert [stream.uid for stream in found] == [uid]

    @pytest.mark.parametrize("key", ["telegram:12", "telegram:1234", "Telegram:123", "c1", ""])
    def test_a_key_is_matched_exactly(self, bench: Workbench, key: str) -> None:
        bench.conversation("c1", key="telegram:123")
        workspace = bench.workspace()

        assert list(bench.read(lambda reader: reader.find_by_key(workspace, key))) == []

    def test_a_key_that_was_changed_or_unset_leads_nowhere(self, bench: Workbench) -> None:
        workspace = bench.workspace()
        uid = bench.conversation("c1", key="k1")

        bench.put_metadata(uid, "key", "k2")

        assert keyed(bench, workspace, "k1") == []
        assert keyed(bench, workspace, "k2") == [uid]
        bench.put_metadata(uid, "key", None)
        assert keyed(bench, workspace, "k2") == []

    def test_a_key_that_lost_to_a_greater_stamp_leads_nowhere(self, bench: Workbench) -> None:  # I-5
        workspace = bench.workspace()
        uid = bench.conversation("c1")
        bench.put_metadata(uid, "key", "k2", Stamp(20, LOW))

        bench.put_metadata(uid, "key", "k1", Stamp(19, HIGH))

        assert keyed(bench, workspace, "k1") == []
        assert keyed(bench, workspace, "k2") == [uid]

    def test_a_key_that_is_taken_is_refused(self, bench: Workbench) -> None:
        workspace = bench.workspace()
        first, second = bench.conversation("c1", key="k"), bench.conversation("c2")

        with pytest.raises(AlreadyExistsError):
            bench.put_metadata(second, "key", "k")

        assert keyed(bench, workspace, "k") == [first]
        assert bench.registers(second) == {}

    def test_a_key_that_was_freed_can_be_taken(self, bench: Workbench) -> None:
        workspace = bench.workspace()
        first, second = bench.conversation("c1", key="k"), bench.conversation("c2")
        bench.put_metadata(first, "key", None)

        bench.put_metadata(second, "key", "k")

        assert keyed(bench, workspace, "k") == [second]

    def test_the_same_key_again_changes_nothing(self, bench: Workbench) -> None:
        workspace = bench.workspace()
        uid = bench.conversation("c1", key="k")

        bench.put_metadata(uid, "key", "k")

        assert keyed(bench, workspace, "k") == [uid]


def keyed(bench: Workbench, workspace: str, key: str) -> list[str]:
    """The uids of the conversations with a key."""
    return [stream.uid for stream in bench.read(lambda reader: reader.find_by_key(workspace, key))]
