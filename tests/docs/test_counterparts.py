"""The checklist of counterparts is whole, and its page says the same."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.counterparts import CHANGED, LATER, PAGE, ROOT, TITLES, VERDICTS, Row, page_of, read_rows

ROWS = read_rows()
IDS = [f"{row.document}-{row.old}" for row in ROWS]


def test_the_page_is_what_the_checklist_gives() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_of(ROWS)


@pytest.mark.parametrize("document", TITLES)
def test_a_document_has_rows(document: str) -> None:
    assert [row for row in ROWS if row.document == document]


def test_no_name_stands_twice() -> None:
    names = [(row.document, row.old) for row in ROWS]

    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_no_cell_is_empty(row: Row) -> None:
    assert row.document in TITLES
    assert row.verdict in VERDICTS
    assert row.old.strip() and row.ours.strip()
    assert bool(row.because.strip()) == (row.verdict in (CHANGED, LATER))


@pytest.mark.parametrize("row", [row for row in ROWS if row.verdict != LATER], ids=lambda row: row.old)
def test_the_test_that_a_row_names_is_there(row: Row) -> None:
    path, _, name = row.test.partition("::")
    *_, function = name.split("::")

    assert re.search(rf"^ *(?:async )?def {function}\(", Path(ROOT, path).read_text("utf-8"), re.MULTILINE)
