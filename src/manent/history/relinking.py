"""
Workspaces as a whole: which there are, a folder that moved, two that are one, and all of that back again.

Aliases lead to workspaces and stand in no hash, so moving one changes no event. What was moved is kept as a
register of the workspace's own stream, so that it can be undone. All of it is for the owner's handle.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from manent.errors import AlreadyExistsError, InputError, NotFoundError, OwnerRequiredError
from manent.history import merging
from manent.history.moves import KeptMove, Move, forget_move, keep_move, moves_in
from manent.history.runtime import Runtime
from manent.history.workspaces import own_stream
from manent.model.ids import check_name
from manent.model.log import WorkspaceInfo
from manent.model.workspaces import LostFolder, Workspace, WorkspaceMove, WorkspaceSummary, names_of
from manent.storage.port import Reader, Transaction

FOLDER = "folder"


class Workspaces:
    """The workspaces of a store. Get one from `Store.workspaces` of a handle opened with `workspace=None`."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __repr__(self) -> str:
        return f"<Workspaces of {self._runtime.backend.url}>"

    def _require_owner(self) -> None:
        if self._runtime.workspace is not None:
            raise OwnerRequiredError

    def list(self) -> Sequence[WorkspaceSummary]:
        """
        Every workspace with its aliases and the number of its conversations.

        Raises:
            OwnerRequiredError: on a handle of one workspace.
        """
        self._require_owner()
        with self._runtime.backend.reading() as reader:
            return [
                WorkspaceSummary(
                    uid=info.uid,
                    aliases=tuple(Workspace(*alias) for alias in info.aliases),
                    conversations=reader.count_conversations(info.uid),
                )
                for info in reader.list_workspaces()
            ]

    def find_lost(self, near: str | os.PathLike[str] | None = None) -> Sequence[LostFolder]:
        """
        Folders that are gone while their conversations are here: renamed or moved ones, most likely.

        A workspace that some folder which is there leads to is not lost.

        Args:
            near: only those that stood beside this folder; None gives all.

        Raises:
            OwnerRequiredError: on a handle of one workspace.
        """
        self._require_owner()
        beside = None if near is None else Path(Workspace.folder(near).value).parent
        found: dict[str, list[WorkspaceSummary]] = {}
        for summary in self.list():
            roots = {_vanished_root(alias.value) for alias in summary.aliases if alias.kind == FOLDER}
            for root in roots if None not in roots else ():
                if root is not None and beside in (None, Path(root).parent):
                    found.setdefault(root, []).append(summary)
        return [
            LostFolder(
                folder=root, workspaces=len(all_of), conversations=sum(w.conversations for w in all_of)
            )
            for root, all_of in sorted(found.items())
        ]

    def relink(self, old: str | Workspace, new: str | Workspace) -> WorkspaceMove:
        """
        Let what led to a workspace by one name do so by another: after a folder was renamed or moved.

        For a folder everything under it moves too; a neighbour whose name only begins the same does not.
        What was said stays as it is, paths in messages too.

        Args:
            old, new: as `workspace=` of `manent.open` takes them, of one kind.

        Raises:
            OwnerRequiredError: on a handle of one workspace.
            NotFoundError: nothing is called `old`.
            AlreadyExistsError: a new name leads to another workspace already: merge the two instead.
            InputError: two kinds of name, or twice the same.
        """
        self._require_owner()
        before, after = _workspace(old), _workspace(new)
        if before.kind != after.kind or before == after:
            raise InputError("Give two different names of one kind: two folders, or two keys.")
        with self._runtime.backend.transaction() as tx:
            pairs = list(_renamed(tx.read, before, after))
            if not pairs:
                raise NotFoundError("workspace", before.value, "`workspaces.list` shows what there is.")
            leaving = {old for old, _ in pairs}
            present = [new for _, new in pairs if new not in leaving and tx.read.find_workspace(*new)]
            _move_aliases(tx, pairs)
            move = Move(
                kind="relink", aliases=tuple(pairs), present=tuple(present), claim_ns=self._runtime.clock()
            )
            info = _find(tx.read, Workspace(*pairs[0][1]))
            return self._keep(tx, own_stream(self._runtime, tx, info.uid), move)

    def merge(self, source: str | Workspace, into: str | Workspace) -> WorkspaceMove:
        """
        Make one workspace of two: everything of `source` is in `into` from now on, under both names.

        Conversations keep their chains. An id that both have stays with the one in `into`; the other becomes
        its uid, and the move says so. So does a key that both have.

        Raises:
            OwnerRequiredError: on a handle of one workspace.
            NotFoundError: there is no such workspace.
            InputError: they are one already.
        """
        self._require_owner()
        names = _workspace(source), _workspace(into)
        with self._runtime.backend.transaction() as tx:
            gone, kept = (_find(tx.read, name) for name in names)
            if gone.uid == kept.uid:
                raise InputError("These two names lead to one workspace already.")
            home = own_stream(self._runtime, tx, kept.uid)
            return self._keep(tx, home, merging.merge(tx, gone, kept, self._runtime.clock()))

    def moves(self) -> Sequence[WorkspaceMove]:
        """
        What was relinked or merged and not undone, the latest first.

        Raises:
            OwnerRequiredError: on a handle of one workspace.
        """
        self._require_owner()
        with self._runtime.backend.reading() as reader:
            return [kept.told() for kept in _kept_moves(reader)]

    def undo(self, move_id: str) -> WorkspaceMove:
        """
        Take a move back. What was begun since stays where it was begun.

        Args:
            move_id: as `moves` gives it.

        Raises:
            OwnerRequiredError: on a handle of one workspace.
            NotFoundError: no such move, or it was undone.
            AlreadyExistsError: a name that would come back leads elsewhere by now.
        """
        self._require_owner()
        with self._runtime.backend.transaction() as tx:
            kept = _find_move(tx.read, move_id)
            if kept.move.kind == "merge":
                merging.part(tx, kept.move)
            else:
                _undo_relink(tx, kept.move)
            forget_move(tx, kept)
        return kept.told()

    def _keep(self, tx: Transaction, stream: str, move: Move) -> WorkspaceMove:
        """Keep a move in a stream of the workspace that was concerned."""
        return keep_move(tx, stream, self._runtime.new_id()[:8], move).told()


def _workspace(name: str | Workspace) -> Workspace:
    return names_of(name)[0]


def _find(reader: Reader, name: Workspace) -> WorkspaceInfo:
    uid = reader.find_workspace(*name)
    info = reader.find_workspace_info(uid) if uid is not None else None
    if info is None:
        raise NotFoundError("workspace", name.value, "`workspaces.list` shows what there is.")
    return info


def _vanished_root(folder: str) -> str | None:
    """The topmost folder that is gone of one that is gone; None for a folder that is there."""
    path = Path(folder)
    if path.is_dir():
        return None
    while path.parent != path and not path.parent.is_dir():
        path = path.parent
    return str(path)


Renaming = tuple[tuple[str, str], tuple[str, str]]
"""An alias as it is and as it will be."""


def _renamed(reader: Reader, before: Workspace, after: Workspace) -> Iterator[Renaming]:
    for info in reader.list_workspaces():
        for kind, value in info.aliases:
            if kind == before.kind and value == before.value:
                yield (kind, value), (kind, after.value)
            elif kind == before.kind == FOLDER and value.startswith(before.value.rstrip(os.sep) + os.sep):
                rest = value[len(before.value.rstrip(os.sep)) :]
                yield (kind, value), (kind, check_name(after.value.rstrip(os.sep) + rest, "folder"))


def _move_aliases(tx: Transaction, pairs: Sequence[Renaming]) -> None:
    leaving = {old for old, _ in pairs}
    targets = {old: tx.read.find_workspace(*old) for old, _ in pairs}
    for old, new in pairs:
        if targets[old] is None:
            raise NotFoundError("workspace", old[1], "It was renamed or merged since.")
        if new not in leaving and tx.read.find_workspace(*new) not in (None, targets[old]):
            advice = "Merge the two with workspaces.merge, then relink what lies below."
            raise AlreadyExistsError("name", new[1], where="by another workspace", advice=advice)
    for old, _ in pairs:
        tx.move_alias(old, None)
    for old, new in pairs:
        tx.move_alias(new, targets[old])


def _undo_relink(tx: Transaction, move: Move) -> None:
    """Names lead where they led; one that led there before the relink too still does."""
    targets = {new: tx.read.find_workspace(*new) for new in move.present}
    _move_aliases(tx, [(new, old) for old, new in move.aliases])
    for new, target in targets.items():
        tx.move_alias(new, target)


def _kept_moves(reader: Reader) -> list[KeptMove]:
    """Moves that were not undone, the latest first."""
    streams = (uid for info in reader.list_workspaces() for uid in info.streams)
    found = (kept for uid in streams for kept in moves_in(reader, uid))
    return sorted(found, key=lambda kept: kept.stamp, reverse=True)


def _find_move(reader: Reader, move_id: str) -> KeptMove:
    for kept in _kept_moves(reader):
        if kept.id == move_id:
            return kept
    raise NotFoundError("move of a workspace", move_id, "`workspaces.moves` shows those that can be undone.")
