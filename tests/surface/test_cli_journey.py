"""The first minutes with manent: import the samples, look around, write, verify, take a copy elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surface.command_line import Desk

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


@pytest.mark.parametrize("name", ["openai-messages.jsonl", "claude-code"])
def test_a_sample_comes_in_whole_and_can_be_read_found_and_taken_elsewhere(  # U-2, I-1, I-4
    desk: Desk, name: str
) -> None:
    report = desk.read("import", SAMPLES / name)["paths"][0]["report"]
    again = desk.read("import", SAMPLES / name)["paths"][0]["report"]
    conversations = desk.read("list")["conversations"]
    messages = [m for c in conversations for m in desk.read("show", c["id"], "--all-branches")["messages"]]
    said = next(part["text"] for m in messages for part in m["parts"] if part["type"] == "text")
    found = desk.read("search", max(said.split(), key=len).strip("\"'.,:;!?()"), "--limit", "100")["hits"]

    assert report["records"] == report["messages"] + report["merged_records"] > 0
    assert again["known_messages"] == again["messages"] == report["messages"]
    assert len(conversations) == report["conversations"] == again["unchanged_conversations"]
    assert said in {
        m["parts"][0].get("text") for m in messages if m["id"] in {h["message_id"] for h in found}
    }

    desk.type("append", conversations[0]["id"][:10], "What was that about?", "About what is written above.")
    copy, export = Desk(desk.folder / ".." / "desk"), desk.folder / "all.ndjson"
    copy.store = desk.folder / "copy.db"

    assert desk.type("verify").exit_code == 0
    assert desk.type("export", "--all-workspaces", export).exit_code == 0
    assert copy.type("import", "--all-workspaces", export).exit_code == 0
    assert copy.run("export", "--all-workspaces").stdout == export.read_bytes()
    assert copy.type("verify").exit_code == 0
