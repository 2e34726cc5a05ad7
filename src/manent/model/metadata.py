"""What is kept of a conversation beside its log: title, persona, tags, scratchpad, plan and the like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from unicodedata import normalize

import msgspec

from manent.errors import InputError, MetadataError
from manent.model.log import KEY_FIELD, Register
from manent.model.plans import PlanSnapshot, convert

TITLE_CHARACTERS_MAX = 40
"""Code points of a title that was made of a question."""

UNTITLED = "untitled"
"""The title that is made of a question without words."""

_TITLE_READ_MAX = 10 * TITLE_CHARACTERS_MAX
"""Code points of a question that are looked at: no letter is composed of ten, and no question is slow."""


class RoadmapLink(msgspec.Struct, frozen=True):
    """The node of a roadmap that a conversation works on; whether both are there is another question."""

    roadmap_id: str
    node_id: str


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """
    All metadata of a conversation as of one moment; what is not set is empty or None.

    Args:
        title: for people.
        persona: who the machine plays.
        project: what the conversation belongs to, such as a folder.
        key: the caller's own name for it, unique in the workspace.
        end_reason: why it ended; None while it is open.
        tags: words to find it by, sorted, each once.
        pinned: the user's "do not delete".
        scratchpad: what the machine noted for itself.
        plan: the steps that it works through.
        config_snapshot: the settings that it began with, a JSON object.
        roadmap_link: the node of a roadmap that it works on.
    """

    title: str = ""
    persona: str | None = None
    project: str | None = None
    key: str | None = None
    end_reason: str | None = None
    tags: tuple[str, ...] = ()
    pinned: bool = False
    scratchpad: dict[str, str] = msgspec.field(default_factory=dict)
    plan: PlanSnapshot = PlanSnapshot()
    config_snapshot: dict[str, Any] | None = None
    roadmap_link: RoadmapLink | None = None


_FIELDS: Mapping[str, tuple[str, Any]] = {
    "title": ("title", str),
    "persona": ("persona", str),
    "project": ("project", str),
    KEY_FIELD: ("key", str),
    "end_reason": ("end_reason", str),
    "tags": ("tags", tuple[str, ...]),
    "pin": ("pinned", bool),
    "scratchpad": ("scratchpad", dict[str, str]),
    "plan": ("plan", PlanSnapshot),
    "config_snapshot": ("config_snapshot", dict[str, Any]),
    "roadmap_link": ("roadmap_link", RoadmapLink),
}
"""Register → field of `Metadata`, and the type of its value."""


def read_metadata(registers: Sequence[Register], *, of: str, only: str | None = None) -> Metadata:
    """
    Metadata as registers tell of them; registers that it does not know are passed over.

    Args:
        registers: those of one conversation.
        of: its name, for the error.
        only: the one register that is asked for, so that damage of others does no harm.

    Raises:
        MetadataError: a value has another shape; names the register and never the value.
    """
    found = {
        _FIELDS[register.field][0]: decode_register(register, _FIELDS[register.field][1], of=of)
        for register in registers
        if register.field in _FIELDS and register.value is not None and only in (None, register.field)
    }
    return Metadata(**found)


def decode_register(register: Register, shape: Any, *, of: str) -> Any:
    """
    The value of a register as a type.

    Raises:
        MetadataError: it has another shape.
    """
    try:
        return convert(register.value, shape, "value")
    except InputError as error:
        raise MetadataError(str(error), field=register.field, of=of) from None


def title_of(question: str) -> str:
    """
    The title that a first question gives a conversation that has none.

    Returns:
        Its beginning, in NFC and without white space around it, at most `TITLE_CHARACTERS_MAX` code points;
        `UNTITLED` when nothing is left.
    """
    beginning = normalize("NFC", question.strip()[:_TITLE_READ_MAX])
    return beginning[:TITLE_CHARACTERS_MAX].strip() or UNTITLED
