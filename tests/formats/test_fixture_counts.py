"""Every file that other tools wrote: what is in it came in or is named, and its tree is the same tree."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import manent
from manent.errors import FormatError
from manent.formats.registry import detect
from manent.model.imported import ImportedConversation
from manent.opening import import_path
from tests.formats.chat_exports import read_any
from tests.formats.reading import FIXTURES, SAMPLES, Counts, needs_fixtures, parents

Tree = dict[str, str | None]

TABLE = {
    "chatgpt/ai-chat-md-export/conversations.json": Counts(2, 8, 8, 0),
    "chatgpt/librechat-fork/chatgpt-tree.json": Counts(1, 12, 12, 0),
    "chatgpt/librechat/chatgpt-modern-export.json": Counts(2, 7, 7, 1),
    "chatgpt/schema-derived/split-export.zip": Counts(2, 7, 7, 1),
    "claude-ai/ai-chat-md-export/conversations.json": Counts(2, 8, 8, 0),
    "claude-code/agentsview/valid_session.jsonl": None,
    "claude-code/claude-code-log-2026/dag_compact_after_rewind.jsonl": None,
    "claude-code/claude-code-log/edge_cases.jsonl": None,
    "claude-code/claude-code-log/representative_messages.jsonl": None,
    "claude-code/claude-code-log/todowrite_examples.jsonl": None,
    "claude-code/claude-code-viewer/1af7fc5e-8455-4414-9ccd-011d40f70b2a.jsonl": None,
    "claude-code/claude-code-viewer/agent-test-hash-123.jsonl": None,
    "claude-code/claude-code-viewer/agent-test-hash-456.jsonl": None,
    "claude-code/simonw/sample_session.json": None,
    "claude-code/simonw/sample_session.jsonl": None,
    "claude-code/talkreplay/tool-session.jsonl": None,
    "openai-messages/schema-derived/chat.jsonl": Counts(3, 14, 14, 0),
}
"""Path below the fixtures → what it gives; None where a record is a line and the file itself tells."""

WITHOUT_CONVERSATIONS = {
    "claude-ai/schema-derived/memories.json",
    "claude-ai/schema-derived/projects/p1.json",
    "claude-ai/schema-derived/users.json",
}

FOLDERS = ("chatgpt", "claude-ai", "claude-code", "openai-messages")
EXPORTS = [name for name in TABLE if name.startswith(("chatgpt", "claude-ai"))]
SAMPLE_EXPORTS = [SAMPLES / "chatgpt", SAMPLES / "claude-ai"]


# --- a reading of its own, as small as can be -----------------------------------------------------


def load_exports(path: Path) -> Iterator[Any]:
    """Each entry of each list of conversations in a file, folder or zip."""
    if path.is_dir():
        for file in sorted(path.glob("conversations*.json")):
            yield from load_exports(file)
    elif path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if name.startswith("conversations"):
                    yield from json.loads(archive.read(name))
    else:
        yield from json.loads(path.read_text(encoding="utf-8"))


def chatgpt_tree(mapping: dict[str, Any]) -> Tree:
    """Each node that has a message, under the nearest one above it that has one."""
    tree: Tree = {}
    for name, node in mapping.items():
        if node.get("message") is not None:
            above = node.get("parent")
            while above is not None and mapping[above].get("message") is None:
                above = mapping[above].get("parent")
            tree[name] = above
    return tree


def claude_tree(messages: list[Any]) -> Tree:
    """Each message under the one that it names; under the one before it where nobody names any."""
    names = [message["uuid"] for message in messages]
    if not any(message.get("parent_message_uuid") for message in messages):
        return dict(zip(names, [None, *names], strict=False))
    known = ((message["uuid"], message["parent_message_uuid"]) for message in messages)
    return {name: above if above in names else None for name, above in known}


def trees_of(path: Path) -> list[Tree]:
    """The trees of the entries that have one."""
    entries = list(load_exports(path))
    found = [chatgpt_tree(entry["mapping"]) for entry in entries if "mapping" in entry]
    return found + [claude_tree(entry["chat_messages"]) for entry in entries if "chat_messages" in entry]


def lines_of(path: Path) -> int:
    """The records of a file of lines, or of the one wrapper that holds them."""
    if path.suffix == ".json":
        return len(json.loads(path.read_text(encoding="utf-8"))["loglines"])
    return sum(bool(line.strip()) for line in path.read_bytes().split(b"\n"))


# --- the rules ------------------------------------------------------------------------------------


@needs_fixtures
def test_the_table_names_every_file() -> None:
    files = {
        path.relative_to(FIXTURES).as_posix()
        for folder in FOLDERS
        for path in (FIXTURES / folder).rglob("*")
        if path.is_file()
    }

    assert files == set(TABLE) | WITHOUT_CONVERSATIONS


@needs_fixtures
@pytest.mark.parametrize("name", [name for name, counts in TABLE.items() if counts is not None])
def test_a_file_gives_what_is_in_it(name: str) -> None:  # I-1
    assert read_any(FIXTURES / name).counts == TABLE[name]


@needs_fixtures
@pytest.mark.parametrize("name", [name for name, counts in TABLE.items() if counts is None])
def test_each_line_came_in_or_is_named(name: str) -> None:  # I-1
    counts = read_any(FIXTURES / name).counts

    assert counts.records + counts.refusals == lines_of(FIXTURES / name)


@needs_fixtures
@pytest.mark.parametrize("name", sorted(WITHOUT_CONVERSATIONS))
def test_a_file_without_conversations_is_in_no_known_format(name: str) -> None:
    with pytest.raises(FormatError):
        detect(FIXTURES / name)


def check_trees(path: Path) -> None:
    """The same trees, node for node; an entry without one is a refusal."""
    found = read_any(path)

    assert [parents(item) for item in found.conversations] == trees_of(path)
    assert len(found.conversations) + len(found.refusals) == len(list(load_exports(path)))
    assert all(is_parents_first(item) for item in found.conversations)


def is_parents_first(conversation: ImportedConversation) -> bool:
    """Whether no message stands before its parent."""
    names = [item.native_id for item in conversation.messages]
    return all(
        item.parent_native_id is None or item.parent_native_id in names[:number]
        for number, item in enumerate(conversation.messages)
    )


@needs_fixtures
@pytest.mark.parametrize("name", EXPORTS)
def test_a_tree_is_the_same_tree_node_for_node(name: str) -> None:  # TREE
    check_trees(FIXTURES / name)


@pytest.mark.parametrize("path", SAMPLE_EXPORTS, ids=lambda path: path.name)
def test_the_tree_of_a_sample_is_the_same_tree_node_for_node(path: Path) -> None:  # TREE
    check_trees(path)


def check_import(path: Path) -> None:
    """All that is read comes in; a second time nothing does."""
    counts = read_any(path).counts
    with manent.open("memory:") as store:
        first = import_path(store, path)
        again = import_path(store, path)

    assert (first.records, len(first.refusals)) == (counts.records, counts.refusals)
    assert first.records == first.messages + first.merged_records
    assert (again.added_messages, again.changed_messages) == (0, 0)
    assert (again.new_conversations, again.grown_conversations) == (0, 0)
    assert (again.messages, len(again.refusals)) == (first.messages, len(first.refusals))


@needs_fixtures
@pytest.mark.parametrize("name", [*TABLE, *FOLDERS])
def test_importing_it_again_adds_nothing(name: str) -> None:  # I-2, case 65
    check_import(FIXTURES / name)


@pytest.mark.parametrize("name", ["chatgpt", "claude-ai", "claude-code", "openai-messages.jsonl", "."])
def test_importing_a_sample_again_adds_nothing(name: str) -> None:  # I-2, case 65
    check_import(SAMPLES / name)
