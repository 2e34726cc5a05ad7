"""The title that a first question gives a conversation."""

from __future__ import annotations

import pytest
from hypothesis import given

from manent.model.metadata import TITLE_CHARACTERS_MAX, UNTITLED, title_of
from manent.testing.strategies import any_text


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("  How do I mend this?\n", "How do I mend this?"),
        ("", UNTITLED),
        (" \n\t ", UNTITLED),
        ("e\u0301tude", "\u00e9tude"),
        ("서버가 느려요", "서버가 느려요"),
        ("\u1109\u1165\u1107\u1165", "서버"),
        ("a" * 40, "a" * 40),
        ("a" * 41, "a" * 40),
        ("a" * 39 + " and more", "a" * 39),
        ("e\u0301" * 60, "\u00e9" * 40),
        ("\ud800\x00", "\ud800\x00"),
    ],
)
def test_a_title_is_the_beginning_of_the_question(question: str, title: str) -> None:
    assert title_of(question) == title


@given(question=any_text(max_size=200))
def test_any_question_gives_a_short_title_that_is_not_blank(question: str) -> None:
    title = title_of(question * 5)

    assert 1 <= len(title) <= TITLE_CHARACTERS_MAX
    assert title == title.strip()
