"""Adopting: events that were sealed elsewhere are stored as they are."""

from __future__ import annotations

import pytest

from manent.codec.sealing import hash_of
from manent.errors import AlreadyExistsError, NotFoundError
from manent.model.ids import new_uid
from manent.model.log import Leaf
from manent.testing.builders import a_conversation, said, sealed
from manent.testing.conformance.contract import Contract
from manent.testing.snapshots import take_snapshot
from manent.testing.workbench import Workbench

KEY = bytes(range(32))


class AdoptContract(Contract):
    """What `Transaction.adopt` promises."""

    def test_adopted_events_come_back_as_they_were_sealed(self, bench: Workbench) -> None:  # L-1
        uid = bench.conversation()
        events = sealed(uid, *a_conversation(turns=2), seq=40)

        bench.adopt(*events)

        assert [(entry.header, entry.leaves) for entry in bench.events(uid)] == events

    def test_the_clock_rises_to_what_was_adopted(self, bench: Workbench) -> None:  # L-1
        one, two = bench.conversation("c1"), bench.conversation("c2")
        bench.adopt(*sealed(one, said("from elsewhere"), seq=500))

        appended = bench.append(two, said("here"))[0]

        assert appended.header.seq > 500

    def test_the_clock_does_not_fall_to_what_was_adopted(self, bench: Workbench) -> None:  # L-1
        uid = bench.conversation()
        bench.append(uid, said("a"), said("b"), said("c"))
        before = bench.read(lambda reader: reader.info()).clock

        bench.adopt(*sealed(uid, said("early"), seq=1))

        assert bench.read(lambda reader: reader.info()).clock == before

    def test_an_event_that_is_there_is_refused_and_nothing_is_written(self, bench: Workbench) -> None:  # L-4
        uid = bench.conversation()
        first, second, third = sealed(uid, said("a"), said("b"), said("c"), seq=3)
        bench.adopt(first, second)
        before = bench.read(take_snapshot)

        with pytest.raises(AlreadyExistsError), bench.backend.transaction() as tx:
            tx.adopt([third, second])

        assert bench.read(take_snapshot) == before

    def test_an_event_of_our_own_cannot_come_in_again(self, bench: Workbench) -> None:  # L-4
        uid = bench.conversation()
        ours = bench.record(uid, said("once"))[0]

        with pytest.raises(AlreadyExistsError):
            bench.adopt(*sealed(uid, said("twice"), writer=ours.header.writer, seq=ours.header.seq))

        assert bench.texts(uid) == ["once"]

    def test_a_stream_that_is_not_there_adopts_nothing(self, bench: Workbench) -> None:  # L-2
        with pytest.raises(NotFoundError):
            bench.adopt(*sealed(new_uid(), said("lost")))

        assert bench.log() == []

    def test_an_erased_leaf_is_adopted_as_its_digest(self, bench: Workbench) -> None:  # C-2
        uid = bench.conversation()
        event = sealed(uid, said("gone"))[0]
        whole = hash_of(event)
        leaves = (event.leaves[0], Leaf("content", None, None, bytes(32)))

        bench.adopt(event._replace(leaves=leaves))

        stored = bench.events(uid)[0]
        assert stored.leaves == leaves
        assert hash_of(stored) != whole

    def test_an_event_of_a_kind_of_tomorrow_is_kept(self, bench: Workbench) -> None:  # L-9
        uid = bench.conversation()
        event = sealed(uid, said("?"))[0]
        unknown = event._replace(header=event.header._replace(kind="telepathy_received", schema_version=7))

        bench.adopt(unknown)

        stored = bench.events(uid)[0]
        assert (stored.header, stored.leaves) == unknown
        assert bench.rows(uid) == []

    def test_a_late_event_stands_where_its_stamp_says(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        bench.adopt(*sealed(uid, said("ours", id="m2", under="m1"), writer="bb" * 8, seq=8))
        bench.adopt(*sealed(uid, said("theirs", id="m1"), writer="aa" * 8, seq=4))

        branch = bench.read(lambda reader: reader.read_branch(uid, "m2", 10))

        assert [entry.message_id for entry in branch] == ["m2", "m1"]
        row = bench.row(uid)
        assert row is not None and (row.head, row.linear) == ("m2", True)

    def test_a_source_key_can_be_taken_over(self, bench: Workbench) -> None:  # I-2
        with bench.backend.transaction() as tx:
            tx.adopt_source_key(KEY)

        assert bench.read(lambda reader: reader.info()).source_key == KEY
