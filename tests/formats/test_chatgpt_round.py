"""ChatGPT's shape, out and in again: the same words under the same words, on every branch."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import manent
from manent.model.records import StoredMessage
from manent.opening import export_path, import_path
from tests.formats.reading import SAMPLES


class Said(NamedTuple):
    """Words, whose they are, and the words that they answer."""

    role: str
    text: str
    under: str


def trees(store: manent.Store) -> dict[str, list[Said]]:
    """Each conversation's words of all branches; a call or a picture may be a message of its own or none."""
    found = {}
    for summary in store.list():
        messages = {m.id: m for m in store.conversation(summary.id).messages(branch="all")}
        spoken = [m for m in messages.values() if m.text and not m.hidden]
        found[summary.title] = sorted(Said(m.role, m.text, above(m, messages)) for m in spoken)
    return found


def asked(said: dict[str, list[Said]]) -> dict[str, list[Said]]:
    """What people said; between them the shape may have told a notice as a message."""
    return {title: [each for each in listed if each.role == "user"] for title, listed in said.items()}


def above(message: StoredMessage, messages: dict[str, StoredMessage]) -> str:
    """The nearest words above a message."""
    parent = messages.get(message.parent_id or "")
    while parent is not None and (not parent.text or parent.hidden):
        parent = messages.get(parent.parent_id or "")
    return parent.text if parent is not None else ""


def heads(store: manent.Store) -> dict[str, str]:
    """The last words of each active branch."""
    conversations = [store.conversation(summary.id) for summary in store.list()]
    return {c.title: [m.text for m in c.messages() if m.text][-1] for c in conversations if c.head}


def test_branches_and_heads_come_back(tmp_path: Path) -> None:  # I-4
    with manent.open("memory:") as store, manent.open("memory:") as again:
        import_path(store, SAMPLES / "chatgpt")
        export_path(store, tmp_path / "out.json", format="chatgpt")
        import_path(again, tmp_path / "out.json")

        before, after = trees(store), trees(again)
        for title, said in before.items():
            assert {each[:2] for each in said} <= {each[:2] for each in after[title]}
        assert asked(after) == asked(before)
        assert heads(again) == heads(store)
