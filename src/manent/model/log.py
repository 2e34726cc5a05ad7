"""The log: what is appended, and the identities beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from manent.model.events import Event
from manent.model.ids import Stamp


class Header(NamedTuple):
    """All of an event but its leaves; the hash covers each field and the leaves' digests."""

    uid: str
    writer: str
    seq: int
    kind: str
    schema_version: int
    claim_ns: int | None
    event_id: str
    prev_hash: bytes
    encoding: int

    @property
    def stamp(self) -> Stamp:
        """The event's place in its stream."""
        return Stamp(self.seq, self.writer)


class Leaf(NamedTuple):
    """
    The part of an event that is salted, hashed, read and erased alone.

    An erased leaf has neither `data` nor `salt`, and keeps its `digest`; a present one has `digest` None.
    """

    name: str
    data: bytes | None
    salt: bytes | None
    digest: bytes | None = None


class SealedEvent(NamedTuple):
    """An event with its place in the chain: ready to be written, or as it was read."""

    header: Header
    leaves: tuple[Leaf, ...]


class Pending(NamedTuple):
    """An event that is about to be appended: all that the store does not give it."""

    event: Event
    event_id: str
    claim_ns: int | None


class LogEntry(NamedTuple):
    """A sealed event and where it stands in the store, not decoded."""

    position: int
    header: Header
    leaves: tuple[Leaf, ...]


class StoredEvent(NamedTuple):
    """A log entry and what it says."""

    position: int
    header: Header
    leaves: tuple[Leaf, ...]
    event: Event


class Tip(NamedTuple):
    """The last event of one writer in one stream, and how many it wrote there in `total`."""

    uid: str
    writer: str
    seq: int
    hash: bytes
    total: int


class StreamInfo(NamedTuple):
    """
    A stream's identity. A workspace's own stream has `id` None.

    A deleted conversation has `id` None too: what is left of it are the headers of its events.
    """

    uid: str
    workspace: str
    id: str | None
    deleted: bool = False


class StoreInfo(NamedTuple):
    """What a store says of itself. `clock` is the greatest seq given out."""

    store_id: str
    generation: str
    clock: int
    position: int
    source_key: bytes
    format: int


class WorkspaceInfo(NamedTuple):
    """A workspace: its random identity, its own streams' uids, and its aliases as (kind, value)."""

    uid: str
    streams: tuple[str, ...]
    aliases: tuple[tuple[str, str], ...]


KEY_FIELD = "key"
"""The register that holds the caller's own name for a conversation; backends keep it findable."""


END_FIELD = "end_reason"
"""The register that says why a conversation was ended; what has one is not offered for resuming."""


class Register(NamedTuple):
    """One metadata value of a conversation, as JSON, with the stamp that set it; None is "not set"."""

    field: str
    value: Any
    stamp: Stamp


def find_text(registers: Sequence[Register], field: str) -> str:
    """The text in a register, or "" where it is not set."""
    value = next((register.value for register in registers if register.field == field), None)
    return value if isinstance(value, str) else ""
