"""
Which of several sessions that begin with the same lines came first.

A session that was resumed copied the lines of the older one. Both may have gone on since. The older one is
the one that said nothing after what they share, or said it first.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec
from blake3 import blake3

from manent.errors import FormatError
from manent.formats import jsontext
from manent.formats.claude_code_files import (
    Key,
    find_same_beginnings,
    group,
    read_as_it_is,
    read_records,
)
from manent.formats.claude_code_lines import Record
from manent.formats.source import Source

_NEVER_NS = -1


class Outline(NamedTuple):
    """What a session says, in short: uuid of each message → what it says, hashed, and when, in file order."""

    session: str
    said: dict[str, tuple[bytes, int]]

    def shared_with(self, other: Outline) -> set[str]:
        """The uuids under which both say the same."""
        return {uuid for uuid, (words, _) in self.said.items() if other.said.get(uuid, (b"", 0))[0] == words}

    def place_beside(self, shared: set[str]) -> tuple[int, str]:
        """When it first said what it does not share, and its name: what sorts first is older."""
        fresh = (claim_ns for uuid, (_, claim_ns) in self.said.items() if uuid not in shared)
        return next(fresh, _NEVER_NS), self.session


def find_older(key: Key, members: Iterable[Record], path: Path) -> Path | None:
    """The file of the older session of the same folder with which this one shares most, if there is any."""
    members = list(members)
    first = next((record.uuid for record in members if record.is_spoken and record.uuid), None)
    places = find_same_beginnings(path, first) if first else ()
    if not places:
        return None
    own = _outline_of(key.session, members)
    best: tuple[int, Path] | None = None
    for place in places:
        other = read_as_it_is(_read, place)
        if other is None or other.session == key.session:
            continue
        shared = own.shared_with(other)
        is_older = other.place_beside(shared) < own.place_beside(shared)
        if shared and is_older and (best is None or len(shared) > best[0]):
            best = len(shared), place
    return best[1] if best else None


@lru_cache(maxsize=16)
def _read(place: Path, size: int, changed_ns: int) -> Outline | None:  # noqa: ARG001 - they name a state
    file = Source(place)
    try:
        records = [item for item in read_records(file) if isinstance(item, Record)]
    except FormatError:
        return None
    mains = ((key, members) for key, members in group(records, file).items() if key.agent is None)
    return next((_outline_of(key.session, members) for key, members in mains), None)


def _outline_of(session: str, members: Iterable[Record]) -> Outline:
    said: dict[str, tuple[bytes, int]] = {}
    for record in members:
        if record.is_spoken and record.uuid:
            said.setdefault(record.uuid, (fingerprint(record), record.claim_ns or 0))
    return Outline(session, said)


def fingerprint(record: Record) -> bytes:
    """What a line says, whatever its uuid and time are: 16 bytes."""
    said = [record.role, msgspec.to_builtins(record.parts)]
    return blake3(jsontext.dumps(said)).digest(16)
