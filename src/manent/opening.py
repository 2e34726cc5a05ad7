"""The composition root: a URL becomes a backend, a backend becomes a store. Alone in knowing all backends."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import BinaryIO, Literal

from manent.errors import InputError, NotFoundError
from manent.history import restoring
from manent.history.processes import Processes, local_processes
from manent.history.runtime import Runtime, Scratch
from manent.history.store import Store
from manent.model.imported import ImportReport
from manent.model.workspaces import DEFAULT, Workspace, names_of
from manent.storage.port import Backend

SCRATCH_EVENTS_MAX = 20_000
"""A conversation with more events than this is folded again in a file rather than in memory."""

READ_BYTES = 1 << 20
_SCHEMES_TO_COME = ("ndjson", "postgresql", "postgres")


def open(
    url: str | os.PathLike[str],
    *,
    workspace: str | os.PathLike[str] | Workspace | None = DEFAULT,
    durability: Literal["full", "process"] = "full",
    wait: float = 5.0,
    read_only: bool = False,
    clock: Callable[[], int] = time.time_ns,
    processes: Processes | None = None,
    allow_secrets: Collection[str] = (),
) -> Store:
    """
    Open a store, and make it when it is not there.

    Args:
        url: a path or `sqlite:PATH` for a store in one SQLite file; `memory:` for one that ends with the
            process.
        workspace: the fence inside which everything happens. A path, and text that is `.`, `./x`, `~/x` or
            absolute, names a folder, there or not; any other text is a key of your own; `Workspace` says it
            precisely. None is the owner's handle over all workspaces: never hand it out.
        durability: `full`, what was appended survives a power cut; `process`, it survives a killed process.
        wait: seconds that a writer waits for another one before StoreBusyError.
        read_only: refuse every write.
        clock: says what time it is, in nanoseconds since 1970 UTC; shown and hashed, never ordered by.
        processes: says who this process is and whether an owner still runs; the system when None.
        allow_secrets: kinds of secrets that are not masked in what is imported and in tool output that is
            appended, such as `jwt`.

    Raises:
        NotAStoreError, NewerStoreError, DamagedStoreError, FaultyEngineError: nothing was changed.
        StoreBusyError: others kept it locked longer than `wait` while it was being made.
        InputError: a URL, a durability or a kind of secret that there is none of.
    """
    if durability not in ("full", "process"):
        raise InputError(f"durability is 'full' or 'process', not {durability!r}.")
    if not isinstance(wait, int | float) or not wait >= 0:
        raise InputError(f"wait is a number of seconds from 0 on, not {wait!r}.")
    allowed = _checked_kinds(allow_secrets)
    fence, *older_names = (None,) if workspace is None else names_of(workspace)
    backend = open_backend(url, durability=durability, wait=wait, read_only=read_only)
    runtime = Runtime(
        backend,
        fence,
        Scratch(make_scratch),
        clock=clock,
        processes=processes or local_processes(),
        older_names=tuple(name for name in older_names if name is not None),
        allow_secrets=allowed,
    )
    return Store(runtime)


def open_backend(
    url: str | os.PathLike[str],
    *,
    durability: Literal["full", "process"] = "full",
    wait: float = 5.0,
    read_only: bool = False,
) -> Backend:
    """The backend behind a URL; arguments and errors are those of `open`."""
    text = _checked(url)
    scheme, colon, rest = text.partition(":")
    if text == "memory:":
        return _in_memory(wait, read_only)
    if colon and scheme in _SCHEMES_TO_COME:
        raise InputError(f"This release has no backend for {scheme}: URLs; give a path to a file.")
    from manent.storage.sqlite.backend import SqliteBackend

    path = rest if colon and scheme == "sqlite" else text
    if not path:
        raise InputError("Give the path of a store, such as conversations.db.")
    return SqliteBackend(path, durability=durability, wait_s=wait, read_only=read_only)


def _checked_kinds(kinds: Collection[str]) -> frozenset[str]:
    """Kinds of secrets; the table of them is loaded when there is any to look up."""
    if not kinds:
        return frozenset()
    from manent.history.masking import check_kinds

    return check_kinds(kinds)


def _checked(url: str | os.PathLike[str]) -> str:
    """
    A URL or path as text.

    Raises:
        InputError: it is neither, or a path that no system has.
    """
    text = os.fspath(url) if isinstance(url, str | os.PathLike) else url
    if not isinstance(text, str):
        raise InputError(f"A store is named by text or a path, not {type(url).__name__}.")
    if "\0" in text:
        raise InputError("A path cannot hold a NUL character.")
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        raise InputError("This system has no path like that.") from None
    return text


def _in_memory(wait: float, read_only: bool) -> Backend:
    from manent.storage.memory.backend import MemoryBackend
    from manent.storage.wrappers import read_only as guard

    backend = MemoryBackend(wait_s=wait)
    return guard(backend) if read_only else backend


def make_scratch(events: int) -> Backend:
    """Where `verify` folds a conversation of that many events again: in memory, or in a passing file."""
    if events <= SCRATCH_EVENTS_MAX:
        from manent.storage.memory.backend import MemoryBackend

        return MemoryBackend()
    return _passing_file()


def _passing_file() -> Backend:
    from manent.storage.installation import Installation
    from manent.storage.sqlite.backend import SqliteBackend

    folder = tempfile.TemporaryDirectory(prefix="manent-verify-")

    class PassingBackend(SqliteBackend):
        """A store that is gone when it is closed."""

        def close(self) -> None:
            super().close()
            folder.cleanup()

    place = Path(folder.name)
    return PassingBackend(place / "scratch.db", installation=Installation(place), durability="process")


def import_path(
    store: Store,
    path: str | os.PathLike[str],
    *,
    dry_run: bool = False,
    allow_secrets: Collection[str] = (),
    progress: Callable[[int], None] = lambda _: None,
) -> ImportReport:
    """
    Import a file or folder of another tool; what it is, is found by its content, never by its name.

    Args:
        dry_run: look and count, write nothing.
        allow_secrets: kinds of secrets that are not masked this time.
        progress: called now and then with the number of records looked at.

    Raises:
        FormatError: nothing here that can be read.
        NotFoundError: no such file.
        InputError: no such kind of secret.
        WorkspaceRequiredError: on the owner's handle.
    """
    from manent.formats.registry import detect

    place = Path(path)
    if not place.exists():
        raise NotFoundError("file", str(place))
    found = detect(place)
    return store.import_items(
        found.items,
        format=found.format,
        files=found.files,
        paths=[os.fspath(path)],
        dry_run=dry_run,
        allow_secrets=allow_secrets,
        progress=progress,
    )


def is_own_export(path: str | os.PathLike[str]) -> bool:
    """Whether a file is an export of ours, to be restored rather than imported."""
    place = Path(path)
    if not place.is_file():
        return False
    with place.open("rb") as stream:
        return restoring.is_export(stream.read(64))


def restore_path(store: Store, path: str | os.PathLike[str]) -> restoring.Restored:
    """
    Take in an export of ours from a file, all or nothing.

    Raises:
        FormatError: a line is damaged or the file was cut.
        MergeNeededError: it brings another history of something that is here.
    """
    place = Path(path)
    with place.open("rb") as stream:
        return store.import_lines(restoring.read_lines(_chunks(stream)), name=place.name)


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(READ_BYTES):
        yield chunk
