"""ChatGPT's shape, written: a tree that holds together, with every branch in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import manent
from manent.opening import import_path
from manent.parts import ReasoningPart
from tests.formats.exporting import NOON_NS, PICTURE, a_store, attach, call, exported, result, say, unzipped
from tests.formats.reading import SAMPLES


def listed(store: manent.Store, **choices: Any) -> list[dict[str, Any]]:
    """What the file holds."""
    found: list[dict[str, Any]] = json.loads(exported(store, "chatgpt", **choices)[0])
    return found


def is_a_tree(entry: dict[str, Any]) -> bool:
    """One root; each node is its parent's child, once; the head is there."""
    mapping = entry["mapping"]
    links = [(parent, child) for parent, node in mapping.items() for child in node["children"]]
    named = [(node["parent"], name) for name, node in mapping.items() if node["parent"] is not None]
    roots = [name for name, node in mapping.items() if node["parent"] is None]
    same_names = all(node["id"] == name for name, node in mapping.items())
    return (
        sorted(links) == sorted(named) and len(roots) == 1 and entry["current_node"] in mapping and same_names
    )


def path_to_head(entry: dict[str, Any]) -> list[dict[str, Any]]:
    """The messages from the root to the head."""
    at, path = entry["current_node"], []
    while at is not None:
        node = entry["mapping"][at]
        path += [node["message"]] if node["message"] else []
        at = node["parent"]
    return path[::-1]


def test_branches_times_and_the_head_are_those_of_the_conversation() -> None:
    with a_store() as store:
        talk = store.create("Two ways")
        say(talk, "user", "q", id="q")
        say(talk, "assistant", "one", id="a1", usage=manent.Usage(model="m1"))
        say(talk, "assistant", "two", id="a2", parent="q")

        (entry,) = listed(store)
        _, report = exported(store, "chatgpt")

    assert is_a_tree(entry)
    assert entry["mapping"]["q"]["children"] == ["a1", "a2"]
    assert entry["mapping"]["a1"]["message"]["metadata"] == {"model_slug": "m1"}
    assert [message["content"]["parts"] for message in path_to_head(entry)] == [["q"], ["two"]]
    assert (entry["title"], entry["current_node"], entry["id"]) == ("Two ways", "a2", talk.id)
    assert entry["create_time"] == round(NOON_NS / 1e9, 6)
    assert report.left_out == {}


def test_a_message_that_thinks_and_calls_is_a_chain_of_nodes() -> None:
    with a_store() as store:
        talk = store.create()
        say(talk, "user", "q", id="q")
        say(talk, "assistant", ReasoningPart("hm", "sig"), "I look", call("ls", {"at": 1}, "c1"), id="a")
        say(talk, "tool", result("x", "c1"), id="r")

        (entry,) = listed(store)
        _, report = exported(store, "chatgpt")

    assert is_a_tree(entry)
    assert [
        (m["author"]["role"], m["recipient"], m["content"]["content_type"]) for m in path_to_head(entry)
    ] == [
        ("user", "all", "text"),
        ("assistant", "all", "thoughts"),
        ("assistant", "all", "text"),
        ("assistant", "ls", "code"),
        ("tool", "all", "execution_output"),
    ]
    assert path_to_head(entry)[-1]["author"]["name"] == "ls"
    assert list(entry["mapping"])[1:] == ["q", "a/0", "a/1", "a", "r"]
    assert report.left_out == {"signatures": 1, "call_ids": 1}


def test_an_id_that_looks_like_one_of_a_chain_takes_nobodys_place() -> None:
    with a_store() as store:
        talk = store.create()
        say(talk, "user", "q", id="a/0")
        say(talk, "assistant", ReasoningPart("hm"), "yes", id="a")

        (entry,) = listed(store)

    assert is_a_tree(entry)
    assert list(entry["mapping"])[1:] == ["a/0", "a/0/", "a"]


def test_what_was_injected_is_marked_and_left_out_unless_others_follow_it() -> None:
    with a_store() as store:
        talk = store.create()
        say(talk, "system", "first", id="s", hidden=True)
        say(talk, "user", "q", id="q")
        say(talk, "system", "beside", id="b", hidden=True)
        say(talk, "assistant", "a", id="a", parent="q")

        (entry,) = listed(store)
        (with_all,) = listed(store, hidden=True)

    assert is_a_tree(entry) and is_a_tree(with_all)
    assert list(entry["mapping"])[1:] == ["s", "q", "a"]
    assert entry["mapping"]["s"]["message"]["metadata"] == {"is_visually_hidden_from_conversation": True}
    assert list(with_all["mapping"])[1:] == ["s", "q", "b", "a"]


def test_files_stand_beside_the_list_where_there_is_room(tmp_path: Path) -> None:  # N-2
    with a_store() as store:
        talk = store.create()
        file = attach(store, PICTURE, "../../my photo.PNG")
        say(talk, "user", "see", file, file)

        files, report = unzipped(store, "chatgpt", tmp_path)
        (without,) = listed(store)
        _, less = exported(store, "chatgpt")

    name = f"file-{(file.digest or '')[:32]}-my-photo.png"
    assert files[name] == PICTURE
    assert list(files) == ["conversations.json", name]
    (entry,) = json.loads(files["conversations.json"])
    said = path_to_head(entry)[0]
    assert name.startswith(said["content"]["parts"][1]["asset_pointer"].removeprefix("file-service://"))
    assert (report.attachments, report.left_out) == (1, {})
    assert path_to_head(without)[0]["metadata"]["attachments"][0]["name"] == "../../my photo.PNG"
    assert less.left_out == {"attachments": 2}


def test_everything_imported_is_a_list_of_trees() -> None:
    with a_store() as store:
        import_path(store, SAMPLES)
        entries = listed(store, hidden=True)
        _, report = exported(store, "chatgpt", hidden=True)
        count = len(store.list())

    assert len(entries) == report.conversations == count > 5
    assert all(map(is_a_tree, entries))


def test_an_empty_store_is_an_empty_list() -> None:
    with a_store() as store:
        assert listed(store) == []
