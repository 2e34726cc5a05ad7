"""A folder for the store, a workspace, and a store of both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from manent.seeds import ConversationStore
from manent.testing.clocks import SettableClock, stepping


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Where the store is, or will be."""
    return tmp_path / "root"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A project folder."""
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def clock() -> SettableClock:
    """A clock that moves a second with each call."""
    return stepping()


@pytest.fixture
def store(root: Path, workspace: Path, clock: SettableClock) -> Iterator[ConversationStore]:
    """The store of the workspace."""
    with ConversationStore(root, workspace, clock=clock) as store:
        yield store


@pytest.fixture
def elsewhere(root: Path, tmp_path: Path) -> Iterator[ConversationStore]:
    """The same store, seen from another workspace."""
    folder = tmp_path / "another project"
    folder.mkdir()
    with ConversationStore(root, folder) as store:
        yield store
