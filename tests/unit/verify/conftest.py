"""A store to tamper with: made once, copied for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.unit.verify.victim import Victim, make_victim


@pytest.fixture(scope="session")
def original(tmp_path_factory: pytest.TempPathFactory) -> Victim:
    """The store as it was written, closed."""
    folder = tmp_path_factory.mktemp("original")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("MANENT_STATE", str(folder / "state"))
        return make_victim(folder / "conversations.db")


@pytest.fixture
def victim(original: Victim, tmp_path: Path) -> Victim:
    """A copy of one's own, closed."""
    path = tmp_path / "conversations.db"
    shutil.copyfile(original.path, path)
    return original._replace(path=path)
