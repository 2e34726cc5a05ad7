"""What is declared is no finding: a redaction, and appends while verify runs; what goes beyond it is one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import manent
from manent.history.recording import record
from manent.model.events import ContentRedacted
from manent.model.ids import Stamp
from manent.model.records import FindingKind, Report
from manent.opening import open_backend
from manent.storage.port import Backend
from manent.testing.builders import pending
from tests.unit.verify.victim import MIDDLE, Victim


class Redacted(NamedTuple):
    """A store in which two leaves of the middle event were redacted: a tool call and the native record."""

    victim: Victim
    words: str


@pytest.fixture
def redacted(victim: Victim) -> Redacted:
    backend = open_backend(victim.path)
    entry = victim.events[MIDDLE]
    redact(backend, victim.uid, entry.header.stamp, "part.1", "native")
    backend.close()
    return Redacted(victim, f"leaf = {victim.leaf(MIDDLE, 2)}")


def redact(backend: Backend, uid: str, target: Stamp, *names: str) -> None:
    """Declare that leaves of an event are gone, and erase them, in one transaction."""
    declared = ContentRedacted(
        target_seq=target.seq, target_writer=target.writer, target_leaves=names, reason_code="asked"
    )
    with backend.transaction() as tx:
        record(tx, uid, pending(declared))
        tx.erase_leaves(uid, target, names)


def test_a_declared_redaction_is_no_finding(redacted: Redacted) -> None:  # C-3, E-2
    assert redacted.victim.verify() == Report(
        findings=(), streams=3, events=25, erased_leaves=2, unknown_kinds=0
    )


@pytest.mark.parametrize(
    ("number", "leaf"),
    [
        (1, "question"),
        (1, "answer"),
        (1, "author"),
        (1, "usage"),
        (1, "idempotency_key"),
        (2, "content"),
        (3, "text.0"),
        (3, "part.1"),
        (6, "content"),
        (7, "reason"),
        (8, "new_content"),
    ],
)
def test_redacting_any_leaf_changes_no_row_of_the_read_model(
    victim: Victim, number: int, leaf: str
) -> None:  # P-1, E-2
    backend = open_backend(victim.path)
    redact(backend, victim.uid, victim.events[number].header.stamp, leaf)
    backend.close()

    report = victim.verify()

    assert (report.findings, report.erased_leaves) == ((), 1)


def test_a_leaf_that_is_gone_beside_the_declared_ones_is_found(redacted: Redacted) -> None:  # C-3
    digest = redacted.victim.digest(MIDDLE, 1).hex()
    redacted.victim.tamper(
        f"""UPDATE leaves SET data = NULL, salt = NULL, digest = x'{digest}'
            WHERE leaf = {redacted.victim.leaf(MIDDLE, 1)}"""
    )

    assert redacted.victim.found()[0] == (FindingKind.CONTENT, redacted.victim.address(MIDDLE))


def test_words_that_were_put_where_erased_ones_stood_are_found(redacted: Redacted) -> None:  # C-3
    redacted.victim.tamper(f"""UPDATE leaves SET data = CAST('"forged"' AS BLOB) WHERE {redacted.words}""")

    assert (FindingKind.CONTENT, redacted.victim.address(MIDDLE)) in redacted.victim.found()


def test_erased_words_that_came_back_are_found(redacted: Redacted) -> None:  # C-3, E-2
    leaf = redacted.victim.events[MIDDLE].leaves[2]
    redacted.victim.tamper(
        f"""UPDATE leaves SET data = x'{(leaf.data or b"").hex()}', salt = x'{(leaf.salt or b"").hex()}',
                digest = NULL WHERE {redacted.words}"""
    )

    assert redacted.victim.found() == [(FindingKind.CONTENT, redacted.victim.address(MIDDLE))]


def test_another_digest_of_an_erased_leaf_is_found(redacted: Redacted) -> None:  # C-2
    redacted.victim.tamper(f"UPDATE leaves SET digest = flipped(digest) WHERE {redacted.words}")

    assert redacted.victim.found() == [(FindingKind.LINK, redacted.victim.address(MIDDLE))]


def test_a_declaration_that_is_gone_makes_the_erased_leaves_findings(redacted: Redacted) -> None:  # C-3
    redacted.victim.tamper(
        """DELETE FROM leaves WHERE leaf >> 16 = (SELECT max(position) FROM events);
           DELETE FROM events WHERE position = (SELECT max(position) FROM events)"""
    )

    kinds = [kind for kind, _ in redacted.victim.found()]
    assert kinds == [FindingKind.CUT_TAIL, FindingKind.CONTENT, FindingKind.CONTENT]


@pytest.fixture
def long_store(tmp_path: Path) -> Iterator[manent.Store]:
    """A store with more events than verify reports at a time."""
    with manent.open(tmp_path / "long.db", durability="process") as store:
        conversation = store.create("long")
        conversation.append_messages([manent.Message(role="user", parts=f"{n}") for n in range(450)])
        yield store


def test_appends_while_verify_runs_are_no_finding(long_store: manent.Store) -> None:  # C-3
    conversation = long_store.conversation(long_store.list()[0].id)
    seen: list[int] = []

    def append(events: int) -> None:
        seen.append(events)
        writer = threading.Thread(target=conversation.append_turn, args=("meanwhile", "yes"))
        writer.start()
        writer.join()

    report = long_store.verify(progress=append)

    assert (report.ok, report.events, seen) == (True, 451, [200, 400])
    assert [turn.question for turn in conversation.turns(limit=2)] == ["meanwhile"] * 2
    assert long_store.verify().events == 453
