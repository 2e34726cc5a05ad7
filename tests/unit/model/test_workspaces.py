"""One real folder is one workspace, two are two."""

from __future__ import annotations

from pathlib import Path

import pytest

from manent.errors import InputError
from manent.model import workspaces
from manent.model.ids import ID_BYTES_MAX
from manent.model.workspaces import Workspace, spellings_of
from tests.unit.model.checkout_layouts import (
    DETACHED,
    origin_config,
    write_git,
    write_repository,
    write_worktree,
)


def at(folder: Path | str) -> Workspace:
    """The alias with just that folder."""
    return Workspace("folder", str(folder))


# --- folders


def test_every_spelling_of_a_folder_is_one_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "shop/api").mkdir(parents=True)
    (tmp_path / "link").symlink_to("shop")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    spellings = ["shop", "shop/", "./shop/.", "link", "link/api/..", "~/shop", f"{tmp_path}//shop"]

    assert {Workspace.folder(spelling) for spelling in spellings} == {at(tmp_path / "shop")}


def test_neighbours_are_two_workspaces(tmp_path: Path) -> None:
    names = ["shop", "shop/api", "shop-docker", "Shop"]

    assert [Workspace.folder(tmp_path / name) for name in names] == [at(tmp_path / name) for name in names]


def test_a_plain_checkout_is_its_own_folder(tmp_path: Path) -> None:
    root = write_repository(tmp_path / "shop")

    assert Workspace.folder(root / "src") == at(root / "src")


def test_a_folder_of_a_worktree_stands_for_that_of_the_main_one(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git")
    (linked / "src").mkdir()

    assert Workspace.folder(linked) == at(main)
    assert Workspace.folder(linked / "src") == at(main / "src")


def test_a_worktree_inside_the_main_one_stands_for_it_too(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(main / ".worktrees/sale", common=main / ".git")

    assert Workspace.folder(linked / "src") == at(main / "src")


def test_a_worktree_whose_main_one_is_gone_stands_for_itself(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git")
    main.rename(tmp_path / "store")

    assert Workspace.folder(linked / "src") == at(linked / "src")


def test_worktrees_of_a_bare_repository_stand_for_themselves(tmp_path: Path) -> None:
    bare = write_git(tmp_path / "shop.git", config="[core]\nbare = true\n")
    one, two = (write_worktree(tmp_path / name, common=bare) for name in ("one", "two"))

    assert (Workspace.folder(one), Workspace.folder(two)) == (at(one), at(two))


def test_a_checkout_within_a_worktree_stands_for_itself(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git")
    inner = write_repository(linked / "lib")

    assert Workspace.folder(inner) == at(inner)


def test_a_folder_longer_than_an_alias_is_refused() -> None:
    with pytest.raises(InputError, match="workspace folder"):
        Workspace.folder("/x" * ID_BYTES_MAX)


# --- spellings


def test_a_folder_without_a_second_spelling_has_one(tmp_path: Path) -> None:
    assert spellings_of(f"{tmp_path}/") == (at(tmp_path),)


def test_a_worktree_was_stored_under_its_own_folder_before(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git")

    assert spellings_of(linked / "src/") == (at(main / "src"), at(linked / "src"))


def test_a_folder_was_stored_in_the_case_that_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workspaces, "true_folder", lambda _: str(tmp_path / "Shop"))

    assert spellings_of(tmp_path / "shop") == (at(tmp_path / "Shop"), at(tmp_path / "shop"))


def test_the_first_spelling_is_the_workspace(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git")

    assert Workspace.folder(linked) == spellings_of(linked)[0]


# --- repositories


def test_clones_of_one_origin_are_one_workspace(tmp_path: Path) -> None:
    one = write_repository(tmp_path / "one", config=origin_config("git@example.org:ann/shop.git"))
    two = write_repository(tmp_path / "two", config=origin_config("https://x:y@example.org/ann/shop"))

    assert Workspace.git(one / "src") == Workspace("git", "example.org/ann/shop")
    assert Workspace.git(two) == Workspace("git", "example.org/ann/shop")


def test_a_branch_may_be_a_workspace_of_its_own(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git")

    assert Workspace.git(main, branch=True) == Workspace("git_branch", "example.org/ann/shop#main")
    assert Workspace.git(linked, branch=True) == Workspace("git_branch", "example.org/ann/shop#sale")
    assert Workspace.git(linked) == Workspace("git", "example.org/ann/shop")


def test_a_detached_head_has_an_origin_but_no_branch(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git", head=DETACHED)

    assert Workspace.git(linked / "src") == Workspace("git", "example.org/ann/shop")
    assert Workspace.git(linked / "src", branch=True) == at(main)


@pytest.mark.parametrize("config", ["", origin_config("../upstream"), origin_config(".")])
def test_without_an_origin_that_tells_repositories_apart_the_root_stands_for_it(
    tmp_path: Path, config: str
) -> None:
    main = write_repository(tmp_path / "shop", config=config)
    linked = write_worktree(tmp_path / "sale", common=main / ".git")

    assert Workspace.git(linked / "src") == at(main)
    assert Workspace.git(main / "src", branch=True) == at(main)


def test_outside_a_repository_the_folder_stands_for_itself(tmp_path: Path) -> None:
    assert Workspace.git(tmp_path / "shop/") == at(tmp_path / "shop")


def test_a_broken_repository_is_a_folder(tmp_path: Path) -> None:
    (tmp_path / ".git").write_bytes(b"\xff\xfe")

    assert Workspace.git(tmp_path / "src", branch=True) == at(tmp_path / "src")


# --- words


@pytest.mark.parametrize("text", [".", "./", "./shop", "../shop", "~", "~/shop", "/srv/shop"])
def test_what_looks_like_a_path_names_a_folder(text: str) -> None:
    assert Workspace.of(text) == Workspace.folder(text)


@pytest.mark.parametrize("text", ["default", "shop/api", "~ann", "git@example.org:ann/shop", "a b"])
def test_anything_else_is_a_key(text: str) -> None:
    assert Workspace.of(text) == Workspace("key", text)


def test_an_alias_is_a_pair(tmp_path: Path) -> None:
    kind, value = Workspace.folder(tmp_path)

    assert (kind, value) == ("folder", str(tmp_path))
