"""Sealing: events get their leaves, salts and link on the way in, and are opened on the way out."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from manent.codec import chain
from manent.codec.leaves import LEAVES_MAX, event_to_leaves, leaves_to_event
from manent.errors import InputError
from manent.model.log import Header, Leaf, LogEntry, Pending, SealedEvent, StoredEvent

NewSalts = Callable[[int], bytes]
"""Gives that many random bytes; tests give it a seed."""


def seal(
    pending: Sequence[Pending],
    *,
    uid: str,
    writer: str,
    first_seq: int,
    prev_hash: bytes,
    new_salts: NewSalts,
) -> tuple[list[SealedEvent], bytes]:
    """
    Seal events that follow each other in one writer's chain.

    Args:
        first_seq: the seq of the first one; the others count on.
        prev_hash: the hash of the event before, or the genesis.

    Returns:
        The sealed events and the hash of the last one.

    Raises:
        InputError: an event has `LEAVES_MAX` leaves or more.
    """
    sealed: list[SealedEvent] = []
    for number, item in enumerate(pending):
        leaves = _salted(item, new_salts)
        header = Header(
            uid,
            writer,
            first_seq + number,
            item.event.KIND,
            item.event.SCHEMA_VERSION,
            item.claim_ns,
            item.event_id,
            prev_hash,
            chain.ENCODING,
        )
        event = SealedEvent(header, leaves)
        prev_hash = hash_of(event)
        sealed.append(event)
    return sealed, prev_hash


def _salted(item: Pending, new_salts: NewSalts) -> tuple[Leaf, ...]:
    named = event_to_leaves(item.event)
    if len(named) >= LEAVES_MAX:
        raise InputError(f"A message has at most {LEAVES_MAX - 2} parts; split it into several.")
    size = chain.SALT_BYTES
    salts = new_salts(size * len(named))
    return tuple(
        Leaf(name, data, salts[number * size : (number + 1) * size])
        for number, (name, data) in enumerate(named)
    )


def digest_of(leaf: Leaf) -> bytes:
    """The digest of a leaf: computed while its bytes are there, kept once they are erased."""
    if leaf.data is None or leaf.salt is None:
        return leaf.digest or b""
    return chain.leaf_digest(leaf.salt, leaf.data)


def hash_of(event: SealedEvent | LogEntry | StoredEvent) -> bytes:
    """The hash of an event, from what stands in it now."""
    digests = [(leaf.name, digest_of(leaf)) for leaf in event.leaves]
    return chain.event_hash(event.header, chain.leaves_digest(digests))


def open_event(position: int, sealed: SealedEvent | LogEntry) -> StoredEvent:
    """
    Decode an event.

    Raises:
        EncodingError: its leaves are not what its kind holds.
    """
    header = sealed.header
    pairs = [(leaf.name, leaf.data) for leaf in sealed.leaves]
    name = f"{header.seq}@{header.writer}"
    event = leaves_to_event(header.kind, header.schema_version, pairs, event=name)
    return StoredEvent(position, header, sealed.leaves, event)
