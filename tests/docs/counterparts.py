"""
The page of counterparts: what the systems that manent replaces called a thing, and what it is here.

    python -m tests.docs.counterparts

writes `docs/reference/counterparts.md` from the checklist beside it. Every row names the tests that show it.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parents[2]
CHECKLIST = ROOT / "docs" / "reference" / "counterparts.toml"
PAGE = ROOT / "docs" / "reference" / "counterparts.md"

SAME, CHANGED, LATER = "same", "changed", "later"
VERDICTS = (SAME, CHANGED, LATER)

TITLES = {
    "004": "Document 004: `ConversationStore`",
    "000": "Document 000: chat sessions",
    "003": "Document 003: the conversation service",
}

HEAD = """# Counterparts

What each name of the systems that manent replaces is here. *Same*: it does what its document says.
*Changed*: it does something else, for the reason that stands there. *Later*: it is not there yet; a test, if
there is one, shows what there is of it. Each row names the tests that show it. How the façades are used is on
the page [Façades](seeds.md).

This page is written by `python -m tests.docs.counterparts` from `counterparts.toml`; a test compares the two.
"""


UNTESTED = "none: "
"""How a row that is "later" says that no test shows anything of it; why stands behind."""


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One name of a document, what it is here, and the tests that show it: `<path>::<function>` each."""

    document: str
    old: str
    ours: str
    verdict: str
    tests: list[str]
    because: str = ""

    @property
    def untested(self) -> bool:
        """Whether the row says that no test shows anything of it."""
        return any(test.startswith(UNTESTED) for test in self.tests)


def read_rows() -> list[Row]:
    """The checklist."""
    found = tomllib.loads(CHECKLIST.read_text(encoding="utf-8"))
    return msgspec.convert(found["row"], list[Row])


def page_of(rows: list[Row]) -> str:
    """The page that says the same."""
    return HEAD + "".join(_section(document, rows) for document in TITLES)


def _section(document: str, rows: list[Row]) -> str:
    lines = "\n".join(_lines([row for row in rows if row.document == document]))
    return f"\n## {TITLES[document]}\n\n{lines}\n"


def _lines(rows: list[Row]) -> Iterator[str]:
    yield "| there | here | verdict | shown by |"
    yield "| --- | --- | --- | --- |"
    for row in rows:
        verdict = row.verdict if row.verdict == SAME else f"*{row.verdict}*, because {row.because}"
        shown = row.tests[0] if row.untested else ", ".join(f"`{test}`" for test in row.tests)
        cells = (f"`{row.old}`", row.ours, verdict, shown)
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page_of(read_rows()), encoding="utf-8")
