"""A receipt that is kept elsewhere finds what the store alone cannot tell (C-4)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import manent
from manent.codec.sealing import hash_of
from manent.errors import InputError
from manent.model.log import SealedEvent
from manent.model.records import FindingKind, Receipt
from tests.unit.verify.victim import A, Victim, make_victim, reread

ENDED = 7
"""The event `turn_ended` of `a`, whose time no row of the read model shows."""


def test_a_receipt_holds_for_the_store_that_gave_it(victim: Victim) -> None:  # C-4
    assert victim.found(victim.receipt) == []


def test_a_receipt_counts_what_it_covers(victim: Victim) -> None:  # C-4
    assert (victim.receipt.count, victim.receipt.position) == (24, 24)


def test_a_receipt_stays_true_after_later_appends(victim: Victim) -> None:  # C-4
    append(victim.path, "a", "b", "a")

    assert victim.found(victim.receipt) == []


def test_a_receipt_finds_a_cut_tail(victim: Victim) -> None:  # C-4
    victim.tamper(_cut(victim))

    assert victim.found() == []
    assert victim.found(victim.receipt) == [_not_held(victim.receipt)]


def test_a_receipt_finds_a_cut_tail_that_was_written_over(victim: Victim) -> None:  # C-4
    victim.tamper(_cut(victim))
    append(victim.path, "a", "a")

    assert victim.found(victim.receipt) == [_not_held(victim.receipt)]


def test_a_receipt_finds_an_older_file_that_was_restored(victim: Victim, tmp_path: Path) -> None:  # C-4
    older = tmp_path / "older.db"
    shutil.copyfile(victim.path, older)
    append(victim.path, "b")
    with manent.open(victim.path) as store:
        receipt = store.receipt()

    shutil.copyfile(older, victim.path)

    assert victim.found() == []
    assert victim.found(receipt) == [_not_held(receipt)]


def test_a_receipt_is_of_one_store(victim: Victim, tmp_path: Path) -> None:  # C-4
    other = make_victim(tmp_path / "other.db")

    assert victim.found(other.receipt) == [_not_held(other.receipt)]


def test_a_receipt_finds_a_chain_that_was_written_anew(victim: Victim) -> None:  # C-4
    victim.tamper(_rewrite(victim, ENDED))

    assert victim.found() == []
    assert victim.found(victim.receipt) == [_not_held(victim.receipt)]


def test_a_receipt_of_an_earlier_day_finds_a_chain_that_was_written_anew(victim: Victim) -> None:  # C-4
    append(victim.path, "a", "b")

    victim.tamper(_rewrite(reread(victim), ENDED))

    assert victim.found() == []
    assert victim.found(victim.receipt) == [_not_held(victim.receipt)]


def test_a_receipt_covers_every_writer(
    victim: Victim, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:  # C-4, L-4
    monkeypatch.setenv("MANENT_STATE", str(tmp_path / "another installation"))
    append(victim.path, "a", "b")
    with manent.open(victim.path) as store:
        receipt = store.receipt()
    append(victim.path, "a")

    assert (receipt.count, victim.found(receipt)) == (26, [])

    victim.tamper(
        """UPDATE leaves SET data = CAST(replace(data, 'more', 'less') AS BLOB)
            WHERE leaf >> 16 IN (SELECT position FROM events WHERE position > 24)"""
    )
    assert victim.found(receipt)[-1] == _not_held(receipt)


def test_an_empty_store_gives_a_receipt_that_holds(tmp_path: Path) -> None:  # C-4
    with manent.open(tmp_path / "empty.db") as store:
        receipt = store.receipt()
        assert (receipt.count, receipt.position) == (0, 0)

        store.create().append_turn("q", "a")

        assert store.verify(receipt=receipt).ok


def test_a_receipt_comes_back_from_its_json(victim: Victim) -> None:  # C-4
    text = victim.receipt.to_json()

    assert Receipt.from_json(text) == victim.receipt
    assert "\n" not in text


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[]", "null", "7", '{"store_id": 1}', "\ud83d", b"\xff", b"\x00", '{"root":' * 10_000],
    ids=repr,
)
def test_a_text_that_is_no_receipt_is_refused(text: str | bytes) -> None:  # C-4
    with pytest.raises(InputError):
        Receipt.from_json(text)


def append(path: Path, *conversations: str) -> None:
    """Append a turn to each of these, one after the other."""
    with manent.open(path, durability="process") as store:
        for conversation in conversations:
            store.conversation(conversation).append_turn("and more?", "no more")


def _not_held(receipt: Receipt) -> tuple[str, str]:
    return FindingKind.RECEIPT, f"position {receipt.position}"


def _cut(victim: Victim) -> str:
    """Remove the last event of `a`, `turn_appended`, with all that tells of it."""
    before = victim.events[-2]
    last = f"stream = {A} AND seq = {victim.seq(-1)}"
    return f"""DELETE FROM leaves WHERE {victim.leaves(-1)};
               DELETE FROM events WHERE {last};
               DELETE FROM messages WHERE {last};
               DELETE FROM turns WHERE {last};
               DELETE FROM idempotency_keys WHERE {last};
               UPDATE conversations SET activity_seq = {before.header.seq}, head = 'a1',
                   head_seq = {before.header.seq}, linear = 0, claim_max_ns = {before.header.claim_ns}
               WHERE stream = {A};
               UPDATE tips SET seq = {before.header.seq}, count = count - 1, hash = x'{hash_of(before).hex()}'
               WHERE stream = {A}"""


def _rewrite(victim: Victim, number: int) -> str:
    """Change a time, and make every later hash of the writer's chain and its tip fit again."""
    before, first, *later = [e for e in victim.events[number - 1 :] if e.header.writer == victim.writer]
    first = first._replace(header=first.header._replace(claim_ns=before.header.claim_ns))
    prev_hash = first.header.prev_hash
    statements = []
    for entry in (first, *later):
        header = entry.header._replace(prev_hash=prev_hash)
        prev_hash = hash_of(SealedEvent(header, entry.leaves))
        statements.append(
            f"""UPDATE events SET claim_ns = {header.claim_ns}, prev_hash = x'{header.prev_hash.hex()}'
                WHERE position = {entry.position}"""
        )
    tip = f"UPDATE tips SET hash = x'{prev_hash.hex()}' WHERE stream = {A} AND writer = x'{victim.writer}'"
    return ";".join([*statements, tip])
