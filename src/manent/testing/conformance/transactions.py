"""Transactions: one at a time, whole or absent, whatever ends them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from manent.errors import StorageFullError, StoreClosedError
from manent.history import recording
from manent.model.ids import BEFORE_ALL, new_uid
from manent.model.log import StreamInfo, WorkspaceInfo
from manent.storage.port import Backend, Transaction
from manent.storage.wrappers import FaultPlan, faulty
from manent.testing.builders import a_conversation, a_turn, pending, said, sealed
from manent.testing.conformance.contract import Contract, require
from manent.testing.faults import failing_at_each_statement
from manent.testing.snapshots import take_snapshot
from manent.testing.workbench import Workbench, workspace_named


class Cancelled(BaseException):
    """Stands for what ends a task from outside: no Exception, like asyncio's own."""


class TransactionContract(Contract):
    """What `Backend.transaction` and `Backend.reading` promise."""

    def test_a_transaction_reads_what_it_has_written(self, bench: Workbench) -> None:  # P-2
        uid = bench.conversation()

        with bench.backend.transaction() as tx:
            event = recording.record(tx, uid, pending(said("hi", id="m1")))[0]
            tx.put_metadata(uid, "title", "t")
            found = tx.read.find_message(uid, "m1")
            entry = tx.read.find_entry(uid, event.header.stamp)
            title = tx.read.read_registers(uid)[0].value

        assert found is not None and found.turn_seq == event.header.seq
        assert entry is not None and entry.leaves == event.leaves
        assert title == "t"

    def test_leaving_the_block_commits(self, bench: Workbench) -> None:  # L-2
        uid = bench.conversation()

        with bench.backend.transaction() as tx:
            recording.record(tx, uid, pending(said("hi")))

        assert bench.texts(uid) == ["hi"]

    @pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, Cancelled])
    def test_any_exception_takes_all_of_it_back(
        self, bench: Workbench, error: type[BaseException]
    ) -> None:  # D-2
        uid = bench.conversation("c1", key="k")
        stamp = bench.record(uid, *a_conversation(turns=2))[1].header.stamp
        before = bench.read(take_snapshot)

        with pytest.raises(error), bench.backend.transaction() as tx:
            _write_everything(tx, uid)
            tx.erase_leaves(uid, stamp, ["content"])
            tx.clear(uid)
            raise error

        assert bench.read(take_snapshot) == before

    def test_after_a_rollback_the_next_transaction_works(self, bench: Workbench) -> None:  # D-2
        uid = bench.conversation()
        with pytest.raises(ValueError), bench.backend.transaction() as tx:
            tx.append(uid, pending(said("lost")))
            raise ValueError

        bench.record(uid, said("kept"))

        assert bench.texts(uid) == ["kept"]

    def test_a_fault_at_any_statement_leaves_the_store_as_it_was(self, bench: Workbench) -> None:  # D-2
        uid = bench.conversation()
        bench.record(uid, *a_conversation())
        before = bench.read(take_snapshot)

        def write(backend: Backend) -> None:
            with backend.transaction() as tx:
                _write_everything(tx, uid)

        after = [bench.read(take_snapshot) for _ in failing_at_each_statement(bench.backend, write)]

        assert len(after) > 10
        assert after == [before] * len(after)
        assert bench.read(take_snapshot) != before

    @pytest.mark.parametrize("error", [StorageFullError(store="here"), KeyboardInterrupt()])
    def test_a_commit_that_fails_leaves_the_store_as_it_was(
        self, bench: Workbench, error: BaseException
    ) -> None:  # D-2, D-3
        uid = bench.conversation()
        before = bench.read(take_snapshot)

        broken = Workbench(faulty(bench.backend, FaultPlan(2, error)))
        with pytest.raises(type(error)):
            broken.append(uid, said("lost"))

        assert bench.read(take_snapshot) == before
        broken.record(uid, said("kept"))
        assert bench.texts(uid) == ["kept"]

    def test_readers_see_the_last_commit_while_a_transaction_is_open(self, bench: Workbench) -> None:  # L-2
        require(bench.backend, "reads_beside_writes")
        uid = bench.conversation()
        bench.record(uid, said("committed"))
        before = bench.read(take_snapshot)

        with bench.backend.transaction() as tx:
            recording.record(tx, uid, pending(said("not yet")))
            tx.put_metadata(uid, "title", "not yet")
            meanwhile = bench.read(take_snapshot)

        assert meanwhile == before
        assert bench.texts(uid) == ["committed", "not yet"]

    def test_a_reader_keeps_the_moment_that_it_began_in(self, bench: Workbench) -> None:  # L-6
        require(bench.backend, "reads_beside_writes")
        uid = bench.conversation()
        stamp = bench.record(uid, said("first"))[0].header.stamp

        with bench.backend.reading() as reader:
            before = take_snapshot(reader)
            bench.record(uid, said("second"))
            bench.erase(uid, stamp, "content")
            bench.put_metadata(uid, "title", "since")
            after = take_snapshot(reader)

        assert after == before
        assert len(bench.messages(uid)) == 2

    def test_reading_changes_nothing(self, bench: Workbench) -> None:  # O-4
        uid = bench.conversation()
        bench.record(uid, *a_conversation())
        before = bench.read(take_snapshot)

        bench.read(lambda reader: reader.find_workspace("key", "nobody"))
        bench.read(lambda reader: reader.read_branch(uid, "nobody", 5))

        assert bench.read(take_snapshot) == before

    def test_a_transaction_that_writes_nothing_changes_nothing(self, bench: Workbench) -> None:  # O-4
        bench.conversation()
        before = bench.read(take_snapshot)

        with bench.backend.transaction() as tx:
            tx.read.info()

        assert bench.read(take_snapshot) == before

    def test_an_exception_in_a_read_comes_through_and_the_next_read_works(
        self, bench: Workbench
    ) -> None:  # D-2
        bench.conversation()

        with pytest.raises(ValueError), bench.backend.reading():
            raise ValueError

        assert bench.read(lambda reader: reader.info()).clock == 0

    def test_the_writer_is_known_once_something_was_written(self, bench: Workbench) -> None:  # L-4
        uid = bench.conversation()

        writer = bench.append(uid, said("a"))[0].header.writer

        assert bench.backend.writer == writer
        assert len(bytes.fromhex(writer)) == 8


class CloseContract(Contract):
    """A store that was closed does nothing."""

    def test_closing_twice_is_closing(self, bench: Workbench) -> None:
        bench.backend.close()
        bench.backend.close()

        with pytest.raises(StoreClosedError):
            bench.read(lambda reader: reader.info())

    @pytest.mark.parametrize(
        "use",
        [
            lambda backend: backend.transaction().__enter__(),
            lambda backend: backend.reading().__enter__(),
            lambda backend: backend.blobs.put("00" * 16, [b"x"]),
            lambda backend: list(backend.blobs.list_digests("00" * 16)),
            lambda backend: backend.drafts.put("00" * 16, "d", b"x"),
            lambda backend: backend.drafts.get("00" * 16, "d"),
        ],
    )
    def test_a_closed_store_refuses(self, bench: Workbench, use: Callable[[Backend], object]) -> None:
        bench.workspace()
        bench.backend.close()

        with pytest.raises(StoreClosedError):
            use(bench.backend)


def _write_everything(tx: Transaction, uid: str) -> None:
    """One of each write, and some reads in between."""
    other, workspace = new_uid(), new_uid()
    tx.put_workspace(WorkspaceInfo(workspace, (new_uid(),), (("key", "new"),)))
    tx.put_stream(StreamInfo(other, workspace_named(tx, "new"), "c2"))
    recording.record(tx, uid, pending(a_turn(idempotency_key="k"), said("more")))
    recording.adopt(tx, sealed(other, *a_conversation(), seq=90))
    tx.put_metadata(uid, "title", "new")
    tx.put_metadata(other, "key", "key of c2")
    tx.erase_leaves(other, tx.read.read_stream(other, BEFORE_ALL, 2)[1].header.stamp, ["content"])
    recording.refold(tx, other)
