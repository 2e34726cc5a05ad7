"""What `--json` writes: one object on one line, of the shapes that docs/reference/cli.md tells."""

from __future__ import annotations

import json
from typing import Any

import pytest

from manent.model.parts import ToolCallPart
from manent.model.records import Message
from tests.surface.command_line import Desk
from tests.surface.tree import LEAVES

LONE_SURROGATE = "\ud83d alone"


def kinds(value: Any) -> Any:
    """A JSON value with the names of types in place of the values."""
    match value:
        case dict():
            return {name: kinds(item) for name, item in value.items()}
        case list():
            return [kinds(item) for item in value]
        case None:
            return None
        case _:
            return type(value).__name__


def test_new_tells_the_id(desk: Desk) -> None:  # U-3
    answer = desk.read("new", "Fix it", "--persona", "tutor", "--key", "k")

    listed = desk.read("list")["conversations"][0]["id"]
    assert answer == {"id": listed, "title": "Fix it", "persona": "tutor", "key": "k"}


def test_append_tells_the_address(desk: Desk) -> None:  # U-3
    conversation_id = desk.begin()

    answer = desk.read("append", conversation_id, "q", "a")

    assert kinds(answer) == {"address": "str", "conversation_id": "str", "seq": "int", "writer": "str"}
    assert answer["address"] == f"turn:{conversation_id}#{answer['seq']}"


def test_list_tells_conversations_and_where_to_go_on(desk: Desk) -> None:  # U-3
    older, newer = desk.begin("older", "--key", "k", "--persona", "tutor"), desk.begin("newer")

    answer = desk.read("list", "--limit", "1")
    rest = desk.read("list", "--cursor", answer["next"])

    assert [entry["id"] for entry in answer["conversations"]] == [newer]
    assert [entry["id"] for entry in rest["conversations"]] == [older]
    assert kinds(rest) == {
        "conversations": [
            {
                "id": "str",
                "workspace": "str",
                "title": "str",
                "persona": "str",
                "key": "str",
                "project": None,
                "end_reason": None,
                "activity_seq": "int",
                "started_ns": "int",
                "last_ns": "int",
                "tags": [],
                "pinned": "bool",
            }
        ],
        "next": None,
    }


def test_show_tells_messages_with_their_parts(desk: Desk) -> None:  # U-3
    conversation_id = desk.begin("Fix it")
    address = desk.say(conversation_id, "q", "a")

    answer = desk.read("show", conversation_id[:8], "--limit", "1")

    assert kinds(answer) == {
        "conversation": {"id": "str", "title": "str"},
        "messages": [
            {
                "id": "str",
                "conversation_id": "str",
                "role": "str",
                "parts": [{"type": "str", "text": "str"}],
                "parent_id": "str",
                "seq": "int",
                "writer": "str",
                "turn_seq": "int",
                "claim_ns": "int",
                "state": "str",
                "hidden": "bool",
                "cursor": "str",
                "author": None,
                "usage": None,
                "metadata": None,
                "erased": "bool",
                "address": "str",
            }
        ],
        "previous": "str",
        "hidden_left_out": "int",
    }
    assert answer["conversation"] == {"id": conversation_id, "title": "Fix it"}
    assert answer["messages"][0]["address"] == address
    assert answer["messages"][0]["parts"] == [{"type": "text", "text": "a"}]


def test_show_leads_to_earlier_messages(desk: Desk) -> None:
    conversation_id = desk.begin()
    desk.say(conversation_id, "q", "a")

    last = desk.read("show", conversation_id, "--limit", "1")
    first = desk.read("show", conversation_id, "--before", last["previous"])

    assert [message["role"] for message in first["messages"] + last["messages"]] == ["user", "assistant"]


def test_search_tells_hits_with_offsets(desk: Desk) -> None:  # U-3
    conversation_id = desk.begin("Fix it")
    address = desk.say(conversation_id, "Why is it slow?", "a")

    answer = desk.read("search", "SLOW")

    assert kinds(answer) == {
        "query": "str",
        "hits": [
            {
                "conversation_id": "str",
                "title": "str",
                "address": "str",
                "message_id": "str",
                "role": "str",
                "score": "float",
                "snippet": "str",
                "highlights": [["int", "int"]],
                "cut_before": "bool",
                "cut_after": "bool",
                "claim_ns": "int",
            }
        ],
    }
    hit = answer["hits"][0]
    assert (hit["address"], hit["snippet"], hit["highlights"]) == (address, "Why is it slow?", [[10, 14]])


def test_nothing_found_is_an_empty_list(desk: Desk) -> None:
    desk.begin()

    assert desk.read("search", "slow") == {"query": "slow", "hits": []}


def test_verify_tells_what_was_looked_at(desk: Desk) -> None:  # U-3
    desk.say(desk.begin())

    answer = desk.read("verify", "--make-receipt")

    receipt = answer.pop("receipt")
    assert answer == {
        "ok": True,
        "findings": [],
        "streams": 2,
        "events": 2,
        "erased_leaves": 0,
        "unknown_kinds": 0,
    }
    assert kinds(receipt) == {
        "store_id": "str",
        "position": "int",
        "count": "int",
        "root": "str",
        "claim_ns": "int",
        "encoding": "int",
    }


def test_export_tells_the_file(desk: Desk) -> None:  # U-3
    desk.begin()
    target = desk.folder / "out.ndjson"

    answer = desk.read("export", target)

    data = target.read_bytes()
    assert answer == {
        "path": str(target),
        "format": "ndjson",
        "conversations": 1,
        "messages": None,
        "attachments": 0,
        "lines": data.count(b"\n"),
        "bytes": len(data),
        "left_out": {},
    }


def test_import_tells_a_report_for_each_path(desk: Desk) -> None:  # U-3
    source = desk.folder / "messages.jsonl"
    source.write_text('{"messages": [{"role": "user", "content": "hi"}]}\n', encoding="utf-8")

    answer = desk.read("import", source)

    assert kinds(answer) == {
        "dry_run": "bool",
        "paths": [
            {
                "path": "str",
                "error": None,
                "report": {
                    "format": "str",
                    "files": "int",
                    "records": "int",
                    "messages": "int",
                    "conversations": "int",
                    "new_conversations": "int",
                    "grown_conversations": "int",
                    "unchanged_conversations": "int",
                    "deleted_conversations": "int",
                    "added_messages": "int",
                    "known_messages": "int",
                    "changed_messages": "int",
                    "merged_records": "int",
                    "secrets": {},
                    "refusals": [],
                    "attachments": "int",
                    "stored_attachments": "int",
                    "kept_references": "int",
                    "links": "int",
                    "recorded_links": "int",
                    "known_links": "int",
                    "pending_links": "int",
                    "allowed_secrets": [],
                    "import_id": "str",
                },
                "restored": None,
            }
        ],
    }


def test_import_tells_what_an_export_of_ours_brought(desk: Desk) -> None:  # U-3
    export = desk.folder / "out.ndjson"
    desk.say(desk.begin())
    desk.type("export", export)
    desk.store = desk.folder / "other.db"

    answer = desk.read("import", export)

    assert answer["paths"] == [
        {
            "path": str(export),
            "error": None,
            "report": None,
            "restored": {
                "events": 2,
                "added": 2,
                "known": 0,
                "conversations": 1,
                "new_conversations": 1,
                "blobs": 0,
            },
        }
    ]


def test_an_import_that_fails_still_answers_with_an_object(desk: Desk) -> None:
    result = desk.type("import", "no-such-file", "--json")

    assert result.exit_code == 4
    entry = json.loads(result.stdout)["paths"][0]
    assert (entry["path"], entry["report"]) == ("no-such-file", None)
    assert "no-such-file" in entry["error"]


@pytest.mark.parametrize("words", LEAVES)
def test_every_command_knows_json(desk: Desk, words: str) -> None:  # U-3
    assert "--json" in desk.type(*words.split(), "--help").stdout


def test_any_text_comes_back_equal_from_json(desk: Desk) -> None:  # T-1, T-3
    hostile = LONE_SURROGATE + "\x1b[2J\x9b\x7f\u202e\u2028\x00 네"
    with desk.open_store() as store:
        conversation = store.create(hostile)
        conversation.append_turn(hostile, "a")

    result = desk.type("show", conversation.id, "--json")

    answer = json.loads(result.stdout)
    assert answer["conversation"]["title"] == hostile
    assert answer["messages"][0]["parts"][0]["text"] == hostile
    assert result.stdout.count("\n") == 1
    assert "네" in result.stdout
    assert not set("\x1b\x9b\x7f\u202e\u2028\x00") & set(result.stdout)


def test_arguments_of_a_tool_call_stay_json(desk: Desk) -> None:
    call = ToolCallPart("grep", {"pattern": ["a", 1, None]}, "c1")
    with desk.open_store() as store:
        conversation = store.create()
        conversation.append_message(Message(role="assistant", parts=[call]))

    answer = desk.read("show", conversation.id)

    assert answer["messages"][0]["parts"] == [
        {"type": "tool_call", "name": "grep", "arguments": {"pattern": ["a", 1, None]}, "call_id": "c1"}
    ]
