"""
What docs/requirements.md calls delivered is cited where it is proved.

A test cites a number in a comment or in the marker `requirement`, a benchmark in a comment.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

import pytest

from tests.tidy.tree import File, files, planted_file

PAGE = "docs/requirements.md"

_ROW = re.compile(r"^\|\s*\*\*(?P<number>[A-Z]-\d+)\*\*\s*\|.*\|(?P<state>[^|]*)\|\s*$", re.MULTILINE)


class Requirement(NamedTuple):
    """One row of the page."""

    number: str
    state: str


def read_requirements(pages: Iterable[File]) -> list[Requirement]:
    """The rows of the page that begin with a number in bold."""
    found = (row for page in pages for row in _ROW.finditer(page.text))
    return [Requirement(row["number"], row["state"].strip()) for row in found]


def files_that_cite(number: str, among: Iterable[File]) -> list[str]:
    """Paths of the files that have a number in a comment or in the marker `requirement`."""
    cited = re.compile(rf"#.*\b{number}\b|\brequirement\([^)]*[\"']{number}[\"']")
    return [file.path for file in among if cited.search(file.text)]


def places_of_proof(number: str) -> tuple[File, ...]:
    """Where a number has to be cited: speed in the benchmarks, all else in tests, but not in these."""
    folders = ("benchmarks",) if number.startswith("Q-") else ("tests", "src/manent/testing")
    return tuple(file for file in files(*folders, suffix=".py") if not file.path.startswith("tests/tidy/"))


REQUIREMENTS = read_requirements(file for file in files("docs") if file.path == PAGE)
DELIVERED = [row.number for row in REQUIREMENTS if row.state == "delivered"]


def test_the_page_lists_the_requirements() -> None:
    assert REQUIREMENTS, f"{PAGE} has no row that begins with a number in bold"


def test_a_number_is_listed_once() -> None:
    numbers = [row.number for row in REQUIREMENTS]

    assert sorted(numbers) == sorted(set(numbers))


def test_a_state_is_delivered_or_not_yet() -> None:
    assert {row.state for row in REQUIREMENTS} <= {"delivered", "not yet"}


@pytest.mark.parametrize("number", DELIVERED)
def test_a_delivered_requirement_is_cited_where_it_is_proved(number: str) -> None:
    assert files_that_cite(number, places_of_proof(number))


def test_rows_are_read_with_their_state() -> None:
    page = planted_file(
        "| number | text | state |\n| --- | --- | --- |\n"
        "| **L-1** | An event has `(writer \\| seq)`. | delivered |\n"
        "| **Q-12** | Append | not yet |\n"
    )

    assert read_requirements([page]) == [Requirement("L-1", "delivered"), Requirement("Q-12", "not yet")]


@pytest.mark.parametrize(
    "code",
    [
        "def test_order():  # L-1",
        "# L-2, L-1: order\n",
        '@pytest.mark.requirement("L-1")',
        '@pytest.mark.requirement(\n    "D-1",\n    "L-1",\n)',
    ],
)
def test_a_number_is_cited_in_a_comment_or_in_a_marker(code: str) -> None:
    assert files_that_cite("L-1", [planted_file(code)])


@pytest.mark.parametrize("code", ["# L-11", "# XL-1", 'x = "L-1"', '@pytest.mark.requirement("L-2")'])
def test_another_number_or_a_mere_text_is_no_citation(code: str) -> None:
    assert not files_that_cite("L-1", [planted_file(code)])
