"""
The hash chain: how an event is hashed and linked (C-1, C-2).

    H(fields…) = BLAKE3-256 over each field with its length in front (8 bytes, little-endian)
    leaf       = H("manent.leaf.1", salt, bytes)
    digest     = H("manent.leaves.1", count, name, leaf, name, leaf …)
    hash       = H("manent.event.1", encoding, uid, writer, seq, kind, schema version, claim,
                   event id, previous hash, digest)
    genesis    = H("manent.genesis.1", uid, writer)

Integers are 8 bytes, little-endian, signed; an unknown claim is empty; identities and names are ASCII
or UTF-8 text as shown; hashes are raw bytes. Pinned vectors stand in the tests. A leaf can go with its
salt and leave its digest, so erasing breaks no chain and gives nothing to guess against.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from blake3 import blake3

from manent.model.log import Header

ENCODING = 1
"""The version of this page: BLAKE3-256 and the encoding above. Each event records its own."""

SALT_BYTES = 16

_INT = struct.Struct("<q")
_LENGTH = struct.Struct("<Q").pack


def hash_fields(*fields: bytes) -> bytes:
    """H of the module's docstring: 32 bytes."""
    return blake3(b"".join([piece for field in fields for piece in (_LENGTH(len(field)), field)])).digest()


def pack_int(value: int) -> bytes:
    """An integer as it is hashed: 8 bytes, little-endian, signed."""
    return _INT.pack(value)


def leaf_digest(salt: bytes, data: bytes) -> bytes:
    """The digest of one leaf."""
    return hash_fields(b"manent.leaf.1", salt, data)


def leaves_digest(leaves: Sequence[tuple[str, bytes]]) -> bytes:
    """The digest of all leaves of an event, given their (name, digest) in order."""
    fields = [piece for name, digest in leaves for piece in (name.encode(), digest)]
    return hash_fields(b"manent.leaves.1", pack_int(len(leaves)), *fields)


def event_hash(header: Header, digest: bytes) -> bytes:
    """The hash of an event, from its header and the digest of its leaves."""
    return hash_fields(
        b"manent.event.1",
        pack_int(header.encoding),
        header.uid.encode(),
        header.writer.encode(),
        pack_int(header.seq),
        header.kind.encode(),
        pack_int(header.schema_version),
        b"" if header.claim_ns is None else pack_int(header.claim_ns),
        header.event_id.encode(),
        header.prev_hash,
        digest,
    )


def genesis(uid: str, writer: str) -> bytes:
    """What the first event of a writer in a stream links to."""
    return hash_fields(b"manent.genesis.1", uid.encode(), writer.encode())


def writer_id(fingerprint: str, incarnation: str) -> str:
    """
    The identity of a writer: 16 hexadecimal characters (64 bits).

    Short, because it stands in every row; a store has a handful of writers, so that two of a million
    meet by chance once in some thirty million stores. It is a name, not a proof: receipts are signed.
    """
    return hash_fields(b"manent.writer.1", fingerprint.encode(), incarnation.encode())[:8].hex()
