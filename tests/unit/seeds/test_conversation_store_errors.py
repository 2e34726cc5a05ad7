"""What `ConversationStore` raises: each error of old, and what is there and must not be read as absent."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

import manent
from manent.errors import (
    ChainError,
    InputError,
    NotAStoreError,
    NotFoundError,
    StoreBusyError,
)
from manent.history.store import Store
from manent.model.records import FindingKind
from manent.seeds import ConversationStore
from manent.seeds.opened import _Shared
from manent.storage.port import Reader, Transaction
from manent.storage.wrappers.wrapper import Wrapper
from tests.tamper import tamper

OLD_KIND = """
CREATE TABLE conversations (id TEXT PRIMARY KEY, workspace_key TEXT, title TEXT, tip_hash TEXT);
CREATE TABLE turns (conversation_id TEXT, seq INTEGER, user TEXT, assistant TEXT, encoding_version INTEGER);
INSERT INTO conversations VALUES ('s-1', 'k', 'title', '00');
INSERT INTO turns VALUES ('s-1', 1, 'question', 'answer', 1);
"""


class Busy(Wrapper):
    """A store that somebody else keeps busy."""

    def reading(self) -> AbstractContextManager[Reader]:
        raise StoreBusyError(store=self.url, waited_s=0.1)

    def transaction(self) -> AbstractContextManager[Transaction]:
        raise StoreBusyError(store=self.url, waited_s=0.1)


def busy(store: ConversationStore) -> ConversationStore:
    """The same store, at a bad moment."""
    other = store.clone()
    other._shared = _Shared(Store(store._runtime._replace(backend=Busy(store._runtime.backend))))
    return other


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda store: store.exists("s-1"), id="exists"),
        pytest.param(lambda store: store.load("s-1"), id="load"),
        pytest.param(lambda store: store.load_turn("s-1", 1), id="load_turn"),
        pytest.param(lambda store: store.latest_open(), id="latest_open"),
        pytest.param(lambda store: store.list(), id="list"),
        pytest.param(lambda store: store.search("q"), id="search"),
        pytest.param(lambda store: store.append_turn("s-1", "q", "a"), id="append_turn"),
        pytest.param(lambda store: store.update_scratchpad("s-1", {}), id="update_scratchpad"),
        pytest.param(lambda store: store.end_conversation("s-1", "new"), id="end_conversation"),
    ],
)
def test_a_busy_store_is_never_read_as_absent(
    store: ConversationStore, call: Callable[[ConversationStore], object]
) -> None:
    """Where "busy" reads as "not there", the next call overwrites what is there."""
    store.create_with_id("s-1", "")

    with pytest.raises(StoreBusyError):
        call(busy(store))


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda store: store.append_turn("nothing", "q", "a"), id="append_turn"),
        pytest.param(lambda store: store.load("nothing"), id="load"),
        pytest.param(lambda store: store.rename("nothing", "t"), id="rename"),
        pytest.param(lambda store: store.delete("nothing"), id="delete"),
        pytest.param(lambda store: store.resolve_id("nothing"), id="resolve_id"),
        pytest.param(lambda store: store.verify_chain("nothing"), id="verify_chain"),
    ],
)
def test_what_is_not_here_is_an_error_that_names_it(
    store: ConversationStore, call: Callable[[ConversationStore], object]
) -> None:
    with pytest.raises(NotFoundError, match="nothing"):
        call(store)


def test_an_encoding_that_nobody_knows_is_a_finding_of_the_chain(root: Path, workspace: Path) -> None:  # C-1
    with ConversationStore(root, workspace) as store:
        store.create_with_id("s-1", "")
        store.append_turn("s-1", "q", "a")
    tamper(root / "conversations.db", "UPDATE events SET encoding = 9 WHERE kind = 'turn_appended'")

    with ConversationStore(root, workspace) as store, pytest.raises(ChainError) as caught:
        store.verify_chain("s-1")

    assert FindingKind.UNKNOWN_ENCODING in {finding.kind for finding in caught.value.findings}


def test_a_database_of_the_old_kind_is_refused_and_stays_as_it_is(root: Path, workspace: Path) -> None:
    root.mkdir()
    database = root / "conversations.db"
    database.touch()
    tamper(database, OLD_KIND)
    before = database.read_bytes()

    with pytest.raises(NotAStoreError):
        ConversationStore(root, workspace)

    assert database.read_bytes() == before
    assert [place.name for place in root.iterdir()] == ["conversations.db"]


def test_a_column_that_nobody_knows_hinders_nothing(root: Path, workspace: Path) -> None:
    with ConversationStore(root, workspace) as store:
        store.create_with_id("s-1", "title")
        store.append_turn("s-1", "before", "a")
    tamper(
        root / "conversations.db",
        "ALTER TABLE conversations ADD COLUMN drifted TEXT DEFAULT 'x';"
        "ALTER TABLE turns ADD COLUMN drifted TEXT; UPDATE turns SET drifted = 'x'",
    )

    with ConversationStore(root, workspace) as store:
        store.append_turn("s-1", "after", "a")
        store.create_with_id("s-2", "another")

        assert [turn.user for turn in store.load("s-1").turns] == ["before", "after"]
        assert [summary.id for summary in store.list()] == ["s-1", "s-2"]
        assert len(store.search("after")) == 1
        store.verify_chain("s-1")
        store.verify_chain("s-2")


@pytest.mark.parametrize("query", [5, None, b"needle", ["needle"]])
def test_a_query_that_is_no_text_is_refused(store: ConversationStore, query: Any) -> None:
    with pytest.raises(InputError, match=f"query is text, not {type(query).__name__}"):
        store.search(query)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda store: store.create(5), id="title"),
        pytest.param(lambda store: store.create("t", 5), id="persona"),
        pytest.param(lambda store: store.append_turn("s-1", 5, "a"), id="question"),
        pytest.param(lambda store: store.append_turn_full("s-1", "q", "a", ["grep"]), id="tool event"),
        pytest.param(lambda store: store.rename("s-1", 5), id="new title"),
        pytest.param(lambda store: store.update_scratchpad("s-1", ["a"]), id="scratchpad"),
        pytest.param(lambda store: store.update_plan_snapshot("s-1", {"steps": []}), id="plan"),
        pytest.param(lambda store: store.create_roadmap("r-1", "t", 5), id="tree"),
        pytest.param(lambda store: store.load(5), id="id"),
    ],
)
def test_an_argument_of_another_type_is_refused(
    store: ConversationStore, call: Callable[[ConversationStore], object]
) -> None:
    store.create_with_id("s-1", "")

    with pytest.raises(InputError):
        call(store)

    assert len(store.list()) == 1
    assert store.load("s-1").turns == ()


def test_a_store_of_ours_is_read_by_every_other_call(store: ConversationStore, root: Path) -> None:
    store.create_with_id("s-1", "title")
    store.append_turn("s-1", "q", "a")

    with manent.open(root / "conversations.db", workspace=None) as owner:
        assert owner.verify().ok
        assert owner.stats().turns_total == 1
