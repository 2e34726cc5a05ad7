"""Moving: a stream, an alias, and at last the workspace that they left."""

from __future__ import annotations

import pytest

from manent.errors import AlreadyExistsError, NotFoundError
from manent.model.ids import new_uid
from manent.model.log import StreamInfo, WorkspaceInfo
from manent.testing.builders import a_turn, an_owner, began
from manent.testing.conformance.contract import Contract
from manent.testing.snapshots import take_snapshot
from manent.testing.workbench import ALL, Workbench


class Move:
    """A conversation `c1` with the key `k` in one workspace, and another workspace."""

    def __init__(self, bench: Workbench) -> None:
        self.bench = bench
        self.here, self.there = bench.workspace("here"), bench.workspace("there")
        self.uid = bench.conversation("c1", workspace="here", key="k")
        bench.record(self.uid, a_turn(idempotency_key="i"))

    def to(self, id: str | None = "c1") -> None:
        """Bring it into the other workspace."""
        self.bench.write(lambda tx: tx.move_stream(StreamInfo(self.uid, self.there, id)))

    def found(self, workspace: str | None, id: str) -> dict[str, list[str]]:
        """The uids that each way of asking gives."""
        read = self.bench.read
        return {
            "id": [s.uid for s in read(lambda r: r.find_ids(workspace, id))],
            "beginning": [s.uid for s in read(lambda r: r.find_prefix(workspace, id, ALL))],
            "key": [s.uid for s in read(lambda r: r.find_by_key(workspace, "k"))],
            "newest": [e.uid for e in self.bench.conversations(workspace)],
            "oldest": [e.uid for e in self.bench.conversations(workspace, newest_first=False)],
            "resumable": [e.uid for e in self.bench.conversations(workspace, resumable=True)],
        }


class MoveContract(Contract):
    """What `move_stream`, `move_alias` and `drop_workspace` promise."""

    @pytest.fixture
    def move(self, bench: Workbench) -> Move:
        """A conversation, and where it may go."""
        return Move(bench)

    @pytest.mark.parametrize("id", ["c1", "other"])
    def test_a_conversation_that_moved_is_found_there_and_only_there(
        self, bench: Workbench, move: Move, id: str
    ) -> None:  # N-1
        move.to(id)

        assert set(map(tuple, move.found(move.there, id).values())) == {(move.uid,)}
        assert set(map(tuple, move.found(move.here, id).values())) == {()}
        assert set(map(tuple, move.found(None, id).values())) == {(move.uid,)}
        assert bench.stream(move.uid) == StreamInfo(move.uid, move.there, id)
        assert [(e.id, e.workspace) for e in bench.conversations(None)] == [(id, move.there)]
        row = bench.read(lambda reader: reader.find_row(move.uid))
        assert row is not None and row.workspace == move.there

    def test_another_id_frees_the_one_before(self, bench: Workbench, move: Move) -> None:
        bench.write(lambda tx: tx.move_stream(StreamInfo(move.uid, move.here, "c2")))

        again = bench.conversation("c1", workspace="here")

        assert bench.stream(move.uid) == StreamInfo(move.uid, move.here, "c2")
        assert bench.read(lambda r: [s.uid for s in r.find_ids(move.here, "c1")]) == [again]
        assert bench.read(lambda r: [s.uid for s in r.find_by_key(move.here, "k")]) == [move.uid]

    def test_its_names_are_free_where_it_was(self, bench: Workbench, move: Move) -> None:
        move.to()

        again = bench.conversation("c1", workspace="here", key="k")

        assert bench.read(lambda r: [s.uid for s in r.find_ids(move.here, "c1")]) == [again]
        assert bench.read(lambda r: [s.uid for s in r.find_by_key(move.there, "k")]) == [move.uid]

    def test_events_rows_and_metadata_come_with_it(self, bench: Workbench, move: Move) -> None:
        before = bench.events(move.uid), bench.rows(move.uid), bench.registers(move.uid)
        clock = bench.read(lambda reader: reader.info()).clock

        move.to("c2")

        assert (bench.events(move.uid), bench.rows(move.uid), bench.registers(move.uid)) == before
        assert bench.read(lambda reader: reader.info()).clock == clock

    def test_it_goes_on_where_it_is(self, bench: Workbench, move: Move) -> None:
        move.to("c2")

        bench.record(move.uid, a_turn())
        bench.put_metadata(move.uid, "key", "l")
        bench.refold(move.uid)

        assert bench.listed(move.there) == ["c2"]
        assert bench.read(lambda r: [s.uid for s in r.find_by_key(move.there, "l")]) == [move.uid]
        assert bench.read(lambda r: [*r.find_by_key(move.there, "k"), *r.find_by_key(move.here, "l")]) == []

    def test_moving_to_where_it_is_changes_nothing(self, bench: Workbench, move: Move) -> None:
        before = bench.read(take_snapshot)

        bench.write(lambda tx: tx.move_stream(StreamInfo(move.uid, move.here, "c1")))

        assert bench.read(take_snapshot) == before

    def test_its_owner_stays_behind(self, bench: Workbench, move: Move) -> None:  # O-1
        bench.write(lambda tx: tx.put_owner(move.here, "c1", an_owner()))

        move.to()

        assert bench.read(lambda reader: reader.find_owner(move.there, "c1")) is None
        assert bench.read(lambda reader: reader.find_owner(move.here, "c1")) == an_owner()

    def test_other_conversations_stay_where_they_are(self, bench: Workbench, move: Move) -> None:  # N-1
        mine = bench.conversation("c2", workspace="here", key="l")
        yours = bench.conversation("c2", workspace="there", key="l")
        bench.record(mine, began())
        bench.record(yours, began())

        move.to()

        assert bench.listed(move.here) == ["c2"]
        assert bench.listed(move.there) == ["c2", "c1"]
        assert [bench.stream(uid) for uid in (mine, yours)] == [
            StreamInfo(mine, move.here, "c2"),
            StreamInfo(yours, move.there, "c2"),
        ]
        by_key = bench.read(lambda r: [*r.find_by_key(move.here, "l"), *r.find_by_key(move.there, "l")])
        assert [info.uid for info in by_key] == [mine, yours]

    def test_an_id_that_is_taken_there_is_refused(self, bench: Workbench, move: Move) -> None:
        bench.record(bench.conversation("c1", workspace="there"), began())
        before = bench.read(take_snapshot)

        with pytest.raises(AlreadyExistsError):
            move.to()

        assert bench.read(take_snapshot) == before

    def test_a_key_that_is_taken_there_is_refused(self, bench: Workbench, move: Move) -> None:
        bench.record(bench.conversation("c2", workspace="there", key="k"), began())
        before = bench.read(take_snapshot), move.found(None, "c1")

        with pytest.raises(AlreadyExistsError) as caught:
            move.to()

        assert (bench.read(take_snapshot), move.found(None, "c1")) == before
        assert caught.value.which == "k"

    def test_a_move_that_is_refused_takes_its_whole_transaction_back(
        self, bench: Workbench, move: Move
    ) -> None:  # D-2
        other = bench.conversation("c2", workspace="here")
        bench.conversation("c1", workspace="there")
        before = bench.read(take_snapshot)

        with pytest.raises(AlreadyExistsError), bench.backend.transaction() as tx:
            tx.move_stream(StreamInfo(other, move.there, "c2"))
            tx.move_alias(("key", "here"), move.there)
            tx.move_stream(StreamInfo(move.uid, move.there, "c1"))

        assert bench.read(take_snapshot) == before

    def test_a_workspace_that_is_not_there_takes_nothing_in(self, bench: Workbench, move: Move) -> None:
        before = bench.read(take_snapshot)

        with pytest.raises(NotFoundError):
            bench.write(lambda tx: tx.move_stream(StreamInfo(move.uid, new_uid(), "c1")))

        assert bench.read(take_snapshot) == before

    def test_a_stream_that_is_not_there_is_not_moved(self, bench: Workbench, move: Move) -> None:
        absent = new_uid()

        with pytest.raises(NotFoundError):
            bench.write(lambda tx: tx.move_stream(StreamInfo(absent, move.there, "c2")))

        assert bench.stream(absent) is None

    def test_a_conversation_without_an_event_or_a_key_moves(self, bench: Workbench, move: Move) -> None:
        uid = bench.conversation("empty", workspace="here")

        bench.write(lambda tx: tx.move_stream(StreamInfo(uid, move.there, "empty")))
        bench.record(uid, began())

        assert bench.listed(move.there) == ["empty"]

    def test_a_workspaces_own_stream_moves(self, bench: Workbench, move: Move) -> None:
        (own,), (other,) = (streams_of(bench, workspace) for workspace in (move.here, move.there))

        bench.write(lambda tx: tx.move_stream(StreamInfo(own, move.there, None)))

        assert streams_of(bench, move.here) == ()
        assert streams_of(bench, move.there) == tuple(sorted((own, other)))
        assert bench.stream(own) == StreamInfo(own, move.there, None)

    def test_what_is_left_of_a_deleted_conversation_moves(self, bench: Workbench, move: Move) -> None:
        bench.write(lambda tx: tx.delete_stream(move.uid))

        bench.write(lambda tx: tx.move_stream(StreamInfo(move.uid, move.there, None, deleted=True)))

        assert bench.stream(move.uid) == StreamInfo(move.uid, move.there, None, deleted=True)
        assert len(streams_of(bench, move.there)) == 1

    def test_an_alias_that_moved_leads_to_the_other_workspace(self, bench: Workbench, move: Move) -> None:
        bench.write(lambda tx: tx.move_alias(("key", "here"), move.there))

        assert bench.read(lambda reader: reader.find_workspace("key", "here")) == move.there
        infos = bench.read(lambda r: [r.find_workspace_info(uid) for uid in (move.here, move.there)])
        assert [info and info.aliases for info in infos] == [(), (("key", "here"), ("key", "there"))]

    def test_an_alias_that_nobody_had_leads_there_from_now_on(self, bench: Workbench, move: Move) -> None:
        bench.write(lambda tx: tx.move_alias(("folder", "/odd \x00 \ud83d"), move.there))

        assert bench.read(lambda r: r.find_workspace("folder", "/odd \x00 \ud83d")) == move.there

    def test_an_alias_that_was_dropped_leads_nowhere(self, bench: Workbench, move: Move) -> None:
        for _ in range(2):
            bench.write(lambda tx: tx.move_alias(("key", "here"), None))

        found = bench.read(lambda r: [r.find_workspace("key", name) for name in ("here", "there")])
        assert found == [None, move.there]

    def test_an_alias_of_another_kind_is_another_alias(self, bench: Workbench, move: Move) -> None:
        bench.write(lambda tx: tx.move_alias(("folder", "here"), move.there))
        bench.write(lambda tx: tx.move_alias(("folder", "there"), None))

        found = bench.read(lambda r: [r.find_workspace("key", name) for name in ("here", "there")])
        assert found == [move.here, move.there]

    def test_an_alias_never_leads_to_what_is_not_there(self, bench: Workbench, move: Move) -> None:
        with pytest.raises(NotFoundError):
            bench.write(lambda tx: tx.move_alias(("key", "here"), new_uid()))

        assert bench.read(lambda reader: reader.find_workspace("key", "here")) == move.here

    @pytest.mark.parametrize("kept", ["a conversation", "its own stream", "an alias", "a deleted one"])
    def test_a_workspace_that_holds_anything_is_not_dropped(self, bench: Workbench, kept: str) -> None:
        uid, info = new_uid(), StreamInfo(new_uid(), "", "c1")
        aliases = (("key", "a"),) if kept == "an alias" else ()
        streams = (new_uid(),) if kept == "its own stream" else ()
        bench.write(lambda tx: tx.put_workspace(WorkspaceInfo(uid, streams, aliases)))
        if kept in ("a conversation", "a deleted one"):
            id, deleted = (None, True) if kept == "a deleted one" else ("c1", False)
            bench.write(lambda tx: tx.put_stream(StreamInfo(info.uid, uid, id, deleted)))

        bench.write(lambda tx: tx.drop_workspace(uid))

        assert bench.read(lambda reader: reader.find_workspace_info(uid)) == WorkspaceInfo(
            uid, streams, aliases
        )

    def test_a_workspace_that_holds_nothing_is_dropped_alone(self, bench: Workbench) -> None:
        first, second = sorted((new_uid(), new_uid()))
        for uid in (first, second):
            bench.write(lambda tx, uid=uid: tx.put_workspace(WorkspaceInfo(uid, (), ())))  # type: ignore[misc]

        bench.write(lambda tx: tx.drop_workspace(first))

        assert bench.read(lambda r: [info.uid for info in r.list_workspaces()]) == [second]
        assert bench.read(lambda reader: reader.find_workspace_info(first)) is None

    def test_who_owned_something_there_is_forgotten_with_it(self, bench: Workbench) -> None:  # O-1
        uid = new_uid()
        with bench.backend.transaction() as tx:
            tx.put_workspace(WorkspaceInfo(uid, (), ()))
            tx.put_owner(uid, "c1", an_owner())

        bench.write(lambda tx: tx.drop_workspace(uid))
        bench.write(lambda tx: tx.put_workspace(WorkspaceInfo(uid, (), ())))

        assert bench.read(lambda reader: reader.find_owner(uid, "c1")) is None

    def test_dropping_what_is_not_there_changes_nothing(self, bench: Workbench) -> None:
        bench.conversation()
        before = bench.read(take_snapshot)

        bench.write(lambda tx: tx.drop_workspace(new_uid()))

        assert bench.read(take_snapshot) == before

    def test_a_workspace_from_which_all_has_moved_is_dropped(self, bench: Workbench, move: Move) -> None:
        (own,) = streams_of(bench, move.here)

        with bench.backend.transaction() as tx:
            for stream in (StreamInfo(move.uid, move.there, "c1"), StreamInfo(own, move.there, None)):
                tx.move_stream(stream)
            tx.move_alias(("key", "here"), move.there)
            tx.drop_workspace(move.here)

        assert bench.read(lambda r: [info.uid for info in r.list_workspaces()]) == [move.there]
        assert bench.listed(move.here) == []
        assert bench.listed(bench.workspace("here")) == ["c1"]


def streams_of(bench: Workbench, workspace: str) -> tuple[str, ...]:
    """The uids of a workspace's own streams."""
    info = bench.read(lambda reader: reader.find_workspace_info(workspace))
    return info.streams if info else ()
