"""The table of kinds in docs/reference/events.md is what the code writes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple, get_type_hints

import msgspec
import pytest

from manent.codec import canonical
from manent.codec.leaves import SKELETON, event_to_leaves
from manent.model.events import CONTENT_KINDS, KINDS, Event, TurnState
from manent.model.parts import AnyPart, Citation, NoticePart, PhantomReach, TextPart, ToolEvent, Usage

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "events.md"

_ROW = re.compile(
    r"^\| `(?P<kind>\w+)` \| [^|]+ \| (?P<skeleton>[^|]*) \| (?P<leaves>[^|]*) \| (?P<moves>yes|no) \|$",
    re.MULTILINE,
)
_WORDS = (TextPart("words"),)
_PIECES = (TextPart("words"), NoticePart("kind"))

_FILLED: dict[Any, Any] = {
    str: "text",
    str | None: "text",
    int: 7,
    bool: True,
    TurnState: TurnState.FAILED,
    Usage | None: Usage(input_tokens=7),
    dict[str, Any] | None: {"name": "value"},
    tuple[dict[str, Any], ...]: ({"name": "value"},),
    tuple[str, ...]: ("text",),
    tuple[tuple[str, int, str], ...]: (("writer", 7, "hash"),),
    tuple[ToolEvent, ...]: (ToolEvent("tool"),),
    tuple[Citation, ...]: (Citation("[1]"),),
    tuple[PhantomReach, ...]: (PhantomReach("tool", "refused"),),
}
"""A value of each type that a field of an event has, other than the field's default; parts stand apart."""


class Row(NamedTuple):
    """One row of the table, without the column for the reader's eye."""

    kind: str
    skeleton: list[str]
    leaves: list[str]
    moves: bool


def rows_of(page: str) -> list[Row]:
    """The rows of the table of kinds."""
    return [
        Row(row["kind"], _names(row["skeleton"]), _names(row["leaves"]), row["moves"] == "yes")
        for row in _ROW.finditer(page)
    ]


def _names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def row_as_written(cls: type[Event]) -> Row:
    """What the codec makes of an event that lacks nothing."""
    skeleton, *leaves = event_to_leaves(filled(cls, _WORDS))
    pieces = event_to_leaves(filled(cls, _PIECES))[1:]
    names = dict.fromkeys(_numbered(leaf.name) for leaf in (*leaves[:1], *pieces, *leaves[1:]))
    assert skeleton.name == SKELETON
    return Row(cls.KIND, list(canonical.loads(skeleton.data)), list(names), cls.KIND in CONTENT_KINDS)


def filled(cls: type[Event], pieces: tuple[AnyPart, ...]) -> Event:
    """An event with a value in every field."""
    hints = get_type_hints(cls)
    values = _FILLED | {tuple[AnyPart, ...]: pieces}
    return cls(**{field.name: values[hints[field.name]] for field in msgspec.structs.fields(cls)})


def _numbered(leaf: str) -> str:
    return re.sub(r"\.\d+\Z", ".N", leaf)


ROWS = rows_of(PAGE.read_text(encoding="utf-8"))


def test_the_table_lists_every_kind_in_the_order_of_the_code() -> None:
    assert [row.kind for row in ROWS] == list(KINDS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.kind)
def test_a_row_says_what_the_codec_writes(row: Row) -> None:
    written = row_as_written(KINDS[row.kind])

    assert row._replace(skeleton=sorted(row.skeleton)) == written._replace(skeleton=sorted(written.skeleton))


def test_every_kind_is_at_the_schema_version_that_the_page_names() -> None:
    assert {cls.SCHEMA_VERSION for cls in KINDS.values()} == {1}
    assert "Every kind is at schema version 1." in PAGE.read_text(encoding="utf-8")


def test_a_row_is_read_with_its_names() -> None:
    page = "| kind | by |\n| `a_thing` | `call`, import | `one` `two` | – | no |\n"

    assert rows_of(page) == [Row("a_thing", ["one", "two"], [], moves=False)]
