"""Links, and what may be resumed: not the ended, not the spawned, not what was last said elsewhere."""

from __future__ import annotations

import pytest

from manent.model.changes import ConversationSpawned, ConversationTouched, LinkPut
from manent.model.events import COPIED_FROM, FORKED_FROM, SPAWNED_BY, Event, SourceUpdated, SummaryRecorded
from manent.model.ids import Stamp, new_uid
from manent.model.rows import LinkRow
from manent.testing.builders import (
    a_turn,
    began,
    edited,
    ended,
    forked,
    head_moved,
    linked,
    removed,
    said,
    sealed,
    started,
)
from manent.testing.conformance.contract import Contract
from manent.testing.workbench import Workbench

LOW, HIGH = "00" * 8, "ff" * 8
ELSEWHERE = {"format": "by hand", "id": "n1"}
LIVE = (a_turn(), said("live", id="m2"), started(), ended())
SILENT = (edited("m1", "new"), removed("m1"), head_moved(None), SummaryRecorded(first_seq=1, last_seq=1))


class LinkContract(Contract):
    """How a conversation relates to others."""

    def test_a_link_is_read_from_its_conversation_and_to_the_other(self, bench: Workbench) -> None:
        one, two = bench.conversation("c1"), bench.conversation("c2")

        stamp = bench.record(one, linked("continues", two, message_id="m1"))[0].header.stamp

        link = LinkRow(*stamp, "continues", two, "m1")
        assert (bench.links(one), bench.links_to(two)) == ([link], [(one, link)])
        assert (bench.links(two), bench.links_to(one)) == ([], [])

    def test_a_fork_is_a_link(self, bench: Workbench) -> None:
        one, two = bench.conversation("c1"), bench.conversation("c2")

        whole, part = bench.record(one, forked(two), forked(two, message_id="m1"))

        assert bench.links(one) == [
            LinkRow(*whole.header.stamp, FORKED_FROM, two, None),
            LinkRow(*part.header.stamp, FORKED_FROM, two, "m1"),
        ]

    def test_links_come_by_stamp(self, bench: Workbench) -> None:  # P-1
        one, two, other = (bench.conversation(id) for id in ("c1", "c2", "c3"))
        bench.adopt(*sealed(one, linked("b", other), writer=HIGH, seq=5))
        bench.adopt(*sealed(two, linked("c", other), writer=LOW, seq=4))
        bench.adopt(*sealed(one, linked("a", other), writer=LOW, seq=5))

        assert [link.relation for link in bench.links(one)] == ["a", "b"]
        assert [(uid, link.relation) for uid, link in bench.links_to(other)] == [
            (two, "c"),
            (one, "a"),
            (one, "b"),
        ]

    def test_links_come_by_stamp_however_they_were_put(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        links = [LinkRow(*stamp, "continues", "o", None) for stamp in ((5, LOW), (5, HIGH), (6, LOW))]

        bench.apply(uid, *map(LinkPut, links[::-1]))

        assert bench.links(uid) == links
        assert bench.links_to("o") == [(uid, link) for link in links]

    def test_links_of_the_same_stamp_come_by_uid(self, bench: Workbench) -> None:  # P-1
        uids, other = sorted(bench.conversation(id) for id in ("c1", "c2")), bench.conversation("c3")
        for uid in uids[::-1]:
            bench.adopt(*sealed(uid, linked("continues", other), seq=7))

        assert [uid for uid, _ in bench.links_to(other)] == uids

    def test_one_event_tells_one_link(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        first = LinkRow(5, LOW, "continues", "one", None)

        bench.apply(uid, LinkPut(first), LinkPut(LinkRow(5, LOW, "copied_from", "two", "m")))

        assert bench.links(uid) == [first]

    def test_two_events_may_tell_the_same(self, bench: Workbench) -> None:
        uid, other = bench.conversation("c1"), bench.conversation("c2")

        bench.record(uid, linked(COPIED_FROM, other), linked(COPIED_FROM, other))

        assert [(link.relation, link.to_uid) for link in bench.links(uid)] == [(COPIED_FROM, other)] * 2

    @pytest.mark.parametrize(
        "text", ["", "no hex", "\x00", "\ud83d", "\\0", "a" * 4000, "\U0001f600", "AB" * 16]
    )
    def test_any_relation_to_anything_is_kept(self, bench: Workbench, text: str) -> None:  # T-1
        uid = bench.conversation()

        stamp = bench.record(uid, linked(text, text, message_id=text))[0].header.stamp

        link = LinkRow(*stamp, text, text, text)
        assert (bench.links(uid), bench.links_to(text)) == ([link], [(uid, link)])
        assert bench.links_to(f"{text}.") == []

    def test_a_link_to_what_is_not_there_is_kept(self, bench: Workbench) -> None:
        uid, absent = bench.conversation(), new_uid()

        bench.record(uid, linked("continues", absent))

        assert [other for other, _ in bench.links_to(absent)] == [uid]
        assert bench.links(absent) == []

    def test_links_are_read_model_rows_after_turns(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        bench.record(uid, linked("continues", new_uid()), a_turn(idempotency_key="i"))

        kinds = [type(row).__name__ for row in bench.rows(uid)]

        assert kinds == ["ConversationRow", "MessageRow", "MessageRow", "TurnRow", "LinkRow", "KeyRow"]

    def test_clearing_drops_links_and_folding_again_brings_them_back(self, bench: Workbench) -> None:  # P-1
        uid, other = bench.conversation("c1"), bench.conversation("c2")
        bench.record(uid, linked(SPAWNED_BY, other), began(), forked(other))
        before = bench.rows(uid)

        bench.write(lambda tx: tx.clear(uid))
        assert (bench.links(uid), bench.links_to(other)) == ([], [])
        bench.refold(uid)

        assert bench.rows(uid) == before
        assert len(bench.links(uid)) == 2

    def test_a_link_moves_no_activity_and_begins_no_row(self, bench: Workbench) -> None:  # L-8
        workspace, other = bench.workspace(), bench.conversation("c2")
        uid = bench.conversation("c1")
        bench.record(uid, linked("continues", other))
        assert bench.row(uid) is None

        bench.record(uid, began())
        bench.record(other, began())
        bench.record(uid, linked("continues", other))

        assert bench.listed(workspace) == ["c2", "c1"]


class ResumeContract(Contract):
    """What `Listing.resumable` leaves out."""

    def test_what_was_said_here_may_be_resumed(self, bench: Workbench) -> None:
        uid = bench.conversation()

        bench.record(uid, began())

        assert resumable(bench) == ["c1"]
        row = bench.row(uid)
        assert row is not None and (row.imported, row.spawned) == (False, False)

    def test_what_another_conversation_runs_is_marked(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, began(), linked(SPAWNED_BY, new_uid()), a_turn())

        row = bench.row(uid)

        assert row is not None and row.spawned
        assert resumable(bench) == []

    def test_it_is_marked_as_well_when_that_was_told_before_it_began(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, linked(SPAWNED_BY, new_uid()), began())

        row = bench.row(uid)

        assert row is not None and row.spawned
        assert resumable(bench) == []

    @pytest.mark.parametrize("relation", ["continues", "copied_from", "SPAWNED_BY", "spawned_by ", ""])
    def test_no_other_relation_marks_it(self, bench: Workbench, relation: str) -> None:
        uid = bench.conversation()
        bench.record(uid, linked(relation, new_uid()), began(), linked(relation, new_uid()))

        row = bench.row(uid)

        assert row is not None and not row.spawned
        assert resumable(bench) == ["c1"]

    def test_a_mark_on_what_has_not_begun_changes_nothing(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()

        bench.apply(uid, ConversationSpawned(Stamp(3, LOW)))

        assert bench.rows(uid) == []

    @pytest.mark.parametrize(
        "event",
        [
            began(origin=ELSEWHERE),
            said("theirs", id="m1", source=ELSEWHERE),
            SourceUpdated(message_id="m1", source=ELSEWHERE),
        ],
        ids=lambda event: event.KIND,
    )
    def test_what_came_from_elsewhere_is_not_resumed(self, bench: Workbench, event: Event) -> None:
        uid = bench.conversation()
        bench.record(uid, began(), event)

        row = bench.row(uid)

        assert row is not None and row.imported
        assert resumable(bench) == []

    @pytest.mark.parametrize("event", LIVE, ids=lambda event: event.KIND)
    def test_it_is_resumed_once_something_was_said_here(self, bench: Workbench, event: Event) -> None:
        uid = bench.conversation()
        bench.record(uid, began(origin=ELSEWHERE), said("theirs", id="m1", source=ELSEWHERE))

        bench.record(uid, event)

        row = bench.row(uid)
        assert row is not None and not row.imported
        assert resumable(bench) == ["c1"]

    @pytest.mark.parametrize("event", SILENT, ids=lambda event: event.KIND)
    def test_a_change_of_what_is_there_says_nothing_about_where_it_came_from(
        self, bench: Workbench, event: Event
    ) -> None:
        theirs, ours = bench.conversation("theirs"), bench.conversation("ours")
        bench.record(theirs, said("theirs", id="m1", source=ELSEWHERE))
        bench.record(ours, said("ours", id="m1"))

        bench.record(theirs, event)
        bench.record(ours, event)

        assert resumable(bench) == ["ours"]

    def test_a_late_event_says_where_things_came_from_in_its_place(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        bench.record(uid, began(), began(), began())

        bench.adopt(*sealed(uid, said("theirs", source=ELSEWHERE), writer=LOW, seq=1))

        row = bench.row(uid)
        assert row is not None and not row.imported

    def test_of_two_the_greater_stamp_says_where_things_came_from(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()

        bench.apply(uid, ConversationTouched(Stamp(5, LOW), None, imported=True))
        bench.apply(uid, ConversationTouched(Stamp(4, HIGH), None, imported=False))
        bench.apply(uid, ConversationTouched(Stamp(6, LOW), None, imported=None))

        row = bench.row(uid)
        assert row is not None and (row.imported, row.activity) == (True, Stamp(6, LOW))

    def test_what_was_ended_is_not_resumed(self, bench: Workbench) -> None:
        uid = bench.conversation("c1")
        bench.record(uid, began())
        bench.record(bench.conversation("c2"), began())

        bench.put_metadata(uid, "end_reason", "done")

        assert resumable(bench) == ["c2"]
        assert bench.listed(bench.workspace()) == ["c2", "c1"]

    def test_what_was_ended_and_opened_again_is_resumed(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, began())
        bench.put_metadata(uid, "end_reason", "done")

        bench.put_metadata(uid, "end_reason", None)

        assert resumable(bench) == ["c1"]

    def test_an_end_of_a_lower_stamp_ends_nothing(self, bench: Workbench) -> None:  # I-5
        uid = bench.conversation()
        bench.record(uid, began())
        bench.put_metadata(uid, "end_reason", None, Stamp(40, LOW))

        bench.put_metadata(uid, "end_reason", "done", Stamp(39, HIGH))

        assert resumable(bench) == ["c1"]

    def test_what_was_ended_before_it_began_is_not_resumed(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.put_metadata(uid, "end_reason", "done")

        bench.record(uid, began())

        assert resumable(bench) == []

    def test_what_was_opened_again_before_it_began_is_resumed(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.put_metadata(uid, "end_reason", "done")
        bench.put_metadata(uid, "end_reason", None)

        bench.record(uid, began())
        bench.refold(uid)

        assert resumable(bench) == ["c1"]

    def test_what_was_ended_stays_so_when_it_is_folded_again(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        bench.record(uid, began())
        bench.put_metadata(uid, "end_reason", "done")

        bench.refold(uid)

        assert resumable(bench) == []

    def test_other_metadata_end_nothing(self, bench: Workbench) -> None:
        uid = bench.conversation()
        bench.record(uid, began())

        bench.put_metadata(uid, "end", "done")
        bench.put_metadata(uid, "title", "done")

        assert resumable(bench) == ["c1"]

    def test_what_may_be_resumed_comes_in_both_orders_and_in_pages(self, bench: Workbench) -> None:  # L-6
        workspace = bench.workspace()
        mixed_conversations(bench)

        assert resumable(bench) == ["c5", "c3", "c1"]
        assert resumable(bench, newest_first=False) == ["c1", "c3", "c5"]
        first = bench.conversations(workspace, resumable=True, limit=2)
        after = (first[-1].rank, first[-1].uid)
        assert [entry.id for entry in first] == ["c5", "c3"]
        assert resumable(bench, limit=2, after=after) == ["c1"]
        assert bench.listed(workspace) == ["c5", "c4", "c3", "c2", "c1", "c0"]

    def test_it_keeps_its_place_in_a_list_that_was_begun_before(self, bench: Workbench) -> None:  # L-6
        uids = mixed_conversations(bench)
        clock = bench.read(lambda reader: reader.info()).clock

        bench.record(uids[1], a_turn())
        bench.record(uids[2], a_turn())
        bench.record(bench.conversation("c6"), began())

        assert resumable(bench, as_of=clock) == ["c5", "c3", "c1"]
        assert resumable(bench, as_of=clock, newest_first=False) == ["c1", "c3", "c5"]
        assert resumable(bench) == ["c6", "c1", "c5", "c3"]

    def test_the_owner_sees_what_may_be_resumed_everywhere(self, bench: Workbench) -> None:
        bench.record(bench.conversation("c1", workspace="mine"), began())
        bench.record(bench.conversation("c2", workspace="yours"), began())
        bench.record(bench.conversation("c3", workspace="mine"), began(origin=ELSEWHERE))

        assert bench.listed(None, resumable=True) == ["c2", "c1"]
        assert bench.listed(bench.workspace("mine"), resumable=True) == ["c1"]


def mixed_conversations(bench: Workbench) -> list[str]:
    """Conversations `c0` to `c5`; those with an even number may not be resumed."""
    uids = [bench.conversation(f"c{number}") for number in range(6)]
    bench.record(uids[0], began(origin=ELSEWHERE))
    bench.record(uids[1], began())
    bench.record(uids[2], began())
    bench.record(uids[3], began())
    bench.record(uids[4], began(), linked(SPAWNED_BY, uids[3]))
    bench.record(uids[5], began())
    bench.put_metadata(uids[2], "end_reason", "done")
    return uids


def resumable(bench: Workbench, **asked: object) -> list[str]:
    """The ids of what may be resumed in the default workspace, newest first unless asked otherwise."""
    return bench.listed(bench.workspace(), resumable=True, **asked)
