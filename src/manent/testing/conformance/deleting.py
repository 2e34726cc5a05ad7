"""Deleting a conversation: its names are free, its rows are gone, and its chain can still be checked."""

from __future__ import annotations

import pytest

from manent.codec.sealing import hash_of
from manent.errors import AlreadyExistsError, NotFoundError
from manent.model.changes import ConversationTouched
from manent.model.ids import Stamp, new_uid
from manent.model.log import StreamInfo
from manent.testing.builders import a_conversation, a_turn, an_owner, began, linked, said, sealed
from manent.testing.conformance.contract import Contract
from manent.testing.workbench import ALL, Workbench


def a_full_conversation(bench: Workbench) -> str:
    """A conversation `c1` of everything: messages, turns, a link, keys, metadata and an owner."""
    uid, workspace = bench.conversation("c1", key="k"), bench.workspace()
    bench.record(uid, *a_conversation(turns=2), a_turn(idempotency_key="i"), linked("continues", new_uid()))
    bench.put_metadata(uid, "title", "On names")
    bench.put_metadata(uid, "end_reason", "done")
    bench.write(lambda tx: tx.put_owner(workspace, "c1", an_owner()))
    return uid


def delete(bench: Workbench, uid: str) -> None:
    """Delete a conversation as the port can: its leaves are erased by others."""
    bench.write(lambda tx: tx.delete_stream(uid))


class DeletionContract(Contract):
    """What `Transaction.delete_stream` promises."""

    def test_the_id_and_the_key_are_free_again(self, bench: Workbench) -> None:
        workspace, uid = bench.workspace(), a_full_conversation(bench)

        delete(bench, uid)
        again = bench.conversation("c1", key="k")

        found = bench.read(lambda r: [*r.find_ids(workspace, "c1"), *r.find_by_key(workspace, "k")])
        assert found == [StreamInfo(again, workspace, "c1")] * 2

    def test_rows_metadata_and_owner_are_gone(self, bench: Workbench) -> None:
        workspace, uid = bench.workspace(), a_full_conversation(bench)

        delete(bench, uid)

        assert (bench.rows(uid), bench.links(uid), bench.messages(uid)) == ([], [], [])
        assert (bench.row(uid), bench.registers(uid)) == (None, {})
        assert bench.read(lambda reader: reader.find_owner(workspace, "c1")) is None
        assert bench.measures(uid=uid).conversations == 0

    def test_its_drafts_are_gone_and_those_of_others_stay(self, bench: Workbench) -> None:
        uid, other = a_full_conversation(bench), bench.conversation("c2")
        for each in (uid, other):
            bench.backend.drafts.put(each, "d1", b"so far")

        delete(bench, uid)

        kept = [list(bench.backend.drafts.list_ids(each)) for each in (uid, other)]
        assert kept == [[], ["d1"]]

    def test_its_drafts_stay_when_the_deletion_is_rolled_back(self, bench: Workbench) -> None:  # D-2
        uid = a_full_conversation(bench)
        bench.backend.drafts.put(uid, "d1", b"so far")

        with pytest.raises(KeyboardInterrupt), bench.backend.transaction() as tx:
            tx.delete_stream(uid)
            raise KeyboardInterrupt

        assert list(bench.backend.drafts.list_ids(uid)) == ["d1"]

    def test_the_new_holder_of_the_id_inherits_nothing(self, bench: Workbench) -> None:
        workspace, uid = bench.workspace(), a_full_conversation(bench)
        delete(bench, uid)

        again = bench.conversation("c1")
        bench.record(again, began())

        assert bench.registers(again) == {}
        assert bench.listed(workspace, resumable=True) == ["c1"]

    def test_headers_and_tips_stay(self, bench: Workbench) -> None:  # C-4
        uid = a_full_conversation(bench)
        events, tips = bench.events(uid), bench.read(lambda reader: list(reader.read_tips(uid)))

        delete(bench, uid)

        assert [event.header for event in bench.events(uid)] == [event.header for event in events]
        assert [hash_of(event) for event in bench.events(uid)] == [hash_of(event) for event in events]
        assert bench.read(lambda reader: list(reader.read_tips(uid))) == tips

    def test_what_is_left_is_known_as_deleted(self, bench: Workbench) -> None:
        workspace, uid = bench.workspace(), a_full_conversation(bench)

        delete(bench, uid)

        assert bench.stream(uid) == StreamInfo(uid, workspace, None, deleted=True)
        assert uid in bench.read(lambda reader: reader.read_uids("", ALL))

    def test_no_name_and_no_list_shows_it(self, bench: Workbench) -> None:
        workspace, uid = bench.workspace(), a_full_conversation(bench)
        other = bench.conversation("c2", key="l")
        bench.record(other, began())
        clock = bench.read(lambda reader: reader.info()).clock

        delete(bench, uid)

        found = bench.read(lambda r: [*r.find_prefix(workspace, "c", ALL), *r.find_prefix(None, "", ALL)])
        assert [info.uid for info in found] == [other, other]
        assert bench.read(lambda r: [*r.find_ids(None, "c1"), *r.find_by_key(None, "k")]) == []
        assert bench.listed(workspace) == bench.listed(None) == ["c2"]
        assert bench.listed(workspace, as_of=clock, newest_first=False) == ["c2"]

    def test_links_of_others_to_it_stay(self, bench: Workbench) -> None:
        uid, other = a_full_conversation(bench), bench.conversation("c2")
        bench.record(other, linked("continues", uid))

        delete(bench, uid)

        assert [each for each, _ in bench.links_to(uid)] == [other]

    def test_it_is_none_of_the_workspaces_own_streams(self, bench: Workbench) -> None:
        workspace, uid = bench.workspace(), a_full_conversation(bench)
        before = bench.read(lambda reader: reader.find_workspace_info(workspace))

        delete(bench, uid)

        assert bench.read(lambda reader: reader.find_workspace_info(workspace)) == before
        assert before is not None and len(before.streams) == 1

    def test_other_conversations_stay_as_they_are(self, bench: Workbench) -> None:
        workspace, uid = bench.workspace(), a_full_conversation(bench)
        other = bench.conversation("c2", key="l")
        bench.record(other, a_turn(idempotency_key="i"), linked("continues", uid))
        bench.put_metadata(other, "title", "kept")
        bench.write(lambda tx: tx.put_owner(workspace, "c2", an_owner()))
        before = bench.rows(other), bench.registers(other), bench.events(other)

        delete(bench, uid)

        assert (bench.rows(other), bench.registers(other), bench.events(other)) == before
        assert bench.read(lambda reader: reader.find_owner(workspace, "c2")) == an_owner()
        assert bench.read(lambda r: [s.uid for s in r.find_by_key(workspace, "l")]) == [other]

    def test_deleting_again_changes_nothing(self, bench: Workbench) -> None:
        workspace, uid = bench.workspace(), a_full_conversation(bench)
        delete(bench, uid)
        again = bench.conversation("c1", key="k")
        bench.write(lambda tx: tx.put_owner(workspace, "c1", an_owner(epoch=5)))
        before = bench.log()

        delete(bench, uid)

        assert bench.log() == before
        assert bench.stream(again) == StreamInfo(again, workspace, "c1")
        assert bench.registers(again) == {"key": "k"}
        assert bench.read(lambda reader: reader.find_owner(workspace, "c1")) == an_owner(epoch=5)

    def test_nothing_is_said_in_it_any_more(self, bench: Workbench) -> None:
        uid = a_full_conversation(bench)
        delete(bench, uid)
        before = bench.log()

        with pytest.raises(NotFoundError):
            bench.append(uid, said("too late"))
        with pytest.raises(NotFoundError):
            bench.put_metadata(uid, "key", "k")

        assert (bench.log(), bench.registers(uid)) == (before, {})

    def test_nothing_is_said_in_it_later_in_the_same_transaction(self, bench: Workbench) -> None:
        uid = a_full_conversation(bench)

        with pytest.raises(NotFoundError), bench.backend.transaction() as tx:
            tx.put_metadata(uid, "title", "last words")
            tx.delete_stream(uid)
            tx.put_metadata(uid, "title", "more words")

        assert bench.registers(uid)["title"] == "On names"

    def test_nothing_makes_it_a_conversation_again(self, bench: Workbench) -> None:  # I-5
        uid = a_full_conversation(bench)
        delete(bench, uid)

        bench.adopt(*sealed(uid, began(), writer="cd" * 8, seq=900))
        bench.apply(uid, ConversationTouched(Stamp(901, "cd" * 8), None))

        assert bench.row(uid) is None
        assert bench.listed(None) == bench.listed(None, resumable=True) == []

    def test_it_is_counted_no_more(self, bench: Workbench) -> None:
        workspace, uid = bench.workspace(), a_full_conversation(bench)
        bench.record(bench.conversation("c2"), began())
        assert bench.read(lambda reader: reader.count_conversations(workspace)) == 2

        delete(bench, uid)

        assert bench.read(lambda reader: reader.count_conversations(workspace)) == 1

    def test_its_uid_is_not_given_again(self, bench: Workbench) -> None:  # I-5
        workspace, uid = bench.workspace(), a_full_conversation(bench)
        delete(bench, uid)

        with pytest.raises(AlreadyExistsError):
            bench.write(lambda tx: tx.put_stream(StreamInfo(uid, workspace, "c1")))

        assert bench.stream(uid) == StreamInfo(uid, workspace, None, deleted=True)
        assert bench.read(lambda reader: list(reader.find_ids(workspace, "c1"))) == []

    def test_what_is_left_of_one_can_be_brought_in(self, bench: Workbench) -> None:  # I-4
        workspace, uid = bench.workspace(), new_uid()

        bench.write(lambda tx: tx.put_stream(StreamInfo(uid, workspace, None, deleted=True)))

        assert bench.stream(uid) == StreamInfo(uid, workspace, None, deleted=True)
        info = bench.read(lambda reader: reader.find_workspace_info(workspace))
        assert info is not None and uid not in info.streams

    def test_what_is_not_there_cannot_be_deleted(self, bench: Workbench) -> None:
        bench.workspace()

        with pytest.raises(NotFoundError):
            delete(bench, new_uid())

    def test_a_deletion_that_is_rolled_back_deleted_nothing(self, bench: Workbench) -> None:  # D-2
        workspace, uid = bench.workspace(), a_full_conversation(bench)
        before = bench.rows(uid), bench.registers(uid), bench.stream(uid)

        with pytest.raises(KeyboardInterrupt), bench.backend.transaction() as tx:
            tx.delete_stream(uid)
            raise KeyboardInterrupt

        assert (bench.rows(uid), bench.registers(uid), bench.stream(uid)) == before
        assert bench.read(lambda reader: reader.find_owner(workspace, "c1")) == an_owner()
        assert bench.read(lambda r: [s.uid for s in r.find_by_key(workspace, "k")]) == [uid]
