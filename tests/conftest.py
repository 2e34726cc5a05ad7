"""What every test gets: a state folder and a configuration of its own, so that nobody meets the user's."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def own_installation(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fresh installation: fingerprint, memory of stores, and a configuration file that is not there."""
    folder = tmp_path_factory.mktemp("state")
    monkeypatch.setenv("MANENT_STATE", str(folder))
    monkeypatch.setenv("MANENT_CONFIG", str(folder / "config.toml"))
    return folder
