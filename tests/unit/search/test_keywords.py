"""Keywords: the words by which older messages on the same matter are found."""

from __future__ import annotations

import pytest

from manent.search.keywords import CANDIDATES_MAX, keywords


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Why is the Database slow?", ("why", "is", "the", "database", "slow")),
        ("a b cd", ("cd",)),
        ("Größe, größe! GRÖSSE", ("grosse",)),
        ("use snake_case here", ("use", "snake_case", "here")),
        ("프로젝트를 어떻게 시작하나요", ("프로젝트", "어떻게", "시작하나요")),
        ("서버가 느려요", ("서버", "느려요")),
        ("사과 하나", ("사과", "하나")),
        ("数据库很慢", ("数据", "据库", "库很", "很慢")),
        ("データを保存", ("デー", "ータ", "タを", "を保", "保存")),
        ("Postgres数据库", ("postgres", "数据", "据库")),
        ("👩‍👩‍👧 …!? _", ()),
        ("", ()),
    ],
)
def test_words_are_found_in_every_script(text: str, found: tuple[str, ...]) -> None:
    assert keywords(text) == found


def test_of_a_long_message_only_the_first_words_are_looked_at() -> None:
    text = " ".join(f"word{number}" for number in range(10_000))

    assert keywords(text) == tuple(f"word{number}" for number in range(CANDIDATES_MAX))
