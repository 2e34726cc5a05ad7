"""Writes fail at every SQL statement, BEGIN and COMMIT too: the store is as before or as after (D-2)."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

import manent
from manent.history.store import Store
from manent.model.imported import ImportedConversation, ImportedMessage
from manent.model.parts import TextPart
from manent.model.records import Message
from manent.testing.snapshots import take_snapshot
from tests.stores import TunedBackend, store_over

KEY = "there"
STATEMENTS_MIN = 5


class Stop(BaseException):
    """Planted; derived as a signal's exception is, so that no handler takes it for an error of SQLite."""


class Fault:
    """Fails the SQL statement with this number, counted over all connections from the moment it is armed."""

    def __init__(self) -> None:
        self._left = 0
        self.fired = False

    def plant(self, connection: apsw.Connection) -> None:
        """Watch a connection."""
        connection.exec_trace = self._statement

    def arm(self, number: int) -> None:
        """Fail at that statement, counted from here."""
        self._left = number

    def _statement(self, _cursor: apsw.Cursor, _sql: str, _values: object) -> bool:
        self._left -= 1
        if self._left == 0:
            self.fired = True
            raise Stop
        return True


class Outcome(NamedTuple):
    """What stands in the store: the texts of all conversations, those of active branches, and the titles."""

    texts: tuple[tuple[str, ...], ...]
    active: tuple[tuple[str, ...], ...]
    titles: tuple[str, ...]


class Failure(NamedTuple):
    """One failure: where, and what stood in the store before, behind it, and once the write was repeated."""

    statement: int
    before: Outcome
    behind: Outcome
    repeated: Outcome
    is_sound: bool


def create(store: Store) -> None:
    """Begin a conversation, once."""
    store.conversation(key="new", create=True)


def create_with_all(store: Store) -> None:
    """Begin a conversation that has everything."""
    store.create("titled", persona="p", project="x")


def append_turn(store: Store) -> None:
    """Append a turn, once."""
    store.conversation(key=KEY).append_turn("again?", "again", idempotency_key="k")


def append_messages(store: Store) -> None:
    """Append a batch, once."""
    batch = [Message(role="user", parts=f"message {number}", metadata={"n": number}) for number in range(3)]
    store.conversation(key=KEY).append_messages(batch, idempotency_key="k")


def import_items(store: Store) -> None:
    """Import a conversation that moves its head."""
    store.import_items([IMPORTED], format="test")


def import_lines(store: Store) -> None:
    """Take in an export."""
    store.import_lines(LINES)


IMPORTED = ImportedConversation(
    format="test",
    messages=tuple(
        ImportedMessage(
            role="user",
            parts=(TextPart(f"imported {number}"),),
            native=b"{}",
            native_id=f"m{number}",
            parent_native_id="m0" if number else None,
            place=f"line {number}",
        )
        for number in range(3)
    ),
    place="a file",
    native_id="c1",
    title="imported",
    head_native_id="m1",
)

LINES: list[bytes] = []


@pytest.fixture(autouse=True)
def lines(tmp_path: Path) -> Iterator[None]:
    """An export of another store, in `LINES`."""
    with manent.open(tmp_path / "other.db") as other:
        other.create("exported").append_turn("from elsewhere", "it came")
        LINES[:] = other.export_lines()
    yield
    LINES.clear()


@pytest.fixture
def template(tmp_path: Path) -> Path:
    """A store to begin from, closed."""
    path = tmp_path / "template.db"
    with manent.open(path) as store:
        store.conversation(key=KEY, create=True).append_turn("first?", "first")
    return path


def failures(template: Path, write: Callable[[Store], None]) -> Iterator[Failure]:
    """Let a write fail at each of its statements, each time on a fresh copy of the store."""
    for statement in itertools.count(1):
        path = template.with_name(f"{statement}.db")
        shutil.copyfile(template, path)
        fault = Fault()
        with store_over(TunedBackend(path, fault.plant)) as store, manent.open(path, wait=0.0) as beside:
            before = outcome(beside)
            fault.arm(statement)
            try:
                write(store)
            except Stop:
                behind = outcome(beside)
                beside.conversation(key="beside", create=True)  # no lock is held
                write(store)
                yield Failure(statement, before, behind, outcome(store), store.verify().ok)
                continue
            fault.arm(0)
            assert not fault.fired, f"the fault at statement {statement} was swallowed"
            return


def outcome(store: Store) -> Outcome:
    """What stands in a store; the conversation that was begun from beside does not count."""
    found = [s for s in store.list(newest_first=False) if s.key != "beside"]
    texts = [tuple(m.text for m in store.conversation(s.id).messages(branch="all")) for s in found]
    active = [tuple(m.text for m in store.conversation(s.id).messages()) for s in found]
    return Outcome(tuple(texts), tuple(active), tuple(s.title for s in found))


def written(template: Path, write: Callable[[Store], None]) -> Outcome:
    """What stands in the store when nothing fails."""
    path = template.with_name("undisturbed.db")
    shutil.copyfile(template, path)
    with manent.open(path) as store:
        write(store)
        return outcome(store)


@pytest.mark.parametrize("write", [create, append_turn, append_messages, import_lines])
def test_a_write_that_fails_at_any_sql_statement_is_whole_or_absent_and_can_be_repeated(
    template: Path, write: Callable[[Store], None]
) -> None:  # D-2, L-2
    after = written(template, write)

    found = list(failures(template, write))

    assert len(found) >= STATEMENTS_MIN
    assert all(failure.behind in (failure.before, after) for failure in found)
    assert all(failure.is_sound and failure.repeated == after for failure in found)


def test_a_conversation_that_fails_at_any_sql_statement_is_begun_with_all_its_metadata_or_not_at_all(
    template: Path,
) -> None:  # D-2, L-2
    after = written(template, create_with_all)

    found = list(failures(template, create_with_all))

    assert len(found) >= STATEMENTS_MIN
    assert all(failure.behind in (failure.before, after) for failure in found)
    assert all(failure.is_sound for failure in found)


def test_an_import_that_fails_at_any_sql_statement_goes_on_when_it_is_repeated(
    template: Path,
) -> None:  # D-2, I-2
    after = written(template, import_items)

    found = list(failures(template, import_items))

    assert len(found) >= STATEMENTS_MIN
    assert all(failure.behind in (failure.before, after) for failure in found)
    assert all(failure.is_sound and failure.repeated == after for failure in found)


def test_a_failed_statement_leaves_every_row_as_it_was(template: Path) -> None:  # D-2
    fault = Fault()
    backend = TunedBackend(template, fault.plant)
    with store_over(backend) as store:
        append_turn(store)
        with backend.reading() as reader:
            before = take_snapshot(reader)
        fault.arm(6)

        with pytest.raises(Stop):
            store.conversation(key=KEY).append_turn("half", "of it")

        with backend.reading() as reader:
            assert take_snapshot(reader) == before
