"""What our own golden stores hold, read from their files."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

from manent.opening import open_backend
from manent.testing import golden
from manent.testing.golden import from_json, to_json

__all__ = ["WORKSPACES", "from_json", "read_everything", "to_json"]

WORKSPACES = ("garden", "kitchen")
"""The workspaces of every golden store."""


def read_everything(path: Path) -> Any:
    """All that the store in a file says."""
    with closing(open_backend(path)) as backend:
        return golden.read_everything(backend, WORKSPACES)
