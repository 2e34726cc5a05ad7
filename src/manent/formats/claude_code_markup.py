"""
Markup that the program writes into a user's text: slash commands, shell escapes, their output, reminders.

Only where it fills the whole of a text it is taken for what it says, and becomes a notice; else it is words.
The record keeps the text as it came.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from manent.model.parts import AnyPart, NoticePart, TextPart

_LOOKED_AT_MAX = 1 << 20
_PIECE = re.compile(r"\s*<(?P<tag>[a-z][a-z-]*)>(?P<inner>.*?)</(?P=tag)>\s*", re.DOTALL)

_COMMAND = frozenset(("command-name", "command-message", "command-args", "command-contents"))
_SHELL = frozenset(("bash-input",))
_INJECTED = frozenset(
    (
        "local-command-stdout",
        "local-command-stderr",
        "local-command-caveat",
        "bash-stdout",
        "bash-stderr",
        "system-reminder",
        "task-notification",
    )
)


class Told(NamedTuple):
    """What a text was: the notice that stands for it, and whether the program rather than the user did it."""

    part: NoticePart
    injected: bool


def find_markup(parts: tuple[AnyPart, ...]) -> tuple[tuple[AnyPart, ...], bool]:
    """
    A user's parts with notices in the place of markup, and whether nothing in them is the user's.

    A slash command or a shell escape is the user's act; its output, and what was injected, is not.
    """
    told = [_read(part.text) if isinstance(part, TextPart) else None for part in parts]
    shown = tuple(each.part if each else part for each, part in zip(told, parts, strict=True))
    return shown, bool(told) and all(each is not None and each.injected for each in told)


def _read(text: str) -> Told | None:
    """The notice that a text is; None for words, and for markup that does not fill it."""
    if not text.lstrip().startswith("<") or len(text) > _LOOKED_AT_MAX:
        return None
    pieces: list[tuple[str, str]] = []
    at = 0
    while at < len(text):
        found = _PIECE.match(text, at)
        if found is None:
            return None
        pieces.append((found["tag"], found["inner"]))
        at = found.end()
    tags = {tag for tag, _ in pieces}
    if tags <= _COMMAND and "command-name" in tags:
        return Told(NoticePart("command", _command(dict(pieces))), injected=False)
    if tags <= _SHELL:
        return Told(NoticePart("bash-input", "\n".join(inner for _, inner in pieces)), injected=False)
    if tags <= _INJECTED:
        return Told(NoticePart(pieces[0][0], "\n".join(inner for _, inner in pieces if inner)), injected=True)
    return None


def _command(pieces: dict[str, str]) -> str:
    """A slash command as it was typed."""
    name, arguments = pieces["command-name"].strip(), pieces.get("command-args", "").strip()
    return f"{name if name.startswith('/') else '/' + name} {arguments}".rstrip()
