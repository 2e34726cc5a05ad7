"""The fence: nothing of another workspace is returned, changed or confirmed (N-1)."""

from __future__ import annotations

import pytest

from manent.errors import NotFoundError
from manent.model.ids import new_uid
from manent.model.log import StreamInfo
from manent.testing.builders import a_turn, began
from manent.testing.conformance.contract import Contract
from manent.testing.workbench import ALL, Workbench

PICTURE = [b"the same ", b"picture"]


class Sides:
    """Two workspaces, each with a conversation of the same id and key."""

    def __init__(self, bench: Workbench) -> None:
        self.mine, self.yours = bench.workspace("mine"), bench.workspace("yours")
        self.my_uid = bench.conversation("c1", workspace="mine", key="k")
        self.your_uid = bench.conversation("c1", workspace="yours", key="k")
        bench.record(self.my_uid, began())
        bench.record(self.your_uid, began())


class WorkspaceFenceContract(Contract):
    """Every read that takes a workspace stays inside it."""

    @pytest.fixture
    def sides(self, bench: Workbench) -> Sides:
        """Two workspaces that hold the same names."""
        return Sides(bench)

    def test_an_id_is_found_in_its_workspace_only(self, bench: Workbench, sides: Sides) -> None:  # N-1
        bench.conversation("only yours", workspace="yours")

        mine = bench.read(lambda reader: reader.find_ids(sides.mine, "c1"))
        yours = bench.read(lambda reader: reader.find_ids(sides.yours, "c1"))

        assert list(mine) == [StreamInfo(sides.my_uid, sides.mine, "c1")]
        assert list(yours) == [StreamInfo(sides.your_uid, sides.yours, "c1")]
        assert list(bench.read(lambda reader: reader.find_ids(sides.mine, "only yours"))) == []

    def test_a_key_is_found_in_its_workspace_only(self, bench: Workbench, sides: Sides) -> None:  # N-1
        bench.conversation("c2", workspace="yours", key="only yours")

        mine = bench.read(lambda reader: reader.find_by_key(sides.mine, "k"))
        yours = bench.read(lambda reader: reader.find_by_key(sides.yours, "k"))

        assert ([s.uid for s in mine], [s.uid for s in yours]) == ([sides.my_uid], [sides.your_uid])
        assert list(bench.read(lambda reader: reader.find_by_key(sides.mine, "only yours"))) == []

    def test_a_beginning_is_found_in_its_workspace_only(self, bench: Workbench, sides: Sides) -> None:  # N-1
        bench.conversation("c2", workspace="yours")

        mine = bench.read(lambda reader: reader.find_prefix(sides.mine, "c", ALL))
        yours = bench.read(lambda reader: reader.find_prefix(sides.yours, "c", ALL))

        assert [(s.workspace, s.id) for s in mine] == [(sides.mine, "c1")]
        assert [(s.workspace, s.id) for s in yours] == [(sides.yours, "c1"), (sides.yours, "c2")]

    def test_a_list_stays_in_its_workspace(self, bench: Workbench, sides: Sides) -> None:  # N-1
        newest = bench.conversations(sides.mine)
        oldest = bench.conversations(sides.mine, newest_first=False)

        assert [entry.uid for entry in newest] == [entry.uid for entry in oldest] == [sides.my_uid]
        assert newest[0].workspace == sides.mine

    def test_conversations_are_counted_in_their_workspace_only(
        self, bench: Workbench, sides: Sides
    ) -> None:  # N-1
        bench.record(bench.conversation("c2", workspace="yours"), began())
        bench.conversation("not begun", workspace="mine")

        counts = bench.read(
            lambda r: [r.count_conversations(w) for w in (sides.mine, sides.yours, new_uid())]
        )

        assert counts == [1, 2, 0]

    def test_a_list_begun_before_stays_in_its_workspace(self, bench: Workbench, sides: Sides) -> None:  # N-1
        clock = bench.read(lambda reader: reader.info()).clock
        bench.record(sides.my_uid, a_turn())
        bench.record(sides.your_uid, a_turn())

        newest = bench.conversations(sides.mine, as_of=clock)
        oldest = bench.conversations(sides.mine, as_of=clock, newest_first=False)

        assert [entry.uid for entry in newest] == [entry.uid for entry in oldest] == [sides.my_uid]

    def test_a_cursor_of_another_workspace_shows_nothing_of_it(
        self, bench: Workbench, sides: Sides
    ) -> None:  # N-1
        yours = bench.conversations(sides.yours)[0]

        newest = bench.conversations(sides.mine, after=(yours.rank, yours.uid))
        oldest = bench.conversations(sides.mine, after=(0, yours.uid), newest_first=False)

        assert [entry.uid for entry in (*newest, *oldest)] == [sides.my_uid, sides.my_uid]

    def test_a_workspace_that_is_not_there_holds_nothing(self, bench: Workbench, sides: Sides) -> None:  # N-1
        absent = new_uid()

        assert bench.conversations(absent) == bench.conversations(absent, newest_first=False) == []
        assert list(bench.read(lambda reader: reader.find_ids(absent, "c1"))) == []
        assert list(bench.read(lambda reader: reader.find_by_key(absent, "k"))) == []
        assert bench.row(sides.my_uid) is not None

    def test_a_workspace_lists_its_own_aliases_and_streams(
        self, bench: Workbench, sides: Sides
    ) -> None:  # N-1
        listed = {each.uid: each for each in bench.read(lambda reader: reader.list_workspaces())}

        assert listed[sides.mine].aliases == (("key", "mine"),)
        assert listed[sides.yours].aliases == (("key", "yours"),)
        assert len(listed[sides.mine].streams) == len(listed[sides.yours].streams) == 1
        assert listed[sides.mine].streams != listed[sides.yours].streams

    def test_a_blob_is_found_in_its_workspace_only(self, bench: Workbench, sides: Sides) -> None:  # N-1
        digest = bench.backend.blobs.put(sides.yours, PICTURE)

        with pytest.raises(NotFoundError):
            b"".join(bench.backend.blobs.get(sides.mine, digest))

        assert list(bench.backend.blobs.list_digests(sides.mine)) == []
        assert list(bench.backend.blobs.list_digests(sides.yours)) == [digest]

    def test_a_blob_is_dropped_in_its_workspace_only(self, bench: Workbench, sides: Sides) -> None:  # N-1
        digest = bench.backend.blobs.put(sides.yours, PICTURE)
        assert bench.backend.blobs.drop(sides.mine, digest) is False

        bench.backend.blobs.put(sides.mine, PICTURE)
        bench.backend.blobs.drop(sides.mine, digest)

        assert b"".join(bench.backend.blobs.get(sides.yours, digest)) == b"the same picture"
        assert list(bench.backend.blobs.list_digests(sides.mine)) == []
