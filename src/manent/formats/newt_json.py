"""
The JSON tree of a conversation store that had no database yet: a file for each conversation.

    conversations/<key of the workspace>/<id>.json

    {"id": …, "title": …, "workspace": path, "workspace_id": <the folder's name>, "persona": …,
     "turns": [{"user": …, "assistant": …, "events": […], "phantom_reaches": […], "tokens_in": …, …}],
     "scratchpad": {…}, "plan": {"steps": […]}, "roadmap_id": …, "node_id": …,
     "created_at_unix_nanos": …, "updated_at_unix_nanos": …}

Times are whole nanoseconds of up to 128 bits; those beyond 64 become the greatest that 64 can hold. Fields
that are not named here are passed over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec

from manent.errors import FormatError, InputError
from manent.formats import jsontext
from manent.formats.source import Source
from manent.model.imported import Refusal
from manent.model.parts import PhantomReach, ToolEvent
from manent.model.plans import PlanSnapshot, convert

NAME = "newt_json"
SUFFIX = ".json"
_ID = re.compile(r"[A-Za-z0-9-]{1,400}", re.ASCII)
_TIME_MIN, _TIME_MAX = -(1 << 63), (1 << 63) - 1

Count = Annotated[int, msgspec.Meta(ge=0, le=_TIME_MAX)]


class NewtTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A question and its answer; counts that nobody reported are None."""

    user: str
    assistant: str
    events: tuple[ToolEvent, ...] = ()
    phantom_reaches: tuple[PhantomReach, ...] = ()
    tokens_in: Count | None = None
    tokens_out: Count | None = None


class NewtRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation of the tree; times in nanoseconds since 1970 UTC."""

    id: str
    title: str = ""
    workspace: str
    workspace_id: str
    persona: str | None = None
    turns: tuple[NewtTurn, ...] = ()
    scratchpad: dict[str, str] = msgspec.field(default_factory=dict)
    plan: PlanSnapshot = PlanSnapshot()
    roadmap_id: str | None = None
    node_id: str | None = None
    created_at_unix_nanos: int
    updated_at_unix_nanos: int


class Foreign(msgspec.Struct, frozen=True, kw_only=True):
    """Something in the tree that is no record and never will be one: where it stands, and why."""

    place: str
    reason: str


def find_records(tree: Path) -> Iterator[Path | Refusal | Foreign]:
    """
    The files of a tree that ought to be records, in the order of their names; and what else lies there.

    A refusal may be mended and read later; what is foreign may not. Links are not followed.
    """
    for folder in _entries(tree):
        if isinstance(folder, Refusal):
            yield folder
        elif folder.is_symlink():
            yield Refusal(place=folder.path, reason="a link is not followed; put what it leads to here")
        elif not folder.is_dir():
            yield Foreign(place=folder.path, reason="it lies in no workspace's folder")
        else:
            yield from _find_in(Path(folder.path))


def _find_in(folder: Path) -> Iterator[Path | Refusal | Foreign]:
    for entry in _entries(folder):
        if isinstance(entry, Refusal):
            yield entry
        elif entry.is_dir(follow_symlinks=False) or Path(entry.name).suffix != SUFFIX:
            yield Foreign(place=entry.path, reason=f"its name does not end in {SUFFIX}")
        elif entry.is_symlink():
            yield Refusal(place=entry.path, reason="a link is not followed; put what it leads to here")
        else:
            yield Path(entry.path)


def _entries(folder: Path) -> Iterator[os.DirEntry[str] | Refusal]:
    try:
        yield from sorted(os.scandir(folder), key=lambda entry: entry.name)
    except FileNotFoundError:
        return  # somebody else has put the tree away
    except OSError as error:
        yield Refusal(place=str(folder), reason=f"the folder cannot be read: {error.strerror}")


def read_record(path: Path) -> NewtRecord:
    """
    Read one record.

    Raises:
        FormatError: it cannot be read, is no JSON, has another shape, disagrees with its folder about its
            workspace, or has an id that can be none.
    """
    source = Source(path)
    value = jsontext.loads(source.whole(), place=source.name)
    if not isinstance(value, dict):
        raise FormatError("it is no JSON object", place=source.name)
    try:
        record = convert(_plain(value), NewtRecord, "the record")
    except InputError as error:
        raise FormatError(str(error), place=source.name) from None
    if record.workspace_id != path.parent.name:
        raise FormatError("its workspace_id is not the name of its folder", place=source.name)
    if _ID.fullmatch(record.id) is None:
        raise FormatError("its id is none: ASCII letters, digits and hyphens make one", place=source.name)
    return record


def _plain(value: dict[str, Any]) -> dict[str, Any]:
    """A record as the types above take it: times that fit, our names of fields, and null as "not given"."""
    given = _given(value)
    for name in ("created_at_unix_nanos", "updated_at_unix_nanos"):
        if type(time := given.get(name)) is int:
            given[name] = min(max(time, _TIME_MIN), _TIME_MAX)
    if "turns" in given:
        given["turns"] = _each(given["turns"], _plain_turn)
    if isinstance(plan := given.get("plan"), dict):
        given["plan"] = {**plan, "steps": _each(plan.get("steps", []), _plain_step)}
    return given


def _given(value: dict[str, Any]) -> dict[str, Any]:
    return {name: field for name, field in value.items() if field is not None}


def _each(items: Any, plain: Callable[[dict[str, Any]], dict[str, Any]]) -> Any:
    """Each object of a list in another form; what is none is left for the types to refuse."""
    if not isinstance(items, list):
        return items
    return [plain(item) if isinstance(item, dict) else item for item in items]


def _plain_turn(turn: dict[str, Any]) -> dict[str, Any]:
    given = _given(turn)
    return {**given, "phantom_reaches": _each(given.get("phantom_reaches", []), _plain_reach)}


def _plain_step(step: dict[str, Any]) -> dict[str, Any]:
    """A step's words are its `description` there, and its status begins with a capital letter."""
    renamed = {"text": step["description"]} if "description" in step else {}
    lowered = {"status": step["status"].lower()} if isinstance(step.get("status"), str) else {}
    return {**step, **renamed, **lowered}


def _plain_reach(reach: dict[str, Any]) -> dict[str, Any]:
    """A resolution is {"kind": word, "detail": what goes with it} there, or the bare word."""
    renamed = {}
    if "active_context_features" in reach:
        renamed["context_features"] = reach["active_context_features"]
    resolution = reach.get("resolution")
    if isinstance(resolution, dict) and "kind" in resolution:
        renamed |= {"resolution": resolution["kind"], "detail": resolution.get("detail")}
    return {**reach, **renamed}
