"""Lists of conversations: by activity, in pages that show each exactly once."""

from __future__ import annotations

from manent.model.events import SummaryRecorded
from manent.model.log import Register
from manent.model.rows import ConversationEntry
from manent.testing.builders import a_turn, began, said, sealed
from manent.testing.conformance.contract import Contract
from manent.testing.observations import all_pages
from manent.testing.workbench import Workbench


def three_conversations(bench: Workbench) -> tuple[str, str, str]:
    """Conversations `c1`, `c2`, `c3`, begun in this order."""
    one, two, three = (bench.conversation(id) for id in ("c1", "c2", "c3"))
    for uid in (one, two, three):
        bench.record(uid, began())
    return one, two, three


class ListingContract(Contract):
    """What `Reader.list_conversations` promises."""

    def test_the_most_recently_active_comes_first(self, bench: Workbench) -> None:  # L-8
        workspace = bench.workspace()
        one, _, _ = three_conversations(bench)
        bench.record(one, a_turn())

        assert bench.listed(workspace) == ["c1", "c3", "c2"]

    def test_the_least_recently_active_comes_first_when_asked(self, bench: Workbench) -> None:  # L-8
        workspace = bench.workspace()
        one, _, _ = three_conversations(bench)
        bench.record(one, a_turn())

        assert bench.listed(workspace, newest_first=False) == ["c2", "c3", "c1"]

    def test_a_clock_that_goes_back_moves_nothing(self, bench: Workbench) -> None:  # L-8
        workspace = bench.workspace()
        one, _, _ = three_conversations(bench)
        bench.record(one, a_turn(), claim_ns=1)

        assert bench.listed(workspace) == ["c1", "c3", "c2"]

    def test_metadata_move_no_activity(self, bench: Workbench) -> None:  # L-8
        workspace = bench.workspace()
        one, _, _ = three_conversations(bench)
        activity = bench.row(one)

        bench.put_metadata(one, "title", "renamed")
        bench.put_metadata(one, "pin", True)

        assert bench.listed(workspace) == ["c3", "c2", "c1"]
        assert bench.row(one) == activity

    def test_a_conversation_without_content_is_not_listed(self, bench: Workbench) -> None:
        workspace = bench.workspace()
        bench.conversation("empty")

        assert bench.listed(workspace) == []

    def test_an_entry_carries_the_row_and_the_metadata(self, bench: Workbench) -> None:
        workspace = bench.workspace()
        uid = bench.conversation("c1")
        bench.record(uid, a_turn())
        title = bench.put_metadata(uid, "title", "On names")
        persona = bench.put_metadata(uid, "persona", None)

        entry = bench.conversations(workspace)[0]

        row = bench.read(lambda reader: reader.find_row(uid))
        assert row is not None
        registers = (Register("persona", None, persona), Register("title", "On names", title))
        assert entry == ConversationEntry(uid, "c1", workspace, row, row.activity.seq, registers)

    def test_the_same_activity_is_ordered_by_uid(self, bench: Workbench) -> None:  # L-6
        workspace = bench.workspace()
        uids = sorted(bench.conversation(id) for id in ("c1", "c2", "c3"))
        bench.adopt(*(event for uid in uids for event in sealed(uid, began(), seq=7)))

        assert [entry.uid for entry in bench.conversations(workspace)] == uids[::-1]
        assert [entry.uid for entry in bench.conversations(workspace, newest_first=False)] == uids
        after = bench.conversations(workspace, after=(7, uids[1]))
        assert [entry.uid for entry in after] == [uids[0]]

    def test_pages_are_the_whole_list_in_pieces(self, bench: Workbench) -> None:  # L-6
        workspace = bench.workspace()
        three_conversations(bench)
        newest, oldest = bench.conversations(workspace), bench.conversations(workspace, newest_first=False)

        assert pages(bench, workspace, True, 1) == pages(bench, workspace, True, 2) == newest
        assert pages(bench, workspace, False, 1) == pages(bench, workspace, False, 2) == oldest

    def test_a_listing_begun_before_shows_what_moved_where_it_was(self, bench: Workbench) -> None:  # L-6
        workspace = bench.workspace()
        one, two, _ = three_conversations(bench)
        clock = bench.read(lambda reader: reader.info()).clock
        before = [(entry.id, entry.rank) for entry in bench.conversations(workspace)]

        bench.record(two, a_turn(), said("more"))
        bench.record(one, a_turn())

        now = bench.conversations(workspace, as_of=clock)
        assert [(entry.id, entry.rank) for entry in now] == before
        assert bench.listed(workspace, as_of=clock, newest_first=False) == ["c1", "c2", "c3"]

    def test_a_listing_begun_before_does_not_show_what_began_since(self, bench: Workbench) -> None:  # L-6
        workspace = bench.workspace()
        three_conversations(bench)
        clock = bench.read(lambda reader: reader.info()).clock

        bench.record(bench.conversation("c4"), began())

        assert bench.listed(workspace, as_of=clock) == ["c3", "c2", "c1"]
        assert bench.listed(workspace) == ["c4", "c3", "c2", "c1"]

    def test_where_a_conversation_was_goes_by_content_events_only(self, bench: Workbench) -> None:  # L-8
        workspace = bench.workspace()
        one, _, _ = three_conversations(bench)
        bench.record(one, SummaryRecorded(first_seq=1, last_seq=1, summary="It began."))
        clock = bench.read(lambda reader: reader.info()).clock

        bench.record(one, a_turn())

        assert bench.listed(workspace, as_of=clock) == ["c3", "c2", "c1"]

    def test_paging_while_others_append_shows_each_exactly_once(self, bench: Workbench) -> None:  # L-6
        workspace = bench.workspace()
        one, two, three = three_conversations(bench)
        clock = bench.read(lambda reader: reader.info()).clock

        first = bench.conversations(workspace, limit=1, as_of=clock)
        bench.record(one, a_turn())
        bench.record(three, a_turn())
        second = bench.conversations(workspace, limit=1, as_of=clock, after=(first[0].rank, first[0].uid))
        bench.record(two, a_turn())
        third = bench.conversations(workspace, limit=1, as_of=clock, after=(second[0].rank, second[0].uid))

        assert [entry.id for entry in (*first, *second, *third)] == ["c3", "c2", "c1"]

    def test_the_owner_lists_every_workspace(self, bench: Workbench) -> None:
        bench.record(bench.conversation("c1", workspace="mine"), began())
        bench.record(bench.conversation("c2", workspace="yours"), began())
        bench.record(bench.conversation("c3", workspace="mine"), began())

        assert bench.listed(None) == ["c3", "c2", "c1"]
        assert bench.listed(None, newest_first=False) == ["c1", "c2", "c3"]
        assert bench.listed(None, limit=2) == ["c3", "c2"]


def pages(bench: Workbench, workspace: str, newest_first: bool, limit: int) -> list[ConversationEntry]:
    """A whole list, read in pages."""

    def next_page(last: ConversationEntry | None) -> list[ConversationEntry]:
        after = (last.rank, last.uid) if last else None
        return bench.conversations(workspace, newest_first=newest_first, limit=limit, after=after)

    return all_pages(next_page)
