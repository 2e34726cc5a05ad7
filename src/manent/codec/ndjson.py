"""
Our NDJSON: one event a line, in document 001's envelope, extended so that nothing is lost.

`payloadJson` is a string of JSON: the skeleton object with each other leaf's exact bytes spliced in as a
member. `leaves` lists name, length in bytes, salt and digest in order, so that the very bytes of every leaf
come back; an erased leaf keeps name and digest only. `atUtc` and `threadId` are for the readers of document
001 and must follow from `claimNs` and the skeleton. `docs/reference/file-format.md` is the whole format.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from manent.codec import canonical
from manent.codec.chain import HASH_BYTES, SALT_BYTES
from manent.codec.leaves import SKELETON
from manent.codec.sealing import digest_of
from manent.errors import FormatError
from manent.model.records import Header, Leaf, LogEntry, SealedEvent

VERSION = 1
"""The version of an export."""

_NS = 1_000_000_000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


class LeafEntry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One leaf in the envelope; erased leaves have neither `length` nor `salt`."""

    name: str
    digest: str
    length: int | None = None
    salt: str | None = None


class Envelope(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An event as one line. The first seven fields are document 001's, the rest are ours."""

    event_id: str
    session_id: str
    at_utc: str | None
    kind: str
    payload_json: str
    thread_id: str | None
    schema_version: int
    writer: str
    seq: int
    prev_hash: str
    claim_ns: int | None
    encoding: int
    leaves: tuple[LeafEntry, ...]


def event_to_line(event: SealedEvent | LogEntry) -> bytes:
    """
    An event as one line, with its LF.

    Raises:
        UnicodeDecodeError: a leaf holds no UTF-8, so the store is damaged.
    """
    header = event.header
    envelope = Envelope(
        event_id=header.event_id,
        session_id=header.uid,
        at_utc=claim_to_utc(header.claim_ns),
        kind=header.kind,
        payload_json=_splice(event.leaves).decode("utf-8"),
        thread_id=_thread_id(event.leaves),
        schema_version=header.schema_version,
        writer=header.writer,
        seq=header.seq,
        prev_hash=header.prev_hash.hex(),
        claim_ns=header.claim_ns,
        encoding=header.encoding,
        leaves=tuple(_leaf_entry(leaf) for leaf in event.leaves),
    )
    return msgspec.json.encode(envelope) + b"\n"


def _leaf_entry(leaf: Leaf) -> LeafEntry:
    digest = digest_of(leaf).hex()
    if leaf.data is None or leaf.salt is None:
        return LeafEntry(leaf.name, digest)
    return LeafEntry(leaf.name, digest, len(leaf.data), leaf.salt.hex())


def _splice(leaves: Sequence[Leaf]) -> bytes:
    """The skeleton object with the other leaves as members; lengths alone take it apart again."""
    present = [leaf for leaf in leaves if leaf.data is not None]
    skeleton = present[0].data if present and present[0].name == SKELETON else None
    body = (skeleton or b"{}")[:-1]
    for leaf in present[1:] if skeleton else present:
        comma = b"," if body != b"{" else b""
        body += comma + _member(leaf.name) + (leaf.data or b"")
    return body + b"}"


def _member(name: str) -> bytes:
    return canonical.dumps(name) + b":"


def claim_to_utc(claim_ns: int | None) -> str | None:
    """A claim of time as document 001 writes it: ISO 8601, UTC, seven digits; None where unknown."""
    if claim_ns is None:
        return None
    seconds, rest = divmod(claim_ns, _NS)
    try:
        moment = _EPOCH + datetime.timedelta(seconds=seconds)
    except OverflowError:
        return None
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{rest // 100:07d}Z".zfill(28)


def _thread_id(leaves: Sequence[Leaf]) -> str | None:
    if not leaves or leaves[0].name != SKELETON or leaves[0].data is None:
        return None
    if b'"thread_id"' not in leaves[0].data:
        return None
    skeleton = canonical.loads(leaves[0].data)
    value = skeleton.get("thread_id") if isinstance(skeleton, dict) else None
    return value if isinstance(value, str) else None


def line_to_event(line: bytes, *, place: str) -> SealedEvent:
    """
    Read one line.

    Raises:
        FormatError: it is no event of ours, or its parts contradict each other; carries `place`.
    """
    try:
        envelope = msgspec.json.decode(line, type=Envelope)
        leaves = tuple(_unsplice(envelope))
        header = _header(envelope)
    except (msgspec.MsgspecError, ValueError) as error:
        raise FormatError(f"not an event of this format ({type(error).__name__})", place=place) from error
    if envelope.at_utc != claim_to_utc(header.claim_ns):
        raise FormatError("atUtc does not follow from claimNs", place=place)
    if envelope.thread_id != _thread_id(leaves):
        raise FormatError("threadId does not follow from the skeleton", place=place)
    if any(
        digest_of(leaf).hex() != entry.digest for leaf, entry in zip(leaves, envelope.leaves, strict=True)
    ):
        raise FormatError("a leaf does not match its digest", place=place)
    return SealedEvent(header, leaves)


def _header(envelope: Envelope) -> Header:
    header = Header(
        uid=envelope.session_id,
        writer=envelope.writer,
        seq=envelope.seq,
        kind=envelope.kind,
        schema_version=envelope.schema_version,
        claim_ns=envelope.claim_ns,
        event_id=envelope.event_id,
        prev_hash=bytes.fromhex(envelope.prev_hash),
        encoding=envelope.encoding,
    )
    sizes = (len(header.uid), len(header.event_id), len(header.writer), len(header.prev_hash))
    if sizes != (32, 32, 16, HASH_BYTES) or header.seq < 1:
        raise ValueError("an identity of another length")
    for identity in (header.uid, header.event_id, header.writer):
        if bytes.fromhex(identity).hex() != identity:
            raise ValueError("an identity that is not lower-case hex")
    return header


def _unsplice(envelope: Envelope) -> Iterator[Leaf]:
    """Take the payload apart by the lengths: the exact bytes of each leaf come back."""
    payload = envelope.payload_json.encode("utf-8")
    place = 1
    for number, entry in enumerate(envelope.leaves):
        if entry.length is None or entry.salt is None:
            yield Leaf(entry.name, None, None, bytes.fromhex(entry.digest))
            continue
        salt = bytes.fromhex(entry.salt)
        if len(salt) != SALT_BYTES or entry.length < 0:
            raise ValueError("a salt or length that cannot be")
        if number == 0 and entry.name == SKELETON:
            data = payload[: entry.length - 1] + b"}"
            place = entry.length - 1
        else:
            member = _member(entry.name)
            start = place + (payload[place : place + 1] == b",") + len(member)
            if payload[start - len(member) : start] != member:
                raise ValueError("a member that is not where the lengths say")
            data, place = payload[start : start + entry.length], start + entry.length
        if entry.length != len(data):
            raise ValueError("a leaf that ends too soon")
        yield Leaf(entry.name, data, salt)
    if payload[place:] != b"}" or payload[:1] != b"{":
        raise ValueError("bytes that no leaf claims")


def record_to_line(kind: str, fields: dict[str, Any]) -> bytes:
    """A line that is no event: a header, workspace, stream or blob."""
    return canonical.dumps({"manent": kind, **fields}) + b"\n"


def line_to_record(line: bytes, *, place: str) -> dict[str, Any] | None:
    """
    The fields of a line that is no event, or None for an event's.

    Raises:
        FormatError: it is no JSON object.
    """
    if not line.startswith(b'{"manent":'):
        return None
    try:
        record = canonical.loads(line)
    except ValueError as error:
        raise FormatError("not JSON", place=place) from error
    if not isinstance(record, dict) or not isinstance(record.get("manent"), str):
        raise FormatError("not a record of this format", place=place)
    return record
