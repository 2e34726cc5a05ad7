"""What every test gets: a state folder of its own, so that nobody meets the user's installation."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_installation(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh installation: fingerprint and memory of stores."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("MANENT_STATE", str(folder))
    return folder
