"""Old JSON trees, as tests plant them."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import Any

from manent.testing.clocks import NOON_NS


def old_key(folder: Path | str) -> str:
    """The key of a folder in an old tree."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, str(folder)))


def a_record(folder: Path | str, number: int = 0, **fields: Any) -> dict[str, Any]:
    """A record of two turns; each one's last word is later than that of the one before."""
    return {
        "id": f"{NOON_NS + number}-{uuid.UUID(int=number)}",
        "title": f"conversation {number}",
        "workspace": str(folder),
        "workspace_id": old_key(folder),
        "turns": [
            {"user": f"question {number}.{turn}", "assistant": f"answer {number}.{turn}"} for turn in (0, 1)
        ],
        "created_at_unix_nanos": NOON_NS + number,
        "updated_at_unix_nanos": NOON_NS + 1_000 + number,
        **fields,
    }


def plant(root: Path, record: dict[str, Any] | str, *, key: str = "", name: str = "") -> Path:
    """Put a record into the tree under a root: where its fields say, unless told otherwise."""
    fields = record if isinstance(record, dict) else {}
    folder = root / "conversations" / (key or fields["workspace_id"])
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / (name or f"{fields['id']}.json")
    file.write_text(record if isinstance(record, str) else json.dumps(record), encoding="utf-8")
    return file
