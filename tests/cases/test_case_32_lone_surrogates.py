"""Case 32: one lone surrogate from binary tool output, and everything goes on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import manent
from manent.opening import import_path
from tests.surface.command_line import Desk

BROKEN = "\ud83d broken \udc88"
NEIGHBOURS = ["before", BROKEN, "after"]


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """Somebody with a store in which such a text stands among others."""
    desk = Desk(tmp_path)
    with desk.open_store() as store:
        conversation = store.create(f"Title {BROKEN}", key=BROKEN)
        conversation.append_messages([manent.Message(role="tool", parts=text) for text in NEIGHBOURS])
    return desk


def test_case_32_it_is_read_back_equal_with_its_neighbours(desk: Desk) -> None:  # T-1
    with desk.open_store() as store:
        conversation = store.conversation(key=BROKEN)

        assert [message.text for message in conversation.messages()] == NEIGHBOURS
        assert store.list()[0].title == f"Title {BROKEN}"


def test_case_32_it_is_found_by_its_word(desk: Desk) -> None:  # S-1
    with desk.open_store() as store:
        (hit,) = store.search("broken")

        assert hit.snippet == BROKEN


def test_case_32_it_verifies_and_survives_export_and_import(desk: Desk, tmp_path: Path) -> None:  # I-4, T-1
    with desk.open_store() as store:
        export = list(store.export_lines())
        assert store.verify().ok

    with manent.open(tmp_path / "copy.db") as copy:
        copy.import_lines(export)

        assert [message.text for message in copy.conversation(key=BROKEN).messages()] == NEIGHBOURS
        assert copy.verify().ok


def test_case_32_two_that_would_make_a_sign_stay_two(tmp_path: Path) -> None:  # T-1
    with manent.open(tmp_path / "pairs.db") as store, manent.open(tmp_path / "copy.db") as copy:
        store.create(key="pairs").append_turn("\ud83d\ude00", "\U0001f600")

        copy.import_lines(store.export_lines())

        (turn,) = copy.conversation(key="pairs").turns()
        assert (turn.question, turn.answer) == ("\ud83d\ude00", "\U0001f600")


@pytest.mark.parametrize(
    "words", [["list"], ["show", "@"], ["search", "broken"], ["verify"], ["export", "-"]], ids=" ".join
)
def test_case_32_every_command_answers(desk: Desk, words: list[str]) -> None:  # T-3
    with desk.open_store() as store:
        id = store.list()[0].id

    done = desk.run(*(id if word == "@" else word for word in words))

    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode("utf-8")


def test_case_32_json_says_it_with_an_escape(desk: Desk) -> None:  # U-3
    with desk.open_store() as store:
        id = store.list()[0].id

    answer = desk.read("show", id)

    assert answer["messages"][1]["parts"] == [{"type": "text", "text": BROKEN}]


def test_case_32_a_json_line_with_the_escape_alone_is_imported(tmp_path: Path) -> None:  # I-1, T-1
    file = tmp_path / "chat.json"
    file.write_text(
        json.dumps([{"role": "user", "content": "\ud83d broken"}, {"role": "assistant", "content": "fine"}]),
        encoding="utf-8",
    )
    assert "\\ud83d" in file.read_text(encoding="utf-8")

    with manent.open(tmp_path / "imported.db") as store:
        report = import_path(store, file)

        assert (report.added_messages, report.refusals) == (2, ())
        conversation = store.conversation(store.list()[0].id)
        assert [message.text for message in conversation.messages()] == ["\ud83d broken", "fine"]
