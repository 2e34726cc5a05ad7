"""Folding: what a reader takes for the same, and where it came from."""

from __future__ import annotations

from itertools import pairwise
from unicodedata import normalize

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from manent.search.folding import Folded, fold, fold_with_offsets, is_grapheme_border, widen_to_graphemes

ODD_CHARACTERS = (
    "aEéÅßıİŁøÆœŉǰﬁſ Ωάᾳςё"  # Latin and Greek
    "йЇ\u0301\u0316\u0323\u0345\u0338\u20e3"  # Cyrillic, marks
    "\u1100\u1161\u11a8\u11b6\u1160\u3131\u314f\u3140가각\uffa1\uffc2\uffa4"  # jamo of every kind
    "かが\u3099ｶﾞ゛京Ａ"  # kana, ideographs, full width
    "क\u093c\u094dषো\u09c7\u09beำשׁ\ufb2aآ"  # scripts whose marks stay
    "\u200d\u200b\ufe0f\u00ad\u034f\u3164👩🏽🇰❤"  # what is not seen, emoji
    "\x00\n\r\x1b ´’–⁄½\ud83d\udc88\U0001f1f7"
)
any_text = st.one_of(
    st.text(st.characters(exclude_categories=())),  # lone surrogates too
    st.text(st.sampled_from(ODD_CHARACTERS), max_size=24),
)
patiently = settings(deadline=None)  # the first text beyond ASCII has the tables made


@patiently
@given(any_text)
@example("\u0345\u0301가\u200d\u11a8\uffa1\u1161")
def test_normal_forms_fold_alike(text: str) -> None:  # S-1
    assert fold(normalize("NFC", text)) == fold(normalize("NFD", text)) == fold(text)


@patiently
@given(any_text)
@example("가\u200d\u11a8\u11b9")
def test_what_is_folded_stays_as_it_is(text: str) -> None:
    folded = fold(text)

    assert fold(folded) == folded


@patiently
@given(any_text.filter(lambda text: "\u0345" not in normalize("NFD", text)))  # its capital is a whole letter
def test_case_makes_no_difference(text: str) -> None:  # S-1
    assert fold(text.upper()) == fold(text.lower()) == fold(text.casefold()) == fold(text)


@patiently
@given(any_text)
@example("x" * 100 + "\u0301" + "y" * 100)
def test_offsets_come_with_the_very_same_folding(text: str) -> None:
    folded = fold_with_offsets(text)

    assert folded.text == fold(text)
    assert len(folded.starts) == len(folded.ends) == len(folded.text)


@patiently
@given(any_text)
def test_offsets_rise_and_stay_in_the_text(text: str) -> None:
    folded = fold_with_offsets(text)
    places = list(zip(folded.starts, folded.ends, strict=True))

    assert all(0 <= start < end <= len(text) for start, end in places)
    assert all(one == next_one or one[1] <= next_one[0] for one, next_one in pairwise(places))


@patiently
@given(any_text)
def test_a_character_is_what_its_place_in_the_original_folds_to(text: str) -> None:
    folded = fold_with_offsets(text)
    places = dict.fromkeys(zip(folded.starts, folded.ends, strict=True))

    assert "".join(fold(text[start:end]) for start, end in places) == folded.text


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＡＰＩ", "api"),
        ("Crème Brûlée", "creme brulee"),
        ("Zażółć gęślą jaźń", "zazolc gesla jazn"),
        ("Straße", "STRASSE"),
        ("IŞIK", "ışık"),
        ("İstanbul", "istanbul"),
        ("œuvre, Æsop", "oeuvre, aesop"),
        ("Άλφα ᾠδή", "αλφα ωδη"),
        ("ΟΔΟΣ", "οδός"),
        ("ёлка, мой", "елка, мои"),
        ("Tiếng Việt", "tieng viet"),
        ("ﬁnal", "final"),
        ("don’t", "don't"),
        ("“2020–2024”", '"2020-2024"'),
        ("½", "1/2"),
        ("soft\u00adhyphen", "softhyphen"),
        ("می\u200cخواهم", "میخواهم"),
        ("❤\ufe0f", "❤"),
        ("서버", normalize("NFD", "서버")),
        ("ｻｰﾊﾞｰ", "サーバー"),
        ("か\u3099", "が"),
        ("가간값", "\uffa1\uffc2\uffa1\uffc2\uffa4\uffa1\uffc2\uffb4"),
        ("가나", "\uffa1\uffc2\uffa4\uffc2"),
        ("ㅋㅋ", "\uffbb\uffbb"),
        ("ㅋ", "\u110f"),
    ],
)
def test_a_reader_takes_these_for_the_same(one: str, other: str) -> None:  # S-1
    assert fold(one) == fold(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("か", "が"),
        ("は", "ぱ"),
        ("か", "カ"),
        ("가", "각"),
        ("ㅋㅠ", "큐"),
        ("क", "क़"),
        ("o", "0"),
        ("c", "с"),
    ],
)
def test_a_reader_tells_these_apart(one: str, other: str) -> None:
    assert fold(one) != fold(other)


def test_lone_surrogates_and_nul_fold_to_themselves() -> None:  # T-1
    assert fold("\ud83d\x00É\udc88") == "\ud83d\x00e\udc88"


def test_each_letter_of_a_ligature_came_from_the_whole_of_it() -> None:
    folded = fold_with_offsets("ﬁe\u0301")

    assert (folded.text, list(folded.starts), list(folded.ends)) == ("fie", [0, 0, 1], [1, 1, 3])


def test_offsets_of_ascii_cost_no_memory() -> None:
    assert fold_with_offsets("Abc") == Folded("abc", range(3), range(1, 4))


def test_of_a_million_marks_on_one_letter_none_is_left() -> None:
    assert fold("e" + "\u0301\u0316" * 500_000 + "!") == "e!"


def test_a_heap_of_marks_does_not_make_a_character_of_another_script_slow() -> None:
    assert len(fold("か" + "\u0301\u0316" * 500_000)) < 100


@pytest.mark.parametrize(
    "grapheme",
    [
        "e\u0301",
        "👩🏽\u200d❤\ufe0f\u200d👩",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
        "🇰🇷",
        "1\ufe0f\u20e3",
        "❤\ufe0f",
        "\u1112\u1161\u11ab",
        "\u1112\u119e\u11ab",  # an old syllable, for which there is no single character
        "क\u094d\u200dषि",
        "กำ",
        "ｶﾞ",
        "\r\n",
        "\u06001",
    ],
)
def test_a_grapheme_is_never_cut(grapheme: str) -> None:  # T-3
    text = f"한{grapheme}x"

    borders = [at for at in range(len(text) + 1) if is_grapheme_border(text, at)]

    assert borders == [0, 1, len(text) - 1, len(text)]


def test_flags_are_cut_between_pairs() -> None:  # T-3
    text = "🇰🇷🇺🇦🇫🇷"

    assert [at for at in range(7) if is_grapheme_border(text, at)] == [0, 2, 4, 6]


def test_a_control_takes_no_mark() -> None:
    assert is_grapheme_border("\n\u0301", 1)


def test_a_place_is_widened_on_both_sides() -> None:  # T-3
    assert widen_to_graphemes("ae\u0301\u0301o\u0301b", 2, 5) == (1, 6)


def test_an_endless_grapheme_is_not_followed_to_its_end() -> None:
    assert widen_to_graphemes("e" + "\u0301" * 1000, 500, 501) == (500, 501)


@patiently
@given(any_text, st.data())
def test_a_widened_place_lies_between_borders(text: str, data: st.DataObject) -> None:  # T-3
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))

    wide_start, wide_end = widen_to_graphemes(text, start, end)

    assert wide_start <= start <= end <= wide_end
    assert is_grapheme_border(text, wide_start)
    assert is_grapheme_border(text, wide_end)
