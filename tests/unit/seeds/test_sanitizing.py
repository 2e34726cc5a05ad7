"""The six rules by which what somebody typed becomes a query."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manent.errors import EmptyQueryError
from manent.seeds import sanitize_fts5_query
from manent.seeds.sanitizing import OPERATORS, read_tokens


@pytest.mark.parametrize(
    ("typed", "query"),
    [
        ('the "exact words" here', 'the "exact words" here'),
        ('the "exact words', "the exact words"),
        ('one "two" three"', 'one "two" three'),
        ('"chat-send AND (x)"', '"chat-send AND (x)"'),
    ],
)
def test_rule_1_balanced_quotes_stay_phrases_and_a_lone_one_is_dropped(typed: str, query: str) -> None:
    assert sanitize_fts5_query(typed) == query


@pytest.mark.parametrize(
    ("typed", "query"), [("dep*", "dep"), ("(one two)", "one two"), ("^first", "first"), ("a*b(c)", "abc")]
)
def test_rule_2_signs_of_the_query_language_are_dropped_outside_phrases(typed: str, query: str) -> None:
    assert sanitize_fts5_query(typed) == query


@pytest.mark.parametrize(
    ("typed", "query"),
    [
        ("one AND two", "one AND two"),
        ("AND one", "one"),
        ("one OR", "one"),
        ("one AND OR NOT two", "one AND two"),
        ("one and two", "one and two"),
        ("one NEAR two", 'one "NEAR" two'),
        ("one near two", "one near two"),
        ("one (AND) two", "one AND two"),
        ("one AND ... two", "one AND two"),
    ],
)
def test_rule_3_operators_stand_between_two_terms_only(typed: str, query: str) -> None:
    assert sanitize_fts5_query(typed) == query


@pytest.mark.parametrize("word", ["chat-send", "P2.2", "src/store.rs", "tcp:1666", "user:x", "don't", "a_b"])
def test_rule_4_a_word_with_punctuation_is_quoted(word: str) -> None:
    assert sanitize_fts5_query(f"find {word}") == f'find "{word}"'


@pytest.mark.parametrize(
    ("typed", "query"), [("-- one ...", "one"), ('"!?" one', "one"), ("검색 ！", "검색"), ("٣", "٣")]
)
def test_rule_5_what_has_no_letter_and_no_digit_in_any_script_is_dropped(typed: str, query: str) -> None:
    assert sanitize_fts5_query(typed) == query


@pytest.mark.parametrize("typed", ["", "  ", '"', '""', "AND", "AND OR NOT", "***", "()", "--", '"..."'])
def test_rule_6_nothing_left_is_an_error_and_never_fits_everything(typed: str) -> None:
    with pytest.raises(EmptyQueryError):
        sanitize_fts5_query(typed)


@given(st.text(alphabet=st.sampled_from('ab"*()^- ANDORNT.검\n')))
def test_whatever_is_typed_terms_and_operators_alternate_as_they_must(typed: str) -> None:
    try:
        tokens = read_tokens(typed)
    except EmptyQueryError:
        return

    operators = [token.is_operator for token in tokens]
    assert not operators[0] and not operators[-1]
    assert (True, True) not in list(pairwise(operators))
    assert all((token.text in OPERATORS) for token in tokens if token.is_operator)
    assert all('"' not in token.text for token in tokens)
