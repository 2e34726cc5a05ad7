"""The hash chain is fixed by these vectors: changing one takes a new encoding version (C-1)."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from manent.codec import chain
from manent.codec.sealing import digest_of, hash_of, seal
from manent.model.events import MessageAdded, TurnAppended
from manent.model.log import Header, Leaf, Pending, SealedEvent
from manent.model.parts import TextPart, ToolCallPart
from manent.testing.builders import a_conversation, pending, sealed

UID = "00112233445566778899aabbccddeeff"
WRITER = "0123456789abcdef"
SALT = bytes(range(16))
HEADER = Header(
    uid=UID,
    writer=WRITER,
    seq=7,
    kind="message_added",
    schema_version=1,
    claim_ns=1_750_000_000_000_000_000,
    event_id="ff" * 16,
    prev_hash=bytes(32),
    encoding=1,
)


def h(*fields: bytes) -> bytes:
    """H as the docstring of `codec.chain` writes it, with nothing of ours."""
    return blake3(b"".join(struct.pack("<Q", len(field)) + field for field in fields)).digest()


def i(number: int) -> bytes:
    return struct.pack("<q", number)


def counted(size: int) -> bytes:
    """Salts that are the same each time."""
    return bytes(range(size))


def test_the_writer_of_an_installation_and_an_incarnation() -> None:  # C-1
    assert chain.writer_id("f" * 64, "1" * 32) == "878ccaec473dbcb3"


def test_the_beginning_of_a_chain() -> None:  # C-1
    assert chain.genesis(UID, WRITER).hex() == (
        "2f1ca88d86ce01c77783a3ac6dc5390cdfc64bd7a0284a88d79a97f2c606096f"
    )


def test_the_digest_of_a_leaf() -> None:  # C-1
    assert chain.leaf_digest(SALT, b'"hi"').hex() == (
        "d171e6819b78a5db31866d88461d07c1c920fc2448df81bdea16a2b0bc6b570e"
    )


def test_the_digest_of_all_leaves() -> None:  # C-1
    named = [("skeleton", bytes(32)), ("content", b"\x01" * 32)]

    assert chain.leaves_digest(named).hex() == (
        "4cada706fcd3b731dfa7cda986c7052a58ffdc243453be117eb8f071a599dc05"
    )


def test_the_hash_of_an_event() -> None:  # C-1
    assert chain.event_hash(HEADER, b"\x02" * 32).hex() == (
        "6ede67ae8412ca3153be0a610003e8451c1978588b8017fa2c5355c1c9abe37f"
    )


def test_the_hash_of_an_event_without_a_claim_of_time() -> None:  # C-1
    assert chain.event_hash(HEADER._replace(claim_ns=None), b"\x02" * 32).hex() == (
        "a0817aae773ad359ae500200b4b9e6918d48218c0cefc00daeb5e92501e2c7c0"
    )


def test_a_sealed_turn() -> None:  # C-1
    turn = Pending(TurnAppended(question="how much?", answer="42"), "ee" * 16, -1)

    events, last_hash = seal(
        [turn],
        uid=UID,
        writer=WRITER,
        first_seq=1,
        prev_hash=chain.genesis(UID, WRITER),
        new_salts=counted,
    )

    assert events[0].leaves == (
        Leaf("skeleton", b"{}", counted(48)[:16]),
        Leaf("question", b'"how much?"', counted(48)[16:32]),
        Leaf("answer", b'"42"', counted(48)[32:]),
    )
    assert last_hash.hex() == "096b910d086368950f587cacf0271bd7555b050ee9d06fb61bb67e95cf527f10"


def test_a_stranger_computes_the_same_hash_from_the_docstring() -> None:  # C-1
    parts = (TextPart("Straße \ud800"), ToolCallPart("find", {"a": 1}))
    message = MessageAdded(message_id="m1", role="assistant", parts=parts, author="ada")

    event = sealed(UID, message, writer=WRITER, seq=5)[0]

    digests = [h(b"manent.leaf.1", leaf.salt or b"", leaf.data or b"") for leaf in event.leaves]
    names = [b"skeleton", b"text.0", b"part.1", b"author"]
    digest = h(
        b"manent.leaves.1",
        i(4),
        *(piece for pair in zip(names, digests, strict=True) for piece in pair),
    )
    assert hash_of(event) == h(
        b"manent.event.1",
        i(1),
        UID.encode(),
        WRITER.encode(),
        i(5),
        b"message_added",
        i(1),
        i(event.header.claim_ns or 0),
        event.header.event_id.encode(),
        h(b"manent.genesis.1", UID.encode(), WRITER.encode()),
        digest,
    )


@given(st.lists(st.binary(max_size=4), max_size=4), st.lists(st.binary(max_size=4), max_size=4))
def test_different_fields_are_different_hashes(one: list[bytes], other: list[bytes]) -> None:  # C-2
    assert (chain.hash_fields(*one) == chain.hash_fields(*other)) == (one == other)


@pytest.mark.parametrize(
    "change",
    [
        {"uid": "ff" * 16},
        {"writer": "ff" * 8},
        {"seq": 8},
        {"kind": "message_edited"},
        {"schema_version": 2},
        {"claim_ns": 0},
        {"claim_ns": None},
        {"event_id": "ee" * 16},
        {"prev_hash": b"\x01" * 32},
        {"encoding": 2},
    ],
    ids=str,
)
def test_every_field_of_a_header_is_hashed(change: dict[str, Any]) -> None:  # C-2
    assert chain.event_hash(HEADER._replace(**change), b"") != chain.event_hash(HEADER, b"")


def test_the_name_order_and_bytes_of_leaves_are_hashed() -> None:  # C-2
    a, b = Leaf("part.0", b'"a"', SALT), Leaf("part.1", b'"b"', SALT)
    variants = [(a, b), (b, a), (a,), (a, b._replace(name="part.2")), (a, b._replace(data=b'"c"'))]

    hashes = {hash_of(SealedEvent(HEADER, leaves)) for leaves in variants}

    assert len(hashes) == len(variants)


def test_events_of_one_call_link_to_each_other() -> None:  # C-2
    events, last_hash = seal(
        pending(*a_conversation(turns=2)),
        uid=UID,
        writer=WRITER,
        first_seq=3,
        prev_hash=b"\x07" * 32,
        new_salts=counted,
    )

    hashes = [hash_of(event) for event in events]
    assert [event.header.prev_hash for event in events] == [b"\x07" * 32, *hashes[:-1]]
    assert [event.header.seq for event in events] == [3, 4, 5, 6, 7]
    assert last_hash == hashes[-1]


def test_an_erased_leaf_leaves_the_hash_as_it_was() -> None:  # C-2, E-2
    event = sealed(UID, TurnAppended(question="secret", answer="42"))[0]
    skeleton, question, answer = event.leaves

    erased = event._replace(leaves=(skeleton, Leaf("question", None, None, digest_of(question)), answer))

    assert hash_of(erased) == hash_of(event)
