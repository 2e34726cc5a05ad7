"""Every public call has an example that runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import manent
import manent.seeds
from manent.history.imports import Imports
from manent.history.masked_secrets import Secrets
from manent.history.relinking import Workspaces
from manent.history.roadmaps import Roadmaps
from manent.seeds import ConversationService, ConversationStore, SessionRepo
from tests.docs.blocks import read_blocks

REFERENCE = Path(__file__).resolve().parents[2] / "docs" / "reference"
FAÇADES_PAGE = REFERENCE / "seeds.md"
CLASSES = (manent.Store, manent.Conversation, Roadmaps, Workspaces, Imports, Secrets)
FAÇADES = (ConversationStore, SessionRepo, ConversationService)


def calls_of(classes: tuple[type, ...]) -> list[tuple[type, str]]:
    """Their public methods and properties."""
    return [(cls, name) for cls in classes for name in dir(cls) if not name.startswith("_")]


def name_of(call: tuple[type, str]) -> str:
    """The class and the call."""
    cls, name = call
    return f"{cls.__name__}.{name}"


def examples(*pages: Path) -> Iterator[str]:
    """The blocks of Python that pages show and the tests run."""
    for page in pages:
        for block in read_blocks(page.read_text(encoding="utf-8")):
            if block.language == "python" and block.runs:
                yield block.code


EXAMPLES = "\n".join(examples(*sorted(REFERENCE.glob("*.md"))))
FAÇADE_EXAMPLES = "\n".join(examples(FAÇADES_PAGE))


@pytest.mark.parametrize("call", calls_of(CLASSES), ids=name_of)
def test_a_call_is_shown_in_an_example_that_runs(call: tuple[type, str]) -> None:
    assert re.search(rf"\.{call[1]}\b", EXAMPLES), f"{name_of(call)} is in no example of docs/reference"


@pytest.mark.parametrize("call", calls_of(FAÇADES), ids=name_of)
def test_a_call_of_a_façade_is_shown_on_the_page_of_façades(call: tuple[type, str]) -> None:
    assert re.search(rf"\.{call[1]}\b", FAÇADE_EXAMPLES), f"{name_of(call)} is in no example of seeds.md"


@pytest.mark.parametrize("name", manent.__all__)
def test_a_public_name_is_shown(name: str) -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in REFERENCE.glob("*.md"))

    assert re.search(rf"\b{name}\b", pages)


@pytest.mark.parametrize("name", manent.seeds.__all__)
def test_a_public_name_of_the_façades_is_shown(name: str) -> None:
    assert re.search(rf"\b{name}\b", FAÇADES_PAGE.read_text(encoding="utf-8"))
