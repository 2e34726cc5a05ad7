"""
The installation: who writes from this machine, and where it has seen which store.

A writer is an installation's fingerprint plus the incarnation of the store's file. Beside the fingerprint
stands, for each store file by device and inode, the incarnation and the clock that were last seen there.
A file that was copied stands elsewhere, and a file that was restored in place has an older clock: both
get a new incarnation, and so never the (conversation, writer, seq) of the other (L-4).
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from pathlib import Path
from typing import NamedTuple

import msgspec

STATE_VARIABLE = "MANENT_STATE"
"""The environment variable that names another state folder."""


class Seen(NamedTuple):
    """What was last seen of a store at one place."""

    incarnation: str
    clock: int


class Place(NamedTuple):
    """A file's identity on this machine."""

    device: int
    inode: int

    @classmethod
    def of(cls, path: str) -> Place:
        """The place of a file, without opening it."""
        status = os.stat(path)  # noqa: PTH116 - `path` is SQLite's own string
        return cls(status.st_dev, status.st_ino)


class Installation:
    """
    The fingerprint of this installation and its memory of stores, in a folder of the user's.

    Where the folder cannot be written, the fingerprint lasts as long as the process: safe, and each
    process is a writer of its own.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._fingerprint = ""

    @classmethod
    def here(cls) -> Installation:
        """The user's own: the folder named by `MANENT_STATE`, else the platform's state folder."""
        if named := os.environ.get(STATE_VARIABLE):
            return cls(Path(named))
        import platformdirs

        return cls(Path(platformdirs.user_state_path("manent")))

    @property
    def fingerprint(self) -> str:
        """64 hexadecimal characters, made once; the same for every process of this installation."""
        if not self._fingerprint:
            self._fingerprint = self._read_or_make()
        return self._fingerprint

    def _read_or_make(self) -> str:
        file = self.folder / "installation"
        fresh = secrets.token_hex(32)
        try:
            make_owner_only(self.folder)
            _publish(file, fresh)
            found = file.read_text(encoding="utf-8").strip()
        except OSError:
            return fresh
        return found or fresh

    def _file(self, store_id: str, place: Place) -> Path:
        return self.folder / "stores" / store_id / f"{place.device}-{place.inode}.json"

    def recall(self, store_id: str, place: Place) -> Seen | None:
        """What was last seen of a store at a place, or None."""
        try:
            return msgspec.json.decode(self._file(store_id, place).read_bytes(), type=Seen)
        except (OSError, msgspec.MsgspecError):
            return None

    def remember(self, store_id: str, place: Place, seen: Seen) -> bool:
        """
        Keep what is seen of a store at a place; return False where the folder cannot be written.

        The clock of an incarnation never goes back: of several processes the one that saw least may be last.
        """
        file = self._file(store_id, place)
        known = self.recall(store_id, place)
        if known is not None and known.incarnation == seen.incarnation:
            seen = max(known, seen)
        try:
            make_owner_only(file.parent)
            _replace(file, msgspec.json.encode(seen))
        except OSError:
            return False
        return True


def make_owner_only(folder: Path) -> None:
    """Make a folder, and those above it that are absent, which only their owner can enter (N-2)."""
    absent = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(absent):
        place.mkdir(mode=0o700, exist_ok=True)


def _publish(file: Path, text: str) -> None:
    """Put a whole file in place unless there is one: a link never overwrites and never shows a part."""
    if file.exists():
        return
    temporary = _write_beside(file, text.encode())
    try:
        with contextlib.suppress(FileExistsError):
            os.link(temporary, file)
    finally:
        temporary.unlink()


def _replace(file: Path, data: bytes) -> None:
    _write_beside(file, data).replace(file)


def _write_beside(file: Path, data: bytes) -> Path:
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=".new-")
    with os.fdopen(handle, "wb") as stream:
        stream.write(data)
    return Path(name)
