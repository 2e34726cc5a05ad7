"""Queries: what is typed is text, and nothing typed is an error but nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manent.errors import EmptyQueryError
from manent.search.query import Query, Term, parse_query


def test_words_are_terms_in_the_order_typed() -> None:
    query = parse_query("  Résumé\u3000서버\n")

    assert query == Query((Term("Résumé", ("resume",)), Term("서버", ("서버",))))


def test_a_phrase_is_one_term() -> None:  # S-3
    query = parse_query('deploy "Failed  Twice " again')

    assert query.terms == (
        Term("deploy", ("deploy",)),
        Term("Failed  Twice", ("failed", "twice")),
        Term("again", ("again",)),
    )


def test_what_is_not_seen_is_no_word_of_a_phrase() -> None:
    assert parse_query('"exit \u200b code"').terms == (Term("exit \u200b code", ("exit", "code")),)


def test_what_folds_to_the_same_is_asked_once() -> None:
    assert parse_query('Café cafe "CAFÉ"').terms == (Term("Café", ("cafe",)),)


@pytest.mark.parametrize(
    "typed",
    [
        "#42",
        "c++",
        "61.2%",
        "failed:",
        "x\\y",
        "*",
        "dep*",
        "'",
        "and",
        "or",
        "not",
        "near(a,b)",
        "role:user",
        "-x",
        "^a",
        "(",
        "{}",
        "a'b--;",
        "%",
        "_",
        'say"',
        'x="y',
        "\ue0b0",
        "\x00a",
        "👍🏽",
    ],
)
def test_a_word_is_searched_as_it_stands(typed: str) -> None:  # S-2
    assert parse_query(typed).terms == (Term(typed, (typed,)),)


def test_a_quote_without_its_pair_is_text() -> None:  # S-2
    assert parse_query('"half a').terms == (Term('"half', ('"half',)), Term("a", ("a",)))


def test_a_quote_inside_a_word_is_text() -> None:  # S-2
    assert parse_query('x="1"').terms == (Term('x="1"', ('x="1"',)),)


def test_a_lone_quote_is_left_out() -> None:
    assert parse_query('5 " disks').terms == (Term("5", ("5",)), Term("disks", ("disks",)))


@pytest.mark.parametrize(
    "typed",
    [
        "",
        " \t\n\u3000\u2028",
        "\x00\x1b\x7f",
        '"',
        '""',
        '"" """',
        '" "',
        "“",
        "\u200b\u200d\ufeff",
        "\ud83d",
    ],
)
def test_nothing_left_to_search_is_an_error(typed: str) -> None:  # S-2
    with pytest.raises(EmptyQueryError):
        parse_query(typed)


@pytest.mark.parametrize(
    "typed", ["a" * 10_000, "ab " * 3_333, '"' * 9_999 + "a", "é\u0301" * 5_000, '"a ' * 3_333]
)
def test_a_long_query_is_read(typed: str) -> None:  # S-2
    assert parse_query(typed).terms


@settings(deadline=None)
@given(
    st.text(st.characters(exclude_categories=())), st.text(st.sampled_from('"a é\u200b\ud83d*'), max_size=20)
)
def test_no_term_is_empty_or_asked_twice(start: str, end: str) -> None:  # S-2
    terms = parse_query(f"x {start}{end}").terms

    assert all(word for term in terms for word in (term.words or ("",)))
    assert len({term.words for term in terms}) == len(terms)
