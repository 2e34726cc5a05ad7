"""
Taking in the JSON tree of before there was a database: `<root>/conversations/<key>/<id>.json`.

It is done when a `ConversationStore` opens, as long as the tree is there. The store itself is the state of
each record: one that is there is not taken again, so whatever interrupts this, it goes on the next time. No
file is ever deleted. When every record was taken in, the tree becomes `conversations.imported` (or `.1` to
`.99` behind that); as long as one cannot be read, only what was taken in goes there, and the rest stays
where it is mended and read the next time. Secrets are masked on the way in, as in every import.

A record goes into the workspace of its folder. Where the key that the tree has for it does not fit that
folder any more, it waits in a workspace with the alias (`newt_v1`, key), until the folder is opened.
"""

from __future__ import annotations

import contextlib
import logging
import os
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from manent.errors import FormatError, InputError, NotFoundError
from manent.formats.newt_json import Foreign, find_records, read_record
from manent.history.processes import local_processes
from manent.history.relinking import Workspaces
from manent.history.runtime import Clock, Runtime, Scratch
from manent.history.workspaces import find_fence
from manent.model.folders import resolve_links, true_folder
from manent.model.imported import Refusal
from manent.model.log import WorkspaceInfo
from manent.model.old_keys import old_spelling
from manent.model.workspaces import Workspace, spellings_of
from manent.opening import make_scratch, open_backend
from manent.seeds.legacy_records import TakingIn

TREE = "conversations"
BACKUP = "conversations.imported"
BACKUPS_MAX = 99
OLD_KEY = "newt_v1"
"""The kind of alias that names a workspace by its key in the tree."""

Progress = Callable[[int], None]
"""Called after each record with the number of those done."""

_log = logging.getLogger("manent")


class LegacyReport(msgspec.Struct, frozen=True, kw_only=True):
    """
    What became of a tree. It adds up: `records` = `imported` + `known` + `deleted` + `refused`.

    Args:
        records: files that ought to be records.
        imported: those that came in now, with `turns` turns.
        known: those that were here already.
        deleted: those that were here once and were deleted since; they stay so.
        refused: what could not be read, and why. It stays in its place, to be mended.
        passed_over: what else lay there, and known records that say more than what is here.
        secrets: how many secrets were masked, by kind.
        backup: where the files are now; None when none was moved by this run.
        kept_in_place: whether the tree is still there.
    """

    records: int = 0
    imported: int = 0
    known: int = 0
    deleted: int = 0
    turns: int = 0
    refused: tuple[Refusal, ...] = ()
    passed_over: tuple[Foreign, ...] = ()
    secrets: dict[str, int] = msgspec.field(default_factory=dict)
    backup: str | None = None
    kept_in_place: bool = False

    @property
    def ok(self) -> bool:
        """Nothing was refused."""
        return not self.refused


def migrate_legacy(
    store_root: str | os.PathLike[str],
    *,
    durability: Literal["full", "process"] = "full",
    wait: float = 5.0,
    clock: Clock = time.time_ns,
    progress: Progress = lambda _: None,
) -> LegacyReport:
    """
    Take in the tree under a folder, if there is one, into the store of that folder.

    Raises:
        StoreBusyError, StorageFullError, ReadOnlyError: what was taken in stays; run it again.
    """
    root = Path(resolve_links(store_root))
    if not (root / TREE).is_dir():
        return LegacyReport()
    backend = open_backend(root / "conversations.db", durability=durability, wait=wait)
    with contextlib.closing(backend):
        runtime = Runtime(backend, None, Scratch(make_scratch), clock=clock, processes=local_processes())
        return migrate(runtime, root, progress=progress) or LegacyReport()


def migrate(runtime: Runtime, root: Path, *, progress: Progress = lambda _: None) -> LegacyReport | None:
    """As `migrate_legacy`, into a store that is open; None when there is no tree."""
    tree = root / TREE
    if not tree.is_dir():
        return None
    run = _Run(runtime)
    run.take_all(tree, progress)
    backup = run.put_away(tree)
    return run.report(backup, kept_in_place=tree.exists())


class _Run:
    """One run over a tree: what it did so far."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._taking = TakingIn(runtime)
        self._done: list[Path] = []
        self._counts = {"imported": 0, "known": 0, "deleted": 0, "turns": 0}
        self._refused: list[Refusal] = []
        self._foreign: list[Foreign] = []

    def report(self, backup: Path | None, *, kept_in_place: bool) -> LegacyReport:
        return LegacyReport(
            records=len(self._done) + len(self._refused),
            refused=tuple(self._refused),
            passed_over=tuple(self._foreign),
            secrets=self._taking.secrets,
            backup=None if backup is None else str(backup),
            kept_in_place=kept_in_place,
            **self._counts,
        )

    def take_all(self, tree: Path, progress: Progress) -> None:
        """
        Take in every record, those whose last word is oldest first.

        All are read for their times before the first one is written, and read again one by one.
        """
        for number, (_, path) in enumerate(sorted(self._find(tree)), 1):
            self._take(path)
            progress(number)

    def _find(self, tree: Path) -> Iterator[tuple[tuple[int, int, str], Path]]:
        for item in find_records(tree):
            if isinstance(item, Foreign):
                self._foreign.append(item)
            elif isinstance(item, Refusal):
                self._refused.append(item)
            else:
                try:
                    record = read_record(item)
                except FormatError as error:
                    self._refuse(item, error.detail)
                    continue
                yield (record.updated_at_unix_nanos, record.created_at_unix_nanos, record.id), item

    def _take(self, path: Path) -> None:
        try:
            record = read_record(path)
            taken = self._taking.take(record, find_workspaces(record.workspace, record.workspace_id), path)
        except FormatError as error:
            self._refuse(path, error.detail)
            return
        except InputError as error:
            self._refuse(path, str(error))
            return
        self._done.append(path)
        self._counts[taken.state] += 1
        self._counts["turns"] += taken.turns
        if taken.note:
            self._foreign.append(Foreign(place=str(path), reason=taken.note))

    def _refuse(self, path: Path, reason: str) -> None:
        """A file that is gone was taken in and put away by somebody else."""
        if os.path.lexists(path):
            self._refused.append(Refusal(place=str(path), reason=reason))

    # --- the files

    def put_away(self, tree: Path) -> Path | None:
        """Move what was taken in; return where to, or None when nothing could be or had to be moved."""
        try:
            if not self._refused:
                return _rename(tree, self._done)
            return _move(self._done, tree) if self._done else None
        except FileNotFoundError:
            return None  # another opener was faster, and has done the same
        except OSError as error:
            _log.warning("The old conversations stay at %s: %s.", tree, error.strerror or error)
            return None


def _rename(tree: Path, files: list[Path]) -> Path | None:
    for backup in _backups(tree):
        if not os.path.lexists(backup):
            tree.rename(backup)
            _bring_back_late_ones(tree, backup, {file.relative_to(tree) for file in files})
            return backup
    _log.warning("The old conversations stay at %s: every name for a backup is taken.", tree)
    return None


def _bring_back_late_ones(tree: Path, backup: Path, taken: set[Path]) -> None:
    """A record that an older program wrote meanwhile goes back to where the next opening finds it."""
    for file in find_records(backup):
        if isinstance(file, Path) and (name := file.relative_to(backup)) not in taken:
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            file.rename(tree / name)


def _move(files: list[Path], tree: Path) -> Path | None:
    """Move files into a new backup, and leave the rest where it is."""
    for backup in _backups(tree):
        with contextlib.suppress(FileExistsError):
            backup.mkdir(mode=0o700)
            for file in files:
                place = backup / file.relative_to(tree)
                place.parent.mkdir(mode=0o700, exist_ok=True)
                with contextlib.suppress(FileNotFoundError):  # another opener has moved it
                    file.rename(place)
            return backup
    _log.warning("The old conversations stay at %s: every name for a backup is taken.", tree)
    return None


def _backups(tree: Path) -> Iterator[Path]:
    yield tree.with_name(BACKUP)
    for number in range(1, BACKUPS_MAX + 1):
        yield tree.with_name(f"{BACKUP}.{number}")


# --- which workspace


def find_workspaces(folder: str, key: str) -> tuple[Workspace, ...]:
    """
    The names of the workspace of a record: its folder, if the key is that folder's; else the key itself.

    Args:
        folder: as the record tells it.
        key: the name of the folder in the tree.
    """
    try:
        if Path(folder).is_absolute() and key in _old_keys(folder):
            return spellings_of(folder)
    except (InputError, NotFoundError):
        return (Workspace(OLD_KEY, key),)
    return (Workspace(OLD_KEY, key),)


def _old_keys(folder: str) -> set[str]:
    """The keys of a folder as it was spelled, which may have been the true spelling, and as it is."""
    return {str(uuid.uuid5(uuid.NAMESPACE_URL, each)) for each in (folder, old_spelling(true_folder(folder)))}


def adopt_old_key(runtime: Runtime, folder: Path) -> None:
    """
    Let the workspace that waits under a folder's old key be the workspace of that folder.

    Where the folder has a workspace of its own by now, the two become one.
    """
    if runtime.workspace is None:
        return
    keys = [Workspace(OLD_KEY, key) for key in sorted(_old_keys(str(folder)))]
    with runtime.backend.reading() as reader:
        here = find_fence(runtime, reader)
        waiting = [key for key in keys if reader.find_workspace(*key) not in (None, here)]
    for key in waiting:
        _adopt(runtime, key)


def _adopt(runtime: Runtime, key: Workspace) -> None:
    with runtime.backend.transaction() as tx:
        here, waits = find_fence(runtime, tx.read), tx.read.find_workspace(*key)
        if here is None and waits is not None:
            tx.put_workspace(WorkspaceInfo(waits, (), (_alias(runtime),)))
            return
        info = tx.read.find_workspace_info(here) if here is not None else None
    if info is not None and waits not in (None, here):
        with contextlib.suppress(NotFoundError, InputError):  # another opener has joined them
            owner = Workspaces(runtime._replace(workspace=None, older_names=()))
            owner.merge(key, Workspace(*info.aliases[0]))


def _alias(runtime: Runtime) -> tuple[str, str]:
    assert runtime.workspace is not None, "only a workspace's handle adopts"
    return runtime.workspace.kind, runtime.workspace.value
