"""
Placing: files and folders that appear when they are whole, and that only their owner can read (N-2).

What is written stands beside its place under a passing name, and is put there in one step at the end.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from manent.model.exported import Entry

_PREFIX_LENGTH = 40


def write_file(pieces: Iterable[bytes], target: Path, *, replace: bool) -> None:
    """
    Write a file.

    Raises:
        FileExistsError: something is there, and `replace` was not given. Nothing was changed.
        OSError: the folder is missing, or the disk is full; nothing is left behind.
    """
    refuse_present(target, replace=replace)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=_prefix(target))
    try:
        with os.fdopen(handle, "wb") as stream:
            for piece in pieces:
                stream.write(piece)
            stream.flush()
            os.fsync(stream.fileno())
        _put_in_place(Path(name), target, replace=replace)
    finally:
        Path(name).unlink(missing_ok=True)


def write_folder(entries: Iterable[Entry], target: Path) -> None:
    """
    Write a folder of files. One that is there has to be empty.

    Raises:
        FileExistsError: something is there. Nothing was changed.
        OSError: the folder above is missing, or the disk is full; nothing is left behind.
    """
    _refuse_filled(target)
    whole = Path(tempfile.mkdtemp(dir=target.parent, prefix=_prefix(target)))
    try:
        for entry in entries:
            _write_inside(whole, entry)
        _refuse_filled(target)
        if target.is_dir():
            target.rmdir()
        whole.rename(target)
    finally:
        shutil.rmtree(whole, ignore_errors=True)


def refuse_present(target: Path, *, replace: bool) -> None:
    """
    Refuse to write over anything, before any work is done.

    Raises:
        FileExistsError: something is there and `replace` was not given; or it is a folder.
    """
    if os.path.lexists(target) and (not replace or target.is_dir()):
        raise FileExistsError(f"{target} is there already.")


def _refuse_filled(target: Path) -> None:
    is_empty_folder = target.is_dir() and not target.is_symlink() and not any(target.iterdir())
    if os.path.lexists(target) and not is_empty_folder:
        raise FileExistsError(f"{target} is there already.")


def _write_inside(folder: Path, entry: Entry) -> None:
    parts = PurePosixPath(entry.name).parts
    if not parts or ".." in parts or PurePosixPath(entry.name).is_absolute():
        raise ValueError("a name that leads out of the folder")
    place = folder.joinpath(*parts)
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as stream:
        for piece in entry.pieces:
            stream.write(piece)
        stream.flush()
        os.fsync(stream.fileno())


def _put_in_place(whole: Path, target: Path, *, replace: bool) -> None:
    """Rename, never over a file that appeared meanwhile; a place without links cannot tell."""
    if not replace:
        try:
            os.link(whole, target)
            return
        except OSError:
            refuse_present(target, replace=False)
    whole.replace(target)


def _prefix(target: Path) -> str:
    return f".{target.name[:_PREFIX_LENGTH]}-"
