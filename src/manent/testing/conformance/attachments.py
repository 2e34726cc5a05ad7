"""Blobs and drafts: the two ports beside the store."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from blake3 import blake3

from manent.errors import NotFoundError
from manent.testing.conformance.contract import Contract
from manent.testing.workbench import Workbench

U, V = "11" * 16, "22" * 16


class BlobContract(Contract):
    """What `Blobs` promises."""

    def test_a_blob_comes_back_byte_for_byte(self, bench: Workbench) -> None:
        blobs, workspace = bench.backend.blobs, bench.workspace()
        data = bytes(range(256)) * 4_000

        digest = blobs.put(workspace, [data[:10], b"", data[10:]])

        assert b"".join(blobs.get(workspace, digest)) == data
        assert digest == blake3(data).hexdigest()

    def test_an_empty_blob_is_a_blob(self, bench: Workbench) -> None:
        blobs, workspace = bench.backend.blobs, bench.workspace()

        digest = blobs.put(workspace, [])

        assert b"".join(blobs.get(workspace, digest)) == b""
        assert list(blobs.list_digests(workspace)) == [digest]

    def test_the_same_bytes_again_change_nothing(self, bench: Workbench) -> None:
        blobs, workspace = bench.backend.blobs, bench.workspace()

        first, second = blobs.put(workspace, [b"ab", b"c"]), blobs.put(workspace, [b"a", b"bc"])

        assert first == second
        assert list(blobs.list_digests(workspace)) == [first]
        assert b"".join(blobs.get(workspace, first)) == b"abc"

    def test_a_blob_that_was_dropped_is_gone(self, bench: Workbench) -> None:  # E-1
        blobs, workspace = bench.backend.blobs, bench.workspace()
        digest = blobs.put(workspace, [b"x"])

        assert blobs.drop(workspace, digest) is True

        assert blobs.drop(workspace, digest) is False
        with pytest.raises(NotFoundError):
            b"".join(blobs.get(workspace, digest))

    def test_digests_are_sorted(self, bench: Workbench) -> None:
        blobs, workspace = bench.backend.blobs, bench.workspace()

        digests = [blobs.put(workspace, [text]) for text in (b"one", b"two", b"three")]

        assert list(blobs.list_digests(workspace)) == sorted(digests)

    def test_a_blob_whose_source_fails_is_absent(self, bench: Workbench) -> None:  # D-2
        blobs, workspace = bench.backend.blobs, bench.workspace()

        def broken() -> Iterator[bytes]:
            yield b"a beginning"
            raise OSError

        with pytest.raises(OSError):
            blobs.put(workspace, broken())

        assert list(blobs.list_digests(workspace)) == []
        assert list(blobs.list_digests(workspace)) == [] and blobs.put(workspace, [b"next"])

    def test_a_blob_is_dropped_with_its_transaction_and_in_its_workspace(
        self, bench: Workbench
    ) -> None:  # N-1, D-2
        mine, yours = bench.workspace("mine"), bench.workspace("yours")
        digests = {bench.backend.blobs.put(workspace, [b"picture"]) for workspace in (mine, yours)}
        (digest,) = digests
        with pytest.raises(KeyboardInterrupt), bench.backend.transaction() as tx:
            assert tx.blobs.drop(mine, digest)
            raise KeyboardInterrupt
        assert list(bench.backend.blobs.list_digests(mine)) == [digest]

        with bench.backend.transaction() as tx:
            dropped = [tx.blobs.drop(mine, digest) for _ in range(2)]

        assert dropped == [True, False]
        assert list(bench.backend.blobs.list_digests(mine)) == []
        assert list(bench.backend.blobs.list_digests(yours)) == [digest]

    def test_a_blob_is_kept_with_its_transaction_or_not_at_all(self, bench: Workbench) -> None:  # D-2
        blobs, workspace = bench.backend.blobs, bench.workspace()
        with pytest.raises(KeyboardInterrupt), bench.backend.transaction() as tx:
            tx.blobs.put(workspace, [b"a picture"])
            raise KeyboardInterrupt
        assert list(blobs.list_digests(workspace)) == []

        with bench.backend.transaction() as tx:
            digest = tx.blobs.put(workspace, [b"a ", b"picture"])
            inside = list(tx.blobs.list_digests(workspace)), b"".join(tx.blobs.get(workspace, digest))

        assert inside == ([digest], b"a picture")
        assert b"".join(blobs.get(workspace, digest)) == b"a picture"

    def test_a_transaction_gives_a_blob_to_another_workspace(self, bench: Workbench) -> None:  # N-1
        here, there = bench.workspace("here"), bench.workspace("there")
        data = bytes(range(256)) * 4_000
        digest = bench.backend.blobs.put(here, [data])

        with bench.backend.transaction() as tx:
            tx.blobs.put(there, tx.blobs.get(here, digest))
            tx.blobs.drop(here, digest)

        assert list(bench.backend.blobs.list_digests(here)) == []
        assert b"".join(bench.backend.blobs.get(there, digest)) == data


class DraftContract(Contract):
    """What `Drafts` promises."""

    def test_a_draft_is_its_last_state(self, bench: Workbench) -> None:  # D-4
        drafts = bench.backend.drafts

        drafts.put(U, "d1", b"The answer")
        drafts.put(U, "d1", b"The answer is \x00\xff")

        assert drafts.get(U, "d1") == b"The answer is \x00\xff"
        assert list(drafts.list_ids(U)) == ["d1"]

    def test_a_draft_that_was_dropped_is_gone(self, bench: Workbench) -> None:  # D-4
        drafts = bench.backend.drafts
        drafts.put(U, "d1", b"")

        assert drafts.drop(U, "d1") is True

        assert drafts.drop(U, "d1") is False
        assert drafts.get(U, "d1") is None

    def test_conversations_have_drafts_of_their_own(self, bench: Workbench) -> None:  # N-1
        drafts = bench.backend.drafts
        drafts.put(U, "d2", b"ours")
        drafts.put(U, "d1", b"ours")
        drafts.put(V, "d1", b"theirs")

        drafts.drop(V, "d1")

        assert drafts.get(U, "d1") == b"ours"
        assert drafts.get(V, "d2") is None
        assert list(drafts.list_ids(U)) == ["d1", "d2"]
        assert list(drafts.list_ids(V)) == []

    @pytest.mark.parametrize("draft_id", ["\x00", "\ud800", "../../etc/passwd", "Straße", " "])
    def test_a_draft_is_named_by_any_text(self, bench: Workbench, draft_id: str) -> None:  # T-1, N-2
        drafts = bench.backend.drafts

        drafts.put(U, draft_id, b"x")

        assert drafts.get(U, draft_id) == b"x"
        assert list(drafts.list_ids(U)) == [draft_id]
