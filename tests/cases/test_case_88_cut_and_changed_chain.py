"""Case 88: fifty events, changed by plain SQLite behind the store's back."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

import pytest

import manent
from manent.codec.sealing import hash_of
from manent.model.ids import BEFORE_ALL
from manent.model.log import LogEntry, SealedEvent
from manent.model.records import Receipt
from tests.stores import backend_of
from tests.tamper import tamper

EVENTS = 50


class Chain(NamedTuple):
    """A closed store with one conversation of fifty events, and a head of it that was saved earlier."""

    path: Path
    id: str
    events: list[LogEntry]
    receipt: Receipt

    def places(self, receipt: Receipt | None = None) -> set[str]:
        """Where `verify` finds something; a seq of the conversation is its position."""
        with manent.open(self.path) as store:
            return {finding.address for finding in store.verify(receipt=receipt).findings}

    def place(self, number: int) -> str:
        """The address of an event."""
        header = self.events[number].header
        return f"event:{self.id}#{header.seq}@{header.writer}"

    def event(self, number: int) -> str:
        """The row of an event."""
        return f"position = {self.events[number].position}"

    def leaves(self, number: int) -> str:
        """The rows of its leaves."""
        return f"leaf >> 16 = {self.events[number].position}"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Chain:
    """The store as it was written."""
    path = tmp_path_factory.mktemp("chain") / "conversations.db"
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MANENT_STATE", str(path.with_name("state")))
        with manent.open(path, durability="process") as store:
            conversation = store.create("Fifty events")
            for number in range(1, EVENTS):
                conversation.append_turn(f"question {number}", f"answer {number}")
            with backend_of(store).reading() as reader:
                events = list(reader.read_stream(conversation.uid, BEFORE_ALL, EVENTS))
            return Chain(path, conversation.id, events, store.receipt())


@pytest.fixture
def chain(original: Chain, path: Path) -> Chain:
    """A fresh copy."""
    shutil.copyfile(original.path, path)
    return original._replace(path=path)


def test_case_88_an_untouched_copy_passes(chain: Chain) -> None:  # C-3
    assert chain.places(chain.receipt) == set()


def test_case_88_the_last_three_are_deleted(chain: Chain) -> None:  # C-3
    tamper(chain.path, f"DELETE FROM events WHERE position >= {chain.events[-3].position}")

    assert chain.place(-4) in chain.places()


def test_case_88_all_of_one_session_is_deleted(chain: Chain) -> None:  # C-3
    tamper(chain.path, "DELETE FROM leaves; DELETE FROM events")

    assert f"event:{chain.id}#0@{chain.events[0].header.writer}" in chain.places()


def test_case_88_one_letter_is_changed(chain: Chain) -> None:  # C-3
    tamper(
        chain.path,
        f"UPDATE leaves SET data = flipped(data) WHERE {chain.leaves(25)} AND name = 'answer'",
    )

    assert chain.places() == {chain.place(25)}


def test_case_88_only_a_time_is_changed(chain: Chain) -> None:  # C-3
    tamper(chain.path, f"UPDATE events SET claim_ns = claim_ns + 1 WHERE {chain.event(25)}")

    assert chain.place(25) in chain.places()


def test_case_88_two_are_swapped(chain: Chain) -> None:  # C-3
    one, two = chain.events[20].header.seq, chain.events[30].header.seq
    tamper(
        chain.path,
        f"""UPDATE events SET seq = -1 WHERE {chain.event(20)};
            UPDATE events SET seq = {one} WHERE {chain.event(30)};
            UPDATE events SET seq = {two} WHERE {chain.event(20)}""",
    )

    assert {chain.place(20), chain.place(30)} <= chain.places()


def test_case_88_one_is_inserted(chain: Chain) -> None:  # C-3
    tamper(
        chain.path,
        f"""UPDATE events SET seq = seq + 1000 WHERE position > {chain.events[25].position};
            INSERT INTO events SELECT 900, stream, seq + 1, writer, kind, schema_version, encoding, claim_ns,
                event_id, prev_hash FROM events WHERE {chain.event(25)};
            INSERT INTO leaves SELECT 900 << 16 | leaf & 65535, name, packed, salt, data, digest
            FROM leaves WHERE {chain.leaves(25)}""",
    )

    header = chain.events[25].header
    assert f"event:{chain.id}#{header.seq + 1}@{header.writer}" in chain.places()


def test_case_88_one_is_blanked_out(chain: Chain) -> None:  # C-3
    tamper(chain.path, f"UPDATE leaves SET data = NULL, salt = NULL WHERE {chain.leaves(25)}")

    assert chain.place(25) in chain.places()


def test_case_88_a_saved_head_finds_a_chain_that_was_written_anew(chain: Chain) -> None:  # C-4
    with manent.open(chain.path) as store:
        store.conversation(chain.id).append_turn("a day later", "still here")

    tamper(chain.path, _written_anew(chain, 25))

    assert chain.places() == set()
    assert chain.places(chain.receipt) == {f"position {chain.receipt.position}"}


def _written_anew(chain: Chain, number: int) -> str:
    """One answer is another one, and all hashes after it fit again: what only a saved head can find."""
    forged, *later = chain.events[number:]
    *kept, answer = forged.leaves
    words = b'"forged"'
    forged = forged._replace(leaves=(*kept, answer._replace(data=words)))
    statements = [
        f"UPDATE leaves SET data = x'{words.hex()}' WHERE {chain.leaves(number)} AND name = 'answer'"
    ]
    prev_hash = forged.header.prev_hash
    for event in (forged, *later):
        new = f"prev_hash = x'{prev_hash.hex()}'"
        statements.append(f"UPDATE events SET {new} WHERE position = {event.position}")
        prev_hash = hash_of(SealedEvent(event.header._replace(prev_hash=prev_hash), event.leaves))
    writer = forged.header.writer
    statements.append(f"UPDATE tips SET hash = x'{prev_hash.hex()}' WHERE writer = x'{writer}'")
    return ";".join(statements)
