"""
Plans: the steps that a model works through, and the trees of subtasks that roadmaps keep.

A `PlanSnapshot` is working memory of one conversation. Its JSON:
`{"steps": [{"text": "read the log", "status": "done"}]}`, with the status `todo`, `active` or `done`.

A `Plan` is a tree as a flat list, told apart by ids: `parent` names the subtask that one belongs to, `deps`
those that must be done before. Its text is TOML: `goal`, `aggregation`, and for each subtask a table
`[[subtask]]` with a table `[subtask.caveat_policy]`. A part of a plan is a plan too: it has no goal, and
what its ids lead to may be elsewhere.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any, Literal, TypeVar

import msgspec

from manent.errors import FormatError, InputError, NotFoundError
from manent.model.ids import check_name

T = TypeVar("T")

# --- the steps of a conversation


class StepStatus(StrEnum):
    """How far a step is."""

    TO_DO = "todo"
    ACTIVE = "active"
    DONE = "done"


class Step(msgspec.Struct, frozen=True):
    """One thing to do, in words."""

    text: str
    status: StepStatus


class PlanSnapshot(msgspec.Struct, frozen=True):
    """The steps of a conversation's plan, in their order, as they stand now."""

    steps: tuple[Step, ...] = ()

    @classmethod
    def from_json(cls, value: Any) -> PlanSnapshot:
        """
        Read the JSON of a snapshot; fields that it does not know are passed over.

        Raises:
            InputError: it has another shape; names the field and never what stands in it.
        """
        return convert(value, cls, "plan")

    def to_json(self) -> dict[str, Any]:
        """
        The snapshot as JSON.

        Raises:
            InputError: something else than texts and statuses stands in it.
        """
        return {
            "steps": [to_fields(step) for step in convert(_plain(self, "plan"), type(self), "plan").steps]
        }


# --- the tree of a roadmap


class Aggregation(StrEnum):
    """How the results of subtasks become one."""

    CONCAT = "concat"
    LASTWINS = "lastwins"
    REDUCE = "reduce"
    CUSTOM = "custom"


class SubtaskStatus(StrEnum):
    """How far a subtask is."""

    PENDING = "pending"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


Scope = Literal["none", "all"] | tuple[str, ...]
"""Nothing, everything, or what is listed."""


class CaveatPolicy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """
    What a subtask asks to be allowed; what it does not name is denied.

    `max_calls` is the greatest number of tool calls; None states none.
    """

    fs_read: Scope = "none"
    fs_write: Scope = "none"
    exec: Scope = "none"
    net: Scope = "none"
    max_calls: Annotated[int, msgspec.Meta(ge=0)] | None = None


class Subtask(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """
    A node of the tree.

    Args:
        id: unique in its plan.
        instruction: what is to be done.
        deps: ids of subtasks that must be done before.
        parallel_ok: it may run beside others.
        context: names of files that it needs.
        verify: a command that tells whether it was done.
        status: how far it is.
        result: what came of it.
        parent: the id of the subtask that it is a part of.
        caveat_policy: what it asks to be allowed.
    """

    id: str
    instruction: str
    deps: tuple[str, ...] = ()
    parallel_ok: bool = False
    context: tuple[str, ...] = ()
    verify: str | None = None
    status: SubtaskStatus = SubtaskStatus.PENDING
    result: str | None = None
    parent: str | None = None
    caveat_policy: CaveatPolicy = CaveatPolicy()


class Plan(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A goal and the subtasks that lead to it, in the order in which they are tried."""

    goal: str | None = None
    aggregation: Aggregation = Aggregation.CONCAT
    subtasks: tuple[Subtask, ...] = msgspec.field(default=(), name="subtask")

    @classmethod
    def from_toml(cls, text: str) -> Plan:
        """
        Read a plan or a part of one; an empty text is an empty plan.

        Raises:
            FormatError: it is no TOML, or has a field too many, too few or of another type. It names the
                place and never what stands there.
            InputError: the ids make no tree; see `check`.
        """
        data = _parse_toml(text)
        try:
            plan = msgspec.convert(data, cls)
        except ValueError as error:
            where, why = _explain(error)
            raise FormatError(why, place=f"plan{where}") from None
        plan.check()
        return plan

    def to_toml(self) -> str:
        """
        The plan as TOML, without the fields that have their default; equal plans give equal texts.

        Raises:
            InputError: the ids make no tree, a field has another type, or a text holds a lone surrogate,
                which TOML cannot carry.
        """
        plan = convert(_plain(self, "plan"), type(self), "plan")
        plan.check()
        head = {name: value for name, value in to_fields(plan).items() if name != "subtask"}
        pieces = [_write_table("plan", "", head)] if head else []
        for number, subtask in enumerate(plan.subtasks):
            place = f"plan.subtask[{number}]"
            fields = to_fields(subtask)
            policy = fields.pop("caveat_policy", None)
            pieces.append(_write_table(place, "[[subtask]]\n", fields))
            if policy:
                header = "[subtask.caveat_policy]\n"
                pieces.append(_write_table(f"{place}.caveat_policy", header, policy))
        return "\n".join(pieces)

    def check(self) -> None:
        """
        Refuse ids that make no tree. What leads out of the plan is fine.

        Raises:
            InputError: an id is blank or there twice, a subtask waits for itself, or is above itself.
        """
        parents: dict[str, str | None] = {}
        for subtask in self.subtasks:
            if check_name(subtask.id, "subtask id") in parents:
                raise InputError(f"The plan has two subtasks with the id {subtask.id!r}. Rename one.")
            if subtask.id in subtask.deps:
                raise InputError(f"Subtask {subtask.id!r} depends on itself. Take it out of its deps.")
            parents[subtask.id] = subtask.parent
        circling = _find_circle(parents)
        if circling is not None:
            raise InputError(f"Subtask {circling!r} is above itself. Give it another parent.")

    # --- reading the tree

    def find(self, id: str) -> Subtask | None:
        """A subtask by its id, or None."""
        return next((subtask for subtask in self.subtasks if subtask.id == id), None)

    def roots(self) -> tuple[Subtask, ...]:
        """The subtasks without a parent in this plan, so that all others are below them."""
        ids = {subtask.id for subtask in self.subtasks}
        return tuple(subtask for subtask in self.subtasks if subtask.parent not in ids)

    def children(self, id: str) -> tuple[Subtask, ...]:
        """The subtasks right below one."""
        return tuple(subtask for subtask in self.subtasks if subtask.parent == id)

    def leaves(self) -> tuple[Subtask, ...]:
        """The subtasks with nothing below them: those that are carried out."""
        above = {subtask.parent for subtask in self.subtasks}
        return tuple(subtask for subtask in self.subtasks if subtask.id not in above)

    def next_ready_leaf(self) -> Subtask | None:
        """The first pending leaf whose deps are all in this plan and done, or None."""
        done = {subtask.id for subtask in self.subtasks if subtask.status == SubtaskStatus.DONE}
        pending = (leaf for leaf in self.leaves() if leaf.status == SubtaskStatus.PENDING)
        return next((leaf for leaf in pending if done.issuperset(leaf.deps)), None)

    @property
    def is_complete(self) -> bool:
        """Whether every leaf is done; so is a plan without any."""
        return all(leaf.status == SubtaskStatus.DONE for leaf in self.leaves())

    def marked(self, id: str, status: SubtaskStatus | str, result: str | None = None) -> Plan:
        """
        The same plan with a subtask that went on.

        Args:
            id: which one.
            status: how far it is.
            result: what came of it; None keeps what was there.

        Raises:
            NotFoundError: there is no such subtask.
            InputError: `status` is none, or `result` is no text.
        """
        found = self.find(id)
        if found is None:
            raise NotFoundError("subtask", id)
        known = convert(status, SubtaskStatus, "status")
        kept = found.result if result is None else convert(result, str, "result")
        changed = msgspec.structs.replace(found, status=known, result=kept)
        subtasks = tuple(changed if subtask is found else subtask for subtask in self.subtasks)
        return msgspec.structs.replace(self, subtasks=subtasks)


class Roadmap(msgspec.Struct, frozen=True):
    """A plan that a workspace keeps under an id. Times are claims, in nanoseconds since 1970 UTC."""

    id: str
    title: str
    tree: Plan
    created_ns: int
    updated_ns: int


class RoadmapSummary(msgspec.Struct, frozen=True):
    """A roadmap as a list shows it; `nodes` is None when its tree cannot be read, which is not zero."""

    id: str
    title: str
    nodes: int | None
    created_ns: int
    updated_ns: int


# --- strict reading of JSON and TOML values

_PLACE = re.compile(r" - at `(?P<path>.*)`\Z", re.DOTALL)
_PLAIN_FIELD = re.compile(r"Object contains unknown field `(?P<name>[\w-]{1,40})`", re.ASCII)
_POSITION = re.compile(r"\(at (?P<place>line \d+, column \d+|end of document)\)\Z")


def convert(value: Any, shape: type[T], what: str) -> T:
    """
    Read a JSON value as a type, and guess nothing.

    Args:
        value: any JSON value.
        shape: the type that it must have.
        what: its name, for the error.

    Raises:
        InputError: it has another shape; names the field and never what stands in it.
    """
    try:
        return msgspec.convert(value, shape)
    except ValueError as error:
        where, why = _explain(error)
        raise InputError(f"{what}{where}: {why}.") from None


def to_fields(item: msgspec.Struct) -> dict[str, Any]:
    """The fields of a Struct that differ from their default, by their stored names, as JSON values."""
    given = {field.encode_name: (field, getattr(item, field.name)) for field in msgspec.structs.fields(item)}
    return {
        name: to_fields(value) if isinstance(value, CaveatPolicy) else msgspec.to_builtins(value)
        for name, (field, value) in given.items()
        if value != field.default
    }


def _plain(item: msgspec.Struct, what: str) -> Any:
    """A Struct as JSON values, whatever was put into it."""
    try:
        return msgspec.to_builtins(item)
    except TypeError:
        raise InputError(f"{what} holds an object that JSON cannot carry.") from None


def _explain(error: ValueError) -> tuple[str, str]:
    """Where a value does not fit and why, without the value: what msgspec says may hold it."""
    text = str(error)
    path = _PLACE.search(text)
    where = path["path"].removeprefix("$") if path else ""
    why = _PLACE.sub("", text)
    if isinstance(error, UnicodeEncodeError) or why.startswith("Invalid enum value"):
        return where, "it is none of the words that may stand here"
    if why.startswith("Object contains unknown field"):
        name = _PLAIN_FIELD.match(why)
        return where, f"there is no field {name['name']!r}" if name else "it has an unknown field"
    return where, why[:1].lower() + why[1:]


def _parse_toml(text: str) -> Mapping[str, Any]:
    if not isinstance(text, str):
        raise InputError(f"A plan is read from text, not {type(text).__name__}.")
    _check_unicode(text, "plan")
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        position = _POSITION.search(str(error))
        place = f"plan, {position['place']}" if position else "plan"
        raise FormatError("it is no TOML", place=place) from None


def _write_table(place: str, header: str, fields: Mapping[str, Any]) -> str:
    import tomli_w  # writing a plan is rare, and a start should not wait for it

    return _check_unicode(header + tomli_w.dumps(fields), place)


def _check_unicode(text: str, place: str) -> str:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise FormatError("it holds a lone surrogate, which TOML cannot carry", place=place) from None
    return text


def _find_circle(parents: Mapping[str, str | None]) -> str | None:
    """An id that is its own ancestor, or None."""
    settled: set[str] = set()
    for start in parents:
        path: set[str] = set()
        at: str | None = start
        while at is not None and at in parents and at not in settled:
            if at in path:
                return at
            path.add(at)
            at = parents[at]
        settled |= path
    return None
