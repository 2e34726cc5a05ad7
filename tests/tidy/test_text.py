"""Every file of the repository keeps the rules of the house."""

from __future__ import annotations

from tests.tidy import text_rules as rules
from tests.tidy.tree import files, report


def test_no_file_holds_a_banned_word() -> None:
    assert report(rules.banned_words, files()) == ""


def test_no_file_holds_an_unfinished_mark() -> None:
    assert report(rules.unfinished_marks, files()) == ""


def test_every_text_of_ours_is_utf8_with_lf() -> None:  # T-2
    assert report(rules.foreign_encoding, files()) == ""


def test_every_named_query_says_what_it_is_for() -> None:
    assert report(rules.unexplained_queries, files(suffix="queries.sql")) == ""


def test_no_two_queries_of_a_file_share_a_name() -> None:
    assert report(rules.repeated_queries, files(suffix="queries.sql")) == ""
