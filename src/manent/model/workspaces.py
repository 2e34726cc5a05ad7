"""Workspaces: the fence inside which every read happens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from manent.errors import InputError
from manent.model.checkouts import find_checkout, is_relative_origin, normal_origin
from manent.model.folders import resolve_links, true_folder
from manent.model.ids import check_name

DEFAULT = "default"
"""The workspace of whoever names none."""


KINDS = ("folder", "git", "git_branch", "key", "newt_v1")
"""The kinds of name; the last one is that of an old tree of JSON files."""


class Workspace(NamedTuple):
    """
    One alias of a workspace: its `kind` (folder, git, git_branch or key) and `value`.

    A workspace has a random identity in the store; aliases lead to it and may be moved.
    """

    kind: str
    value: str

    @classmethod
    def key(cls, value: str) -> Workspace:
        """
        A name of the caller's own: a tenant, a user, a project. Matched exactly.

        Raises:
            InputError: it is blank, or longer than `ID_BYTES_MAX` bytes.
        """
        return cls("key", check_name(value, "workspace key"))

    @classmethod
    def folder(cls, path: str | os.PathLike[str]) -> Workspace:
        """
        A folder, there or not, under whatever spelling: see `true_folder`.

        A folder in a linked git worktree stands for the same folder of the main worktree, if that is there.

        Raises:
            InputError: no path can be spelled like that, or its true spelling is longer than
                `ID_BYTES_MAX` bytes.
            NotFoundError: the path is relative and the working folder is gone.
        """
        return spellings_of(path)[0]

    @classmethod
    def git(cls, path: str | os.PathLike[str], *, branch: bool = False) -> Workspace:
        """
        The repository that a folder is in, so that all clones of one origin are one workspace.

        Args:
            path: a folder anywhere in the repository.
            branch: each branch is a workspace of its own; the value is then `<origin>#<branch>`.

        Returns:
            Kind `git` or `git_branch`, with the origin as `normal_origin` spells it. Without an origin,
            with one that is a relative path, or with `branch` and a detached head: the folder of the main
            worktree. Outside a repository: the folder.

        Raises:
            InputError: as `folder` does, or the value is longer than `ID_BYTES_MAX` bytes.
            NotFoundError: as `folder` does.
        """
        if (checkout := find_checkout(path)) is None:
            return cls.folder(path)
        if checkout.origin is None or is_relative_origin(checkout.origin):
            return cls.folder(checkout.main)
        origin = normal_origin(checkout.origin)
        if not branch:
            return cls("git", check_name(origin, "workspace origin"))
        if checkout.branch is None:
            return cls.folder(checkout.main)
        return cls("git_branch", check_name(f"{origin}#{checkout.branch}", "workspace origin and branch"))

    @classmethod
    def of(cls, text: str) -> Workspace:
        """A plain string: `.`, `./x`, `~/x` or an absolute path names a folder, anything else a key."""
        return names_of(text)[0]


def names_of(wanted: str | os.PathLike[str] | Workspace) -> tuple[Workspace, ...]:
    """
    What a workspace is called, and then what older releases would have called it.

    Args:
        wanted: a path, which names a folder; text as `Workspace.of` reads it; or the name itself.

    Raises:
        InputError: it is nothing of these, or a name of a kind that there is none of.
        NotFoundError: as `Workspace.folder` does.
    """
    match wanted:
        case Workspace(kind, _):
            if kind not in KINDS:
                raise InputError(f"A workspace is named by {', '.join(KINDS)}, not by {kind!r}.")
            return (wanted,)
        case str():
            is_folder = wanted in (".", "~") or wanted.startswith(("./", "../", "~/"))
            is_folder = is_folder or Path(wanted).is_absolute()
            return spellings_of(wanted) if is_folder else (Workspace.key(wanted),)
        case os.PathLike():
            return spellings_of(wanted)
        case _:
            raise InputError(f"A workspace is named by text or a path, not {type(wanted).__name__}.")


def spellings_of(path: str | os.PathLike[str]) -> tuple[Workspace, ...]:
    """
    Return every alias under which a folder may be stored, of the newest rule first.

    The second one, where it differs, is of release 0.1.0: links resolved, case as given, each worktree on
    its own.

    Raises:
        InputError, NotFoundError: as `Workspace.folder` does.
    """
    newest = Workspace("folder", check_name(_project_folder(path), "workspace folder"))
    plain = Workspace("folder", resolve_links(path))
    return (newest,) if newest == plain else (newest, plain)


def _project_folder(path: str | os.PathLike[str]) -> str:
    """The true spelling of a folder, in the main worktree when it is in a linked one."""
    folder = true_folder(path)
    checkout = find_checkout(folder)
    if checkout is None or checkout.main == checkout.root:
        return folder
    return true_folder(Path(checkout.main, Path(folder).relative_to(checkout.root)))


class WorkspaceSummary(NamedTuple):
    """A workspace in a list: its random identity, what leads to it, how many conversations it has."""

    uid: str
    aliases: tuple[Workspace, ...]
    conversations: int


class LostFolder(NamedTuple):
    """A folder that is gone, and how many workspaces and conversations it and what was under it had."""

    folder: str
    workspaces: int
    conversations: int


class WorkspaceMove(NamedTuple):
    """
    What `relink` or `merge` did, and can be undone by its `id`.

    Args:
        id: names the move.
        kind: `relink` or `merge`.
        aliases: each name before and after; of a merge those that lead to the other workspace now.
        renamed: ids that both workspaces had, before and after, of the conversations that gave way.
        lost_keys: keys that both had, which the conversations that moved gave up.
        claim_ns: when, by the clock's claim.
    """

    id: str
    kind: str
    aliases: tuple[tuple[Workspace, Workspace], ...]
    renamed: tuple[tuple[str | None, str | None], ...]
    lost_keys: tuple[str, ...]
    claim_ns: int
