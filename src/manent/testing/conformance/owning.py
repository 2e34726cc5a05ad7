"""Owners: who has a conversation, as recorded, beside the log and never in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manent.errors import NotFoundError
from manent.model.ids import new_uid
from manent.model.owners import Owner, Process
from manent.testing.builders import a_turn, an_owner
from manent.testing.conformance.contract import Contract, Reopen
from manent.testing.conformance.sampling import sampled
from manent.testing.strategies import any_text, names
from manent.testing.workbench import Workbench

INTEGERS = st.integers(-(1 << 63), (1 << 63) - 1)
OWNERS = st.builds(
    Owner,
    process=st.builds(Process, any_text(), any_text(), any_text(), INTEGERS, st.none() | INTEGERS),
    epoch=INTEGERS,
    writer=st.sampled_from(("00" * 8, "ff" * 8)),
    claimed_ns=INTEGERS,
    heartbeat_ns=INTEGERS,
)


class OwnerContract(Contract):
    """What `Transaction.put_owner` and `Reader.find_owner` promise."""

    def test_an_owner_comes_back_as_it_was_put(self, bench: Workbench) -> None:  # O-1
        workspace = bench.workspace()
        bench.conversation("c1")

        bench.write(lambda tx: tx.put_owner(workspace, "c1", an_owner()))

        assert owner_of(bench, workspace, "c1") == an_owner()

    def test_what_nobody_owns_has_no_owner(self, bench: Workbench) -> None:  # O-1
        workspace = bench.workspace()
        bench.conversation("c1")

        assert owner_of(bench, workspace, "c1") is None
        assert owner_of(bench, new_uid(), "c1") is None

    def test_another_owner_replaces_the_one_before_in_every_field(self, bench: Workbench) -> None:  # O-1
        workspace = bench.workspace()
        other = an_owner(
            epoch=9, writer="cd" * 8, heartbeat_ns=5, host="i", boot_id="c", namespace="", pid=8, started=None
        )
        bench.write(lambda tx: tx.put_owner(workspace, "c1", an_owner()))

        bench.write(lambda tx: tx.put_owner(workspace, "c1", other))

        assert owner_of(bench, workspace, "c1") == other

    def test_an_owner_that_let_go_is_none(self, bench: Workbench) -> None:  # O-1
        workspace = bench.workspace()
        for id in ("c1", "c2"):
            put_owner(bench, workspace, id, an_owner())

        put_owner(bench, workspace, "c1", None)

        assert owner_of(bench, workspace, "c1") is None
        assert owner_of(bench, workspace, "c2") == an_owner()

    def test_letting_go_of_what_nobody_owns_changes_nothing(self, bench: Workbench) -> None:  # O-1
        workspace = bench.workspace()

        put_owner(bench, workspace, "c1", None)
        put_owner(bench, new_uid(), "c1", None)

        assert owner_of(bench, workspace, "c1") is None

    def test_a_conversation_may_be_owned_before_it_is_there(self, bench: Workbench) -> None:  # O-1
        workspace = bench.workspace()
        put_owner(bench, workspace, "soon", an_owner())

        uid = bench.conversation("soon")

        assert owner_of(bench, workspace, "soon") == an_owner()
        assert bench.read(lambda r: [s.uid for s in r.find_ids(workspace, "soon")]) == [uid]

    def test_an_owner_needs_a_workspace(self, bench: Workbench) -> None:
        absent = new_uid()

        with pytest.raises(NotFoundError):
            put_owner(bench, absent, "c1", an_owner())

        assert owner_of(bench, absent, "c1") is None

    def test_an_owner_is_found_in_its_workspace_only(self, bench: Workbench) -> None:  # N-1
        mine, yours = bench.workspace("mine"), bench.workspace("yours")

        put_owner(bench, yours, "c1", an_owner(epoch=2))

        assert owner_of(bench, mine, "c1") is None
        assert bench.read(lambda reader: list(reader.list_owners(mine))) == []
        assert bench.read(lambda reader: list(reader.list_owners(yours))) == [("c1", an_owner(epoch=2))]
        assert owner_of(bench, yours, "c1") == an_owner(epoch=2)

    def test_each_workspace_has_an_owner_of_its_own(self, bench: Workbench) -> None:  # N-1
        mine, yours = bench.workspace("mine"), bench.workspace("yours")
        put_owner(bench, mine, "c1", an_owner(epoch=1))
        put_owner(bench, yours, "c1", an_owner(epoch=2))
        assert [owner_of(bench, w, "c1") for w in (mine, yours)] == [an_owner(epoch=1), an_owner(epoch=2)]

        put_owner(bench, mine, "c1", None)

        assert [owner_of(bench, w, "c1") for w in (mine, yours)] == [None, an_owner(epoch=2)]

    def test_an_id_is_owned_exactly(self, bench: Workbench) -> None:
        workspace = bench.workspace()

        put_owner(bench, workspace, "c1", an_owner())

        assert [owner_of(bench, workspace, id) for id in ("C1", "c", "c11", "c1 ")] == [None] * 4

    def test_an_owner_moves_nothing_and_is_in_no_log(self, bench: Workbench) -> None:  # L-8, O-1
        workspace = bench.workspace()
        uid = bench.conversation("c1")
        bench.record(uid, a_turn())
        before = (bench.log(), bench.rows(uid), bench.conversations(workspace), bench.registers(uid))

        put_owner(bench, workspace, "c1", an_owner())

        assert (bench.log(), bench.rows(uid), bench.conversations(workspace), bench.registers(uid)) == before
        assert bench.read(lambda reader: reader.info()).clock == before[0][-1].header.seq

    def test_an_owner_is_put_with_all_of_its_transaction_or_not_at_all(self, bench: Workbench) -> None:  # D-2
        workspace = bench.workspace()
        put_owner(bench, workspace, "c1", an_owner(epoch=1))

        with pytest.raises(KeyboardInterrupt), bench.backend.transaction() as tx:
            tx.put_owner(workspace, "c1", an_owner(epoch=2))
            raise KeyboardInterrupt

        assert owner_of(bench, workspace, "c1") == an_owner(epoch=1)

    def test_an_owner_is_there_after_closing(self, bench: Workbench, reopen: Reopen) -> None:  # D-1, O-1
        workspace = bench.workspace()
        put_owner(bench, workspace, "c1", an_owner())

        assert owner_of(reopen(), workspace, "c1") == an_owner()

    @pytest.mark.parametrize("odd", ["", "\x00", "\ud83d", "\\0", "\U0001f600", "host.example", "h" * 4000])
    def test_odd_text_of_a_process_comes_back_equal(self, bench: Workbench, odd: str) -> None:  # T-1
        workspace, owner = bench.workspace(), an_owner(host=odd, boot_id=odd, namespace=odd)

        put_owner(bench, workspace, "c1", owner)

        assert owner_of(bench, workspace, "c1") == owner

    @sampled
    @given(id=names(), owner=OWNERS)
    def test_any_owner_of_any_id_comes_back_equal(
        self, bench: Workbench, id: str, owner: Owner
    ) -> None:  # T-1
        workspace = bench.workspace()

        put_owner(bench, workspace, id, owner)

        assert owner_of(bench, workspace, id) == owner


def put_owner(bench: Workbench, workspace: str, id: str, owner: Owner | None) -> None:
    """Say who owns a conversation."""
    bench.write(lambda tx: tx.put_owner(workspace, id, owner))


def owner_of(bench: Workbench, workspace: str, id: str) -> Owner | None:
    """Who owns a conversation."""
    return bench.read(lambda reader: reader.find_owner(workspace, id))
