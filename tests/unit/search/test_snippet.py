"""Snippets: a piece around the first match, cut where a reader would cut it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manent.errors import InputError
from manent.search.folding import is_grapheme_border
from manent.search.matching import match
from manent.search.query import parse_query
from manent.search.snippet import Snippet, cut_snippet

any_text = st.one_of(
    st.text(st.characters(exclude_categories=())),
    st.text(st.sampled_from("ab é\u0301\u0302 가\u1100\u1161\u11a8👩🏽\u200d🇰🇷\n\r\x1b"), max_size=60),
)


@st.composite
def texts_with_spans(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    """A text and places in it, at least one: rising, apart, whole graphemes."""
    text = "x" + draw(any_text)
    borders = [at for at in range(len(text) + 1) if is_grapheme_border(text, at)]
    edges = sorted(draw(st.sets(st.sampled_from(borders), min_size=2, max_size=8)))
    return text, list(zip(edges[::2], edges[1::2], strict=False))


def is_one_grapheme(text: str) -> bool:
    """Whether there is no border inside."""
    return not any(is_grapheme_border(text, at) for at in range(1, len(text)))


def snippet_of(text: str, query: str, *, width_max: int = 160) -> Snippet:
    """The snippet that a search for a query shows."""
    result = match(parse_query(query), text)
    assert result is not None
    return cut_snippet(text, result.spans, width_max=width_max)


def test_a_short_text_is_shown_whole() -> None:  # S-4
    assert snippet_of("The port is open.", "port") == Snippet("The port is open.", ((4, 8),), False, False)


def test_a_long_text_is_cut_between_words_around_its_first_match() -> None:  # S-4
    text = "one two three four five six seven eight nine ten"

    assert snippet_of(text, "five", width_max=20) == Snippet("four five six seven", ((5, 9),), True, True)


def test_room_that_is_not_needed_before_the_match_goes_after_it() -> None:
    text = "one two three four five six seven eight nine ten"

    assert snippet_of(text, "one", width_max=20) == Snippet("one two three four", ((0, 3),), False, True)


def test_room_that_is_not_needed_after_the_match_goes_before_it() -> None:
    text = "one two three four five six seven eight nine ten"

    assert snippet_of(text, "ten", width_max=20) == Snippet("seven eight nine ten", ((17, 20),), True, False)


def test_a_text_without_spaces_is_cut_between_characters() -> None:  # S-1
    text = "重启服务后悬空引用清零"

    assert snippet_of(text, "悬空", width_max=6) == Snippet("务后悬空引用", ((2, 4),), True, True)


def test_all_matches_inside_are_told() -> None:  # S-4
    text = "a port, an export, " + "x" * 200 + " port"

    assert snippet_of(text, "port", width_max=20).highlights == ((2, 6), (13, 17))


def test_a_match_too_long_is_shown_from_its_start() -> None:
    assert snippet_of("x" * 50, "x" * 50, width_max=10) == Snippet("x" * 10, ((0, 10),), False, True)


def test_without_a_match_the_beginning_is_shown() -> None:
    assert cut_snippet("one two three", (), width_max=8) == Snippet("one two", (), False, True)


def test_brackets_tags_and_controls_stay_as_they_are() -> None:  # S-4 T-3
    text = "[/bold] report [OPS-77] [red\n<b>\x1b[31m</b>\r\n[#888888]"

    assert snippet_of(text, "ops") == Snippet(text, ((16, 19),), False, False)


def test_lone_surrogates_stay_as_they_are() -> None:  # T-1
    assert snippet_of("\ud83d broken \udc88", "broken").text == "\ud83d broken \udc88"


def test_a_first_grapheme_wider_than_the_snippet_is_shown_whole() -> None:  # T-3
    family = "👩\u200d👩\u200d👧"

    assert cut_snippet(family + "ab", [(0, 5)], width_max=2) == Snippet(family, ((0, 5),), False, True)


def test_a_space_that_bears_a_mark_is_no_border_between_words() -> None:  # T-3
    assert snippet_of("one two \u0301three four", "three", width_max=8).text == "three"


def test_a_space_after_a_sign_that_goes_before_others_is_no_border_between_words() -> None:  # T-3
    assert cut_snippet("one two\u0600 three", (), width_max=8).text == "one"


def test_a_snippet_has_room_for_a_character() -> None:
    with pytest.raises(InputError):
        cut_snippet("text", (), width_max=0)


@settings(deadline=None)
@given(texts_with_spans(), st.integers(1, 40))
def test_a_snippet_is_a_piece_of_the_text_between_graphemes(
    found: tuple[str, list[tuple[int, int]]], width_max: int
) -> None:  # S-4 T-3
    text, spans = found

    snippet = cut_snippet(text, spans, width_max=width_max)

    start = spans[0][0] - snippet.highlights[0][0]
    end = start + len(snippet.text)
    assert snippet.text == text[start:end]
    assert (snippet.cut_before, snippet.cut_after) == (start > 0, end < len(text))
    assert is_grapheme_border(text, start) and is_grapheme_border(text, end)
    assert len(snippet.text) <= width_max or (start == spans[0][0] and is_one_grapheme(snippet.text))


@settings(deadline=None)
@given(texts_with_spans(), st.integers(1, 40))
def test_highlights_are_the_matches_as_far_as_they_are_shown(
    found: tuple[str, list[tuple[int, int]]], width_max: int
) -> None:  # S-4
    text, spans = found

    snippet = cut_snippet(text, spans, width_max=width_max)

    start = spans[0][0] - snippet.highlights[0][0]
    shown = range(start, start + len(snippet.text))
    lit = {start + at for begin, end in snippet.highlights for at in range(begin, end)}
    assert lit == {at for begin, end in spans for at in range(begin, end) if at in shown}
