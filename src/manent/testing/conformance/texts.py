"""Text: any Python string comes back equal, wherever it stands (T-1)."""

from __future__ import annotations

from hypothesis import given

from manent.codec.canonical import dumps
from manent.model.ids import new_uid
from manent.model.log import StreamInfo, WorkspaceInfo
from manent.testing.builders import a_turn, answered, said
from manent.testing.conformance.contract import Contract
from manent.testing.conformance.sampling import sampled
from manent.testing.strategies import any_text, names
from manent.testing.workbench import ALL, Workbench


class TextContract(Contract):
    """What a store gives back of what it was given."""

    @sampled
    @given(question=any_text(), answer=any_text())
    def test_words_come_back_equal(self, bench: Workbench, question: str, answer: str) -> None:  # T-1
        uid = bench.conversation(new_uid())

        bench.record(uid, a_turn(question, answer), said(question))

        assert bench.texts(uid) == [question, answer, question]

    @sampled
    @given(name=names(), parent=names(), role=names())
    def test_names_of_messages_come_back_equal(
        self, bench: Workbench, name: str, parent: str, role: str
    ) -> None:  # T-1
        uid = bench.conversation(new_uid())

        bench.record(uid, said("a", id=name, under=parent, role=role), answered("b", id="m2", under=name))

        row = bench.message(uid, name)
        assert row is not None
        assert (row.message_id, row.parent_id, row.role) == (name, parent, role)

    @sampled
    @given(id=names(), key=names(), alias=names())
    def test_names_of_conversations_and_workspaces_come_back_equal(
        self, bench: Workbench, id: str, key: str, alias: str
    ) -> None:  # T-1
        workspace, uid = new_uid(), new_uid()

        with bench.backend.transaction() as tx:
            tx.put_workspace(WorkspaceInfo(workspace, (), (("key", f"{uid}{alias}"),)))
            tx.put_stream(StreamInfo(uid, workspace, id))
            tx.put_metadata(uid, "key", key)

        stream = StreamInfo(uid, workspace, id)
        assert bench.read(lambda reader: reader.find_workspace("key", f"{uid}{alias}")) == workspace
        assert bench.read(lambda reader: reader.find_stream(uid)) == stream
        assert bench.read(lambda r: list(r.find_ids(workspace, id))) == [stream]
        assert bench.read(lambda r: list(r.find_by_key(workspace, key))) == [stream]
        assert bench.read(lambda r: list(r.find_prefix(workspace, id[:1], ALL))) == [stream]

    def test_ten_megabytes_come_back_equal(self, bench: Workbench) -> None:  # T-1
        uid = bench.conversation()
        text = "ten megabytes\x00" * 800_000

        bench.record(uid, said(text))

        assert bench.texts(uid) == [text]

    def test_a_native_record_comes_back_equal_however_it_is_kept(self, bench: Workbench) -> None:  # T-1
        uid = bench.conversation()
        short, long = '{"a":1}', '{"a":"' + "again and again " * 500 + '\ud800"}'

        bench.append(uid, said("a", native=short), said("b", native=long))

        kept = [entry.leaves[-1][:2] for entry in bench.events(uid)]
        assert kept == [("native", dumps(short)), ("native", dumps(long))]
