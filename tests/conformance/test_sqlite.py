"""The SQLite backend keeps the contract."""

from __future__ import annotations

from pathlib import Path

import pytest

from manent.storage.installation import Installation
from manent.storage.sqlite.backend import SqliteBackend
from manent.testing.conformance import BackendConformance, OpenBackend


class TestSqlite(BackendConformance):
    @pytest.fixture
    def open_backend(self, tmp_path: Path) -> OpenBackend:
        here = Installation(tmp_path / "state")
        return lambda name="store": SqliteBackend(tmp_path / f"{name}.db", installation=here)
