"""Erasing: bytes and salts go, digests stay, and the chain holds."""

from __future__ import annotations

import pytest

from manent.codec.sealing import digest_of, hash_of
from manent.errors import NotFoundError
from manent.model.ids import Stamp, new_uid
from manent.model.log import Leaf, LogEntry
from manent.testing.builders import a_turn, answered, edited, said
from manent.testing.conformance.contract import Contract
from manent.testing.workbench import Workbench


class ErasureContract(Contract):
    """What `Transaction.erase_leaves` promises."""

    def test_an_erased_leaf_keeps_its_digest_and_nothing_else(self, bench: Workbench) -> None:  # C-2
        uid = bench.conversation()
        entry = bench.record(uid, said("secret", author="ada"))[0]
        digests = {leaf.name: digest_of(leaf) for leaf in entry.leaves}

        erased = bench.erase(uid, entry.header.stamp, "content")

        skeleton, content, author = bench.events(uid)[0].leaves
        assert erased == 1
        assert content == Leaf("content", None, None, digests["content"])
        assert (skeleton, author) == (entry.leaves[0], entry.leaves[2])

    def test_the_hash_of_the_event_stays(self, bench: Workbench) -> None:  # E-2
        uid = bench.conversation()
        before = bench.append(uid, said("a"), a_turn(author="ada"), said("b"))

        bench.erase(uid, before[1].header.stamp, "question", "answer", "author")

        after = bench.events(uid)
        assert [hash_of(entry) for entry in after] == [hash_of(entry) for entry in before]
        assert [entry.header for entry in after] == [entry.header for entry in before]
        assert after[2].header.prev_hash == hash_of(after[1])

    def test_the_digest_is_that_of_the_salted_bytes(self, bench: Workbench) -> None:  # C-2
        uid = bench.conversation()
        one, two = bench.append(uid, said("yes"), said("yes"))

        bench.erase(uid, one.header.stamp, "content")
        bench.erase(uid, two.header.stamp, "content")

        first, second = (entry.leaves[1].digest for entry in bench.events(uid))
        assert first != second
        assert len(first or b"") == 32

    def test_readers_find_the_message_without_its_words(self, bench: Workbench) -> None:  # E-2
        uid = bench.conversation()
        entry = bench.record(uid, a_turn("secret", "public"))[0]

        bench.erase(uid, entry.header.stamp, "question")

        question, answer = bench.messages(uid)
        assert question.leaves == (("question", None),)
        assert answer.leaves == (("answer", b'"public"'),)

    def test_an_edit_and_what_it_replaced_are_erased_alone(self, bench: Workbench) -> None:  # E-2
        uid = bench.conversation()
        said_first, _ = bench.record(uid, said("old", id="m1"), edited("m1", "new"))

        bench.erase(uid, said_first.header.stamp, "content")

        assert bench.messages(uid)[0].leaves == (("new_content", b'"new"'),)

    def test_erasing_again_erases_nothing(self, bench: Workbench) -> None:  # E-2
        uid = bench.conversation()
        entry = bench.append(uid, said("secret"))[0]
        bench.erase(uid, entry.header.stamp, "content")
        before = bench.events(uid)

        assert bench.erase(uid, entry.header.stamp, "content") == 0

        assert bench.events(uid) == before

    def test_only_what_is_there_is_erased_and_counted(self, bench: Workbench) -> None:  # E-2
        uid = bench.conversation()
        entry = bench.append(uid, a_turn())[0]

        erased = bench.erase(uid, entry.header.stamp, "question", "answer", "author", "nothing")

        assert erased == 2

    def test_other_events_keep_their_leaves(self, bench: Workbench) -> None:  # E-2
        one, two = bench.conversation("c1"), bench.conversation("c2")
        target = bench.append(one, said("secret"))[0]
        kept: list[LogEntry] = [*bench.append(one, said("kept")), *bench.append(two, said("kept"))]

        bench.erase(one, target.header.stamp, "content")

        assert [*bench.events(one)[1:], *bench.events(two)] == kept

    def test_an_event_that_is_not_there_loses_nothing(self, bench: Workbench) -> None:  # E-2
        uid = bench.conversation()
        entry = bench.append(uid, said("kept"))[0]
        absent = Stamp(entry.header.seq + 1, entry.header.writer)

        assert bench.erase(uid, absent, "content") == 0
        with pytest.raises(NotFoundError):
            bench.erase(new_uid(), entry.header.stamp, "content")

        assert bench.events(uid) == [entry]

    def test_folding_again_after_an_erasure_gives_the_same_rows(self, bench: Workbench) -> None:  # P-1
        uid = bench.conversation()
        turn, _, words = bench.record(
            uid, a_turn(author="ada"), said("q", id="q1"), answered("a", under="q1")
        )
        bench.erase(uid, turn.header.stamp, "question", "answer", "author")
        bench.erase(uid, words.header.stamp, "content")
        rows = bench.rows(uid)

        bench.refold(uid)

        assert bench.rows(uid) == rows
