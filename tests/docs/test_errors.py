"""The tree of errors on its page, and the one that the module draws of itself, are what the module has."""

from __future__ import annotations

import builtins
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from manent import errors

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "errors.md"
TREES = {"the page": PAGE.read_text(encoding="utf-8"), "the module": errors.__doc__ or ""}

_LINE = re.compile(r"(?P<branch>[ │├└─]*)(?P<name>\w+Error)\b *(?:\((?P<builtin>\w+)\))?")
_ROW = re.compile(r"^\| `(\w+Error)` \|", re.MULTILINE)
_COLUMNS = 4
"""By so much a branch is further in than the one above it."""


class Node(NamedTuple):
    """An exception, the one above it in the tree, and the built-in one that it is too."""

    name: str
    above: str | None
    builtin: str | None


def tree_in(text: str) -> list[Node]:
    """The tree that a text draws, from `ManentError` down, in its order."""
    nodes: list[Node] = []
    path: list[str] = []
    beginning = re.search(r"^ *ManentError$", text, re.MULTILINE)
    assert beginning is not None
    for line in text[beginning.start() :].splitlines():
        found = _LINE.match(line)
        if found is None:
            break
        depth = (len(found["branch"]) - beginning[0].index("M")) // _COLUMNS
        path[depth:] = [found["name"]]
        nodes.append(Node(found["name"], path[depth - 1] if depth else None, found["builtin"]))
    return nodes


def is_builtin(cls: type) -> bool:
    """Whether Python itself has it."""
    return getattr(builtins, cls.__name__, None) is cls


def node_of(cls: type[errors.ManentError]) -> Node:
    """An exception as the tree shows it."""
    ours = [base.__name__ for base in cls.__bases__ if issubclass(base, errors.ManentError)]
    others = [base.__name__ for base in cls.__bases__ if is_builtin(base) and base is not Exception]
    return Node(cls.__name__, next(iter(ours), None), next(iter(others), None))


EXCEPTIONS = [
    value
    for value in vars(errors).values()
    if isinstance(value, type) and issubclass(value, errors.ManentError)
]


@pytest.mark.parametrize("tree", TREES)
def test_a_tree_names_exactly_the_errors_that_there_are_with_their_bases(tree: str) -> None:
    assert sorted(tree_in(TREES[tree])) == sorted(map(node_of, EXCEPTIONS))


def test_both_trees_have_one_order() -> None:
    assert tree_in(TREES["the page"]) == tree_in(TREES["the module"])


def test_the_tables_explain_each_error_that_nothing_is_below_of_once() -> None:
    bases = {base for cls in EXCEPTIONS for base in cls.__bases__}
    lowest = {cls.__name__ for cls in EXCEPTIONS if cls not in bases}

    rows = _ROW.findall(TREES["the page"])

    assert len(rows) == len(set(rows))
    assert lowest <= set(rows) <= {cls.__name__ for cls in EXCEPTIONS}


def test_a_tree_is_read_with_its_branches() -> None:
    text = (
        "Words.\n\n    ManentError\n    ├── AError      (OSError)  why\n    │   └── BError  why\n"
        "    └── CError\n\n    OtherError\n"
    )

    assert tree_in(text) == [
        Node("ManentError", None, None),
        Node("AError", "ManentError", "OSError"),
        Node("BError", "AError", None),
        Node("CError", "ManentError", None),
    ]
