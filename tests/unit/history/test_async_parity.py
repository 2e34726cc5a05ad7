"""The awaited store has the same calls as the synchronous one, and both see the same record."""

from __future__ import annotations

import asyncio
import inspect
import pydoc
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import manent
from manent import aio, opening
from manent.aio import AsyncImports, AsyncRoadmaps, AsyncSecrets, AsyncWorkspaces
from manent.history.imports import Imports
from manent.history.masked_secrets import Secrets
from manent.history.relinking import Workspaces
from manent.history.roadmaps import Roadmaps
from manent.model.plans import Plan, PlanSnapshot, Step, StepStatus
from manent.storage.sqlite.backend import SqliteBackend

PAIRS: list[tuple[type, type]] = [
    (manent.Store, manent.AsyncStore),
    (manent.Conversation, manent.AsyncConversation),
    (Roadmaps, AsyncRoadmaps),
    (Workspaces, AsyncWorkspaces),
    (Imports, AsyncImports),
    (Secrets, AsyncSecrets),
]
ATTRIBUTES = {
    "Store.url",
    "Store.wal_fallback_notice",
    "Store.roadmaps",
    "Store.imports",
    "Store.secrets",
    "Store.workspaces",
    "Conversation.id",
}
"""What costs nothing, and so is not awaited."""

OTHER_NAMES = {"close": "aclose"}
"""An awaited close is called so everywhere in Python."""

PLAN = PlanSnapshot((Step("look", StepStatus.ACTIVE),))

WRITES: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("append_turn", ("q", "a"), {"author": "Ada"}),
    ("append_message", (manent.Message(role="user", parts="q"),), {}),
    (
        "append_messages",
        ([manent.Message(role="user", parts="q"), manent.Message(role="assistant", parts="a")],),
        {},
    ),
    ("rename", (" t ",), {}),
    ("end", ("new",), {}),
    ("reopen", (), {}),
    ("set_persona", ("p",), {}),
    ("set_key", ("new key",), {}),
    ("set_project", ("p",), {}),
    ("add_tags", ("b", "a"), {}),
    ("remove_tags", ("old",), {}),
    ("pin", (), {}),
    ("unpin", (), {}),
    ("set_scratchpad", ({"k": "v"},), {}),
    ("set_plan", (PLAN,), {}),
    ("set_config_snapshot", ({"k": 1},), {}),
    ("link_to_node", ("roadmap", "node"), {}),
    ("unlink_from_node", (), {}),
    ("claim", (), {"force": True}),
    ("heartbeat", (), {"epoch": None}),
    ("release", (), {}),
    ("link_to", ("other", "copied_from"), {}),
]
READS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("uid", (), {}),
    ("messages", (), {"limit": 1}),
    ("get_message", ("m1",), {}),
    ("siblings", ("m1",), {}),
    ("turns", (), {"branch": "all"}),
    ("get_turn", (3,), {}),
    ("find_turn", (999,), {}),
    ("head", (), {}),
    ("activity_seq", (), {}),
    ("stats", (), {}),
    ("context", ("q",), {"budget": 100}),
    ("metadata", (), {}),
    ("title", (), {}),
    ("key", (), {}),
    ("persona", (), {}),
    ("project", (), {}),
    ("end_reason", (), {}),
    ("is_open", (), {}),
    ("tags", (), {}),
    ("pinned", (), {}),
    ("live_owner", (), {}),
    ("links", (), {}),
    ("linked_from", (), {}),
]


def members(cls: type) -> set[str]:
    """The public names of a class."""
    return {name for name in dir(cls) if not name.startswith("_")}


def parameters(function: Any) -> list[tuple[str, Any, Any]]:
    """Name, kind and default of each; of a default that is a function only that it is one."""
    found = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, "function" if inspect.isfunction(p.default) else p.default) for p in found]


def both(cls: type, twin: type, name: str) -> tuple[Any, Any]:
    """A member of a synchronous class, and its twin."""
    return getattr(cls, name), getattr(twin, OTHER_NAMES.get(name, name))


MEMBERS = [
    pytest.param(cls, twin, name, id=f"{cls.__name__}.{name}")
    for cls, twin in PAIRS
    for name in sorted(members(cls))
]


def value_of(handle: object, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a method gives, or what a property is."""
    member = getattr(handle, name)
    return member(*args, **kwargs) if callable(member) else member


def shown(value: Any) -> Any:
    """A page as what it holds and where it leads; anything else as it is."""
    return ([*value], value.next, value.previous) if isinstance(value, manent.Page) else value


def observe(conversation: manent.Conversation) -> list[Any]:
    """What is known of a conversation, without ids and places."""
    return [
        [(m.role, m.text, m.author) for m in conversation.messages()],
        conversation.metadata(),
        conversation.links(),
        conversation.live_owner() is None,
    ]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "conversations.db"


def fill(store: manent.Store, id: str) -> None:
    """Begin the conversation that the calls are tried on, and the other one."""
    store.create_with_id("other").append_turn("else", "where")
    begun = store.create_with_id(id, "before", key="old key", persona="somebody", project="/p")
    begun.append_message(manent.Message(role="user", parts="hello", id="m1"))
    begun.add_tags("old")
    begun.pin()


@pytest.fixture
def store(path: Path) -> Iterator[manent.Store]:
    with manent.open(path) as store:
        fill(store, "one")
        yield store


@pytest.fixture
def beside(path: Path) -> Iterator[manent.Store]:
    """Another workspace of the same store, with a conversation like the first one but for its id."""
    with manent.open(path, workspace="beside") as store:
        fill(store, "two")
        yield store


@pytest.mark.parametrize(("cls", "twin"), PAIRS)
def test_nothing_is_missing_and_nothing_is_extra(cls: type, twin: type) -> None:
    expected = {OTHER_NAMES.get(name, name) for name in members(cls)}

    assert members(twin) == expected


@pytest.mark.parametrize(("cls", "twin", "name"), MEMBERS)
def test_a_twin_takes_what_its_method_takes(cls: type, twin: type, name: str) -> None:
    sync, awaited = both(cls, twin, name)
    if f"{cls.__name__}.{name}" in ATTRIBUTES:
        assert isinstance(sync, property)
        assert isinstance(awaited, property)
        return

    function = sync.fget if isinstance(sync, property) else sync

    assert parameters(awaited) == parameters(function)
    assert inspect.iscoroutinefunction(awaited) or inspect.isasyncgenfunction(awaited)
    assert awaited.__doc__


@pytest.mark.parametrize("name", ["export_path", "import_path", "restore_path"])
def test_what_takes_in_paths_has_a_twin_too(name: str) -> None:
    assert parameters(getattr(aio, name)) == parameters(getattr(opening, name))


def test_opening_takes_what_opening_takes() -> None:
    assert parameters(manent.aopen) == parameters(manent.open)


def test_opening_has_a_name_and_words_of_its_own_and_says_what_it_gives() -> None:
    shown = pydoc.plain(pydoc.render_doc(manent.aopen))

    assert "\naopen(url: " in shown
    assert "async with" in shown
    assert inspect.signature(manent.aopen).return_annotation == "Opening"


def test_what_aopen_gives_says_that_it_has_to_be_awaited(path: Path) -> None:
    assert repr(manent.aopen(path)) == f"<Opening of {path}: await it, or use it in `async with`>"
    assert not path.exists()


def test_a_resumption_says_the_same() -> None:
    from manent.history.resuming import Resumption

    assert aio.AsyncResumption._fields == Resumption._fields


def test_a_twin_has_a_name_of_its_own_and_the_words_of_its_method() -> None:
    twin = manent.AsyncConversation.append_turn

    assert (twin.__qualname__, twin.__doc__) == (
        "AsyncConversation.append_turn",
        manent.Conversation.append_turn.__doc__,
    )


@pytest.mark.parametrize(("name", "args", "kwargs"), WRITES, ids=str)
def test_a_write_through_one_is_read_through_the_other(
    store: manent.Store,
    beside: manent.Store,
    path: Path,
    name: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> None:
    async def write() -> None:
        async with manent.aopen(path) as awaited:
            conversation = await awaited.conversation("one")
            await value_of(conversation, name, args, kwargs)

    asyncio.run(write())
    value_of(beside.conversation("two"), name, args, kwargs)

    assert observe(store.conversation("one")) == observe(beside.conversation("two"))


@pytest.mark.parametrize(("name", "args", "kwargs"), READS, ids=str)
def test_a_read_gives_the_same_through_both(
    store: manent.Store, path: Path, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    seq = store.conversation("one").append_turn("q", "a").seq
    args = (seq,) if name == "get_turn" else args

    async def read() -> Any:
        async with manent.aopen(path) as awaited:
            conversation = await awaited.conversation("one")
            return await value_of(conversation, name, args, kwargs)

    assert shown(asyncio.run(read())) == shown(value_of(store.conversation("one"), name, args, kwargs))


def test_the_tables_name_every_twin_of_a_conversation() -> None:
    named = {name for name, _, _ in (*WRITES, *READS)}

    assert named | {"id", "is_owner_live"} == members(manent.AsyncConversation)


# --- where the calls run


@contextmanager
def threads_that_enter(monkeypatch: pytest.MonkeyPatch, method: str) -> Iterator[set[str]]:
    """The names of the threads on which a method of the backend is called, without their numbers."""
    found: set[str] = set()
    original = getattr(SqliteBackend, method)

    def entering(self: SqliteBackend) -> Any:
        found.add(threading.current_thread().name.rpartition("_")[0])
        return original(self)

    with monkeypatch.context() as patch:
        patch.setattr(SqliteBackend, method, entering)
        yield found


async def call_everything(store: manent.AsyncStore, owner: manent.AsyncStore) -> None:
    """Every twin there is, but those of a conversation's own."""
    begun = await store.create("begun", key="k")
    chosen = await store.create_with_id("chosen", "title")
    reserved = await store.reserve("reserved")
    await reserved.append_turn("q", "a")
    await store.conversation(key="k")
    await store.conversation(key="new", create=True)
    await store.resume(chosen.id)
    turn = await begun.append_turn("chosen", "a")
    await store.get(turn.address)
    await store.find(turn.address)
    await store.exists("chosen")
    await store.resolve("chos")
    await store.latest_open()
    await store.list()
    await store.search("chosen")
    await store.stats()
    await store.writer()
    await store.verify()
    await store.read_arrivals()
    await store.receipt()
    lines = [line async for line in store.export_lines()]
    await store.import_lines(lines)
    await store.import_items([], format="none")
    await store.delete("chosen")
    await store.roadmaps.create("r", "title", Plan())
    await store.roadmaps.update("r", Plan())
    await store.roadmaps.load("r")
    await store.roadmaps.get("r")
    await store.roadmaps.list()
    await store.roadmaps.delete("r")
    await (await owner.conversation("one")).title()
    await owner.workspaces.list()
    await owner.workspaces.find_lost()
    move = await owner.workspaces.relink("default", "renamed")
    await owner.workspaces.moves()
    await owner.workspaces.undo(move.id)


async def call_every_row(store: manent.AsyncStore) -> None:
    """Every row of the tables."""
    conversation = await store.conversation("one")
    for name, args, kwargs in (*WRITES, *READS):
        if name != "get_turn":
            await value_of(conversation, name, args, kwargs)


def test_every_call_runs_on_a_thread_of_its_kind(
    store: manent.Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # U-5: what waits for the lock is never the event loop, nor a thread that reads
    del store

    async def call() -> None:
        async with manent.aopen(path) as store, manent.aopen(path, workspace=None) as owner:
            await call_everything(store, owner)
            await call_every_row(store)

    with (
        threads_that_enter(monkeypatch, "transaction") as writing,
        threads_that_enter(monkeypatch, "reading") as reading,
    ):
        asyncio.run(call())

    assert writing == {"manent-write", "manent-long-write"}
    assert reading == {"manent-read", "manent-write", "manent-long-read", "manent-long-write", "manent-close"}
