"""Builders of exports of chat products: nodes, conversations, zips; and reading whatever a path holds."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

from manent.formats.registry import detect
from manent.model.imported import ImportedConversation, Refusal
from tests.formats.reading import Reading

NOON = 1_767_614_400.0
NO_PARENT = "00000000-0000-4000-8000-000000000000"


def read_any(path: Path) -> Reading:
    """All that a file, folder or zip gives, as an import sees it."""
    items = list(detect(path).items)
    return Reading(
        [item for item in items if isinstance(item, ImportedConversation)],
        [item for item in items if isinstance(item, Refusal)],
    )


def write_json(path: Path, value: Any, **style: Any) -> Path:
    """A file of JSON, its folders with it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(json.dumps(value, ensure_ascii=False, **style).encode("utf-8", "surrogatepass"))
    return path


def write_zip(path: Path, files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    """A zip with these entries, whatever their names are."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, compress_type=method)
    return path


def zip_folder(folder: Path, path: Path) -> Path:
    """A folder as a zip."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return write_zip(path, {file.relative_to(folder).as_posix(): file.read_bytes() for file in files})


# --- ChatGPT ------------------------------------------------------------------------------------


def text(*parts: Any) -> dict[str, Any]:
    """Content of the plain kind."""
    return {"content_type": "text", "parts": list(parts)}


def message(role: str, content: Any, **more: Any) -> dict[str, Any]:
    """A message as the export has it; `name` is the author's."""
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    whole = {"author": author, "create_time": NOON, "content": content, "recipient": "all", "metadata": {}}
    return whole | more


def chain(*messages: dict[str, Any] | None, prefix: str = "n") -> dict[str, Any]:
    """A mapping in which each message follows the one before: `n1`, `n2`, …"""
    names = [f"{prefix}{number}" for number in range(1, len(messages) + 1)]
    return {
        name: {
            "id": name,
            "message": None if said is None else {"id": name, **said},
            "parent": names[number - 1] if number else None,
            "children": names[number + 1 : number + 2],
        }
        for number, (name, said) in enumerate(zip(names, messages, strict=True))
    }


def conversation(mapping: Any, **more: Any) -> dict[str, Any]:
    """A conversation of a ChatGPT export."""
    whole = {"title": "T", "create_time": NOON, "update_time": NOON, "mapping": mapping}
    return whole | {"conversation_id": "conv-1", "id": "conv-1"} | more


def read_chatgpt(folder: Path, mapping: Any, **more: Any) -> ImportedConversation:
    """The one conversation of an export that holds only it, without a refusal."""
    reading = read_any(write_json(folder / "conversations.json", [conversation(mapping, **more)]))
    assert reading.refusals == []
    return reading.conversations[0]


# --- Claude.ai ----------------------------------------------------------------------------------


def wrote(uuid: str, sender: str, parent: str | None = None, **more: Any) -> dict[str, Any]:
    """A message of a Claude.ai export."""
    whole: dict[str, Any] = {"uuid": uuid, "sender": sender, "created_at": "2026-01-05T12:00:00.000001Z"}
    return whole | ({"parent_message_uuid": parent} if parent else {}) | more


def thread(*messages: Any, **more: Any) -> dict[str, Any]:
    """A conversation of a Claude.ai export."""
    whole = {"uuid": "thread-1", "name": "T", "created_at": "2026-01-05T12:00:00Z"}
    return whole | {"chat_messages": list(messages)} | more


def read_claude(folder: Path, *messages: Any, **more: Any) -> ImportedConversation:
    """The one conversation of an export that holds only it, without a refusal."""
    reading = read_any(write_json(folder / "conversations.json", [thread(*messages, **more)]))
    assert reading.refusals == []
    return reading.conversations[0]
