"""Every command answers with --json in the very shape that docs/reference/cli.md tells."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from manent.model.parts import ToolCallPart, Usage
from manent.model.records import Message
from tests.surface.command_line import Desk
from tests.surface.shapes import PAGE, differences, read_shapes, read_table
from tests.surface.tree import LEAVES

SHAPES = read_shapes(PAGE.read_text(encoding="utf-8"))
LEAKY = '{"messages": [{"role": "user", "content": "use ghp_%s"}]}\n' % ("a1B2" * 9)
TREE = '[[subtask]]\nid = "beans"\ninstruction = "Grow beans"\n'

SAMPLES: Mapping[str, Sequence[Sequence[str]]] = {
    "new": [["new", "A title"], ["new", "--key", "k2", "--persona", "tutor"]],
    "append": [["append", "--key", "k", "q", "a"]],
    "list": [["list"], ["list", "--limit", "1"]],
    "show": [["show", "--key", "k"], ["show", "--key", "k", "--limit", "1"]],
    "search": [["search", "beans"], ["search", "nothing"]],
    "context": [["context", "--key", "k", "beans"], ["context", "ID", "--budget", "3"]],
    "rename": [["rename", "--key", "k", "Other"]],
    "tag": [["tag", "--key", "k", "--add", "t"], ["tag", "--key", "k"]],
    "pin": [["pin", "--key", "k"], ["pin", "--key", "k", "--off"]],
    "end": [["end", "--key", "k"]],
    "reopen": [["reopen", "--key", "k"]],
    "delete": [["delete", "ID", "--dry-run"], ["delete", "ID", "--yes"]],
    "claim": [["claim", "--key", "k", "--", "true"]],
    "release": [["release", "--key", "held", "--force"]],
    "owner": [["owner", "--key", "k"], ["owner", "--key", "held"]],
    "roadmap create": [["roadmap", "create", "new", "tree.toml"]],
    "roadmap update": [["roadmap", "update", "garden", "tree.toml"]],
    "roadmap load": [["roadmap", "load", "garden"]],
    "roadmap list": [["roadmap", "list"]],
    "roadmap delete": [["roadmap", "delete", "garden", "--yes"]],
    "roadmap link": [["roadmap", "link", "ID", "garden", "beans"], ["roadmap", "link", "ID", "--off"]],
    "stats": [["stats"], ["stats", "--key", "k"], ["stats", "--all-workspaces"]],
    "import": [["import", "talk.jsonl"]],
    "imports list": [["imports", "list"]],
    "imports undo": [["imports", "undo", "IMPORT", "--dry-run"], ["imports", "undo", "IMPORT", "--yes"]],
    "secrets list": [["secrets", "list"], ["secrets", "list", "--limit", "1"]],
    "export": [
        *(["export", "--format", name, f"out.{name}"] for name in ("ndjson", "archive", "openai", "chatgpt")),
        ["export", "--format", "markdown", "--conversation", "ID", "out.md"],
    ],
    "migrate-legacy": [["migrate-legacy", "old", "--dry-run"], ["migrate-legacy", "old"]],
    "verify": [["verify"], ["verify", "--make-receipt"]],
    "doctor": [["doctor"], ["doctor", "--quick"]],
    "workspace list": [["workspace", "list"]],
    "workspace lost": [["workspace", "lost"]],
    "workspace relink": [["workspace", "relink", "default", "new name", "--yes"]],
    "workspace merge": [["workspace", "merge", "other", "default", "--yes"]],
    "workspace moves": [["workspace", "moves"]],
    "workspace undo": [["workspace", "undo", "MOVE"]],
    "config show": [["config", "show"]],
    "config path": [["config", "path"]],
    "config set": [["config", "set", "wait", "5"], ["config", "set", "colour", "never"]],
    "config unset": [["config", "unset", "wait"]],
    "completion": [["completion", shell] for shell in ("bash", "zsh", "fish")],
}
"""At least one line for each command; ID and MOVE stand for those of the sample store."""

REFUSED: Mapping[str, Sequence[str]] = {"import": ["import", "no-such-file"]}
"""Lines that fail and still answer with an object."""


@pytest.fixture
def names(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A sample store with something of everything in it, files beside it; what ID and MOVE stand for."""
    monkeypatch.chdir(desk.folder)
    Path("tree.toml").write_text(TREE, encoding="utf-8")
    Path("talk.jsonl").write_text('{"messages": [{"role": "user", "content": "hi"}]}\n', encoding="utf-8")
    put_old_tree(Path("old"))
    call = ToolCallPart("grep", {"pattern": "beans"}, "c1")
    with desk.open_store() as store:
        first = store.create("On beans", key="k", persona="gardener", project="/garden")
        first.append_turn("When?", "In May, beans.", usage=Usage(input_tokens=3), author="ann")
        first.append_message(Message(role="assistant", parts=[call], metadata={"a": 1}))
        first.append_message(Message(role="user", parts="injected", hidden=True))
        store.create("Held", key="held").claim()
        store.roadmaps.create("garden", "The garden", TREE)
        identity = first.id
    desk.type("--workspace", "other", "new", "Elsewhere")
    desk.type("--workspace", str(desk.folder / "gone"), "new", "Lost")
    desk.type("--workspace", "third", "new", "Third")
    move = desk.read("workspace", "merge", "third", "other", "--yes")["id"]
    Path("leaky.jsonl").write_text(LEAKY, encoding="utf-8")
    imported = desk.read("import", "leaky.jsonl")["paths"][0]["report"]["import_id"]
    return {"ID": identity, "MOVE": move, "IMPORT": imported}


def put_old_tree(folder: Path) -> None:
    """A tree of JSON files with one record that can be read and one that cannot."""
    place = folder / "conversations" / "0b1c"
    place.mkdir(parents=True)
    record = {
        "id": "one",
        "title": "Old",
        "workspace": str(folder),
        "workspace_id": "0b1c",
        "turns": [{"user": "q", "assistant": "a"}],
        "created_at_unix_nanos": 1,
        "updated_at_unix_nanos": 2,
    }
    (place / "one.json").write_text(json.dumps(record), encoding="utf-8")
    (place / "two.json").write_text("{", encoding="utf-8")


@pytest.mark.parametrize("command", LEAVES)
def test_a_command_answers_in_the_shape_that_the_page_tells(  # U-3
    desk: Desk, names: dict[str, str], command: str
) -> None:
    assert command in SHAPES, f"docs/reference/cli.md has no table for `manent {command}`"
    assert SAMPLES.get(command), f"there is no sample of `manent {command}`"

    answers = [answer_of(desk, [names.get(word, word) for word in line]) for line in SAMPLES[command]]

    assert [said for answer in answers for said in differences(answer, SHAPES[command])] == []


@pytest.mark.parametrize("command", sorted(REFUSED))
def test_a_command_that_fails_and_answers_keeps_to_its_shape(desk: Desk, command: str) -> None:  # U-3
    result = desk.type(*REFUSED[command], "--json")

    assert result.exit_code != 0
    assert list(differences(json.loads(result.stdout), SHAPES[command])) == []


def answer_of(desk: Desk, line: Sequence[str]) -> Any:
    """What a command writes with --json: one object on one line."""
    before, dashes, behind = (list(line), [], []) if "--" not in line else _split(line)
    result = desk.type(*before, "--json", *dashes, *behind)
    assert result.exit_code in (0, 3), result.stderr
    assert result.stdout.count("\n") == 1
    return json.loads(result.stdout)


def _split(line: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    place = list(line).index("--")
    return list(line[:place]), ["--"], list(line[place + 1 :])


def test_the_page_tells_of_no_command_that_is_not_there() -> None:
    assert sorted(set(SHAPES) - set(LEAVES)) == []


def test_a_table_tells_what_is_inside_what() -> None:
    shape = read_table(
        "| name | type | meaning |\n| --- | --- | --- |\n"
        "| `a`, `b` | string, integer | |\n| `c` | list of objects | |\n| `….d` | object or null | |\n"
        "| `….d.e` | number or null | |\n| `f` | boolean | |\n\nText."
    )

    assert (
        list(differences({"a": "x", "b": 1, "c": [{"d": {"e": 1.5}}, {"d": None}], "f": True}, shape)) == []
    )
    assert len(list(differences({"a": "x", "b": "1", "c": [{"d": {}}], "f": None}, shape))) == 3
    assert len(list(differences({"a": "x"}, shape))) == 1
