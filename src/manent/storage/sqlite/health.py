"""
How a store in one SQLite file stands, without opening it for writing.

Nothing is made, migrated or repaired here: the file is looked at from outside, and through a connection that
only reads.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import apsw

from manent.errors import FaultyEngineError, NotFoundError, StoreError
from manent.model.health import Check, Facts
from manent.storage.installation import Installation
from manent.storage.sqlite import engine, making, place

SIDE_FILES = ("", "-wal", "-shm", "-journal")
"""What stands beside a store has its name and one of these behind it."""

LOG_BYTES_USUAL = 64 << 20
"""A write-ahead log is seldom longer: checkpoints keep it at some megabytes."""

FREE_BYTES_MIN = 32 << 20
"""With less room than this the next writes may fail."""

OTHERS = stat.S_IRWXG | stat.S_IRWXO
_READ_WAIT_MS = 2_000


class Opened(NamedTuple):
    """What a file says about itself: whether its format is the present one, and what was found."""

    is_current: bool
    checks: tuple[Check, ...]


def look_from_outside(url: str, path: str, durability: engine.Durability) -> Iterator[Check]:
    """
    The engine, the place, the rights, the sizes and the state folder.

    Args:
        url: the store, as messages name it.
        path: its file.
        durability: the level that is asked for.
    """
    yield _engine(url)
    yield _place(path)
    yield _durability(durability)
    yield _file_rights(path)
    yield _folder_rights(Path(path).absolute().parent)
    yield _sizes(path)
    yield _space(path)
    yield _state_folder(Installation.here().folder)


def look_inside(url: str, path: str) -> Opened:
    """The store format and the journal mode, read through a connection that writes nothing."""
    try:
        making.find_or_make_file(path, url, read_only=True)  # which makes none, and refuses what is none
        with engine.translated(url):
            connection = engine.open_connection(path, read_only=True, frozen=engine.is_frozen(path))
            try:
                connection.set_busy_timeout(_READ_WAIT_MS)
                with engine.translated(url, connection):
                    return _read(connection, url)
            finally:
                connection.close(True)
    except (StoreError, NotFoundError) as error:
        return Opened(False, (Check(name="format", state="wrong", said=str(error)),))


def _read(connection: apsw.Connection, url: str) -> Opened:
    if engine.is_new(connection):
        said = "the file is empty; the next command that writes makes a store of it"
        return Opened(False, (Check(name="format", state="notice", said=said),))
    engine.check_format(connection, url)
    found, mode = int(connection.pragma("user_version")), str(connection.pragma("journal_mode"))
    facts: Facts = {"format": found, "format_of_release": engine.FORMAT}
    if found < engine.FORMAT:
        said = f"store format {found}, this release writes {engine.FORMAT}"
        advice = "The next command that opens it brings it up to date; `manent export` before, if in doubt."
        return Opened(
            False,
            (Check(name="format", state="notice", said=said, advice=advice, facts=facts), _journal(mode)),
        )
    known = Check(name="format", state="ok", said=f"store format {found}, that of this release", facts=facts)
    return Opened(True, (known, _journal(mode)))


def _journal(mode: str) -> Check:
    facts: Facts = {"journal_mode": mode}
    if mode == "wal":
        said = "write-ahead log: readers and the writer do not wait for each other"
        return Check(name="journal", state="ok", said=said, facts=facts)
    said = f"rollback journal ({mode}): safe, with one writer or several readers at a time"
    advice = "A store on a disk of this machine gets a write-ahead log by itself."
    return Check(name="journal", state="notice", said=said, advice=advice, facts=facts)


def _engine(url: str) -> Check:
    version = apsw.sqlite_lib_version()
    facts: Facts = {"sqlite": version, "apsw": apsw.apsw_version()}
    try:
        engine.refuse_faulty_engine(url)
    except FaultyEngineError as error:
        return Check(name="engine", state="wrong", said=str(error), facts=facts)
    said = f"SQLite {version} (apsw {apsw.apsw_version()}), without the WAL-reset fault"
    return Check(name="engine", state="ok", said=said, facts=facts)


def _place(path: str) -> Check:
    kind, local = place.file_system_of(os.path.realpath(path)), place.is_local(path)
    facts: Facts = {"file_system": kind or None, "local": local}
    named = f" ({kind})" if kind else ""
    if overruled := os.environ.get(place.PLACE_VARIABLE):
        said = f"${place.PLACE_VARIABLE} says that it is {overruled}{named}"
        return Check(name="place", state="notice", said=said, facts=facts)
    if local:
        return Check(name="place", state="ok", said=f"on a disk of this machine{named}", facts=facts)
    said = f"not on a disk of this machine{named}: its locks and syncs are as good as that server's"
    advice = "Keep the store on a local disk, and exports of it there."
    return Check(name="place", state="notice", said=said, advice=advice, facts=facts)


def _durability(level: engine.Durability) -> Check:
    facts: Facts = {"durability": level}
    if level == "full":
        said = "full: what was written survives a power cut"
        return Check(name="durability", state="ok", said=said, facts=facts)
    said = "process: what was written survives a killed process; a power cut may take the last writes"
    return Check(name="durability", state="notice", said=said, facts=facts)


def _file_rights(path: str) -> Check:
    """Whether only its owner can read the store and the files beside it (N-2)."""
    if os.name != "posix":
        return Check(name="rights", state="ok", said="rights are those that the system gives in this folder")
    modes = {file: stat.S_IMODE(file.stat().st_mode) for file in _files(path)}
    beside = len(Path(path).name)
    facts: Facts = {f"mode{file.name[beside:]}": f"{mode:04o}" for file, mode in modes.items()}
    if not modes:
        return Check(name="rights", state="notice", said="there is no file here")
    open_ones = [file for file, mode in modes.items() if mode & OTHERS]
    if open_ones:
        said = f"others may read or write {', '.join(file.name for file in open_ones)}"
        advice = f"chmod 600 {' '.join(map(str, open_ones))}"
        return Check(name="rights", state="wrong", said=said, advice=advice, facts=facts)
    return Check(name="rights", state="ok", said="only its owner can read it", facts=facts)


def _folder_rights(folder: Path) -> Check:
    if os.name != "posix":
        return Check(name="folder", state="ok", said=str(folder))
    mode = stat.S_IMODE(folder.stat().st_mode)
    facts: Facts = {"folder": str(folder), "mode": f"{mode:04o}"}
    if mode & (stat.S_IWGRP | stat.S_IWOTH) and not mode & stat.S_ISVTX:
        said = f"others may put files into {folder} or take them away"
        return Check(name="folder", state="wrong", said=said, advice=f"chmod go-w {folder}", facts=facts)
    if not os.access(folder, os.W_OK):
        said = f"{folder} cannot be written by this user: the store can be read only"
        return Check(name="folder", state="notice", said=said, facts=facts)
    return Check(name="folder", state="ok", said=f"nobody else can write in {folder}", facts=facts)


def _sizes(path: str) -> Check:
    database, log = engine.size_bytes(path), engine.size_bytes(f"{path}-wal")
    facts: Facts = {"database_bytes": database, "wal_bytes": log}
    said = f"{database:,} bytes, and {log:,} in the log beside it"
    if log <= LOG_BYTES_USUAL:
        return Check(name="size", state="ok", said=said, facts=facts)
    advice = (
        "A program that keeps reading for long keeps the log from being taken over: end it, and write once."
    )
    return Check(name="size", state="notice", said=said, advice=advice, facts=facts)


def _space(path: str) -> Check:
    free = shutil.disk_usage(Path(path).absolute().parent).free
    wanted = engine.size_bytes(path) + engine.size_bytes(f"{path}-wal") + FREE_BYTES_MIN
    facts: Facts = {"free_bytes": free}
    said = f"{free:,} bytes are free"
    if free < FREE_BYTES_MIN:
        advice = "Free some space before the next write; what is stored needs no repair."
        return Check(name="space", state="wrong", said=said, advice=advice, facts=facts)
    if free < wanted:
        advice = "That is less than a copy of the store takes."
        return Check(name="space", state="notice", said=said, advice=advice, facts=facts)
    return Check(name="space", state="ok", said=said, facts=facts)


def _state_folder(folder: Path) -> Check:
    """Whether this installation can remember who it is and what it has seen of the store."""
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    facts: Facts = {"folder": str(folder), "exists": folder.exists()}
    if nearest.is_dir() and os.access(nearest, os.W_OK):
        return Check(name="state", state="ok", said=f"{folder} remembers this installation", facts=facts)
    said = f"{folder} cannot be written: each process is a writer of its own"
    advice = "Give this user that folder, or name another one in $MANENT_STATE."
    return Check(name="state", state="notice", said=said, advice=advice, facts=facts)


def _files(path: str) -> list[Path]:
    """The store's file and those beside it that are there."""
    return [file for end in SIDE_FILES if (file := Path(path + end)).is_file()]
