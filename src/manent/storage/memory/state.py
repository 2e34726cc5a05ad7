"""What a store holds at one moment."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Any, TypeVar

from manent.model.ids import Stamp
from manent.model.log import LogEntry, StreamInfo, Tip
from manent.model.owners import Owner
from manent.model.rows import ConversationRow, LinkRow, MessageRow, TurnRow

S = TypeVar("S", "Stream", "State")


@dataclass(slots=True)
class Stream:
    """
    One stream: its identity, its log, its metadata, and its read model.

    Register values are kept as JSON, so that nobody can change one that was handed out.
    """

    info: StreamInfo
    entries: dict[Stamp, LogEntry] = field(default_factory=dict)
    tips: dict[str, Tip] = field(default_factory=dict)
    registers: dict[str, tuple[bytes | None, Stamp]] = field(default_factory=dict)
    row: ConversationRow | None = None
    messages: dict[str, MessageRow] = field(default_factory=dict)
    turns: dict[str, TurnRow] = field(default_factory=dict)
    links: dict[Stamp, LinkRow] = field(default_factory=dict)
    keys: dict[bytes, Stamp] = field(default_factory=dict)


@dataclass(slots=True)
class State:
    """
    Everything. A committed state never changes again: a transaction works on a copy and puts it in place.

    `log` holds (stream, stamp) by position, the first at position 1; `ids` and `keys` lead from
    (workspace, name) to a stream, `owners` from (workspace, id) to who owns that, `blobs` from
    (workspace, digest) to bytes.
    """

    store_id: str
    generation: str
    source_key: bytes
    clock: int = 0
    log: list[tuple[str, Stamp]] = field(default_factory=list)
    workspaces: set[str] = field(default_factory=set)
    aliases: dict[tuple[str, str], str] = field(default_factory=dict)
    streams: dict[str, Stream] = field(default_factory=dict)
    ids: dict[tuple[str, str], str] = field(default_factory=dict)
    keys: dict[tuple[str, str], str] = field(default_factory=dict)
    owners: dict[tuple[str, str], Owner] = field(default_factory=dict)
    blobs: dict[tuple[str, str], bytes] = field(default_factory=dict)


def copied(original: S) -> S:
    """The same with containers of its own; the rows in them never change and are shared, streams as well."""
    containers: dict[str, Any] = {
        each.name: value.copy()
        for each in fields(original)
        if isinstance(value := getattr(original, each.name), list | dict | set)
    }
    return replace(original, **containers)
