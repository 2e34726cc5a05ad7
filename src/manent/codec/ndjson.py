"""
Our NDJSON: records (header, workspaces, streams, blobs, end), and after a stream its events, one a line.

An event stands in the editor log's envelope, extended so that nothing is lost. `payloadJson` is a string of
JSON: the skeleton object with each other leaf's exact bytes spliced in as a member. `leaves` lists name,
length in bytes, salt and digest in order, so that the very bytes of every leaf come back; an erased leaf
keeps name and digest only. `atUtc` and `threadId` are for the readers of the editor log and must follow from
`claimNs` and the skeleton. `docs/reference/file-format.md` is the whole format.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import msgspec

from manent.codec import canonical
from manent.codec.chain import ENCODING, SALT_BYTES
from manent.codec.leaves import LEAVES_MAX, SKELETON
from manent.codec.sealing import digest_of
from manent.errors import EncodingError, FormatError
from manent.model.ids import SEQ_MAX
from manent.model.log import Header, Leaf, LogEntry, SealedEvent

VERSION = 1
"""The version of an export."""

_NS = 1_000_000_000
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


_Int = Annotated[int, msgspec.Meta(ge=-(1 << 63), le=(1 << 63) - 1)]
_Seq = Annotated[int, msgspec.Meta(ge=1, le=SEQ_MAX)]
_Uid = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{32}\Z")]
_Writer = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{16}\Z")]
_Hash = Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]
_Word = Annotated[str, msgspec.Meta(pattern=r"\A[a-z][a-z0-9_.]*\Z")]
_Salt = Annotated[str, msgspec.Meta(pattern=rf"\A[0-9a-f]{{{2 * SALT_BYTES}}}\Z")]


class LeafEntry(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One leaf in the envelope; erased leaves have neither `length` nor `salt`."""

    name: _Word
    digest: _Hash
    length: Annotated[int, msgspec.Meta(ge=0)] | None = None
    salt: _Salt | None = None


class Envelope(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """An event as one line. The first seven fields are the editor log's, the rest are ours."""

    event_id: _Uid
    session_id: _Uid
    at_utc: str | None
    kind: _Word
    payload_json: str
    thread_id: str | None
    schema_version: _Int
    writer: _Writer
    seq: _Seq
    prev_hash: _Hash
    claim_ns: _Int | None
    encoding: _Int
    leaves: tuple[LeafEntry, ...]


_ENVELOPE_DECODER = msgspec.json.Decoder(Envelope)


class Record(msgspec.Struct, frozen=True, tag_field="manent", forbid_unknown_fields=True):
    """The base of the lines that are no events; `manent` names the kind."""


class HeaderRecord(Record, frozen=True, tag="export", rename="camel"):
    """The first line. `encoding` is that of the exporting release; each event names its own."""

    version: int
    encoding: int
    source_key: _Hash


class WorkspaceRecord(Record, frozen=True, tag="workspace"):
    """A workspace: the uids of its own streams, and its aliases as (kind, value)."""

    uid: _Uid
    streams: tuple[_Uid, ...]
    aliases: tuple[tuple[str, str], ...]


class RegisterEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One metadata value with its stamp."""

    field: str
    value: Any
    seq: _Seq
    writer: _Writer


class TipEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last event of one writer, and how many it wrote."""

    writer: _Writer
    seq: _Seq
    hash: _Hash
    count: _Seq


class StreamRecord(Record, frozen=True, tag="stream"):
    """A stream, before its events. A workspace's own has `id` None."""

    uid: _Uid
    workspace: _Uid
    id: str | None
    registers: tuple[RegisterEntry, ...]
    tips: tuple[TipEntry, ...]


class BlobRecord(Record, frozen=True, tag="blob"):
    """A piece of a blob, in base64; the pieces of one follow each other."""

    workspace: _Uid
    digest: _Hash
    data: str


class EndRecord(Record, frozen=True, tag="end"):
    """The last line: BLAKE3-256 over every byte before it, so that a file is whole or refused."""

    digest: _Hash


AnyRecord = HeaderRecord | WorkspaceRecord | StreamRecord | BlobRecord | EndRecord
_RECORD_KINDS = ("export", "workspace", "stream", "blob", "end")
_RECORD_START = re.compile(rb'\s*\{\s*"manent"\s*:')


def event_to_line(event: SealedEvent | LogEntry) -> bytes:
    """
    An event as one line, with its LF.

    Raises:
        EncodingError: a leaf is no UTF-8 JSON, so the store is damaged.
    """
    try:
        return canonical.dumps(_envelope(event)) + b"\n"
    except (ValueError, RecursionError) as error:
        name = f"{event.header.seq}@{event.header.writer}"
        raise EncodingError(f"{type(error).__name__} in its leaves", event=name) from error


def _envelope(event: SealedEvent | LogEntry) -> Envelope:
    header = event.header
    return Envelope(
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
    """A claim of time as the editor log writes it: ISO 8601, UTC, seven digits; None where unknown."""
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
        envelope = _line_to_envelope(line)
        leaves = tuple(_unsplice(envelope))
        thread_id = _thread_id(leaves)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FormatError(f"not an event of this format ({type(error).__name__})", place=place) from error
    if envelope.encoding != ENCODING:
        raise FormatError(f"encoding {envelope.encoding} is not known: install a newer manent", place=place)
    if envelope.at_utc != claim_to_utc(envelope.claim_ns):
        raise FormatError("atUtc does not follow from claimNs", place=place)
    if envelope.thread_id != thread_id:
        raise FormatError("threadId does not follow from the skeleton", place=place)
    digests = [digest_of(leaf).hex() for leaf in leaves]
    if digests != [entry.digest for entry in envelope.leaves]:
        raise FormatError("a leaf does not match its digest", place=place)
    return SealedEvent(_header(envelope), leaves)


def _line_to_envelope(line: bytes) -> Envelope:
    if not canonical.escapes_surrogate(line):
        return _ENVELOPE_DECODER.decode(line)
    return msgspec.convert(canonical.loads(line), Envelope)


def _header(envelope: Envelope) -> Header:
    return Header(
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


def _unsplice(envelope: Envelope) -> Iterator[Leaf]:
    """Take the payload apart by the lengths: the exact bytes of each leaf come back."""
    if len(envelope.leaves) >= LEAVES_MAX:
        raise ValueError("more leaves than an event has")
    payload = envelope.payload_json.encode("utf-8")
    place = 1
    for number, entry in enumerate(envelope.leaves):
        if entry.length is None and entry.salt is None:
            yield Leaf(entry.name, None, None, bytes.fromhex(entry.digest))
            continue
        if entry.length is None or entry.salt is None:
            raise ValueError("half a leaf")
        salt = bytes.fromhex(entry.salt)
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


def record_to_line(record: AnyRecord) -> bytes:
    """A line that is no event, with its LF."""
    return canonical.dumps(record) + b"\n"


def line_to_record(line: bytes, *, place: str) -> AnyRecord | None:
    """
    The record of a line that is no event, or None for an event's.

    Raises:
        FormatError: it is no record that this release knows.
    """
    if _RECORD_START.match(line) is None:
        return None
    try:
        found = canonical.loads(line)
    except (ValueError, RecursionError) as error:
        raise FormatError("not JSON", place=place) from error
    kind = found.get("manent") if isinstance(found, dict) else None
    if kind not in _RECORD_KINDS:
        raise FormatError("a record of a kind that this release does not know", place=place)
    if kind == "export":
        _check_version(found.get("version"), place)
    try:
        record: AnyRecord = msgspec.convert(found, AnyRecord)
    except msgspec.ValidationError as error:
        raise FormatError(f"{kind}: {error}", place=place) from error
    return record


def _check_version(version: object, place: str) -> None:
    if type(version) is not int or version < 1:
        raise FormatError("an export without a version", place=place)
    if version > VERSION:
        detail = f"export version {version}, this manent reads up to {VERSION}: install a newer one"
        raise FormatError(detail, place=place)
