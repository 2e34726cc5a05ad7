"""What is there after a store was closed and opened again."""

from __future__ import annotations

import pytest

from manent.codec.sealing import hash_of
from manent.testing.builders import a_conversation, a_turn, pending, said
from manent.testing.conformance.contract import Contract, OpenBackend, Reopen, require
from manent.testing.snapshots import take_snapshot
from manent.testing.workbench import Workbench


class DurabilityContract(Contract):
    """What a backend that keeps anything promises."""

    def test_everything_is_there_after_closing(self, bench: Workbench, reopen: Reopen) -> None:  # D-1
        uid = bench.conversation("c1", key="k")
        stamp = bench.record(uid, *a_conversation(turns=2), a_turn(idempotency_key="i"))[1].header.stamp
        bench.put_metadata(uid, "title", "kept")
        bench.erase(uid, stamp, "content")
        digest = bench.backend.blobs.put(bench.workspace(), [b"picture"])
        bench.backend.drafts.put(uid, "d1", b"so far")
        before = bench.read(take_snapshot), bench.read(lambda reader: reader.info())

        again = reopen()

        assert (again.read(take_snapshot), again.read(lambda reader: reader.info())) == before
        assert b"".join(again.backend.blobs.get(again.workspace(), digest)) == b"picture"
        assert again.backend.drafts.get(uid, "d1") == b"so far"

    def test_a_chain_goes_on_after_closing(self, bench: Workbench, reopen: Reopen) -> None:  # C-2
        uid = bench.conversation()
        before = bench.append(uid, said("before"))[0]

        after = reopen().append(uid, said("after"))[0]

        assert after.header.writer == before.header.writer
        assert after.header.seq > before.header.seq
        assert after.header.prev_hash == hash_of(before)

    def test_what_was_rolled_back_is_not_there_after_closing(
        self, bench: Workbench, reopen: Reopen
    ) -> None:  # D-2
        uid = bench.conversation()
        with pytest.raises(KeyboardInterrupt), bench.backend.transaction() as tx:
            tx.append(uid, pending(said("lost")))
            raise KeyboardInterrupt

        assert reopen().events(uid) == []

    def test_another_name_is_another_store(self, bench: Workbench, open_backend: OpenBackend) -> None:
        require(bench.backend, "durable")
        bench.record(bench.conversation(), said("here"))

        other = open_backend("other")

        assert Workbench(other).log() == []
        other.close()
