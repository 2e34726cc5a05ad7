"""Every Python module keeps the rules of the house."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import partial

import pytest

from tests.tidy import source_rules as rules
from tests.tidy.tree import ROOT, modules, report

LONG_FUNCTIONS: Mapping[str, str] = {}
"""`path::qualified.name` of each function that may be longer than others, and the reason."""

LONG_MODULES: Mapping[str, str] = {}
"""Path of each module that may be longer than others, and the reason."""

OTHER_MODULE_NAMES = {"apsw-sqlite3mc": "apsw", "markdown-it-py": "markdown_it"}
"""Distributions whose module has another name."""


def required_distributions() -> list[str]:
    """What pyproject.toml asks for, for the core and for each extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [required for extra in project["optional-dependencies"].values() for required in extra]
    return sorted({re.split(r"[^\w.-]", required)[0] for required in (*project["dependencies"], *extras)})


def test_no_sql_statement_stands_in_python() -> None:
    assert report(rules.sql_in_python, modules("src")) == ""


def test_no_module_has_a_name_that_says_nothing() -> None:
    assert report(rules.name_that_says_nothing, modules()) == ""


def test_every_module_has_a_docstring() -> None:
    assert report(rules.missing_module_docstring, modules()) == ""


def test_every_public_function_and_class_of_the_package_has_a_docstring() -> None:
    package = modules("src")
    rule = partial(rules.missing_docstrings, explained=rules.explained_in_protocols(package))

    assert report(rule, package) == ""


def test_a_function_is_short_or_its_length_has_a_reason() -> None:
    long = rules.long_functions(modules("src"))

    assert long.keys() == LONG_FUNCTIONS.keys(), long


def test_a_module_is_short_or_its_length_has_a_reason() -> None:
    long = rules.long_modules(modules("src"))

    assert long.keys() == LONG_MODULES.keys(), long


def test_no_error_is_swallowed() -> None:
    assert report(rules.blind_handlers, modules()) == ""


def test_text_is_read_and_written_with_its_encoding_named() -> None:  # T-2
    assert report(rules.text_without_encoding, modules()) == ""


@pytest.mark.parametrize("distribution", required_distributions())
def test_a_required_package_is_imported_by_ours(distribution: str) -> None:
    imported = set[str]().union(*(rules.imported_packages(module) for module in modules("src")))

    assert OTHER_MODULE_NAMES.get(distribution, distribution) in imported
