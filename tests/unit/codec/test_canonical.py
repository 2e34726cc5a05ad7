"""Leaf bytes hold any JSON value and any Python string; names are escaped and come back (T-1)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from manent.codec.canonical import dumps, escape_name, loads, unescape_name
from manent.testing.strategies import AWKWARD, any_text, json_values

PAIR = "\ud83d\ude00"
"""A high and a low surrogate next to each other: two characters to Python, and not the one they look like."""


@given(any_text(max_size=50))
@example(PAIR)
@example(f"\\{PAIR}")
@example("\\ud83d\\ude00\ud83d")
def test_any_text_comes_back_equal(text: str) -> None:  # T-1
    assert loads(dumps(text)) == text


@pytest.mark.parametrize("text", AWKWARD)
@pytest.mark.parametrize("around", ["", "\ud800", "\U0001f600", "\\"])
def test_awkward_text_comes_back_equal_in_any_company(text: str, around: str) -> None:  # T-1
    whole = around + text + around

    assert loads(dumps(whole)) == whole
    assert loads(dumps({whole: [whole]})) == {whole: [whole]}


@given(json_values(max_leaves=20))
def test_any_json_value_comes_back_equal(value: Any) -> None:  # T-1
    assert loads(dumps(value)) == value


@given(any_text())
def test_leaf_bytes_are_utf8_and_json_to_everybody(text: str) -> None:  # T-2
    written = dumps({"text": text})

    assert set(json.loads(written.decode("utf-8"))) == {"text"}


def test_characters_stand_as_themselves() -> None:
    assert dumps("Straße 日本 \U0001f600") == '"Straße 日本 \U0001f600"'.encode()


def test_only_a_surrogate_is_escaped_as_one() -> None:
    assert dumps(PAIR) == b'"\\ud83d\\ude00"'
    assert dumps("\U0001f600") == b'"\xf0\x9f\x98\x80"'


@pytest.mark.parametrize("data", [b"", b"{", b'"\xff"', b"nothing", b'"\\ud83', b"[1,]"])
def test_what_is_no_json_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        loads(data)


@given(any_text(max_size=50))
def test_a_name_comes_back_equal(name: str) -> None:  # T-1
    assert unescape_name(escape_name(name)) == name


@given(any_text(max_size=50))
def test_an_escaped_name_can_be_stored_anywhere(name: str) -> None:  # T-1
    escaped = escape_name(name)

    assert "\x00" not in escaped
    assert escaped.encode("utf-8").decode("utf-8") == escaped


@given(any_text(max_size=20), any_text(max_size=20))
def test_different_names_are_escaped_differently(one: str, other: str) -> None:  # N-1
    assert (escape_name(one) == escape_name(other)) == (one == other)


@given(any_text(max_size=20), st.integers(0, 20))
def test_a_beginning_of_a_name_is_a_beginning_of_the_escaped_name(name: str, length: int) -> None:  # T-1
    assert escape_name(name).startswith(escape_name(name[:length]))


@given(any_text(max_size=5), any_text(max_size=5))
def test_what_is_no_beginning_of_a_name_is_none_of_the_escaped_name(prefix: str, name: str) -> None:  # N-1
    assert escape_name(name).startswith(escape_name(prefix)) == name.startswith(prefix)


def test_ordinary_names_are_written_as_they_are() -> None:
    assert escape_name("telegram:123/Straße") == "telegram:123/Straße"
    assert escape_name("a\\b\x00c\ud800") == "a\\\\b\\0c\\ud800"
