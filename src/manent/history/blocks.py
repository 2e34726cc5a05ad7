"""
Blocks: a scratchpad and a plan as text that a model is shown.

A block has a line for each entry; further lines of one value are indented. What is too long is cut, and the
block says so. Nothing that stands in an entry can close a block or open one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from manent.model.plans import PlanSnapshot, StepStatus
from manent.search.folding import GRAPHEME_MAX, widen_to_graphemes

VALUE_CHARACTERS_MAX = 2_000
"""Characters shown of one value."""

VALUES_CHARACTERS_MAX = 8_000
"""Characters shown of all values of a block together; its labels may have as many again."""

LABEL_CHARACTERS_MAX = 200
"""Characters shown of the key of an entry."""

NO_PLAN = "There is no plan."

_UNSEEN = r"[\s\u200b-\u200f\u2060\ufeff]*+"
_TAG = re.compile(rf"<(?={_UNSEEN}/?+{_UNSEEN}(?:state|plan|\Z))", re.IGNORECASE)
"""The beginning of a tag; at the end of an entry too, for what follows might go on with it."""

_BREAK = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def render_state(scratchpad: Mapping[str, str]) -> str:
    """
    A scratchpad as the block `<state>`, a line for each key in sorted order.

    Returns:
        Text without a line break at its end; "" for an empty scratchpad. At most `VALUE_CHARACTERS_MAX`
        characters of a value and `VALUES_CHARACTERS_MAX` of all values.
    """
    entries = [(f"{key}", value) for key, value in sorted(scratchpad.items())]
    return _block("state", entries, ": ")


def render_plan(plan: PlanSnapshot) -> str:
    """
    A plan as the block `<plan>`, a line for each step in its order: `2. [active] read the log`.

    Returns:
        As `render_state`; "" for a plan without steps.
    """
    entries = [(_label(number, step.status), step.text) for number, step in enumerate(plan.steps, 1)]
    return _block("plan", entries, " ")


def plan_get(plan: PlanSnapshot) -> str:
    """The whole plan in words, as the result of a tool: nothing is cut, and no plan is said to be none."""
    if not plan.steps:
        return NO_PLAN
    done = sum(step.status == StepStatus.DONE for step in plan.steps)
    lines = [f"Plan: {done:,} of {len(plan.steps):,} steps done."]
    lines += [f"{_label(n, step.status)} {_indent(step.text)}" for n, step in enumerate(plan.steps, 1)]
    return "\n".join(lines)


def _label(number: int, status: str) -> str:
    return f"{number}. [{status}]"


def _block(name: str, entries: Sequence[tuple[str, str]], separator: str) -> str:
    if not entries:
        return ""
    return "\n".join([f"<{name}>", *_lines(entries, separator), f"</{name}>"])


def _lines(entries: Sequence[tuple[str, str]], separator: str) -> Iterator[str]:
    room = label_room = VALUES_CHARACTERS_MAX
    for number, (label, value) in enumerate(entries):
        if room <= 0 or label_room <= 0:
            yield f"[cut: {len(entries) - number:,} more of {len(entries):,} are not shown]"
            return
        name, name_note = _fit(
            _BREAK.sub(" ", label[: 2 * LABEL_CHARACTERS_MAX]), label, LABEL_CHARACTERS_MAX
        )
        shown, note = _fit(value, value, min(VALUE_CHARACTERS_MAX, room))
        yield f"{name}{name_note}{separator}{shown}{note}"
        label_room -= len(name)
        room -= max(len(shown), 1)  # so that empty values come to an end as well


def _fit(text: str, whole: str, width_max: int) -> tuple[str, str]:
    """As much of a text as there is room for, with no tag in it, and a note when that is not all."""
    beginning = text[: VALUE_CHARACTERS_MAX + GRAPHEME_MAX + 1]
    harmless = _indent(_TAG.sub("&lt;", beginning))
    if len(harmless) <= width_max:
        return harmless, ""
    return harmless[: _cut_place(harmless, width_max)], f" [cut: {len(whole):,} characters in all]"


def _cut_place(text: str, width_max: int) -> int:
    """Where to cut: between graphemes, and never inside a pair of surrogates."""
    at = widen_to_graphemes(text, width_max, width_max)[0]
    is_pair = at > 0 and "\ud800" <= text[at - 1] <= "\udbff" and "\udc00" <= text[at] <= "\udfff"
    return at - is_pair


def _indent(text: str) -> str:
    """A value whose further lines cannot be taken for entries."""
    return _BREAK.sub(lambda found: f"{found[0]}  ", text)
