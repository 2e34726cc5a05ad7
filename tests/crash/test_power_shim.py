"""
The power shim is believed in only after it has been seen to lose.

First the shim alone, file by file; then SQLite on it, in every journal mode that a store uses: one run of
one program, whose power is cut at each of its moments. A finding names the cut that repeats it:
`PowerCut(mode='random', seed=3, moment=41)`.
"""

from __future__ import annotations

import ctypes
import itertools
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from manent.testing import power
from manent.testing.power import SECTOR_BYTES, Mode, PowerCut, PowerVfs

DATABASE = apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
JOURNAL = apsw.SQLITE_OPEN_MAIN_JOURNAL | apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
SYNC = apsw.SQLITE_SYNC_NORMAL

CHUNK = ctypes.c_int(1 << 16)
"""Asks for growth in large steps."""

OLD, NEW = b"o" * SECTOR_BYTES, b"n" * SECTOR_BYTES

LUCKS: Sequence[tuple[Mode, int]] = (
    ("drop_all", 0),
    ("keep_all", 0),
    ("random", 1),
    ("random", 2),
    ("random", 3),
    ("random", 4),
)

Rows = tuple[tuple[int, str], ...]
"""What the only table holds; before there was a table, nothing."""

DAMAGED: Rows = ((-1, "damaged"),)
"""Stands for a database that SQLite cannot open or calls malformed, and for one whose text is none."""


# ------------------------------------------------------------------------------------ the shim, by itself


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "before"
    made.mkdir()
    return made


@pytest.fixture
def shim() -> Iterator[PowerVfs]:
    with PowerVfs(history=True) as made:
        yield made


def opened(shim: PowerVfs, path: Path, kind: int = DATABASE) -> apsw.VFSFile:
    """A file, opened through the shim as SQLite does it."""
    return apsw.VFSFile(shim.name, str(path), [kind, 0])


def left(shim: PowerVfs, folder: Path, mode: Mode = "drop_all", seed: int = 0) -> dict[str, bytes]:
    """The files that a cut leaves, by name."""
    target = folder.parent / f"after-{mode}-{seed}"
    shim.cut(folder, target, mode=mode, seed=seed)
    return contents(target)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_was_synced_stays_and_what_was_not_goes(shim: PowerVfs, folder: Path) -> None:
    file = opened(shim, folder / "a")
    file.xWrite(OLD, 0)
    file.xSync(SYNC)
    file.xWrite(NEW, 0)
    file.xWrite(NEW, SECTOR_BYTES)

    assert left(shim, folder) == {"a": OLD}
    assert shim.image(folder / "a") == OLD


def test_a_cut_leaves_the_running_program_alone(shim: PowerVfs, folder: Path) -> None:
    file = opened(shim, folder / "a")
    file.xWrite(OLD, 0)
    left(shim, folder)

    file.xSync(SYNC)

    assert file.xRead(SECTOR_BYTES, 0) == OLD
    assert shim.image(folder / "a") == OLD


def test_keep_all_is_what_a_killed_program_leaves(shim: PowerVfs, folder: Path) -> None:
    file = opened(shim, folder / "a")
    file.xWrite(OLD, 0)
    file.xSync(SYNC)
    file.xWrite(NEW, SECTOR_BYTES)
    file.xTruncate(SECTOR_BYTES + 3)

    assert left(shim, folder, "keep_all") == {"a": (folder / "a").read_bytes()} == {"a": OLD + NEW[:3]}


def test_a_new_file_that_was_never_synced_is_absent(shim: PowerVfs, folder: Path) -> None:
    opened(shim, folder / "a").xWrite(NEW, 0)

    assert left(shim, folder) == {}
    assert shim.image(folder / "a") is None


def test_an_unsynced_truncation_is_undone(shim: PowerVfs, folder: Path) -> None:
    file = opened(shim, folder / "a")
    file.xWrite(OLD + NEW, 0)
    file.xSync(SYNC)
    file.xTruncate(0)

    assert left(shim, folder) == {"a": OLD + NEW}


def test_what_a_file_holds_at_first_sight_is_durable(shim: PowerVfs, folder: Path) -> None:
    (folder / "a").write_bytes(OLD)
    (folder / "empty").touch()
    opened(shim, folder / "a").xWrite(NEW, 0)
    opened(shim, folder / "empty").xWrite(NEW, 0)

    assert left(shim, folder) == {"a": OLD, "empty": b""}


def test_files_beside_the_database_are_not_copied(shim: PowerVfs, folder: Path) -> None:
    (folder / "notes").write_bytes(OLD)
    opened(shim, folder / "a").xSync(SYNC)

    assert left(shim, folder) == {"a": b""}


def test_an_unsynced_deletion_is_undone_or_not(shim: PowerVfs, folder: Path) -> None:
    opened(shim, folder / "a").xSync(SYNC)
    shim.xDelete(str(folder / "a"), False)

    assert left(shim, folder) == {"a": b""}
    assert left(shim, folder, "keep_all") == {}
    assert {len(left(shim, folder, "random", seed)) for seed in range(20)} == {0, 1}


def test_a_deletion_that_synced_its_folder_lasts(shim: PowerVfs, folder: Path) -> None:
    opened(shim, folder / "a").xSync(SYNC)
    shim.xDelete(str(folder / "a"), True)

    assert left(shim, folder) == {}


def test_the_first_sync_of_a_journal_makes_earlier_changes_of_names_last(
    shim: PowerVfs, folder: Path
) -> None:
    opened(shim, folder / "b")
    opened(shim, folder / "a").xSync(SYNC)
    shim.xDelete(str(folder / "a"), False)

    opened(shim, folder / "b-journal", JOURNAL).xSync(SYNC)

    assert left(shim, folder) == {"b": b"", "b-journal": b""}


def test_the_second_sync_of_a_journal_does_not(shim: PowerVfs, folder: Path) -> None:
    opened(shim, folder / "b")
    journal = opened(shim, folder / "b-journal", JOURNAL)
    journal.xSync(SYNC)
    opened(shim, folder / "a").xSync(SYNC)
    shim.xDelete(str(folder / "a"), False)

    journal.xSync(SYNC)

    assert left(shim, folder) == {"a": b"", "b": b"", "b-journal": b""}


def test_a_name_used_again_is_its_old_file_until_the_new_one_is_synced(shim: PowerVfs, folder: Path) -> None:
    old = opened(shim, folder / "a")
    old.xWrite(OLD, 0)
    old.xSync(SYNC)
    shim.xDelete(str(folder / "a"), False)
    new = opened(shim, folder / "a")
    new.xWrite(NEW, 0)
    before = left(shim, folder)

    new.xSync(SYNC)

    assert before == {"a": OLD}
    assert shim.image(folder / "a") == NEW


def test_a_deletion_does_not_last_by_a_sync_of_the_deleted_file(shim: PowerVfs, folder: Path) -> None:
    file = opened(shim, folder / "a")
    shim.xDelete(str(folder / "a"), False)

    file.xSync(SYNC)

    assert left(shim, folder) == {"a": b""}


def test_a_file_that_was_deleted_for_good_can_still_be_written(shim: PowerVfs, folder: Path) -> None:
    file = opened(shim, folder / "a")
    shim.xDelete(str(folder / "a"), True)

    file.xWrite(NEW, 0)
    file.xSync(SYNC)

    assert left(shim, folder) == {}


def test_a_random_cut_keeps_any_of_the_sectors(shim: PowerVfs, folder: Path) -> None:
    file = opened(shim, folder / "a")
    file.xWrite(OLD + OLD, 0)
    file.xSync(SYNC)
    file.xWrite(NEW + NEW, 0)

    cuts = {left(shim, folder, "random", seed)["a"] for seed in range(200)}

    assert {OLD + OLD, OLD + NEW, NEW + OLD, NEW + NEW} < cuts


def test_a_random_cut_parts_a_write_where_sectors_of_the_disk_meet(shim: PowerVfs, folder: Path) -> None:
    file = opened(shim, folder / "a")
    file.xWrite(OLD + OLD, 0)
    file.xSync(SYNC)
    file.xWrite(NEW, 100)

    cuts = {left(shim, folder, "random", seed)["a"] for seed in range(200)}

    first_part, last_part = OLD[:100] + NEW[100:] + OLD, OLD + NEW[:100] + OLD[100:]
    assert {first_part, last_part} < cuts


def test_a_random_cut_tears_a_sector_from_either_end(shim: PowerVfs, folder: Path) -> None:
    file = opened(shim, folder / "a")
    file.xWrite(OLD, 0)
    file.xSync(SYNC)
    file.xWrite(NEW, 0)

    torn = {left(shim, folder, "random", seed)["a"] for seed in range(200)} - {OLD, NEW}

    assert {bytes(sorted({content[0], content[-1]})) for content in torn} == {b"no"}
    assert {content[:1] for content in torn} == {b"n", b"o"}


def test_a_random_cut_changes_no_byte_that_was_not_being_written(shim: PowerVfs, folder: Path) -> None:
    file = opened(shim, folder / "a")
    file.xWrite(OLD + OLD, 0)
    file.xSync(SYNC)
    file.xWrite(b"n" * 100, SECTOR_BYTES - 50)

    cuts = [left(shim, folder, "random", seed)["a"] for seed in range(30)]

    assert {content[: SECTOR_BYTES - 50] + content[SECTOR_BYTES + 50 :] for content in cuts} == {
        b"o" * (2 * SECTOR_BYTES - 100)
    }


def test_a_random_cut_may_reorder_and_may_grow_a_file_without_its_content(
    shim: PowerVfs, folder: Path
) -> None:
    file = opened(shim, folder / "a")
    file.xSync(SYNC)
    file.xWrite(b"1" * 100, 0)
    file.xWrite(b"2" * 100, 50)

    cuts = {left(shim, folder, "random", seed)["a"] for seed in range(200)}

    in_order, out_of_order = b"1" * 50 + b"2" * 100, b"1" * 100 + b"2" * 50
    without_content = {b"", bytes(100), bytes(150)}
    assert {in_order, out_of_order} | without_content < cuts
    assert {len(set(content)) > 3 for content in cuts} == {True, False}, "rubbish in the new part, or none"


def test_the_same_seed_leaves_the_same_files(shim: PowerVfs, folder: Path, tmp_path: Path) -> None:
    file = opened(shim, folder / "a")
    file.xSync(SYNC)
    file.xWrite(NEW * 9, 0)

    first = shim.cut(folder, tmp_path / "1", mode="random", seed=5)
    shim.cut(folder, tmp_path / "2", mode="random", seed=5)

    assert first == PowerCut(mode="random", seed=5, moment=3)
    assert (tmp_path / "1" / "a").read_bytes() == (tmp_path / "2" / "a").read_bytes()


def test_the_power_can_fail_at_a_past_moment(shim: PowerVfs, folder: Path, tmp_path: Path) -> None:
    file = opened(shim, folder / "a")
    file.xWrite(OLD, 0)
    file.xSync(SYNC)
    then = shim.moment
    file.xWrite(NEW, 0)
    file.xSync(SYNC)

    shim.cut(folder, tmp_path / "after", moment=then)

    assert (tmp_path / "after" / "a").read_bytes() == OLD


@pytest.mark.parametrize(("history", "moment"), [(False, 0), (True, -1), (True, 2)])
def test_a_moment_that_nobody_remembers_is_refused(folder: Path, *, history: bool, moment: int) -> None:
    with PowerVfs(history=history) as shim:
        opened(shim, folder / "a")

        with pytest.raises(ValueError, match=f"Moment {moment} "):
            shim.cut(folder, folder.parent / "after", moment=moment)


def test_a_cut_into_a_folder_that_holds_something_is_refused(shim: PowerVfs, folder: Path) -> None:
    (folder / "a").touch()

    with pytest.raises(FileExistsError, match="not empty"):
        shim.cut(folder, folder)


class Underneath(apsw.VFS):
    """The default VFS for a while: it promises everything, and something happens while it syncs."""

    def __init__(self) -> None:
        self.below = apsw.vfs_names()[0]
        super().__init__("underneath", self.below, makedefault=True)
        self.while_syncing: Callable[[], None] = lambda: None

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> apsw.VFSFile:  # noqa: N802 - SQLite's name
        return UnderneathFile(self, name, flags)


class UnderneathFile(apsw.VFSFile):
    def __init__(self, vfs: Underneath, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        super().__init__(vfs.below, name, flags)
        self.vfs = vfs

    def xSync(self, flags: int) -> None:  # noqa: N802 - SQLite's name
        self.vfs.while_syncing()
        super().xSync(flags)

    def xDeviceCharacteristics(self) -> int:  # noqa: N802 - SQLite's name
        return -1


@pytest.fixture
def underneath() -> Iterator[Underneath]:
    vfs = Underneath()
    yield vfs
    vfs.unregister()


def test_a_write_that_another_thread_makes_during_a_sync_is_not_covered(
    underneath: Underneath, folder: Path
) -> None:
    with PowerVfs() as shim:
        file = opened(shim, folder / "a")
        file.xWrite(OLD, 0)
        underneath.while_syncing = lambda: file.xWrite(NEW, 0)

        file.xSync(SYNC)

        assert file.xRead(SECTOR_BYTES, 0) == NEW
        assert shim.image(folder / "a") == OLD


@pytest.mark.usefixtures("underneath")
def test_a_disk_may_promise_only_what_a_cut_keeps(folder: Path) -> None:
    with PowerVfs() as shim:
        promised = opened(shim, folder / "a").xDeviceCharacteristics()

    assert promised == apsw.SQLITE_IOCAP_POWERSAFE_OVERWRITE | apsw.SQLITE_IOCAP_SUBPAGE_READ


def test_a_shim_is_registered_under_a_name_of_its_own_until_its_context_ends() -> None:
    with PowerVfs() as one, PowerVfs() as other, PowerVfs("mine") as named:
        during = {one.name, other.name, named.name}
        registered = during & set(apsw.vfs_names())

    assert registered == during
    assert len(during) == 3
    assert during.isdisjoint(apsw.vfs_names())


# -------------------------------------------------------------------------------- SQLite, on top of the shim


class Promise(NamedTuple):
    """A commit that returned: from this moment on the table holds these rows."""

    moment: int
    rows: Rows


class Program:
    """A program that writes to one table, and what it was promised at which moment."""

    def __init__(self, shim: PowerVfs, path: Path, *, journal: str, synchronous: str) -> None:
        self.shim, self.path = shim, path
        self._settings = {"journal_mode": journal, "synchronous": synchronous, "cache_size": 4}
        start = shim.moment
        self.connection = self.another_connection()
        self.promises = [Promise(start, rows_of(self.connection))]

    def another_connection(self) -> apsw.Connection:
        """A small cache spills in the middle of a transaction; the log starts anew after a few pages."""
        connection = apsw.Connection(str(self.path), vfs=self.shim.name)
        connection.set_busy_timeout(20_000)
        granted = {name: connection.pragma(name, value) for name, value in self._settings.items()}
        assert granted["journal_mode"] == self._settings["journal_mode"]
        connection.wal_autocheckpoint(12)
        return connection

    def reopen(self) -> None:
        self.connection.close()
        self.connection = self.another_connection()

    def commit(self, *statements: str) -> None:
        with self.connection:
            for statement in statements:
                self.connection.execute(statement)
        self.promises.append(Promise(self.shim.moment, rows_of(self.connection)))

    def roll_back(self, *statements: str) -> None:
        self.connection.execute("BEGIN")
        for statement in statements:
            self.connection.execute(statement)
        self.connection.execute("ROLLBACK")

    def stay_in_a_transaction(self, *statements: str) -> None:
        self.connection.execute("BEGIN")
        for statement in statements:
            self.connection.execute(statement)


CREATE = "CREATE TABLE said (id INTEGER PRIMARY KEY, body TEXT)"


def say(number: int, length: int = 100) -> str:
    """A row whose body is known from its number."""
    return f"INSERT INTO said VALUES ({number}, '{f'{number:05}' * (length // 5)}')"


def a_day_of_work(program: Program) -> None:
    """Small and large commits, changes in place, a rollback, checkpoints, a new start, an open end."""
    program.commit(CREATE)
    program.commit(say(1))
    program.commit(say(2, length=9_000))
    program.commit(*(say(number, length=2_000) for number in range(10, 30)))
    program.roll_back(*(say(number, length=2_000) for number in range(30, 50)))
    program.commit("UPDATE said SET body = 'short' WHERE id < 20")
    program.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    program.commit(say(3))
    program.connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    program.commit("DELETE FROM said WHERE id > 25", say(4))
    program.reopen()
    program.commit(say(5))
    program.commit(say(6))
    program.stay_in_a_transaction("DELETE FROM said WHERE id < 5", *(say(n, 2_000) for n in range(60, 70)))


def rows_of(connection: apsw.Connection) -> Rows:
    there = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'said'").get
    return tuple(connection.execute("SELECT id, body FROM said ORDER BY id")) if there else ()


def survivors(path: Path) -> Rows:
    """What the next start of the program finds, on an ordinary disk."""
    connection = apsw.Connection(str(path))
    try:
        connection.pragma("synchronous", "off")
        sound = connection.pragma("integrity_check") == "ok"
        return rows_of(connection) if sound else DAMAGED
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError):
        return DAMAGED
    finally:
        connection.close()


class Finding(NamedTuple):
    """A cut that broke a promise; what was there then, and what should have been."""

    cut: PowerCut
    found: Rows
    promised: Rows


def beginnings(rows: Rows) -> Rows:
    """Rows as short as a person wants to read them."""
    return tuple((number, body[:10]) for number, body in rows)


Kept = Callable[[Rows, Sequence[Rows], Sequence[Rows]], bool]
"""Judges what was found by the states that were promised until then, and by those that came later."""


def every_commit_is_kept(found: Rows, until: Sequence[Rows], later: Sequence[Rows]) -> bool:
    """The last state that was promised; or the next, whose commit was under way."""
    return found in (until[-1], *later[:1])


def all_but_the_last_commit_are_kept(found: Rows, until: Sequence[Rows], later: Sequence[Rows]) -> bool:
    return found in (*until[-2:], *later[:1])


def some_whole_state_is_found(found: Rows, until: Sequence[Rows], later: Sequence[Rows]) -> bool:
    return found in (*until, *later[:1])


def findings(program: Program, kept: Kept, scratch: Path, *, mode: Mode, seed: int) -> list[Finding]:
    """Cut the power at every moment of a program's life, and return what broke a promise."""
    found = []
    for cut, rows in all_cuts(program, scratch, mode=mode, seed=seed):
        until = [promise.rows for promise in program.promises if promise.moment <= cut.moment]
        later = [promise.rows for promise in program.promises if promise.moment > cut.moment]
        if not kept(rows, until, later):
            found.append(Finding(cut, beginnings(rows), beginnings(until[-1])))
    return found


def all_cuts(program: Program, scratch: Path, *, mode: Mode, seed: int) -> Iterator[tuple[PowerCut, Rows]]:
    """Each moment since the program was promised anything, and what would survive a cut at it."""
    for moment in range(program.promises[0].moment, program.shim.moment + 1):
        target = scratch / f"{mode}-{seed}-{moment}"
        cut = program.shim.cut(program.path.parent, target, mode=mode, seed=seed + moment, moment=moment)
        yield cut, survivors(target / program.path.name)
        shutil.rmtree(target)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str, str], Program]]:
    """The life of a program in a journal mode with a sync level; each is lived once."""
    lives: dict[tuple[str, str], Program] = {}

    def live(journal: str, synchronous: str) -> Program:
        if (journal, synchronous) not in lives:
            path = tmp_path_factory.mktemp(f"{journal}-{synchronous}") / "store.db"
            shim = PowerVfs(history=True)
            program = Program(shim, path, journal=journal, synchronous=synchronous)
            a_day_of_work(program)
            lives[journal, synchronous] = program
        return lives[journal, synchronous]

    yield live
    for program in lives.values():
        program.connection.close()
        program.shim.unregister()


Lived = Callable[[str, str], Program]

every_luck = pytest.mark.parametrize(("mode", "seed"), LUCKS)


@every_luck
def test_wal_with_full_sync_keeps_every_commit_whenever_the_power_fails(  # D-1
    lived: Lived, tmp_path: Path, mode: Mode, seed: int
) -> None:
    program = lived("wal", "full")

    assert findings(program, every_commit_is_kept, tmp_path, mode=mode, seed=seed) == []


@every_luck
def test_a_rollback_journal_with_extra_sync_keeps_every_commit_whenever_the_power_fails(  # D-1
    lived: Lived, tmp_path: Path, mode: Mode, seed: int
) -> None:
    program = lived("delete", "extra")

    assert findings(program, every_commit_is_kept, tmp_path, mode=mode, seed=seed) == []


@every_luck
def test_wal_with_normal_sync_loses_commits_but_never_half_of_one(
    lived: Lived, tmp_path: Path, mode: Mode, seed: int
) -> None:
    program = lived("wal", "normal")

    assert findings(program, some_whole_state_is_found, tmp_path, mode=mode, seed=seed) == []


@every_luck
def test_a_rollback_journal_with_full_sync_loses_the_last_commit_at_most(
    lived: Lived, tmp_path: Path, mode: Mode, seed: int
) -> None:
    program = lived("delete", "full")

    assert findings(program, all_but_the_last_commit_are_kept, tmp_path, mode=mode, seed=seed) == []


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_keep_all_is_what_lies_in_the_folder_byte_for_byte(
    shim: PowerVfs, folder: Path, tmp_path: Path, journal: str
) -> None:
    program = Program(shim, folder / "store.db", journal=journal, synchronous="full")
    program.connection.file_control("main", apsw.SQLITE_FCNTL_CHUNK_SIZE, ctypes.addressof(CHUNK))
    a_day_of_work(program)

    shim.cut(folder, tmp_path / "after", mode="keep_all")

    assert contents(tmp_path / "after") == {
        name: content for name, content in contents(folder).items() if not name.endswith("-shm")
    }
    program.connection.close()


@pytest.mark.parametrize("journal", ["wal", "delete"])
@pytest.mark.parametrize("synchronous", ["normal", "off"])
def test_a_killed_program_loses_nothing_at_any_level_of_sync(  # D-1
    lived: Lived, tmp_path: Path, journal: str, synchronous: str
) -> None:
    program = lived(journal, synchronous)

    assert findings(program, every_commit_is_kept, tmp_path, mode="keep_all", seed=0) == []


# What the shim must be able to show: a promise that SQLite does not make is seen to break.


@pytest.mark.parametrize(
    ("journal", "synchronous"), [("wal", "normal"), ("wal", "off"), ("delete", "full"), ("delete", "off")]
)
def test_with_less_sync_commits_are_seen_to_be_lost(
    lived: Lived, tmp_path: Path, journal: str, synchronous: str
) -> None:
    program = lived(journal, synchronous)

    assert findings(program, every_commit_is_kept, tmp_path, mode="drop_all", seed=0) != []


@pytest.mark.parametrize(("journal", "synchronous"), [("wal", "off"), ("delete", "off")])
def test_without_sync_the_database_is_seen_to_be_damaged(
    lived: Lived, tmp_path: Path, journal: str, synchronous: str
) -> None:
    program = lived(journal, synchronous)

    found = findings(program, some_whole_state_is_found, tmp_path, mode="random", seed=0)

    assert DAMAGED in [finding.found for finding in found]


def test_on_a_disk_that_lies_full_sync_is_seen_to_fail(
    shim: PowerVfs, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(power._WatchedFile, "xSync", lambda _file, _flags: None)
    program = Program(shim, folder / "store.db", journal="wal", synchronous="full")
    a_day_of_work(program)
    program.connection.close()

    assert findings(program, every_commit_is_kept, tmp_path, mode="drop_all", seed=0) != []


# Several connections, several lives.


def test_wal_runs_on_its_real_shared_memory_which_a_cut_leaves_behind(
    shim: PowerVfs, folder: Path, tmp_path: Path
) -> None:
    writer = Program(shim, folder / "store.db", journal="wal", synchronous="full")
    reader = writer.another_connection()
    writer.commit(CREATE, say(1))

    shim.cut(folder, tmp_path / "after")

    assert rows_of(reader) == rows_of(writer.connection)
    assert sorted(path.name for path in folder.iterdir()) == ["store.db", "store.db-shm", "store.db-wal"]
    assert sorted(path.name for path in (tmp_path / "after").iterdir()) == ["store.db", "store.db-wal"]
    reader.close()
    writer.connection.close()


def test_a_cut_leaves_the_locks_of_the_running_program(shim: PowerVfs, folder: Path, tmp_path: Path) -> None:
    program = Program(shim, folder / "store.db", journal="delete", synchronous="full")
    program.commit(CREATE)
    program.stay_in_a_transaction(say(1))

    shim.cut(folder, tmp_path / "after")

    write = f"import apsw; apsw.Connection({str(program.path)!r}).execute('BEGIN IMMEDIATE')"
    other = subprocess.run([sys.executable, "-c", write], capture_output=True, check=False)
    assert b"BusyError" in other.stderr
    program.connection.close()


def write_rows(program: Program, numbers: range) -> list[tuple[int, int]]:
    """Commit rows one by one through a connection of one's own; return (moment, number) of each."""
    connection = program.another_connection()
    promised = []
    for number in numbers:
        connection.execute(say(number, length=1_500))
        promised.append((program.shim.moment, number))
    connection.close()
    return promised


@pytest.mark.parametrize(("mode", "seed"), LUCKS[:3])
def test_writers_in_threads_keep_every_commit(  # D-1
    shim: PowerVfs, folder: Path, tmp_path: Path, mode: Mode, seed: int
) -> None:
    program = Program(shim, folder / "store.db", journal="wal", synchronous="full")
    program.commit(CREATE)
    with ThreadPoolExecutor() as threads:
        ranges = [range(start, start + 6) for start in (100, 200, 300)]
        promised = sorted(itertools.chain(*threads.map(write_rows, [program] * 3, ranges)))

    lost = [
        (cut, number)
        for cut, rows in all_cuts(program, tmp_path, mode=mode, seed=seed)
        for moment, number in promised
        if moment <= cut.moment and number not in dict(rows)
    ]
    program.connection.close()

    assert len(promised) == 18
    assert lost == []


def live_and_lose_power(here: Path, there: Path, *, number: int, seed: int) -> list[int]:
    """Open what the last life left, say one thing more, and lose power while saying another."""
    with PowerVfs() as shim:
        program = Program(shim, here / "store.db", journal="wal", synchronous="full")
        found = [row[0] for row in rows_of(program.connection)]
        program.commit(CREATE.replace("TABLE", "TABLE IF NOT EXISTS"), say(number, length=3_000))
        program.stay_in_a_transaction(*(say(n, length=2_000) for n in range(100, 110)))
        shim.cut(here, there, mode="random", seed=seed)
        program.connection.close()
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_database_outlives_many_power_cuts_in_a_row(tmp_path: Path, seed: int) -> None:  # D-1
    lives = [tmp_path / f"life-{number}" for number in range(9)]
    lives[0].mkdir()

    found = [
        live_and_lose_power(here, there, number=number, seed=100 * seed + number)
        for number, (here, there) in enumerate(itertools.pairwise(lives))
    ]

    assert found == [list(range(number)) for number in range(8)]


with_ciphers = pytest.mark.skipif(
    not apsw.vfs_names()[0].startswith("multipleciphers"), reason="an SQLite without ciphers"
)


@with_ciphers
def test_a_key_is_refused_above_the_shim_where_it_would_leave_plain_text(
    shim: PowerVfs, folder: Path
) -> None:
    connection = apsw.Connection(str(folder / "store.db"), vfs=shim.name)

    with pytest.raises(apsw.SQLError, match="not supported by the VFS"):
        connection.pragma("key", "secret")
    connection.close()


@with_ciphers
def test_a_cut_of_an_encrypted_database_is_encrypted(shim: PowerVfs, folder: Path, tmp_path: Path) -> None:
    connection = apsw.Connection(str(folder / "store.db"), vfs=shim.encrypted_name)
    connection.pragma("key", "secret")
    connection.pragma("synchronous", "extra")
    connection.execute(f"{CREATE}; {say(1)}")

    shim.cut(folder, tmp_path / "after")
    connection.close()

    survivor = apsw.Connection(str(tmp_path / "after" / "store.db"))
    survivor.pragma("key", "secret")
    assert rows_of(survivor) == ((1, "00001" * 20),)
    assert b"00001" not in (tmp_path / "after" / "store.db").read_bytes()
    survivor.close()
