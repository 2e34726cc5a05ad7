"""Claude Code: markup that fills a user's text is what it says; anywhere else it is words."""

from __future__ import annotations

from pathlib import Path

import pytest

from manent.model.parts import NoticePart, TextPart
from tests.formats.reading import read_one, said, text, write_lines


@pytest.mark.parametrize(
    ("content", "notice", "hidden"),
    [
        (
            "<command-name>/review</command-name>\n  <command-message>review</command-message>\n"
            "  <command-args>the last one</command-args>",
            NoticePart("command", "/review the last one"),
            False,
        ),
        ("<command-name>clear</command-name>", NoticePart("command", "/clear"), False),
        ("<bash-input>ls -l</bash-input>", NoticePart("bash-input", "ls -l"), False),
        (
            "<local-command-stdout>2 files\n\x1b[1mbold\x1b[0m</local-command-stdout>",
            NoticePart("local-command-stdout", "2 files\n\x1b[1mbold\x1b[0m"),
            True,
        ),
        ("<bash-stdout>a</bash-stdout><bash-stderr></bash-stderr>", NoticePart("bash-stdout", "a"), True),
        (
            "<system-reminder>\nBe kind.\n</system-reminder>\n",
            NoticePart("system-reminder", "\nBe kind.\n"),
            True,
        ),
    ],
)
@pytest.mark.parametrize("as_block", [True, False])
def test_markup_that_fills_a_text_is_a_notice_and_the_record_keeps_it(
    content: str, notice: NoticePart, hidden: bool, as_block: bool, tmp_path: Path
) -> None:
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None, [text(content)] if as_block else content))

    (found,) = read_one(file).messages

    assert (found.parts, found.hidden, found.role) == ((notice,), hidden, "user")
    assert b"</" in found.native


@pytest.mark.parametrize(
    "content",
    [
        "what does <command-name>/clear</command-name> do?",
        "<command-name>/clear</command-name> and then?",
        "<command-args>alone</command-args>",
        "<system-reminder>never closed",
        "<b>bold</b>",
        "<system-reminder>x</system-reminder><b>mine</b>",
        "",
    ],
)
def test_markup_beside_words_is_words(content: str, tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None, content))

    (found,) = read_one(file).messages

    assert (found.parts, found.hidden) == ((TextPart(content),), False)


def test_a_reminder_beside_words_hides_no_words(tmp_path: Path) -> None:
    blocks = [text("<system-reminder>Be kind.</system-reminder>"), text("Fix it.")]
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None, blocks))

    (found,) = read_one(file).messages

    assert found.parts == (NoticePart("system-reminder", "Be kind."), TextPart("Fix it."))
    assert not found.hidden


def test_what_an_assistant_writes_is_never_markup(tmp_path: Path) -> None:
    from tests.formats.reading import answered

    line = answered("a1", None, text("<system-reminder>x</system-reminder>"))
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), line)

    assert read_one(file).messages[1].parts == (TextPart("<system-reminder>x</system-reminder>"),)
