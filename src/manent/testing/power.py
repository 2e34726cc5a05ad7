"""
A power cut for SQLite: a file layer that knows what has reached the disk, and what was only promised to.

    with PowerVfs() as shim:
        connection = apsw.Connection(str(folder / "store.db"), vfs=shim.name)
        ...                                        # work, commit; nothing has to be closed
        shim.cut(folder, remains, mode="random", seed=7)
    survivor = apsw.Connection(str(remains / "store.db"))

Whatever takes the name of a VFS runs on it, a store with `vfs=shim.name` too. `PowerVfs(history=True)`
can cut the power afterwards at each past `moment`, so that one run is tried at all of its moments.

The fault model, which is what SQLite expects of a disk and no more:

- **Content.** What was written or truncated before a sync that has returned is there, byte for byte. Of
  what came later, `drop_all` keeps nothing, `keep_all` everything (the program was killed, the machine
  lived on), and `random` what a seed chooses, each file with a luck of its own: some 512-byte sectors and
  not others, out of order, a sector torn in two. A file may have grown with only zeros or rubbish in its
  new part. A byte that was not being written never changes (SQLite's "powersafe overwrite").
- **Names.** A new file is there after its first sync. A deletion may be undone until its folder is synced.
  A folder is synced where SQLite does it on Unix: by a deletion that asks for it, and at the first sync of
  a journal, WAL or super-journal by whoever opened it. That makes all earlier changes in the folder last.
  Without it, each name goes back by itself to one of its states since the last sync.
- **Out of the model.** A sync that lies, bits that rot, names that were never ours. What a file holds when
  the shim first meets it counts as durable. The -shm file is memory: a cut never copies it.

One process only, and its files are touched through one shim only. The shim never opens them by itself,
since closing them would drop SQLite's locks; it keeps the durable bytes of every file in memory.

WAL works with its real shared memory: SQLite's shm calls pass from the outer file to the inner one inside
`apsw.VFSFile`, without Python. The shim sits on the system's own VFS, below the one that encrypts, and so
sees the bytes as they are on the disk; an encrypted database needs `vfs=shim.encrypted_name`.
"""

from __future__ import annotations

import itertools
import os
import random
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self, assert_never

import apsw

Mode = Literal["drop_all", "random", "keep_all"]
"""What becomes of that which no sync has covered."""

SECTOR_BYTES = 512

_CIPHERS = "multipleciphers-"
_JOURNALS = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_SUPER_JOURNAL
_LASTING = apsw.SQLITE_OPEN_MAIN_DB | _JOURNALS
"""Kinds of files that outlive a power cut; the others are temporary."""

_PROMISES = (
    apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE
    | apsw.SQLITE_IOCAP_SUBPAGE_READ
    | apsw.SQLITE_IOCAP_UNDELETABLE_WHEN_OPEN
)
"""What the shim lets a disk promise. A cut tears what is atomic, so nothing may be promised as atomic."""

_SIZE_CONTROLS = frozenset((apsw.SQLITE_FCNTL_SIZE_HINT, apsw.SQLITE_FCNTL_CHUNK_SIZE))

_kept_alive: list[PowerVfs] = []
"""Shims that a ciphers VFS points to: SQLite has no way to remove that one, and it must not dangle."""


@dataclass(frozen=True, slots=True)
class PowerCut:
    """What was done to a disk. The same three values on the same history leave the same files."""

    mode: Mode
    seed: int
    moment: int


class PowerVfs(apsw.VFS):
    """
    A registered SQLite VFS that can say what a power cut would leave; see the module for the fault model.

    Args:
        name: The name to register; a new one for each shim when None.
        history: Keep every change, so that `cut` can go back to an earlier moment. It costs the memory of
            all bytes ever written.
    """

    def __init__(self, name: str | None = None, *, history: bool = False) -> None:
        self.name = name or f"power-{next(_numbers)}"
        self._below = _system_vfs()
        self._tape = _Tape(history=history)
        super().__init__(self.name, self._below, maxpathname=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()

    @property
    def encrypted_name(self) -> str:
        """
        The VFS for an encrypted database: SQLite3 Multiple Ciphers over this shim.

        Its first use registers it for as long as the process lives, and keeps this shim in memory as long.
        """
        if self not in _kept_alive:
            _kept_alive.append(self)
        return f"{_CIPHERS}{self.name}"

    @property
    def moment(self) -> int:
        """How many changes the shim has seen: writes, truncations, syncs, creations, deletions."""
        return self._tape.moment

    def image(self, path: str | Path) -> bytes | None:
        """Return what a file would hold under its name after `drop_all`; None when it would not be there."""
        real = os.path.realpath(path)
        with self._tape.lock:
            return self._tape.disk.after_cut(os.path.dirname(real), "drop_all", 0).get(os.path.basename(real))

    def cut(
        self,
        source: str | Path,
        target: str | Path,
        *,
        mode: Mode = "drop_all",
        seed: int = 0,
        moment: int | None = None,
    ) -> PowerCut:
        """
        Write the files of a folder as a power cut would leave them; the running program goes on untouched.

        Args:
            source: The folder. Only files that SQLite has opened through this shim are copied.
            target: An empty or new folder.
            mode: What becomes of that which no sync has covered.
            seed: Chooses in the mode `random`.
            moment: When the power fails, as counted by `self.moment`; at this moment when None.

        Returns:
            What was done, with the moment in it: print it, and the failure can be repeated.

        Raises:
            FileExistsError: `target` holds something already.
            ValueError: `moment` is past, and no history was kept; or it has not come yet.
        """
        target = Path(target)
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise FileExistsError(f"{target} is not empty: a cut would mix two disks. Name a new folder.")
        with self._tape.lock:
            moment = self.moment if moment is None else moment
            left = self._tape.disk_at(moment).after_cut(os.path.realpath(source), mode, seed)
        for name, content in left.items():
            (target / name).write_bytes(content)
        return PowerCut(mode, seed, moment)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802
        """Open a file, and watch it when it is one that outlives the power."""
        if name is None or not flags[0] & _LASTING:
            return apsw.VFSFile(self._below, name, flags)
        path = os.path.realpath(name if isinstance(name, str) else name.filename())
        with self._tape.lock:
            was_there = os.path.exists(path)
            file = _WatchedFile(self._below, name, flags)
            number = self._meet(path, file) if was_there else self._tape.create(path)
            file.watch(self._tape, number, os.path.dirname(path) if _syncs_folder(flags[0]) else None)
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        """Delete a file; without `syncdir` a power cut may bring it back."""
        path = os.path.realpath(filename)
        with self._tape.lock:
            super().xDelete(filename, syncdir)
            self._tape.record(_Deleted(path))
            if syncdir:
                self._tape.record(_FolderSynced(os.path.dirname(path)))

    def _meet(self, path: str, file: apsw.VFSFile) -> int:
        known = self._tape.disk.find(path)
        if known is not None:
            return known
        # Read through SQLite's own handle: a second one would drop the locks of the first when it closes.
        size = file.xFileSize()
        return self._tape.create(path, file.xRead(size, 0) if size else b"")


class _WatchedFile(apsw.VFSFile):
    """
    A file whose changes are recorded once the file below has taken them.

    A change that failed is not recorded, nor one that is under way while a sync begins: in both cases the
    cut promises less than the disk holds.
    """

    def watch(self, tape: _Tape, number: int, folder: str | None) -> None:
        """Start to record. `folder` is what the first sync makes durable too, None for none."""
        self._tape, self._number, self._folder = tape, number, folder

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        super().xWrite(data, offset)
        self._tape.record(_Written(self._number, offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        super().xTruncate(newsize)
        self._tape.record(_Truncated(self._number, newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802
        changes = self._tape.changes_of(self._number)
        super().xSync(flags)
        self._tape.record(_Synced(self._number, changes))
        if self._folder is not None:
            self._tape.record(_FolderSynced(self._folder))
            self._folder = None

    def xFileControl(self, op: int, ptr: int) -> bool:  # noqa: N802
        # Both make the file below grow without a write that could be seen; SQLite does without them.
        return op in _SIZE_CONTROLS or super().xFileControl(op, ptr)

    def xDeviceCharacteristics(self) -> int:  # noqa: N802
        return super().xDeviceCharacteristics() & _PROMISES


# What happened, as data: a disk is a fold over these. Files go by number, since a name may be used again.


@dataclass(frozen=True, slots=True)
class _Created:
    file: int
    path: str
    content: bytes | None
    """What was there before the shim, and is durable; None for a new file, whose name is not yet."""


@dataclass(frozen=True, slots=True)
class _Deleted:
    path: str


@dataclass(frozen=True, slots=True)
class _Written:
    file: int
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class _Truncated:
    file: int
    size: int


@dataclass(frozen=True, slots=True)
class _Synced:
    file: int
    changes: int
    """How many changes of the file the sync covers: those before it began."""


@dataclass(frozen=True, slots=True)
class _FolderSynced:
    folder: str


_Change = _Written | _Truncated
_Event = _Created | _Deleted | _Change | _Synced | _FolderSynced


class _Tape:
    """Takes events from any thread, in one order."""

    def __init__(self, *, history: bool) -> None:
        self.lock = threading.RLock()
        self.disk = _Disk()
        self.moment = 0
        self._events: list[_Event] | None = [] if history else None
        self._files = itertools.count(1)

    def record(self, event: _Event) -> None:
        with self.lock:
            self.disk.apply(event)
            self.moment += 1
            if self._events is not None:
                self._events.append(event)

    def create(self, path: str, content: bytes | None = None) -> int:
        number = next(self._files)
        self.record(_Created(number, path, content))
        return number

    def changes_of(self, number: int) -> int:
        with self.lock:
            file = self.disk.files.get(number)
            return file.settled + len(file.unsynced) if file else 0

    def disk_at(self, moment: int) -> _Disk:
        if moment == self.moment:
            return self.disk
        if self._events is None:
            raise ValueError(
                f"moment {moment} is not now ({self.moment}): PowerVfs(history=True) can go back"
            )
        if not 0 <= moment <= self.moment:
            raise ValueError(f"moment {moment} is not one of 0 to {self.moment}")
        disk = _Disk()
        for event in self._events[:moment]:
            disk.apply(event)
        return disk


@dataclass(slots=True)
class _File:
    """One file apart from its names: the durable bytes, and the changes that no sync has covered."""

    durable: bytearray = field(default_factory=bytearray)
    unsynced: list[_Change] = field(default_factory=list)
    settled: int = 0
    """How many changes have become durable."""

    def sync(self, changes: int) -> None:
        # Two syncs may overlap; the one that began first can end last, and has nothing left to do.
        covered = max(0, changes - self.settled)
        _lay(self.durable, self.unsynced[:covered])
        del self.unsynced[:covered]
        self.settled += covered

    def after_cut(self, mode: Mode, luck: random.Random) -> bytes:
        content = bytearray(self.durable)
        if mode == "keep_all":
            _lay(content, self.unsynced)
        if mode == "random" and self.unsynced:
            pieces = [piece for change in self.unsynced for piece in _sectors(change)]
            _grow(content, pieces, luck)
            _lay(content, _kept(pieces, luck))
        return bytes(content)


@dataclass(frozen=True, slots=True)
class _Entry:
    """A name was given to a file, or taken away (None)."""

    path: str
    file: int | None


class _Disk:
    """Files, their durable names, and the changes of names that no sync has covered, oldest first."""

    def __init__(self) -> None:
        self.files: dict[int, _File] = {}
        self._names: dict[str, int] = {}
        self._unsynced: list[_Entry] = []

    def find(self, path: str) -> int | None:
        """Return the file that has a name as the running program sees it."""
        return self._states_of(path)[-1]

    def apply(self, event: _Event) -> None:
        match event:
            case _Created(file, path, content):
                self.files[file] = _File(bytearray(content or b""))
                self._unsynced.append(_Entry(path, file))
                if content is not None:
                    self._settle_name_of(file)
            case _Deleted(path):
                self._unsynced.append(_Entry(path, None))
            case _Written(file) | _Truncated(file):
                if file in self.files:
                    self.files[file].unsynced.append(event)
            case _Synced(file, changes):
                if file in self.files:
                    self.files[file].sync(changes)
                    self._settle_name_of(file)
            case _FolderSynced(folder):
                self._settle([entry for entry in self._unsynced if os.path.dirname(entry.path) == folder])
            case _:
                assert_never(event)

    def after_cut(self, folder: str, mode: Mode, seed: int) -> dict[str, bytes]:
        """Return the files of a folder by name, as a power cut leaves them."""
        luck = random.Random(seed)
        paths = {*self._names, *(entry.path for entry in self._unsynced)}
        left: dict[str, bytes] = {}
        for path in sorted(path for path in paths if os.path.dirname(path) == folder):
            states = self._states_of(path)
            file = {"drop_all": states[0], "keep_all": states[-1], "random": luck.choice(states)}[mode]
            if file is not None:
                left[os.path.basename(path)] = self.files[file].after_cut(mode, luck)
        return left

    def _states_of(self, path: str) -> list[int | None]:
        """What a name may stand for after a cut, from the durable state to the present one."""
        return [self._names.get(path), *(entry.file for entry in self._unsynced if entry.path == path)]

    def _settle_name_of(self, file: int) -> None:
        """The file's own name lasts, and with it what became of that name before."""
        created = [place for place, entry in enumerate(self._unsynced) if entry.file == file]
        for place in created:
            path = self._unsynced[place].path
            self._settle([entry for entry in self._unsynced[: place + 1] if entry.path == path])

    def _settle(self, entries: Iterable[_Entry]) -> None:
        for entry in entries:
            self._unsynced.remove(entry)
            if entry.file is None:
                self._names.pop(entry.path, None)
            else:
                self._names[entry.path] = entry.file
        named = {*self._names.values(), *(entry.file for entry in self._unsynced)}
        self.files = {number: file for number, file in self.files.items() if number in named}


def _lay(content: bytearray, changes: Iterable[_Change]) -> None:
    """Carry changes out, in their order."""
    for change in changes:
        match change:
            case _Written(_, offset, data):
                content.extend(bytes(max(0, offset - len(content))))
                content[offset : offset + len(data)] = data
            case _Truncated(_, size):
                content.extend(bytes(max(0, size - len(content))))
                del content[size:]


def _sectors(change: _Change) -> Iterator[_Change]:
    """Cut a write where sectors of the disk meet; a truncation is one piece."""
    if isinstance(change, _Truncated):
        yield change
        return
    start, end = change.offset, change.offset + len(change.data)
    while start < end:
        stop = min(end, (start // SECTOR_BYTES + 1) * SECTOR_BYTES)
        yield _Written(change.file, start, change.data[start - change.offset : stop - change.offset])
        start = stop


def _grow(content: bytearray, pieces: list[_Change], luck: random.Random) -> None:
    """A file system may note the new size of a file before its content is there."""
    ends = [piece.offset + len(piece.data) for piece in pieces if isinstance(piece, _Written)]
    growth = max(0, luck.choice([0, *ends]) - len(content))
    content.extend(luck.choice((bytes, luck.randbytes))(growth))


def _kept(pieces: list[_Change], luck: random.Random) -> list[_Change]:
    """Choose what reached the disk: each file is lucky or not, in order or not, torn or not."""
    share = luck.choice((0.0, 1.0, luck.random()))
    torn = luck.choice((0.0, 0.2))
    kept = [piece for piece in pieces if luck.random() < share]
    kept = [_torn(piece, luck) if luck.random() < torn else piece for piece in kept]
    if luck.random() < 0.5:
        luck.shuffle(kept)
    return kept


def _torn(piece: _Change, luck: random.Random) -> _Change:
    """Keep the first or the last part of a sector: a disk writes it from one end to the other."""
    if isinstance(piece, _Truncated):
        return piece
    place = luck.randrange(len(piece.data))
    if luck.random() < 0.5:
        return _Written(piece.file, piece.offset, piece.data[:place])
    return _Written(piece.file, piece.offset + place, piece.data[place:])


def _syncs_folder(flags: int) -> bool:
    """SQLite on Unix syncs the folder at the first sync of a journal that it was allowed to create."""
    return bool(flags & _JOURNALS and flags & apsw.SQLITE_OPEN_CREATE)


def _system_vfs() -> str:
    """
    The VFS of the operating system.

    The default one of apsw-sqlite3mc encrypts: above it the shim would see, and leave, plain text.
    """
    return apsw.vfs_names()[0].removeprefix(_CIPHERS)


_numbers = itertools.count(1)
