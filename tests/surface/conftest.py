"""A desk for each test: an empty folder, a state folder of its own, and no settings from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from manent.cli.preferences import KEYS
from tests.surface.command_line import Desk


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """An empty desk."""
    monkeypatch.setenv("MANENT_STATE", str(tmp_path / "state"))
    for name in (*(variable for key in KEYS.values() for variable in key.variables), "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "desk"
    folder.mkdir()
    return Desk(folder)
