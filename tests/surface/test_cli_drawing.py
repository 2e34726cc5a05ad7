"""Drawing Markdown at a terminal: every word is there, nothing is obeyed, and no line is too wide."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from manent.cli import drawing, output, render
from tests.surface.command_line import Desk
from tests.surface.terminal import on_a_terminal

EMPHASIS = re.compile(r"\x1b\[[0-9;]*m")
LINK_OF_A_TERMINAL = "\x1b]8;"
FAMILY = "👩\u200d👩\u200d👧"
ACCENTED = "e\u0301"
SYLLABLE = "\u1112\u1161\u11ab"

PIECES = [
    *("# ", "**", "*", "`", "```\n", "```py x\n", "|", "\n", "\n\n", "- ", "1. ", "> ", "~~", "\\", "---\n"),
    *("[a](b)", "![", "](", ")", "<b>", "&#x202e;", "| a | b |\n| - | - |\n| c | d |\n", "[x]: http://y\n"),
    *(
        "word",
        "longwordlongwordlongword",
        "한글",
        "漢字",
        FAMILY,
        "🇰🇷",
        ACCENTED,
        SYLLABLE,
        "☕\ufe0f",
        "1\ufe0f\u20e3",
    ),
    *("नि", "ﷺ", "\u200b", "\u0301", "\t", "    ", "\x1b[2J", "\u202e", "\ud83d", "\x00", "<http://x/%1b>"),
]
"""Of which any text can be made that Markdown has something to say about."""

WIDE = f"""# 제목
안녕하세요 {FAMILY * 30} 확인했습니다확인했습니다확인했습니다확인했습니다

| 이름 | 漢字 |
| --- | --- |
| 확인했습니다확인했습니다확인했습니다 | {"漢" * 50} |

```python
answer = "{SYLLABLE * 60}"  # {ACCENTED * 50}
```

- {"word" * 40}
> {"確認" * 40}
"""


def drawn(text: str, columns: int = 60) -> list[str]:
    """The lines of a drawing, without colour."""
    return list(drawing.draw(render.inert(text), columns))


@pytest.mark.parametrize("columns", [16, 17, 36, 38, 78, 100])
def test_no_line_is_wider_than_the_terminal(columns: int) -> None:  # T-3
    assert max(map(cell_len, drawn(WIDE, columns))) <= columns


@pytest.mark.parametrize("columns", [16, 17, 36])
@pytest.mark.parametrize("grapheme", [FAMILY, SYLLABLE, ACCENTED, "🇰🇷"])
def test_no_line_breaks_inside_a_grapheme(grapheme: str, columns: int) -> None:  # T-3
    lines = drawn(grapheme * 50, columns)

    assert len(lines) > 1
    assert {line.replace(grapheme, "") for line in lines} == {""}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one\ntwo", ["one", "two"]),
        ("**bold** and `code`", ["bold and code"]),
        ("## Title", ["## Title"]),
        ("[text](https://example.org/한글)", ["text (https://example.org/한글)"]),
        ('[a](https://example.org "title")', ['a (https://example.org "title")']),
        ("![cat](cat.png)", ["![cat](cat.png)"]),
        ("[javascript](javascript:run)", ["[javascript](javascript:run)"]),
        ("<b onclick=x>bold</b>", ["<b onclick=x>bold</b>"]),
        ("<!-- unseen -->", ["<!-- unseen -->"]),
        ("[hidden]: https://example.org", ["[hidden]: https://example.org"]),
        ("<https://example.org/%1b]0;x>", ["<https://example.org/%1b]0;x>"]),
        ("&#x202e;evil &amp;", ["&#x202e;evil &amp;"]),
        ("[red]not red[/red] :smile:", ["[red]not red[/red] :smile:"]),
        ("1. a\n1. b", ["1. a", "1. b"]),
        ("> " * 40 + "deep", ["> " * 29 + "> ", "> " * 10 + "deep"]),
        ("", [""]),
    ],
)
def test_nothing_that_was_typed_is_hidden(text: str, lines: list[str]) -> None:  # T-3
    assert [line.rstrip() for line in drawn(text)] == [line.rstrip() for line in lines]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join), st.sampled_from([16, 17, 38, 78]))
@settings(deadline=None)
def test_whatever_is_drawn_fits_is_inert_and_keeps_every_letter(text: str, columns: int) -> None:  # T-3
    lines = drawn(text, columns)

    assert max(map(cell_len, lines)) <= columns
    assert render.inert("\n".join(lines)) == "\n".join(lines)
    missing = Counter(filter(str.isalnum, render.inert(text))) - Counter("".join(lines))
    assert not missing


def test_what_stands_behind_a_fence_is_shown() -> None:
    assert 'python title="x.py"' in drawn('```python title="x.py"\nx = 1\n```')


def test_a_table_that_would_be_too_narrow_stands_as_it_was_typed() -> None:
    row = "| a " * 20 + "|"

    assert "".join(drawn(f"{row}\n{'| - ' * 20}|\n{row}", 40)).count("| a") == 40


def test_a_very_long_text_is_folded_and_not_drawn() -> None:
    lines = drawn("**x** " * drawing.CHARACTERS_MAX, 60)

    assert lines[0].startswith("**x** **x**")
    assert max(map(len, lines)) <= 60


def test_a_drawing_makes_no_control_of_content(monkeypatch: pytest.MonkeyPatch) -> None:  # T-3
    monkeypatch.setattr(output, "has_colour", lambda: True)
    hostile = "# \x1b[2J\n[a](http://x/\x9b31m) `\x1b]8;;http://evil\x07` \u202e\n```\x1b[1m\n\x00\n```"

    picture = "\n".join(drawing.draw(render.inert(hostile), 60))

    assert LINK_OF_A_TERMINAL not in picture
    assert not set("\x1b\x9b\x07\x00\u202e") & set(EMPHASIS.sub("", picture))


def test_a_terminal_gets_a_drawing_inside_the_margin(desk: Desk) -> None:
    conversation_id = desk.begin()
    desk.say(conversation_id, "q", "- **bold** " + "확인" * 40)

    seen = EMPHASIS.sub("", on_a_terminal(desk, "show", conversation_id, COLUMNS="40"))

    answer = seen.partition("## assistant")[2].splitlines()[2:]
    assert "   • bold 확인" in answer[0] or "   • bold" in answer[0]
    assert all(line.startswith("  ") and cell_len(line) <= 40 for line in answer if line)


def test_plain_shows_the_text_as_it_is(desk: Desk) -> None:
    conversation_id = desk.begin()
    desk.say(conversation_id, "q", "**bold**")

    assert "  **bold**\n" in on_a_terminal(desk, "show", conversation_id, "--plain")
    assert "  **bold**\n" in desk.type("show", conversation_id).stdout


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"MANENT_COLOUR": "never"}])
def test_a_drawing_has_no_colour_for_who_wants_none(desk: Desk, variables: dict[str, str]) -> None:
    conversation_id = desk.begin()
    desk.say(conversation_id, "# q", "```python\nx = 1\n```")

    seen = on_a_terminal(desk, "show", conversation_id, **variables)

    assert "\x1b" not in seen
    assert "x = 1" in seen


def test_columns_of_a_list_stand_below_each_other_in_cells(desk: Desk) -> None:  # T-3
    with desk.open_store() as store:
        store.create_with_id("회의록-회의록", "Wide")
        store.create_with_id("standup-1", "Narrow")

    lines = EMPHASIS.sub("", on_a_terminal(desk, "list", COLUMNS="80")).splitlines()

    assert len({cell_len(line.partition("20")[0]) for line in lines}) == 1
