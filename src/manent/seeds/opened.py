"""The store of a folder, opened inside one workspace, and shared by clones."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, Self

from manent.errors import InputError, NotFoundError, StoreClosedError
from manent.history.processes import Processes, local_processes
from manent.history.runtime import Runtime, Scratch
from manent.history.store import Store
from manent.model.folders import resolve_links
from manent.model.workspaces import spellings_of
from manent.opening import make_scratch, open_backend
from manent.seeds import legacy
from manent.seeds.inside import runtime_of
from manent.seeds.legacy import LegacyReport
from manent.seeds.plan_folders import PLAN_FOLDER, check_plan_folder

FILE_NAME = "conversations.db"


class _Shared:
    """One open store and the number of handles that use it: the last one to be closed closes it."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._handles = 1
        self._lock = threading.Lock()

    def join(self) -> Self:
        with self._lock:
            self._handles += 1
        return self

    def leave(self) -> None:
        with self._lock:
            self._handles -= 1
            last = self._handles == 0
        if last:
            self.store.close()


class Opened:
    """A handle of an open store; the last of its clones to be closed closes it."""

    def __init__(
        self,
        root: str | os.PathLike[str],
        workspace: str | os.PathLike[str],
        max_per_workspace: int = 0,
        *,
        durability: Literal["full", "process"] = "full",
        wait: float = 5.0,
        clock: Callable[[], int] = time.time_ns,
        processes: Processes | None = None,
        plan_folder: str | None = PLAN_FOLDER,
    ) -> None:
        """
        Open the store of a folder, and make it when it is not there; an old JSON tree beside it is taken in.

        Args:
            root: the folder of the store.
            workspace: the project folder; it must be there.
            max_per_workspace: how many conversations `create` leaves, the least recently active go first;
                what is pinned, owned by a live process or has an open turn stays. 0 never prunes.
            plan_folder: where, below the workspace, a session's plans lie: `delete` removes the folder of the
                session there, with whatever is in it. None removes none.

        Raises:
            NotFoundError: there is no such workspace folder.
            InputError: a cap below 0, or a plan folder that leads out of the workspace.
            NotAStoreError, NewerStoreError, DamagedStoreError: nothing was changed.
        """
        if type(max_per_workspace) is not int or max_per_workspace < 0:
            raise InputError(f"max_per_workspace is a whole number from 0 on, not {max_per_workspace!r}.")
        self._plan_folder = check_plan_folder(plan_folder)
        self._folder = _folder_there(workspace)
        self._max = max_per_workspace
        place = Path(resolve_links(root))
        fence, *older = spellings_of(self._folder)
        backend = open_backend(place / FILE_NAME, durability=durability, wait=wait)
        runtime = Runtime(
            backend,
            fence,
            Scratch(make_scratch),
            clock=clock,
            processes=processes or local_processes(),
            older_names=tuple(older),
        )
        try:
            self._legacy_report = legacy.migrate(runtime, place)
            legacy.adopt_old_key(runtime, self._folder)
        except BaseException:
            backend.close()
            raise
        self._shared: _Shared | None = _Shared(Store(runtime))

    @property
    def _store(self) -> Store:
        if self._shared is None:
            raise StoreClosedError(store=FILE_NAME)
        return self._shared.store

    @property
    def _runtime(self) -> Runtime:
        return runtime_of(self._store)

    def __repr__(self) -> str:
        state = "closed" if self._shared is None else self._shared.store.url
        return f"<{type(self).__name__} {state} {str(self._folder)!r}>"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the store, once or more; it is closed when its last clone lets go."""
        shared, self._shared = self._shared, None
        if shared is not None:
            shared.leave()

    def clone(self) -> Self:
        """Another handle of the same open store."""
        copied = object.__new__(type(self))
        copied.clone_from(self)
        return copied

    __copy__ = clone

    def __deepcopy__(self, _memo: dict[int, Any]) -> Self:
        return self.clone()

    def clone_from(self, source: Opened) -> None:
        """Become another handle of what `source` has open; what this one had open it lets go."""
        if source._shared is None:
            raise StoreClosedError(store=FILE_NAME)
        joined = source._shared.join()
        if self.__dict__.get("_shared") is not None:
            self.close()
        self.__dict__.update(source.__dict__, _shared=joined)

    @property
    def legacy_report(self) -> LegacyReport | None:
        """What became of the old JSON tree beside the store at this opening; None when there was none."""
        return self._legacy_report

    @property
    def wal_fallback_notice(self) -> str | None:
        """What to tell the user once when this place cannot carry a write-ahead log, or None."""
        return self._store.wal_fallback_notice

    @property
    def writer_fingerprint(self) -> str:
        """Who this installation's turns are by, in this very store; stable over restarts."""
        if (known := self._store.writer) is not None:
            return known
        with self._runtime.backend.transaction():
            pass  # the first transaction of a new installation gives it its name here
        writer = self._store.writer
        assert writer is not None, "a transaction gives the handle a writer"
        return writer


def _folder_there(workspace: str | os.PathLike[str]) -> Path:
    """
    A workspace's folder as it is.

    Raises:
        NotFoundError: it is not there, or is no folder.
    """
    folder = Path(resolve_links(workspace))
    if not folder.is_dir():
        raise NotFoundError("workspace folder", os.fspath(workspace), "Give a folder that is there.")
    return folder
