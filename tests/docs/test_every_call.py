"""Every public call has an example that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import manent
from manent.history.relinking import Workspaces
from manent.history.roadmaps import Roadmaps
from tests.docs.blocks import read_blocks

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
CLASSES = (manent.Store, manent.Conversation, Roadmaps, Workspaces)
CALLS = [(cls, name) for cls in CLASSES for name in dir(cls) if not name.startswith("_")]


def examples() -> Iterator[str]:
    """The blocks of Python that the reference shows and the tests run."""
    for page in sorted(REFERENCE.glob("*.md")):
        for block in read_blocks(page.read_text(encoding="utf-8")):
            if block.language == "python" and block.runs:
                yield block.code


EXAMPLES = "\n".join(examples())


@pytest.mark.parametrize(("cls", "name"), CALLS, ids=[f"{cls.__name__}.{name}" for cls, name in CALLS])
def test_a_call_is_shown_in_an_example_that_runs(cls: type, name: str) -> None:
    assert re.search(rf"\.{name}\b", EXAMPLES), f"{cls.__name__}.{name} is in no example of docs/reference"


@pytest.mark.parametrize("name", manent.__all__)
def test_a_public_name_is_shown(name: str) -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md"))

    assert re.search(rf"\b{name}\b", pages)
