"""Workspaces and streams: what a store is asked for by name."""

from __future__ import annotations

import pytest

from manent.errors import AlreadyExistsError, NotFoundError
from manent.model.ids import new_uid
from manent.model.log import StreamInfo, WorkspaceInfo
from manent.testing.builders import a_turn
from manent.testing.conformance.contract import Contract
from manent.testing.workbench import ALL, Workbench


class IdentityContract(Contract):
    """What `put_workspace`, `put_stream` and the reads of identities promise."""

    def test_a_new_store_is_empty_and_knows_itself(self, bench: Workbench) -> None:
        info = bench.read(lambda reader: reader.info())

        assert (info.clock, info.position) == (0, 0)
        assert len(info.store_id) == len(info.generation) == 32
        assert len(info.source_key) == 32
        assert bench.read(lambda reader: reader.info()) == info
        assert list(bench.read(lambda reader: reader.list_workspaces())) == []

    def test_a_workspace_is_found_by_each_of_its_aliases(self, bench: Workbench) -> None:
        uid, stream = new_uid(), new_uid()
        aliases = (("folder", "/srv/a"), ("key", "a"))

        put_workspace(bench, WorkspaceInfo(uid, (stream,), aliases))

        assert bench.read(lambda r: [r.find_workspace(*alias) for alias in aliases]) == [uid, uid]
        assert bench.read(lambda reader: reader.find_workspace("key", "/srv/a")) is None
        assert list(bench.read(lambda r: r.list_workspaces())) == [WorkspaceInfo(uid, (stream,), aliases)]

    def test_a_workspace_that_is_there_gets_what_it_lacks(self, bench: Workbench) -> None:
        uid, first, second = new_uid(), *sorted([new_uid(), new_uid()])
        put_workspace(bench, WorkspaceInfo(uid, (second,), (("key", "b"),)))

        put_workspace(bench, WorkspaceInfo(uid, (first, second), (("key", "b"), ("key", "a"))))

        whole = WorkspaceInfo(uid, (first, second), (("key", "a"), ("key", "b")))
        assert list(bench.read(lambda reader: reader.list_workspaces())) == [whole]

    def test_an_alias_keeps_leading_where_it_led(self, bench: Workbench) -> None:  # N-1
        first, second = new_uid(), new_uid()
        put_workspace(bench, WorkspaceInfo(first, (), (("key", "a"),)))

        put_workspace(bench, WorkspaceInfo(second, (), (("key", "a"), ("key", "b"))))

        assert bench.read(lambda reader: reader.find_workspace("key", "a")) == first
        assert bench.read(lambda reader: reader.find_workspace("key", "b")) == second

    def test_workspaces_come_by_uid(self, bench: Workbench) -> None:
        uids = [bench.workspace(name) for name in ("b", "a", "c")]

        listed = bench.read(lambda reader: reader.list_workspaces())

        assert [workspace.uid for workspace in listed] == sorted(uids)

    def test_a_workspace_is_found_by_its_uid(self, bench: Workbench) -> None:  # N-1
        mine, yours = bench.workspace("mine"), bench.workspace("yours")
        bench.conversation("c1", workspace="mine")

        found = bench.read(lambda r: [r.find_workspace_info(uid) for uid in (mine, yours)])

        assert sorted(info for info in found if info) == list(bench.read(lambda r: r.list_workspaces()))
        assert [info and info.aliases for info in found] == [(("key", "mine"),), (("key", "yours"),)]
        assert bench.read(lambda reader: reader.find_workspace_info(new_uid())) is None

    def test_a_stream_is_found_by_its_uid(self, bench: Workbench) -> None:
        workspace = bench.workspace()
        uid = bench.conversation("c1")
        own = bench.read(lambda reader: reader.list_workspaces())[0].streams[0]

        assert bench.read(lambda r: r.find_stream(uid)) == StreamInfo(uid, workspace, "c1")
        assert bench.read(lambda r: r.find_stream(own)) == StreamInfo(own, workspace, None)
        assert bench.read(lambda r: r.find_stream(new_uid())) is None

    def test_an_id_is_taken_once_in_a_workspace(self, bench: Workbench) -> None:
        workspace = bench.workspace()
        uid = bench.conversation("c1")

        with pytest.raises(AlreadyExistsError):
            bench.conversation("c1")

        assert bench.read(lambda r: list(r.find_ids(workspace, "c1"))) == [StreamInfo(uid, workspace, "c1")]
        assert uid in uids(bench)

    def test_a_uid_is_taken_once_in_a_store(self, bench: Workbench) -> None:
        uid, workspace = bench.conversation("c1"), bench.workspace("other")

        with pytest.raises(AlreadyExistsError), bench.backend.transaction() as tx:
            tx.put_stream(StreamInfo(uid, workspace, "c2"))

        assert bench.read(lambda reader: list(reader.find_ids(workspace, "c2"))) == []

    def test_a_stream_needs_a_workspace(self, bench: Workbench) -> None:
        with pytest.raises(NotFoundError), bench.backend.transaction() as tx:
            tx.put_stream(StreamInfo(new_uid(), new_uid(), "c1"))

        assert uids(bench) == []

    def test_ids_are_found_by_their_beginning_in_order(self, bench: Workbench) -> None:
        workspace = bench.workspace()
        made = [bench.conversation(id) for id in ("ab2", "ab", "aB1", "ab1", "b")]

        found = bench.read(lambda reader: reader.find_prefix(workspace, "ab", ALL))

        assert [(info.uid, info.id) for info in found] == [
            (made[1], "ab"),
            (made[3], "ab1"),
            (made[0], "ab2"),
        ]

    def test_at_most_so_many_ids_are_found_by_their_beginning(self, bench: Workbench) -> None:
        workspace = bench.workspace()
        for id in ("ab2", "ab3", "ab1"):
            bench.conversation(id)

        found = bench.read(lambda reader: reader.find_prefix(workspace, "ab", 2))

        assert [info.id for info in found] == ["ab1", "ab2"]

    @pytest.mark.parametrize("id", ["a%b", "a_b", "a*b", "a\\b", "a\x00b", "a\ud800b", "a\U0010ffff" * 9])
    def test_a_beginning_stands_for_itself(self, bench: Workbench, id: str) -> None:  # S-2, T-1
        workspace = bench.workspace()
        bench.conversation("axb")
        bench.conversation(id)

        found = bench.read(lambda reader: reader.find_prefix(workspace, id[:2], ALL))

        assert [info.id for info in found] == [id]

    def test_a_beginning_that_nothing_has_finds_nothing(self, bench: Workbench) -> None:
        workspace = bench.workspace()
        bench.conversation("c1")

        assert list(bench.read(lambda reader: reader.find_prefix(workspace, "c12", ALL))) == []
        assert list(bench.read(lambda reader: reader.find_prefix(new_uid(), "c", ALL))) == []

    def test_the_owner_finds_ids_keys_and_beginnings_everywhere(self, bench: Workbench) -> None:
        mine = bench.conversation("c1", workspace="mine", key="k")
        yours = bench.conversation("c1", workspace="yours", key="k")

        by_id = bench.read(lambda reader: reader.find_ids(None, "c1"))
        by_key = bench.read(lambda reader: reader.find_by_key(None, "k"))
        by_beginning = bench.read(lambda reader: reader.find_prefix(None, "c", ALL))

        assert {s.uid for s in by_id} == {s.uid for s in by_key} == {mine, yours}
        assert [s.workspace for s in by_id] == sorted(s.workspace for s in by_id)
        assert list(by_id) == list(by_key) == list(by_beginning)

    def test_uids_come_in_order_with_all_streams(self, bench: Workbench) -> None:
        bench.workspace()
        made = [bench.conversation(id) for id in ("c1", "c2")]
        bench.record(made[0], a_turn())

        own = bench.read(lambda reader: reader.list_workspaces())[0].streams

        assert uids(bench) == sorted([*made, *own])

    def test_uids_are_read_in_pages(self, bench: Workbench) -> None:  # L-6
        for number in range(4):
            bench.conversation(f"c{number}")
        whole = uids(bench)

        first = bench.read(lambda reader: reader.read_uids("", 2))
        second = bench.read(lambda reader: reader.read_uids(first[-1], 10))

        assert [*first, *second] == whole

    def test_nothing_strays_in_a_store_that_nobody_touched(self, bench: Workbench) -> None:  # C-3
        bench.record(bench.conversation(), a_turn())

        assert list(bench.read(lambda reader: reader.read_strays())) == []


def put_workspace(bench: Workbench, workspace: WorkspaceInfo) -> None:
    """Add a workspace."""
    with bench.backend.transaction() as tx:
        tx.put_workspace(workspace)


def uids(bench: Workbench) -> list[str]:
    """The uids of all streams."""
    return bench.read(lambda reader: [*reader.read_uids("", ALL)])
