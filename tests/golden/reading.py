"""What our own golden stores hold, read from their files."""

from __future__ import annotations

import gzip
from contextlib import closing
from pathlib import Path
from typing import Any

from manent.model.owners import Owner, Process
from manent.opening import open_backend
from manent.testing import golden
from manent.testing.golden import as_asked_then, from_json, to_json

__all__ = [
    "OWNED",
    "OWNER",
    "WORKSPACES",
    "as_asked_then",
    "from_json",
    "read_everything",
    "to_json",
    "unpacked",
]

WORKSPACES = ("garden", "kitchen")
"""The workspaces of every golden store."""

OWNED = "owned"
"""The key of the conversation that somebody owns, in the second workspace; from format 2 on."""

OWNER = Owner(
    process=Process("host \x00 \ud83d", "boot \\", "", 4711, None),
    epoch=7,
    writer="0f" * 8,
    claimed_ns=1_750_000_000_000_000_000,
    heartbeat_ns=1_750_000_030_000_000_000,
)
"""Who owns it."""


def unpacked(folder: Path, place: Path) -> Path:
    """The store of a format, unpacked into a folder."""
    path = place / "conversations.db"
    path.write_bytes(gzip.decompress((folder / "conversations.db.gz").read_bytes()))
    return path


def read_everything(path: Path) -> Any:
    """All that the store in a file says."""
    with closing(open_backend(path)) as backend:
        return golden.read_everything(backend, WORKSPACES)
