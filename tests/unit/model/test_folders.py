"""One real folder has one spelling."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import pytest

from manent.errors import InputError, NotFoundError
from manent.model.folders import true_folder

NFC = unicodedata.normalize("NFC", "café")
NFD = unicodedata.normalize("NFD", "café")


class Forgiving(NamedTuple):
    """A file system that takes names for one when they differ in case or composition only."""

    listed: dict[str, list[str]]

    def list_names(self, folder: str) -> Iterable[str]:
        """The names in a folder."""
        try:
            return self.listed[folder]
        except KeyError:
            raise FileNotFoundError(folder) from None

    def is_same(self, one: str, other: str) -> bool:
        """Whether two paths that differ in nothing else lead to one file."""
        return unicodedata.normalize("NFC", one).casefold() == unicodedata.normalize("NFC", other).casefold()


def spelled(path: str, listed: dict[str, list[str]]) -> str:
    """The true spelling of a path on a forgiving file system."""
    disk = Forgiving(listed)
    return true_folder(path, list_names=disk.list_names, is_same=disk.is_same)


def test_a_link_is_its_target(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "link").symlink_to("shop")

    assert true_folder(tmp_path / "link") == str(tmp_path / "shop")


def test_dots_are_counted_from_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "deep" / "shop").mkdir(parents=True)
    (tmp_path / "link").symlink_to("deep/shop")

    assert true_folder(f"{tmp_path}/link/..") == str(tmp_path / "deep")


@pytest.mark.parametrize("tail", ["/", "//", "/.", "/./", "/api/..", "/api/../"])
def test_slashes_and_dots_at_the_end_go(tmp_path: Path, tail: str) -> None:
    (tmp_path / "shop" / "api").mkdir(parents=True)

    assert true_folder(f"{tmp_path}/shop{tail}") == str(tmp_path / "shop")


def test_a_relative_folder_begins_at_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert true_folder("shop") == str(tmp_path / "shop")


def test_a_tilde_is_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))

    assert true_folder("~/shop") == str(tmp_path / "shop")


def test_a_missing_folder_has_a_spelling_too(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "link").symlink_to("shop")

    assert true_folder(f"{tmp_path}/link/gone/./api/") == str(tmp_path / "shop" / "gone" / "api")


def test_neighbours_that_differ_in_case_are_two_where_case_counts(tmp_path: Path) -> None:
    (tmp_path / "Shop").mkdir()

    assert true_folder(tmp_path / "shop") == str(tmp_path / "shop")


def test_the_root_is_itself() -> None:
    assert true_folder("//") == "/"


def test_a_spelling_is_its_own_spelling(tmp_path: Path) -> None:
    once = true_folder(tmp_path)

    assert true_folder(once) == once


def test_where_case_is_ignored_the_listed_name_counts() -> None:
    listed = {"/": ["Users"], "/Users": ["Ann"], "/Users/Ann": ["Shop"]}

    assert spelled("/users/ANN/shop", listed) == "/Users/Ann/Shop"


def test_where_composition_is_ignored_the_listed_name_counts() -> None:
    assert spelled(f"/{NFC}", {"/": [NFD]}) == f"/{NFD}"
    assert spelled(f"/{NFD.upper()}", {"/": [NFC]}) == f"/{NFC}"


def test_an_exact_name_is_never_exchanged() -> None:
    assert spelled("/shop", {"/": ["SHOP", "Shop", "shop"]}) == "/shop"


def test_a_name_that_is_alike_but_another_file_is_not_taken() -> None:
    found = true_folder("/nowhere", list_names=lambda _: ["NoWhere"], is_same=lambda _one, _other: False)

    assert found == "/nowhere"


def test_another_name_of_the_same_file_is_not_taken() -> None:
    assert true_folder("/shop", list_names=lambda _: ["store"], is_same=lambda _one, _other: True) == "/shop"


def test_what_is_missing_keeps_its_case_below_what_is_there() -> None:
    assert spelled("/users/Gone/API", {"/": ["Users"], "/Users": []}) == "/Users/Gone/API"


def test_a_folder_that_cannot_be_listed_leaves_the_name_alone() -> None:
    def list_names(folder: str) -> Iterable[str]:
        if folder == "/Users":
            raise PermissionError(folder)
        return {"/": ["Users"], "/Users/ann": ["Shop"]}[folder]

    is_same = Forgiving({}).is_same

    assert true_folder("/users/ann/shop", list_names=list_names, is_same=is_same) == "/Users/ann/Shop"


@pytest.mark.parametrize("path", ["/a\0b", "/a\ud800b", "~nobody-of-that-name/shop"])
def test_what_cannot_be_a_path_is_refused(path: str) -> None:
    with pytest.raises(InputError, match="cannot be a folder"):
        true_folder(path)


def test_a_name_that_is_no_text_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()

    assert true_folder(folder) == str(folder)


def test_without_a_working_folder_a_relative_one_is_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()

    with pytest.raises(NotFoundError, match="Give an absolute path"):
        true_folder("shop")
