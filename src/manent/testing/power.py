"""
A power cut for SQLite: a file layer that knows what has reached the disk, and what was only handed over.

    with PowerVfs() as shim:
        connection = apsw.Connection(str(folder / "store.db"), vfs=shim.name)
        ...                                        # work, commit; nothing has to be closed
        shim.cut(folder, remains, mode="random", seed=7)
    survivor = apsw.Connection(str(remains / "store.db"))

Whatever takes the name of a VFS runs on it, a store with `vfs=shim.name` too. `PowerVfs(history=True)`
can cut the power afterwards at each past `moment`, so that one run is tried at all of its moments.

The fault model, which is what SQLite expects of a disk and no more:

- **Content.** What was changed before a sync that has returned is there, byte for byte. Of later changes
  `drop_all` keeps none, `keep_all` all (the program was killed, the machine lived on), and `random` what a
  seed chooses, with a luck for each file: some 512-byte sectors and not others, out of order, torn in two,
  zeros or rubbish where the file has grown. A byte that was not being written never changes.
- **Names.** A new file is there after its first sync. A deletion may be undone until its folder is synced.
  A folder is synced where SQLite does it on Unix: by a deletion that asks for it, and by the first sync of
  a journal, WAL or super-journal through each handle that might have created it. That makes all earlier
  changes in the folder last; until then each name falls back to any of its states since the last sync.
- **Out of the model.** A sync that lies, and bits that rot. What a file holds when the shim first meets it
  counts as durable. The -shm file is memory: a cut never copies it.

One process and one shim for a folder. The durable bytes are kept in memory, and no file is opened beside
SQLite, since closing it would drop SQLite's locks. WAL has its real shared memory: `apsw.VFSFile` hands the
shm calls to the file below. The shim sits on the system's own VFS, under the one that encrypts, so that it
sees what the disk sees; an encrypted database needs `vfs=shim.encrypted_name`.
"""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Self, TypeVarTuple

import apsw

Mode = Literal["drop_all", "random", "keep_all"]
"""What becomes of that which no sync has covered."""

SECTOR_BYTES = 512

_CIPHERS = "multipleciphers-"
_JOURNALS = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_WAL | apsw.SQLITE_OPEN_SUPER_JOURNAL
_LASTING = apsw.SQLITE_OPEN_MAIN_DB | _JOURNALS
"""Kinds of files that outlive the power; the others are temporary."""

# A cut tears whatever the real disk calls atomic, so the shim does not let it make such a promise.
_PROMISES_KEPT = apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE | apsw.SQLITE_IOCAP_SUBPAGE_READ

_GROW_UNSEEN = (apsw.SQLITE_FCNTL_SIZE_HINT, apsw.SQLITE_FCNTL_CHUNK_SIZE)

_numbers = itertools.count(1)
_below_ciphers: list[PowerVfs] = []
"""Shims that a ciphers VFS points to: SQLite cannot remove that one again, so they must stay in memory."""


class PowerCut(NamedTuple):
    """What was done to a disk: the same values on the same history leave the same files."""

    mode: Mode
    seed: int
    moment: int


class PowerVfs(apsw.VFS):
    """
    A registered SQLite VFS that can say what a power cut would leave; see the module for the fault model.

    Args:
        name: The name to register; a new one for each shim when None.
        history: Keep every change, so that `cut` can go back in time. Costs all bytes ever written.
    """

    def __init__(self, name: str | None = None, *, history: bool = False) -> None:
        self.name = name or f"power-{next(_numbers)}"
        # The default VFS of apsw-sqlite3mc encrypts: above it we would see, and leave, plain text.
        self._below = apsw.vfs_names()[0].removeprefix(_CIPHERS)
        self._tape = _Tape(history=history)
        super().__init__(self.name, self._below, maxpathname=0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.unregister()

    @property
    def encrypted_name(self) -> str:
        """The VFS for encrypted databases over this shim; it keeps the shim in memory for good."""
        if self not in _below_ciphers:
            _below_ciphers.append(self)
        return f"{_CIPHERS}{self.name}"

    @property
    def moment(self) -> int:
        """How many changes the shim has seen: writes, truncations, syncs, creations, deletions."""
        return self._tape.moment

    def image(self, path: str | Path) -> bytes | None:
        """Return what a file would hold after `drop_all`; None when its name would not be there."""
        path = Path(path).resolve()
        with self._tape.lock:
            return self._tape.disk.after_cut(path.parent, "drop_all", seed=0).get(path.name)

    def cut(
        self, source: Path, target: Path, *, mode: Mode = "drop_all", seed: int = 0, moment: int | None = None
    ) -> PowerCut:
        """
        Write the files of a folder as a power cut would leave them; the running program goes on untouched.

        Args:
            source: The folder; only what SQLite has opened in it through this shim is copied.
            target: A new or empty folder.
            mode: What becomes of that which no sync has covered.
            seed: Chooses in the mode `random`.
            moment: When the power fails, as counted by `self.moment`; now when None.

        Returns:
            What was done; print it, and a failure can be repeated.

        Raises:
            FileExistsError: `target` holds something already.
            ValueError: `moment` has passed and no history was kept, or it has not come yet.
        """
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise FileExistsError(f"{target} is not empty: a cut would mix two disks. Name a new folder.")
        with self._tape.lock:
            moment = self.moment if moment is None else moment
            left = self._tape.disk_at(moment).after_cut(source.resolve(), mode, seed)
        for name, content in left.items():
            (target / name).write_bytes(content)
        return PowerCut(mode, seed, moment)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        """Open a file, and watch it when it is one that outlives the power."""
        if name is None or not flags[0] & _LASTING:
            return apsw.VFSFile(self._below, name, flags)
        path = Path(name if isinstance(name, str) else name.filename()).resolve()
        with self._tape.lock:
            was_there = path.exists()
            file = _WatchedFile(self._below, name, flags)
            number = self._meet(path, file) if was_there else self._tape.create(path)
            may_create = flags[0] & _JOURNALS and flags[0] & apsw.SQLITE_OPEN_CREATE
            file.watch(self._tape, number, path.parent if may_create else None)
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802 - SQLite's name
        """Delete a file; without `syncdir` a power cut may bring it back."""
        path = Path(filename).resolve()
        with self._tape.lock:
            super().xDelete(filename, syncdir)
            self._tape.record(_Disk.delete, path)
            if syncdir:
                self._tape.record(_Disk.sync_folder, path.parent)

    def _meet(self, path: Path, file: apsw.VFSFile) -> int:
        known = self._tape.disk.find(path)
        if known is not None:
            return known
        # Read through SQLite's own handle: a second one would drop the locks of the first when it closes.
        size = file.xFileSize()
        return self._tape.create(path, file.xRead(size, 0) if size else b"")


class _WatchedFile(apsw.VFSFile):
    """A file whose changes are recorded once the file below has taken them: never too early for a sync."""

    def watch(self, tape: _Tape, number: int, folder: Path | None) -> None:
        """Start to record; the first sync makes the names in `folder` last too."""
        self._tape, self._number, self._folder = tape, number, folder

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802 - SQLite's name
        super().xWrite(data, offset)
        self._tape.record(_Disk.change, self._number, _Written(offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802 - SQLite's name
        super().xTruncate(newsize)
        self._tape.record(_Disk.change, self._number, _Truncated(newsize))

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        changes = self._tape.changes_of(self._number)
        super().xSync(flags)
        self._tape.record(_Disk.sync, self._number, changes)
        if self._folder is not None:
            self._tape.record(_Disk.sync_folder, self._folder)
            self._folder = None

    def xFileControl(self, op: int, ptr: int) -> bool:  # noqa: N802 - SQLite's name
        return op in _GROW_UNSEEN or super().xFileControl(op, ptr)  # SQLite does without these two

    def xDeviceCharacteristics(self) -> int:  # noqa: N802 - SQLite's name
        return super().xDeviceCharacteristics() & _PROMISES_KEPT


class _Written(NamedTuple):
    offset: int
    data: bytes


class _Truncated(NamedTuple):
    size: int


_Change = _Written | _Truncated
_Facts = TypeVarTuple("_Facts")


class _Tape:
    """Takes events from any thread, in one order."""

    def __init__(self, *, history: bool) -> None:
        self.lock = threading.RLock()
        self.disk = _Disk()
        self.moment = 0
        self._history: list[Callable[[_Disk], None]] | None = [] if history else None
        self._files = itertools.count(1)

    def record(self, verb: Callable[[_Disk, *_Facts], None], *facts: *_Facts) -> None:
        with self.lock:
            verb(self.disk, *facts)
            self.moment += 1
            if self._history is not None:
                self._history.append(lambda disk: verb(disk, *facts))

    def create(self, path: Path, content: bytes | None = None) -> int:
        number = next(self._files)
        self.record(_Disk.create, number, path, content)
        return number

    def changes_of(self, number: int) -> int:
        with self.lock:
            file = self.disk.files.get(number)
            return file.settled + len(file.unsynced) if file else 0

    def disk_at(self, moment: int) -> _Disk:
        if moment == self.moment:
            return self.disk
        if self._history is None or not 0 <= moment < self.moment:
            raise ValueError(f"Moment {moment} is not known: it is {self.moment} now; see history=True.")
        disk = _Disk()
        for happen_again in self._history[:moment]:
            happen_again(disk)
        return disk


class _Entry(NamedTuple):
    path: Path
    file: int | None  # that got the name; None when the name was taken away


class _Disk:
    """Files, their durable names, and the changes of names that no sync has covered, oldest first."""

    def __init__(self) -> None:
        self.files: dict[int, _File] = {}
        self._names: dict[Path, int] = {}
        self._unsynced: list[_Entry] = []

    def find(self, path: Path) -> int | None:
        """Return the file that has a name as the running program sees it."""
        return self._states_of(path)[-1]

    def create(self, file: int, path: Path, content: bytes | None) -> None:
        """A file gets a name: a new file, or with its durable content one that was there before us."""
        self.files[file] = _File(bytearray(content or b""))
        self._unsynced.append(_Entry(path, file))
        if content is not None:
            self._settle_name_of(file)

    def delete(self, path: Path) -> None:
        self._unsynced.append(_Entry(path, None))

    def change(self, file: int, change: _Change) -> None:
        if file in self.files:  # or else it is open still, with its name gone for good
            self.files[file].unsynced.append(change)

    def sync(self, file: int, changes: int) -> None:
        if file in self.files:
            self.files[file].sync(changes)
            self._settle_name_of(file)

    def sync_folder(self, folder: Path) -> None:
        self._settle([entry for entry in self._unsynced if entry.path.parent == folder])

    def after_cut(self, folder: Path, mode: Mode, seed: int) -> dict[str, bytes]:
        """Return the files of a folder by name, as a power cut leaves them."""
        luck = random.Random(seed)
        paths = {*self._names, *(entry.path for entry in self._unsynced)}
        left: dict[str, bytes] = {}
        for path in sorted(path for path in paths if path.parent == folder):
            states = self._states_of(path)
            file = {"drop_all": states[0], "keep_all": states[-1], "random": luck.choice(states)}[mode]
            if file is not None:
                left[path.name] = self.files[file].after_cut(mode, luck)
        return left

    def _states_of(self, path: Path) -> list[int | None]:
        """What a name may stand for after a cut, from the durable state to the present one."""
        return [self._names.get(path), *(entry.file for entry in self._unsynced if entry.path == path)]

    def _settle_name_of(self, file: int) -> None:
        """A file's name lasts, and with it what became of that name before."""
        for place, entry in enumerate(self._unsynced):
            if entry.file == file:
                self._settle([e for e in self._unsynced[: place + 1] if e.path == entry.path])
                return

    def _settle(self, entries: Iterable[_Entry]) -> None:
        for entry in entries:
            self._unsynced.remove(entry)
            self._names.pop(entry.path, None)
            if entry.file is not None:
                self._names[entry.path] = entry.file
        named = {*self._names.values(), *(entry.file for entry in self._unsynced)}
        self.files = {number: file for number, file in self.files.items() if number in named}


@dataclass(slots=True)
class _File:
    """The durable bytes of a file, and the changes that no sync has covered."""

    durable: bytearray
    unsynced: list[_Change] = field(default_factory=list)
    settled: int = 0  # changes that have become durable

    def sync(self, changes: int) -> None:
        covered = max(0, changes - self.settled)  # of two that overlap, the older one may end last
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


def _lay(content: bytearray, changes: Iterable[_Change]) -> None:
    for change in changes:
        match change:
            case _Written(offset, data):
                content.extend(bytes(max(0, offset - len(content))))
                content[offset : offset + len(data)] = data
            case _Truncated(size):
                content.extend(bytes(max(0, size - len(content))))
                del content[size:]


def _sectors(change: _Change) -> Iterator[_Change]:
    """Cut a write where sectors of the disk meet; a truncation stays whole."""
    if isinstance(change, _Truncated):
        yield change
        return
    start, data = change
    while data:
        room = SECTOR_BYTES - start % SECTOR_BYTES
        yield _Written(start, data[:room])
        start, data = start + room, data[room:]


def _grow(content: bytearray, pieces: list[_Change], luck: random.Random) -> None:
    """A file system may note the new size of a file before its content is there."""
    ends = [piece.offset + len(piece.data) for piece in pieces if isinstance(piece, _Written)]
    growth = max(0, luck.choice([0, *ends]) - len(content))
    content.extend(luck.choice((bytes, luck.randbytes))(growth))


def _kept(pieces: list[_Change], luck: random.Random) -> list[_Change]:
    """Choose what reached the disk: a file is lucky or not, in order or not, torn or not."""
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
    first, last = piece.data[:place], piece.data[place:]
    return luck.choice((_Written(piece.offset, first), _Written(piece.offset + place, last)))
