"""The shapes of JSON that docs/reference/cli.md tells, read from its tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/cli.md"
HEAD = "| name | type | meaning |"
INSIDE = "…."

_HEADING = re.compile(r"^##+ (?P<title>.+)$", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"`manent (?P<words>[^`]*)`")

Shape = dict[str, Any]
"""Name → the types that it may have, and the shape of what is inside it, {} where that is free."""


def read_shapes(page: str) -> dict[str, Shape]:
    """The shape of each command that has a table, by its words: `list`, `config show`."""
    found: dict[str, Shape] = {}
    page = _FENCED.sub("", page)
    places = list(_HEADING.finditer(page))
    for place, following in zip(places, [*places[1:], None], strict=True):
        text = page[place.end() : following.start() if following else len(page)]
        if HEAD in text:
            for command in _COMMAND.finditer(place["title"]):
                found[_words(command["words"])] = read_table(text[text.index(HEAD) :])
    return found


def _words(usage: str) -> str:
    """The words of a command before its arguments."""
    words = []
    for word in usage.split():
        if word[0] in "[-" or not word.islower() or "|" in word:
            break
        words.append(word)
    return " ".join(words)


def read_table(text: str) -> Shape:
    """The shape that a table tells."""
    shape: Shape = {}
    parent = ""
    for names, types in _rows(text):
        for name, kind in zip(names, types, strict=True):
            if name.startswith(INSIDE):
                _put(shape, [parent, *name.removeprefix(INSIDE).split(".")], kind)
            else:
                parent = name
                _put(shape, [name], kind)
    return shape


def _rows(text: str) -> Iterator[tuple[list[str], list[set[str]]]]:
    for line in text.splitlines()[2:]:
        if not line.startswith("|"):
            return
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        names = [name.strip().strip("`") for name in cells[0].split(",")]
        types = [set(re.split(r" or |, ", kind)) for kind in _kinds(cells[1], len(names))]
        yield names, types


def _kinds(cell: str, count: int) -> list[str]:
    """A type for each name: one for all of them, or as many as there are names."""
    several = cell.split(", ")
    return several if len(several) == count > 1 and " or " not in cell else [cell] * count


def _put(shape: Shape, path: list[str], types: set[str]) -> None:
    *above, name = path
    for step in above:
        shape = shape[step][1]
    shape[name] = (types, {})


def differences(value: Any, shape: Shape, where: str = "") -> Iterator[str]:
    """What of an object is not as its shape says."""
    if set(value) != set(shape):
        yield f"{where or 'the object'} has {sorted(value)}, and the page says {sorted(shape)}"
        return
    for name, (types, inside) in shape.items():
        here = f"{where}.{name}" if where else name
        if not any(_fits(value[name], kind) for kind in types):
            yield f"{here} is {value[name]!r}, and the page says {sorted(types)}"
        for item in _inner(value[name]) if inside else ():
            yield from differences(item, inside, here)


def _inner(value: Any) -> list[Mapping[str, Any]]:
    """The objects in a value: itself, or the items of the list."""
    if isinstance(value, dict):
        return [value]
    return value if isinstance(value, list) else []


def _fits(value: Any, kind: str) -> bool:
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
        case "object":
            return isinstance(value, dict)
        case "list of objects":
            return isinstance(value, list) and all(isinstance(item, dict) for item in value)
        case "list of strings":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case "list of `[start":
            return isinstance(value, list) and all(len(item) == 2 for item in value)
        case _:
            return kind == "end]`"
