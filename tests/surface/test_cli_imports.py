"""Imports on the command line: listed, undone after asking, and what was masked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.surface.command_line import Desk

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"


def a_chat(desk: Desk, *words: str, name: str = "chats.jsonl") -> Path:
    """A file of another tool with one conversation."""
    path = desk.folder / name
    messages = [{"role": "user", "content": each} for each in words]
    path.write_text(json.dumps({"messages": messages}) + "\n", encoding="utf-8")
    return path


def take_in(desk: Desk, *words: str) -> str:
    """Import a file, and say under which id."""
    report = desk.read("import", a_chat(desk, *words))["paths"][0]["report"]
    return str(report["import_id"])


def test_imports_are_listed_with_what_they_wrote(desk: Desk) -> None:  # U-3
    id = take_in(desk, "one", "two")

    (entry,) = desk.read("imports", "list")["imports"]
    line = desk.type("imports", "list").stdout

    assert {**entry, "workspace": "", "claim_ns": 0} == {
        "id": id,
        "workspace": "",
        "claim_ns": 0,
        "format": "openai-messages",
        "paths": [str(desk.folder / "chats.jsonl")],
        "finished": True,
        "new_conversations": 1,
        "grown_conversations": 0,
        "added_messages": 2,
        "changed_messages": 0,
    }
    assert line.startswith(f"{id}  ")
    assert "1 conversation, 2 messages  openai-messages" in line


def test_another_workspace_lists_none(desk: Desk) -> None:  # N-1
    id = take_in(desk, "one")

    assert desk.read("imports", "list", "--workspace", "beside") == {"imports": []}
    assert desk.type("imports", "undo", id, "--yes", "--workspace", "beside").exit_code == 4


def test_an_undo_tells_what_it_did(desk: Desk) -> None:  # U-3
    id = take_in(desk, "one")
    (conversation,) = desk.read("list")["conversations"]

    planned = desk.read("imports", "undo", id, "--dry-run")
    undone = desk.read("imports", "undo", id, "--yes")

    assert planned == {**undone, "dry_run": True}
    assert undone == {
        "dry_run": False,
        "undone": {
            "id": id,
            "deleted": [conversation["id"]],
            "changed": [],
            "removed_messages": 0,
            "restored_messages": 0,
            "spared": [],
            "continued": [],
        },
    }
    assert desk.type("imports", "undo", id, "--yes").exit_code == 4


def test_an_undo_that_can_ask_nobody_wants_to_be_told(desk: Desk) -> None:  # U-2
    id = take_in(desk, "one")

    result = desk.type("imports", "undo", id)

    assert result.exit_code == 2
    assert "--yes" in result.stderr
    assert f"{id}: 1 conversation would be deleted" in result.stderr
    assert len(desk.read("list")["conversations"]) == 1


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, 0), ("n\n", 1, 1)])
def test_an_undo_asks(desk: Desk, monkeypatch: pytest.MonkeyPatch, answer: str, code: int, left: int) -> None:
    id = take_in(desk, "one")
    monkeypatch.setattr("manent.cli.asking.is_answered", lambda: True)

    result = desk.type("imports", "undo", id, stdin=answer)

    assert (result.exit_code, len(desk.read("list")["conversations"])) == (code, left)


def test_an_undo_names_what_somebody_continued(desk: Desk) -> None:
    id = take_in(desk, "one")
    address = desk.say(desk.read("list")["conversations"][0]["id"])

    refused = desk.type("imports", "undo", id, "--yes")
    forced = desk.type("imports", "undo", id, "--yes", "--force")

    assert (refused.exit_code, address in refused.stderr) == (1, True)
    assert forced.stdout == f"{id}: 1 conversation was deleted\n"


def test_an_undo_that_spares_something_is_partly_done(desk: Desk) -> None:  # U-2
    id = take_in(desk, "one")
    with desk.open_store() as store:
        store.conversation(store.list()[0].id).pin()

    result = desk.type("imports", "undo", id, "--yes")

    assert (result.exit_code, "pinned" in result.stderr) == (3, True)


def test_masked_secrets_are_listed_by_kind_and_place(desk: Desk) -> None:  # K-1, U-3
    id = take_in(desk, f"use {TOKEN}", f"and {JWT}")

    answer = desk.read("secrets", "list")
    only = desk.read("secrets", "list", "--kind", "jwt", "--limit", "1")
    shown = desk.type("secrets", "list").stdout

    assert [(one["kind"], one["count"], one["import_id"]) for one in answer["secrets"]] == [
        ("github_token", 1, id),
        ("jwt", 1, id),
    ]
    assert set(answer["secrets"][0]) == {
        "kind",
        "conversation_id",
        "address",
        "count",
        "claim_ns",
        "import_id",
    }
    assert (only["secrets"], only["next"]) == (answer["secrets"][1:], None)
    assert "github_token" in shown
    assert TOKEN not in shown + json.dumps(answer)


def test_a_kind_may_be_allowed(desk: Desk) -> None:
    path = a_chat(desk, f"use {TOKEN} and {JWT}")

    result = desk.type("import", path, "--allow", "github_token", "--allow", "basic_auth")

    assert "secrets masked: 1 jwt" in result.stdout
    assert "secrets left as they are: basic_auth, github_token" in result.stdout


def test_an_unknown_kind_is_answered_with_those_that_there_are(desk: Desk) -> None:  # U-2
    result = desk.type("import", a_chat(desk, "one"), "--allow", "nonsense")

    assert (result.exit_code, desk.store.exists()) == (2, False)
    assert "github_token" in result.stderr
