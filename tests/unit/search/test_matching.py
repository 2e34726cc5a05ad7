"""Matching: whatever stands in a text is found by typing it."""

from __future__ import annotations

from itertools import pairwise
from unicodedata import normalize

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from manent.errors import EmptyQueryError
from manent.search.folding import is_grapheme_border
from manent.search.matching import SPANS_MAX, match
from manent.search.query import parse_query

KOREAN = "회의록 정리는 결제 모듈부터 시작합시다"
JAPANESE = "昨日の会議で東京の予算を決めた"
CHINESE = "重启tokio服务后悬空引用清零"
MIXED = "scripts/deploy-v2.sh failed: exit=3 (user@example.org) 61.2% C++ don't #42 x\\y"
CODE = "UserRepository.find_by_id in user_repository.py (node.js) raised ERR_0042"

any_text = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.text(
        st.sampled_from("aA éE\u0301かが\u3099가ᄀ\u1161\u11a8ﬁ👩🏽\u200d🇰🇷\u200b\n\x00\ud83d"), max_size=24
    ),
)
patiently = settings(deadline=None)


def found(query: str, text: str) -> list[str]:
    """The pieces of a text that a query finds."""
    result = match(parse_query(query), text)
    return [text[start:end] for start, end in result.spans] if result else []


def score(query: str, text: str) -> float:
    """How well a text answers a query that it does answer."""
    result = match(parse_query(query), text)
    assert result is not None
    return result.score


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("결제", KOREAN),
        ("모듈", KOREAN),
        ("東京", JAPANESE),
        ("会議", JAPANESE),
        ("京", JAPANESE),
        ("悬空", CHINESE),
        ("tokio", CHINESE),
        ("清零", CHINESE),
    ],
)
def test_a_word_of_any_script_and_length_is_found(query: str, text: str) -> None:  # S-1
    assert found(query, text) == [query]


def test_words_are_found_with_what_hangs_on_them() -> None:  # S-1
    assert found("결제 모듈", KOREAN) == ["결제", "모듈"]


@pytest.mark.parametrize(
    "query",
    [
        "deploy-v2.sh",
        "scripts/deploy-v2.sh",
        "user@example.org",
        "61.2%",
        "C++",
        "don't",
        "#42",
        "exit=3",
        "x\\y",
        "failed:",
    ],
)
def test_what_looks_like_syntax_is_found_as_text(query: str) -> None:  # S-1 S-2
    assert found(query, MIXED) == [query]


@pytest.mark.parametrize(
    ("query", "piece"),
    [
        ("user_repository", "user_repository"),
        ("find_by", "find_by"),
        ("node.js", "node.js"),
        ("err_0042", "ERR_0042"),
        ("0042", "0042"),
        ("ｅｒｒ＿", "ERR_"),
    ],
)
def test_an_identifier_is_found_whole_and_by_its_parts(query: str, piece: str) -> None:  # S-1
    assert found(query, CODE) == [piece]


@pytest.mark.parametrize(
    ("query", "text", "piece"),
    [
        ("서버", "서버를 켰다", "서버"),
        ("서버", normalize("NFD", "서버를 켰다"), normalize("NFD", "서버")),
        ("Крем", "крём-брюле", "крём"),
        ("brulee", "Crème BRU\u0302LE\u0301E!", "BRU\u0302LE\u0301E"),
        ("サーバ", "ｻｰﾊﾞｰ", "ｻｰﾊﾞ"),
        ("don't", "I don’t", "don’t"),
        ("👩", "ok 👩🏽\u200d🚀 go", "👩🏽\u200d🚀"),
        ("i", "ﬁn", "ﬁ"),
    ],
)
def test_a_hit_is_shown_as_it_was_written(query: str, text: str, piece: str) -> None:  # S-1 S-4
    assert found(query, text) == [piece]


def test_kana_without_its_mark_is_another_word() -> None:
    assert found("か", "がぎ") == []


def test_every_term_must_occur() -> None:
    assert found("결제 서버", KOREAN) == []


def test_a_phrase_spans_any_white_space() -> None:  # S-3
    assert found('"exit code"', "Exit\n  code, exitcode, code exit") == ["Exit\n  code"]


def test_words_of_a_phrase_that_are_apart_do_not_answer_it() -> None:  # S-3
    assert found('"exit code"', "exit with a code") == []


def test_places_that_overlap_are_one() -> None:
    assert found("abc bcd", "xabcdx abc") == ["abcd", "abc"]


def test_text_around_a_lone_surrogate_is_found() -> None:  # T-1 S-1
    assert found("broken", "\ud83d broken \udc88") == ["broken"]


def test_nul_is_text() -> None:  # T-1
    assert found("a\x00b", "xa\x00by") == ["a\x00b"]


def test_a_whole_word_is_worth_more_than_a_part_of_one() -> None:
    assert score("port", "the port is open") > score("port", "the export has it")


def test_more_hits_are_worth_more() -> None:
    assert score("port", "port, port and port") > score("port", "port, door and gate")


def test_a_long_text_is_worth_a_little_less() -> None:
    assert score("port", "port") > score("port", "port" + " x" * 5_000) > 0


def test_a_score_is_what_is_documented() -> None:
    text = "port export" + "." * 989  # ln(1 + 1) below, ln(1 + 2 × 1) above

    assert score("port", text) == pytest.approx((1 + 1.0986123) / (1 + 0.6931472))


def test_places_told_are_bounded() -> None:
    assert len(found("a", "a" * 1_000_000)) == SPANS_MAX


def test_a_query_of_thousands_of_words_is_answered() -> None:  # S-2
    words = " ".join(map(str, range(2_000)))

    assert len(found(words, words)) == 2_000


@patiently
@given(any_text, st.data())
def test_any_whole_character_that_is_seen_is_found(text: str, data: st.DataObject) -> None:  # S-1
    borders = [at for at in range(len(text) + 1) if is_grapheme_border(text, at)]
    start = data.draw(st.sampled_from(borders))
    end = data.draw(st.sampled_from([at for at in borders if at >= start]))

    try:
        query = parse_query(text[start:end].replace('"', ""))
    except EmptyQueryError:
        assume(False)

    assert match(query, text.replace('"', "")) is not None


@patiently
@given(any_text, any_text)
def test_spans_rise_apart_from_each_other_between_graphemes(query: str, text: str) -> None:  # S-4 T-3
    result = match(parse_query("a " + query[:2]), text + "a" + query)
    assume(result is not None)
    assert result is not None
    edges = [edge for span in result.spans for edge in span]

    assert all(start < end for start, end in result.spans)
    assert all(one <= other for one, other in pairwise(edges))
    assert all(is_grapheme_border(text + "a" + query, edge) for edge in edges)
    assert result.score > 0
