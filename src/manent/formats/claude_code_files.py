"""The files of Claude Code: their records, whose conversation each one belongs to, and the files beside."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from manent.errors import FormatError
from manent.formats import jsontext
from manent.formats.claude_code_lines import Record, read_record
from manent.formats.source import REFUSED_BYTES_MAX, Source
from manent.model.imported import Refusal

AGENT_FILE = "agent-"
REPLAY = "acompact"
"""Agents of this name begin with a copy of the thread that they compact."""

T = TypeVar("T")

_AGENT_FOLDER = "subagents"
_WRAPPER = "loglines"
_PLAIN_NAME = re.compile(r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}\Z")
_FOLDERS_UP_MAX = 4
_LINES_LOOKED_AT = 200
_FIRST_LINE_BYTES_MAX = 4 << 20
"""A longer line is passed over when a session is looked for that begins as another one does."""


class Key(NamedTuple):
    """Which conversation a record belongs to: a session, or one agent of it."""

    session: str
    agent: str | None = None

    @property
    def native_id(self) -> str:
        """`<session>` or `<session>/<agent>`."""
        return "/".join(part for part in self if part)


def read_records(file: Source) -> Iterator[Record | Refusal]:
    """Each line of a session file as a record, or why it is none."""
    for line in file.lines():
        if isinstance(line, Refusal):
            yield line
            continue
        try:
            value = jsontext.loads(line.raw, place=line.place)
        except FormatError as error:
            yield line.refuse(error.detail)
            continue
        if isinstance(value, dict):
            yield read_record(value, raw=line.raw, place=line.place)
        else:
            yield line.refuse(f"a line that is no object but a {type(value).__name__}")


def read_wrapped(file: Source, extra: dict[str, Any]) -> Iterator[Record | Refusal]:
    """The records of `{"loglines": [...]}`; its other members go into `extra`."""
    number = 0
    try:
        raw = file.whole()
        jsontext.check_shape(raw, place=file.name)
        for member in jsontext.members(jsontext.decode(raw, place=file.name), _WRAPPER, place=file.name):
            if member.raw is None:
                extra[member.name] = member.value
                continue
            number += 1
            place = f"{file.name}: record {number}"
            if isinstance(member.value, dict):
                yield read_record(member.value, raw=member.raw, place=place)
            else:
                reason = f"a record that is no object but a {type(member.value).__name__}"
                yield Refusal(place=place, reason=reason, raw=member.raw[:REFUSED_BYTES_MAX])
    except FormatError as error:
        yield Refusal(place=error.place, reason=f"{error.detail}, after {number} records")


def group(records: list[Record], file: Source) -> dict[Key, list[Record]]:
    """Records by conversation, in the order in which the conversations begin."""
    stem = file.path.stem
    own_agent = stem.removeprefix(AGENT_FILE) if stem.startswith(AGENT_FILE) else None
    home = _home(records, file, own_agent)
    roots = _side_roots(records)
    sessions = {record.uuid: record.session for record in records if record.uuid}
    groups: dict[Key, list[Record]] = {}
    for record in records:
        session = record.session or sessions.get(record.leaf or "") or home
        agent = record.agent if record.is_sidechain or own_agent else None
        if agent is None:
            agent = own_agent or roots.get(record.uuid)
        groups.setdefault(Key(session, agent), []).append(record)
    return groups


def _home(records: list[Record], file: Source, own_agent: str | None) -> str:
    """The session of lines that name none: the one that the file is called after, or its first one."""
    named = [record.session for record in records if record.session]
    stem = file.path.stem
    if named and stem not in named:
        return named[0]
    folders = file.path.parts
    if own_agent is not None and _AGENT_FOLDER in folders[1:-1]:
        return folders[folders.index(_AGENT_FOLDER, 1) - 1]
    return stem


def _side_roots(records: list[Record]) -> dict[str | None, str]:
    """Uuid of each sidechain line → uuid of its chain's first one, which names it where no agent id does."""
    parents = {record.uuid: record.parent for record in records if record.is_sidechain and record.uuid}
    roots: dict[str | None, str] = {}
    for uuid in parents:
        path: dict[str, None] = {}
        at: str | None = uuid
        while at in parents and at not in roots and at not in path:
            path[at] = None
            at = parents[at]
        root = roots.get(at) or next(reversed(path), uuid)
        roots.update(dict.fromkeys(path, root))
    return roots


def find_session_file(path: Path, session: str) -> Path | None:
    """The file of a session: beside a file of its agent, or beside the folder of its name that holds that."""
    if _PLAIN_NAME.match(session) is None:
        return None
    above = [folder for folder in list(path.parents)[:_FOLDERS_UP_MAX] if folder.name == session]
    places = [path.with_name(f"{session}.jsonl"), *(folder.with_name(f"{session}.jsonl") for folder in above)]
    return next((place for place in places if place != path and _is_own_file(place)), None)


def read_as_it_is(read: Callable[[Path, int, int], T], place: Path) -> T | None:
    """What a reader that remembers says of a file of this size and time; None of one that is gone."""
    try:
        status = place.stat()
    except OSError:
        return None
    return read(place, status.st_size, status.st_mtime_ns)


def find_same_beginnings(path: Path, uuid: str) -> tuple[Path, ...]:
    """The other session files of the folder that begin with the same message."""
    try:
        changed_ns = path.parent.stat().st_mtime_ns
    except OSError:
        return ()
    return tuple(other for other in _beginnings(path.parent, changed_ns).get(uuid, ()) if other != path)


@lru_cache(maxsize=1)
def _beginnings(folder: Path, changed_ns: int) -> dict[str, tuple[Path, ...]]:  # noqa: ARG001 - names a state
    """The uuid of the first message of each session file of a folder → the files that begin with it."""
    found: dict[str, tuple[Path, ...]] = {}
    for path in sorted(folder.glob("*.jsonl")):
        if _is_own_file(path) and not path.name.startswith(AGENT_FILE) and (uuid := _first_uuid(path)):
            found[uuid] = (*found.get(uuid, ()), path)
    return found


def _first_uuid(path: Path) -> str | None:
    try:
        for number, item in enumerate(read_records(Source(path, _FIRST_LINE_BYTES_MAX))):
            if isinstance(item, Record) and item.is_spoken and item.uuid:
                return item.uuid
            if number >= _LINES_LOOKED_AT:
                return None
    except FormatError:
        return None
    return None


def _is_own_file(path: Path) -> bool:
    """Whether a path is a file itself; a link is not followed."""
    return path.is_file() and not path.is_symlink()
