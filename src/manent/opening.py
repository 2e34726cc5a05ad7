"""The composition root: a URL becomes a backend, a backend becomes a store. Alone in knowing all backends."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal

from manent.errors import InputError, NotFoundError
from manent.history import exporting, giving, restoring
from manent.history.processes import Processes, local_processes
from manent.history.runtime import Runtime, Scratch
from manent.history.store import Store
from manent.model.exported import LINES_NAME, Choices, Entry, ExportReport, Tally
from manent.model.imported import ImportReport
from manent.model.workspaces import DEFAULT, Workspace, names_of
from manent.storage.port import Backend

SCRATCH_EVENTS_MAX = 20_000
"""A conversation with more events than this is folded again in a file rather than in memory."""

READ_BYTES = 1 << 20
ARCHIVE, NDJSON = "archive", "ndjson"
"""The formats of our own."""

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
    """Whether a file is an export or an archive of ours, to be restored rather than imported."""
    from manent.formats.archive import is_archive

    head = _head(Path(path))
    return restoring.is_export(head) or is_archive(head)


def restore_path(store: Store, path: str | os.PathLike[str]) -> restoring.Restored:
    """
    Take in an export or an archive of ours from a file, all or nothing.

    Raises:
        FormatError: a line is damaged, the file was cut, or an archive holds what ours do not.
        MergeNeededError: it brings another history of something that is here.
    """
    from manent.formats.archive import Archive, is_archive

    place = Path(path)
    if is_archive(_head(place)):
        with Archive(place) as archive:
            lines = restoring.read_lines(archive.lines())
            return store.import_lines(lines, name=place.name, read_blob=archive.read_blob)
    with place.open("rb") as stream:
        return store.import_lines(restoring.read_lines(_chunks(stream)), name=place.name)


def _head(place: Path) -> bytes:
    if not place.is_file():
        return b""
    with place.open("rb") as stream:
        return stream.read(64)


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(READ_BYTES):
        yield chunk


def export_path(
    store: Store,
    path: str | os.PathLike[str],
    *,
    format: str = NDJSON,
    conversations: Sequence[str] = (),
    hidden: bool = False,
    replace: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> ExportReport:
    """
    Write what the handle sees to a file or folder, in a format of ours or of another tool.

    It appears when it is whole, and only its owner can read it. `markdown` and `chatgpt` keep attachments
    beside the conversations where there is room: in a folder, which has to be empty or end in a slash, or in
    a file whose name ends in `.zip`.

    Args:
        format: `archive` and `ndjson` hold everything; `openai`, `markdown` and `chatgpt` less, and the
            report says what they left out.
        conversations: ids or their beginnings; () for all of them.
        hidden: also messages that programs injected, in other tools' formats.
        replace: take the place of a file that is there.
        progress: called now and then with the number of lines or conversations written.

    Returns:
        What was written, and what the format could not carry.

    Raises:
        NotFoundError, AmbiguousPrefixError: no conversation, or several, of a name.
        InputError: no such format, or several pages for one file.
        FileExistsError: something is there.
    """
    from manent.formats.placing import refuse_present, write_file, write_folder

    place = Path(path)
    in_folder = place.is_dir() or os.fspath(path).endswith(("/", os.sep))
    if not in_folder:
        refuse_present(place, replace=replace)
    has_room = in_folder or place.suffix.lower() == ".zip"
    export = _Export(store, format, conversations, Choices(hidden, has_room), progress)
    if in_folder:
        write_folder(export.files(), place)
    else:
        write_file(export.pieces(is_zip=has_room), place, replace=replace)
    return export.report()


def export_stream(
    store: Store,
    stream: BinaryIO,
    *,
    format: str = NDJSON,
    conversations: Sequence[str] = (),
    hidden: bool = False,
    progress: Callable[[int], None] = lambda _: None,
) -> ExportReport:
    """As `export_path`, to a stream that takes bytes; only an archive has room for attachments there."""
    export = _Export(store, format, conversations, Choices(hidden), progress)
    for piece in export.pieces(is_zip=False):
        stream.write(piece)
    return export.report()


class _Export:
    """One export: its files or its bytes, to be read once, and then its report."""

    def __init__(
        self,
        store: Store,
        format: str,
        named: Sequence[str],
        choices: Choices,
        progress: Callable[[int], None],
    ) -> None:
        from manent.formats.writers import NAMES, find_writer

        self._runtime = store._runtime
        self._format = format
        self._named = [named] if isinstance(named, str) else list(named)
        self._choices = choices
        self._progress = progress
        self._tally = Tally()
        self._writer = find_writer(format)
        if self._writer is None and format not in (ARCHIVE, NDJSON):
            known = ", ".join((ARCHIVE, NDJSON, *NAMES))
            raise InputError(f"There is no format {format!r} to export to; there are {known}.")

    def report(self) -> ExportReport:
        """What was done."""
        return self._tally.report(self._format)

    def files(self) -> Iterator[Entry]:
        """The files of a folder."""
        if self._writer is None:
            raise InputError(f"The format {self._format} is one file; name a file, not a folder.")
        return self._measured(self._entries())

    def pieces(self, *, is_zip: bool) -> Iterator[bytes]:
        """The bytes of one file."""
        from manent.formats.zipping import zip_entries

        takes_zip = self._format == ARCHIVE or (
            self._writer is not None and self._writer.takes_files and is_zip
        )
        if takes_zip:
            return self._tally.measured(zip_entries(self._entries()))
        return self._tally.measured(piece for entry in self._entries() for piece in entry.pieces)

    def _measured(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        return (Entry(entry.name, self._tally.measured(entry.pieces)) for entry in entries)

    def _entries(self) -> Iterator[Entry]:
        runtime = self._runtime
        if self._writer is not None:
            found = giving.read_conversations(runtime, self._named, progress=self._progress)
            yield from self._writer.write(found, self._tally, self._choices)
            return
        part = giving.find_part(runtime, self._named)
        if self._format == NDJSON:
            lines = exporting.export_part(runtime.backend, part, self._tally)
            yield Entry(LINES_NAME, self._counted(lines))
            return
        for entry in exporting.archive_entries(runtime.backend, part, self._tally):
            is_lines = entry.name == LINES_NAME
            yield Entry(entry.name, self._counted(entry.pieces)) if is_lines else entry

    def _counted(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        for line in lines:
            self._tally.lines += 1
            self._progress(self._tally.lines)
            yield line
