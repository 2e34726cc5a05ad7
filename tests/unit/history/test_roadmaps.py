"""Roadmaps: kept by a workspace for itself, and read whole or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from manent.errors import InputError, MetadataError, NotFoundError, WorkspaceRequiredError
from manent.history.roadmaps import Roadmaps
from manent.history.runtime import Runtime
from manent.history.store import Store
from manent.model.ids import Stamp, new_uid
from manent.model.log import WorkspaceInfo
from manent.model.plans import Plan, Roadmap, RoadmapSummary, Subtask
from manent.model.workspaces import Workspace
from manent.storage.port import Backend
from manent.testing.strategies import AWKWARD
from tests.stores import store_over
from tests.unit.ndjson.histories import memory_store, sqlite_store

TREE = Plan("ship it", subtasks=(Subtask("a", "build"), Subtask("b", "pack", deps=("a",))))
OTHER = Plan(subtasks=(Subtask("c", "rest"),))
BAD_TREES: list[Any] = [
    "goal = secret",
    "stranger = 'secret'",
    '[[subtask]]\nid = "a"\ninstruction = "b"\nparent = "a"',
    "goal = '\ud800'",
    Plan(goal="\ud800"),
    Plan(subtasks=(Subtask("a", "b", deps=("a",)),)),
    Plan(goal=7),  # type: ignore[arg-type]
    None,
    7,
    TREE.to_toml().encode(),
]


@pytest.fixture(params=["sqlite", "memory"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """An empty store."""
    if request.param == "memory":
        yield memory_store()
    else:
        with sqlite_store() as store:
            yield store


class Claims:
    """A clock that says what the test wants."""

    def __init__(self) -> None:
        self.now_ns = 1_000

    def __call__(self) -> int:
        return self.now_ns


@pytest.fixture
def clock() -> Claims:
    return Claims()


@pytest.fixture
def store(backend: Backend, clock: Claims) -> Store:
    """A handle of the workspace `demo`."""
    return store_over(backend, clock=clock, workspace="demo")


@pytest.fixture
def roadmaps(store: Store) -> Roadmaps:
    return Roadmaps(store._runtime)


def in_workspace(backend: Backend, name: str) -> Roadmaps:
    return Roadmaps(store_over(backend, workspace=name)._runtime)


def info_of(backend: Backend, name: str) -> WorkspaceInfo:
    """A workspace that is there, by its key."""
    with backend.reading() as reader:
        return next(info for info in reader.list_workspaces() if ("key", name) in info.aliases)


def put_register(backend: Backend, uid: str, field: str, value: Any, stamp: Stamp | None = None) -> None:
    """What somebody else wrote."""
    with backend.transaction() as tx:
        tx.put_metadata(uid, field, value, stamp)


def kept(tree: str = "", title: str = "t") -> dict[str, Any]:
    return {"title": title, "tree": tree, "created_ns": 1, "updated_ns": 2}


# --- create, load, update, delete


def test_a_roadmap_comes_back_as_it_was_created(roadmaps: Roadmaps) -> None:
    created = roadmaps.create("r1", "  Release 1 ", TREE)

    assert created == Roadmap("r1", "Release 1", TREE, 1_000, 1_000)
    assert roadmaps.load("r1") == roadmaps.get("r1") == created


def test_a_roadmap_can_be_created_from_toml(roadmaps: Roadmaps) -> None:
    roadmaps.create("r1", "t", "# by hand\n" + TREE.to_toml())

    assert roadmaps.get("r1").tree == TREE


def test_an_empty_text_is_a_roadmap_without_nodes(roadmaps: Roadmaps) -> None:
    roadmaps.create("r1", "", "")

    assert roadmaps.get("r1").tree == Plan()
    assert roadmaps.list() == [RoadmapSummary("r1", "", 0, 1_000, 1_000)]


def test_creating_again_replaces_what_was_there(roadmaps: Roadmaps, clock: Claims) -> None:
    roadmaps.create("r1", "old", TREE)
    clock.now_ns = 2_000

    roadmaps.create("r1", "new", OTHER)

    assert roadmaps.get("r1") == Roadmap("r1", "new", OTHER, 2_000, 2_000)
    assert len(roadmaps.list()) == 1


def test_an_absent_roadmap_is_none_or_an_error(roadmaps: Roadmaps) -> None:
    for _ in range(2):
        assert roadmaps.load("r1") is None
        with pytest.raises(NotFoundError):
            roadmaps.get("r1")
        assert roadmaps.list() == []
        roadmaps.create("r2", "t", TREE)
        roadmaps.delete("r2")


def test_an_update_replaces_the_tree_and_keeps_the_rest(roadmaps: Roadmaps, clock: Claims) -> None:
    roadmaps.create("r1", "t", TREE)
    clock.now_ns = 2_000

    assert roadmaps.update("r1", OTHER)

    assert roadmaps.get("r1") == Roadmap("r1", "t", OTHER, 1_000, 2_000)


def test_an_update_of_an_absent_roadmap_writes_nothing(store: Store, roadmaps: Roadmaps) -> None:
    before = list(store.export_lines())

    assert not roadmaps.update("r1", TREE)
    assert not roadmaps.delete("r1")

    assert list(store.export_lines()) == before
    roadmaps.create("r2", "t", TREE)
    before = list(store.export_lines())
    assert not roadmaps.update("r1", TREE)
    assert not roadmaps.delete("r1")
    assert list(store.export_lines()) == before


def test_a_deleted_roadmap_is_absent_and_can_be_created_again(roadmaps: Roadmaps) -> None:
    roadmaps.create("r1", "t", TREE)

    assert roadmaps.delete("r1")
    assert not roadmaps.delete("r1")
    assert not roadmaps.update("r1", TREE)
    assert (roadmaps.load("r1"), roadmaps.list()) == (None, [])

    roadmaps.create("r1", "again", OTHER)
    assert roadmaps.get("r1").title == "again"


@pytest.mark.parametrize("text", [text for text in AWKWARD if text.strip()])
def test_any_text_can_be_the_id_and_the_title(roadmaps: Roadmaps, text: str) -> None:  # T-1
    name = f"x{text}x"

    roadmaps.create(name, name, TREE)

    assert roadmaps.get(name).title == name
    assert [summary.id for summary in roadmaps.list()] == [name]
    assert roadmaps.update(name, OTHER)
    assert roadmaps.delete(name)


def test_ids_that_look_alike_are_two(roadmaps: Roadmaps) -> None:
    roadmaps.create("\\0", "backslash", TREE)
    roadmaps.create("\x00", "nul", TREE)

    assert (roadmaps.get("\\0").title, roadmaps.get("\x00").title) == ("backslash", "nul")


@pytest.mark.parametrize("tree", BAD_TREES)
def test_a_bad_tree_is_not_written(store: Store, roadmaps: Roadmaps, tree: Any) -> None:
    roadmaps.create("r1", "t", TREE)
    before = list(store.export_lines())

    for write in (lambda: roadmaps.create("r1", "t", tree), lambda: roadmaps.update("r1", tree)):
        with pytest.raises(InputError) as caught:
            write()
        assert "secret" not in str(caught.value)

    assert list(store.export_lines()) == before


BAD_CALLS: dict[str, Callable[[Any], object]] = {
    "a blank id": lambda roadmaps: roadmaps.create(" ", "t", TREE),
    "an id that is no text": lambda roadmaps: roadmaps.create(7, "t", TREE),
    "an id that is too long": lambda roadmaps: roadmaps.create("x" * 513, "t", TREE),
    "a title that is no text": lambda roadmaps: roadmaps.create("r", None, TREE),
    "a blank id to load": lambda roadmaps: roadmaps.load(""),
    "a blank id to get": lambda roadmaps: roadmaps.get(""),
    "a blank id to update": lambda roadmaps: roadmaps.update("", TREE),
    "a blank id to delete": lambda roadmaps: roadmaps.delete(""),
    "a limit below 1": lambda roadmaps: roadmaps.list(limit=0),
}


@pytest.mark.parametrize("call", BAD_CALLS.values(), ids=BAD_CALLS.keys())
def test_arguments_that_cannot_be_used_are_refused(roadmaps: Roadmaps, call: Callable[[Any], object]) -> None:
    with pytest.raises(InputError):
        call(roadmaps)


def test_a_large_tree_comes_back_whole(roadmaps: Roadmaps) -> None:
    plan = Plan(subtasks=tuple(Subtask(f"n{n}", "x" * 200) for n in range(1_000)))

    roadmaps.create("r1", "t", plan)

    assert roadmaps.get("r1").tree == plan


# --- lists


def test_roadmaps_are_listed_by_the_last_write_whatever_the_clock_says(
    roadmaps: Roadmaps, clock: Claims
) -> None:
    for id in ("r1", "r2", "r3"):
        clock.now_ns -= 100
        roadmaps.create(id, id.upper(), TREE)
    clock.now_ns = 1
    roadmaps.update("r1", OTHER)

    assert roadmaps.list() == [
        RoadmapSummary("r1", "R1", 1, 900, 1),
        RoadmapSummary("r3", "R3", 2, 700, 700),
        RoadmapSummary("r2", "R2", 2, 800, 800),
    ]
    assert [summary.id for summary in roadmaps.list(limit=2)] == ["r1", "r3"]


def test_no_roadmap_call_moves_any_activity(store: Store, roadmaps: Roadmaps) -> None:  # L-8
    first, last = store.create(), store.create()
    seen = first.activity_seq, last.activity_seq

    roadmaps.create("r1", "t", TREE)
    roadmaps.update("r1", OTHER)
    roadmaps.list()
    roadmaps.delete("r1")

    assert (first.activity_seq, last.activity_seq) == seen
    assert [row.id for row in store.list()] == [last.id, first.id]
    assert store.verify().ok


def test_roadmaps_travel_with_an_export(store: Store, roadmaps: Roadmaps) -> None:  # I-4
    created = roadmaps.create("r1", "t", TREE)

    copy = store_over(memory_store(), workspace="demo")
    copy.import_lines(store.export_lines())

    assert Roadmaps(copy._runtime).load("r1") == created


# --- the fence


def test_an_id_in_two_workspaces_is_two_roadmaps(backend: Backend) -> None:  # N-1
    ours, theirs = in_workspace(backend, "ours"), in_workspace(backend, "theirs")
    ours.create("r1", "ours", TREE)

    assert theirs.load("r1") is None
    assert theirs.list() == []
    assert not theirs.update("r1", OTHER)
    assert not theirs.delete("r1")

    theirs.create("r1", "theirs", OTHER)
    assert (ours.get("r1").title, ours.get("r1").tree) == ("ours", TREE)
    assert (theirs.get("r1").title, theirs.get("r1").tree) == ("theirs", OTHER)
    assert theirs.delete("r1")
    assert ours.get("r1").title == "ours"


OWNER_CALLS: dict[str, Callable[[Roadmaps], object]] = {
    "create": lambda roadmaps: roadmaps.create("r1", "t", TREE),
    "load": lambda roadmaps: roadmaps.load("r1"),
    "get": lambda roadmaps: roadmaps.get("r1"),
    "update": lambda roadmaps: roadmaps.update("r1", TREE),
    "delete": lambda roadmaps: roadmaps.delete("r1"),
    "list": lambda roadmaps: roadmaps.list(),
}


@pytest.mark.parametrize("call", OWNER_CALLS.values(), ids=OWNER_CALLS.keys())
def test_the_owners_handle_has_no_roadmaps(
    store: Store, roadmaps: Roadmaps, call: Callable[[Roadmaps], object]
) -> None:
    roadmaps.create("r1", "t", TREE)
    owner: Runtime = store._runtime._replace(workspace=None)

    with pytest.raises(WorkspaceRequiredError):
        call(Roadmaps(owner))


# --- workspaces that a merge brought together


def with_second_stream(backend: Backend, name: str) -> tuple[str, str]:
    """Give a workspace another stream of its own; both, the one that is written to first."""
    with backend.transaction() as tx:
        info = next(each for each in tx.read.list_workspaces() if ("key", name) in each.aliases)
        tx.put_workspace(WorkspaceInfo(info.uid, (new_uid(),), ()))
    first, second = info_of(backend, name).streams
    return first, second


@pytest.mark.parametrize("newer", [0, 1])
def test_of_two_streams_the_greater_stamp_wins(backend: Backend, roadmaps: Roadmaps, newer: int) -> None:
    roadmaps.create("old", "t", TREE)
    streams = with_second_stream(backend, "demo")
    put_register(backend, streams[newer], "roadmap:r1", kept(title="newer"), Stamp(20, "aa" * 8))
    put_register(backend, streams[1 - newer], "roadmap:r1", kept(title="older"), Stamp(10, "bb" * 8))

    assert roadmaps.get("r1").title == "newer"
    assert [summary.id for summary in roadmaps.list()] == ["r1", "old"]


def test_a_write_after_a_merge_wins_over_both(backend: Backend, roadmaps: Roadmaps) -> None:
    roadmaps.create("old", "t", TREE)
    for number, uid in enumerate(with_second_stream(backend, "demo")):
        put_register(backend, uid, "roadmap:r1", kept(), Stamp(700 + number, "ff" * 8))

    assert roadmaps.update("r1", OTHER)
    assert roadmaps.get("r1").tree == OTHER
    assert roadmaps.delete("r1")
    assert roadmaps.load("r1") is None


def test_a_workspace_without_a_stream_gets_one(backend: Backend) -> None:
    with backend.transaction() as tx:
        tx.put_workspace(WorkspaceInfo(new_uid(), (), (("key", "bare"),)))
    roadmaps = in_workspace(backend, "bare")
    assert roadmaps.list() == []

    roadmaps.create("r1", "t", TREE)

    assert roadmaps.get("r1").tree == TREE
    assert len(info_of(backend, "bare").streams) == 1


def test_a_roadmap_can_be_the_first_thing_in_a_workspace(backend: Backend) -> None:
    roadmaps = in_workspace(backend, "new")
    assert not roadmaps.update("r1", TREE)
    with backend.reading() as reader:
        assert reader.find_workspace(*Workspace.key("new")) is None

    roadmaps.create("r1", "t", TREE)

    assert [summary.id for summary in roadmaps.list()] == ["r1"]


# --- what cannot be read


@pytest.mark.parametrize(
    "tree",
    [
        "goal = secret",
        "stranger = 'secret'",
        '[[subtask]]\nid = "a"\ninstruction = "b"\nparent = "a"',
        "\ud800",
    ],
)
def test_a_stored_tree_that_cannot_be_read_is_no_tree_and_not_zero_nodes(
    backend: Backend, roadmaps: Roadmaps, tree: str
) -> None:
    roadmaps.create("r1", "t", TREE)
    put_register(backend, info_of(backend, "demo").streams[0], "roadmap:r1", kept(tree))

    for read in (roadmaps.load, roadmaps.get):
        with pytest.raises(MetadataError) as caught:
            read("r1")
        assert "secret" not in str(caught.value)
    assert roadmaps.list() == [RoadmapSummary("r1", "t", None, 1, 2)]
    assert roadmaps.update("r1", OTHER)
    assert roadmaps.get("r1").tree == OTHER


@pytest.mark.parametrize(
    "value", [7, "secret", [], {}, {**kept(), "tree": 7}, {**kept(), "created_ns": "secret"}]
)
def test_a_register_that_is_no_roadmap_is_never_handed_out(
    backend: Backend, roadmaps: Roadmaps, value: Any
) -> None:
    roadmaps.create("r1", "t", TREE)
    put_register(backend, info_of(backend, "demo").streams[0], "roadmap:r1", value)

    for call in (lambda: roadmaps.load("r1"), lambda: roadmaps.update("r1", TREE), lambda: roadmaps.list()):
        with pytest.raises(MetadataError) as caught:
            call()
        assert "secret" not in str(caught.value)
    assert roadmaps.delete("r1")
    assert roadmaps.list() == []
