"""Case 71: a project folder was renamed, and its conversations come along."""

from __future__ import annotations

from pathlib import Path

import pytest

import manent
from manent.model.workspaces import LostFolder, Workspace
from tests.stores import questions

FOLDERS = ("shop", "shop/api", "shop-docker")


@pytest.fixture
def projects(tmp_path: Path, path: Path) -> Path:
    """
    The folder in which the projects stand, with two conversations in each.

    `shop` was renamed to `store` since.
    """
    for name in FOLDERS:
        (tmp_path / name).mkdir()
        with manent.open(path, workspace=str(tmp_path / name)) as store:
            for number in (1, 2):
                store.create_with_id(f"{name} {number}").append_turn(
                    f"see {tmp_path / name}/a.py", "so it is"
                )
    (tmp_path / "shop").rename(tmp_path / "store")
    return tmp_path


def listed(path: Path, folder: Path) -> list[str]:
    """The conversations that somebody finds who opens the store in a folder."""
    with manent.open(path, workspace=str(folder)) as store:
        return sorted(summary.id for summary in store.list())


def found(path: Path, projects: Path) -> dict[str, list[str]]:
    """What somebody finds in each folder, by the folder's name."""
    names = (*FOLDERS, "store", "store/api")
    by_name = {name: listed(path, projects / name) for name in names}
    return {name: ids for name, ids in by_name.items() if ids}


BEFORE = {name: [f"{name} 1", f"{name} 2"] for name in FOLDERS}
AFTER = {
    "store": ["shop 1", "shop 2"],
    "store/api": ["shop/api 1", "shop/api 2"],
    "shop-docker": ["shop-docker 1", "shop-docker 2"],
}


def test_case_71_the_renamed_folder_is_told_what_may_belong_to_it(path: Path, projects: Path) -> None:
    with manent.open(path, workspace=None) as owner:
        near = owner.workspaces.find_lost(near=projects / "store")
        anywhere = owner.workspaces.find_lost()
        elsewhere = owner.workspaces.find_lost(near=projects / "store" / "api")

    assert near == anywhere == [LostFolder(str(projects / "shop"), workspaces=2, conversations=4)]
    assert elsewhere == []


def test_case_71_relinking_moves_the_folder_and_what_is_under_it_and_no_neighbour(
    path: Path, projects: Path
) -> None:
    assert found(path, projects) == BEFORE

    with manent.open(path, workspace=None) as owner:
        move = owner.workspaces.relink(str(projects / "shop"), str(projects / "store"))
        assert owner.workspaces.find_lost() == []

    assert found(path, projects) == AFTER
    assert {old.value: new.value for old, new in move.aliases} == {
        str(projects / "shop"): str(projects / "store"),
        str(projects / "shop" / "api"): str(projects / "store" / "api"),
    }


def test_case_71_undoing_it_gives_everything_back(path: Path, projects: Path) -> None:
    with manent.open(path, workspace=None) as owner:
        move = owner.workspaces.relink(str(projects / "shop"), str(projects / "store"))
        assert owner.workspaces.moves() == [move]

        assert owner.workspaces.undo(move.id) == move

        assert owner.workspaces.moves() == []
        assert [lost.conversations for lost in owner.workspaces.find_lost()] == [4]
    assert found(path, projects) == BEFORE


def test_case_71_what_was_said_is_as_it_was(path: Path, projects: Path) -> None:
    with manent.open(path, workspace=None) as owner:
        before = {id: questions(owner, id) for ids in BEFORE.values() for id in ids}
        receipt = owner.receipt()

        move = owner.workspaces.relink(str(projects / "shop"), str(projects / "store"))

        assert {id: questions(owner, id) for id in before} == before
        assert before["shop/api 1"] == [f"see {projects}/shop/api/a.py"]
        assert owner.verify(receipt=receipt).ok
        owner.workspaces.undo(move.id)
        assert owner.verify(receipt=receipt).ok


def test_case_71_a_conversation_goes_on_where_the_folder_is_now(path: Path, projects: Path) -> None:
    with manent.open(path, workspace=None) as owner:
        owner.workspaces.relink(str(projects / "shop"), str(projects / "store"))

    with manent.open(path, workspace=str(projects / "store")) as store:
        store.conversation("shop 1").append_turn("and now?", "so it is")
        store.create_with_id("shop 3")

    assert found(path, projects) == {**AFTER, "store": ["shop 1", "shop 2", "shop 3"]}


def test_case_71_a_folder_that_was_already_used_under_its_new_name_is_merged(
    path: Path, projects: Path
) -> None:
    with manent.open(path, workspace=str(projects / "store")) as store:
        store.create_with_id("new 1")
    before = found(path, projects)

    with manent.open(path, workspace=None) as owner:
        with pytest.raises(manent.errors.AlreadyExistsError):
            owner.workspaces.relink(str(projects / "shop"), str(projects / "store"))
        assert found(path, projects) == before
        owner.workspaces.merge(str(projects / "shop"), str(projects / "store"))
        owner.workspaces.relink(Workspace.folder(projects / "shop" / "api"), str(projects / "store" / "api"))

    assert listed(path, projects / "store") == ["new 1", "shop 1", "shop 2"]
    assert listed(path, projects / "store" / "api") == ["shop/api 1", "shop/api 2"]
