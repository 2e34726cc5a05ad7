"""Text survives machines whose default encoding is not UTF-8; what they cannot show is replaced (case 86)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.surface.command_line import Desk

SAID = "“네, 확인했습니다” — ☕"
ASCII = {
    "PYTHONUTF8": "0",
    "PYTHONIOENCODING": "ascii",
    "LC_ALL": "C",
    "PYTHONCOERCECLOCALE": "0",
    "MANENT_PLACE": "local",
}


@pytest.fixture
def conversation_id(desk: Desk) -> str:
    """A conversation whose title, question and answer no ASCII machine can show."""
    conversation_id = desk.begin(SAID)
    desk.say(conversation_id, SAID, SAID)
    return conversation_id


def test_an_ascii_output_replaces_signs_and_all_is_well(desk: Desk, conversation_id: str) -> None:  # case 86
    commands = (["list"], ["show", conversation_id], ["search", "확인"], ["verify"])

    done = [desk.run(*words, **ASCII) for words in commands]

    assert [result.returncode for result in done] == [0, 0, 0, 0]
    assert [result.stderr for result in done] == [b"", b"", b"", b""]
    assert b"??, ??????? ? ?" in done[0].stdout
    assert all(result.stdout.isascii() for result in done)


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp949"])
def test_json_for_a_narrow_output_is_ascii_and_whole(
    desk: Desk, conversation_id: str, encoding: str
) -> None:  # case 86, U-3
    done = desk.run("show", conversation_id, "--json", PYTHONUTF8="0", PYTHONIOENCODING=encoding)

    assert done.returncode == 0
    assert json.loads(done.stdout.decode("ascii"))["conversation"]["title"] == SAID


@pytest.mark.parametrize("encoding", ["cp1252", "cp949"])
def test_another_code_page_shows_what_it_can(
    desk: Desk, conversation_id: str, encoding: str
) -> None:  # case 86
    done = desk.run("show", conversation_id, PYTHONUTF8="0", PYTHONIOENCODING=encoding)

    assert (done.returncode, done.stderr) == (0, b"")
    assert SAID.encode(encoding, "replace") in done.stdout


def test_what_is_typed_on_an_ascii_machine_is_stored_as_it_was(desk: Desk) -> None:  # case 86
    desk.run("new", SAID, "--key", "키", **ASCII)
    desk.run("append", "--key", "키", SAID, SAID, **ASCII)

    answer = desk.read("show", "--key", "키")

    assert answer["conversation"]["title"] == SAID
    assert [message["parts"][0]["text"] for message in answer["messages"]] == [SAID, SAID]


@pytest.mark.usefixtures("conversation_id")
def test_a_file_is_utf_8_whatever_the_machine_prefers(desk: Desk, tmp_path: Path) -> None:  # case 86, T-2
    source = tmp_path / "messages.jsonl"
    record = {"messages": [{"role": "user", "content": SAID}, {"role": "assistant", "content": SAID}]}
    source.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")

    done = (desk.run("import", source, **ASCII), desk.run("export", tmp_path / "x", **ASCII))

    assert [result.returncode for result in done] == [0, 0]
    assert len(desk.read("search", "확인", "--limit", "9")["hits"]) == 4
    assert (tmp_path / "x").read_text(encoding="utf-8").count(SAID) >= 4


def test_stdin_is_utf_8_and_kept_to_the_last_line_end(desk: Desk) -> None:  # T-1
    conversation_id = desk.begin()

    desk.type("append", conversation_id, "q", "-", stdin=f"{SAID}\r\n\n".encode())

    assert desk.read("show", conversation_id)["messages"][1]["parts"][0]["text"] == f"{SAID}\r\n\n"


def test_stdin_that_is_not_utf_8_is_refused(desk: Desk) -> None:
    conversation_id = desk.begin()

    result = desk.type("append", conversation_id, "q", "-", stdin=b"caf\xe9")

    assert (result.exit_code, result.stderr) == (2, "manent: What stands on stdin is not UTF-8 (byte 3).\n")
    assert desk.read("show", conversation_id)["messages"] == []
