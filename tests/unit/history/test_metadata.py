"""Metadata: every call on every backend, beside the log and inside the fence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from manent.errors import EncodingError, InputError, MetadataError, NotFoundError
from manent.history.metadata import Described
from manent.history.runtime import Target
from manent.history.store import Store
from manent.model.ids import new_uid
from manent.model.metadata import Metadata, RoadmapLink
from manent.model.plans import PlanSnapshot, Step, StepStatus
from manent.storage.port import Backend
from manent.testing.strategies import AWKWARD, json_values
from tests.stores import store_over
from tests.unit.ndjson.histories import memory_store, sqlite_store

sampled = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

PLAN = PlanSnapshot((Step("read the log", StepStatus.DONE), Step("mend it", StepStatus.TO_DO)))
FIELDS = (
    "title", "persona", "project", "end_reason", "tags", "pin", "scratchpad", "plan", "config_snapshot",
    "roadmap_link",
)  # fmt: skip

SETTERS: dict[str, Callable[[Described], object]] = {
    "rename": lambda handle: handle.rename("On names"),
    "end": lambda handle: handle.end("new"),
    "reopen": lambda handle: handle.reopen(),
    "set_persona": lambda handle: handle.set_persona("coder"),
    "set_project": lambda handle: handle.set_project("/srv/site"),
    "add_tags": lambda handle: handle.add_tags("a"),
    "remove_tags": lambda handle: handle.remove_tags("a"),
    "pin": lambda handle: handle.pin(),
    "unpin": lambda handle: handle.unpin(),
    "set_scratchpad": lambda handle: handle.set_scratchpad({"a": "b"}),
    "set_plan": lambda handle: handle.set_plan(PLAN),
    "set_config_snapshot": lambda handle: handle.set_config_snapshot({"model": "m"}),
    "link_to_node": lambda handle: handle.link_to_node("r", "n"),
    "unlink_from_node": lambda handle: handle.unlink_from_node(),
}


@pytest.fixture(params=["sqlite", "memory"])
def backend(request: pytest.FixtureRequest) -> Iterator[Backend]:
    """An empty store."""
    if request.param == "memory":
        yield memory_store()
    else:
        with sqlite_store() as store:
            yield store


@pytest.fixture
def store(backend: Backend) -> Store:
    """A handle of the workspace `demo`."""
    return store_over(backend, workspace="demo")


def described(store: Store, title: str = "") -> Described:
    """A new conversation."""
    conversation = store.create(title)
    return Described(store._runtime, Target(conversation.uid, conversation.id))


def reserved(store: Store, id: str) -> Described:
    """A conversation that has an id and is nowhere yet, or is what has the id in the store's workspace."""
    return Described(store._runtime, Target(new_uid(), id, reserved=True))


def put_register(store: Store, handle: Described, field: str, value: Any) -> None:
    """What somebody else wrote."""
    with store._runtime.backend.transaction() as tx:
        tx.put_metadata(handle._target.uid, field, value)


# --- each field


def test_a_new_conversation_has_no_metadata(store: Store) -> None:
    handle = described(store)

    assert handle.metadata() == Metadata()
    assert (handle.title, handle.end_reason, handle.is_open, handle.tags, handle.pinned) == (
        "", None, True, (), False,
    )  # fmt: skip


def test_all_metadata_come_back_in_one_read(store: Store) -> None:
    conversation = store.create("old", key="k")
    handle = Described(store._runtime, Target(conversation.uid, conversation.id))

    for set_it in SETTERS.values():
        set_it(handle)
    handle.end("restart")
    handle.add_tags("b", "a")
    handle.pin()
    handle.link_to_node("r", "n")

    assert handle.metadata() == Metadata(
        title="On names",
        persona="coder",
        project="/srv/site",
        key="k",
        end_reason="restart",
        tags=("a", "b"),
        pinned=True,
        scratchpad={"a": "b"},
        plan=PLAN,
        config_snapshot={"model": "m"},
        roadmap_link=RoadmapLink("r", "n"),
    )


def test_what_was_set_at_creation_is_metadata(store: Store) -> None:
    conversation = store.create("t", persona="p", key="k", project="x")
    handle = Described(store._runtime, Target(conversation.uid, conversation.id))

    assert handle.metadata() == Metadata(title="t", persona="p", key="k", project="x")


def test_a_title_is_trimmed_and_an_empty_one_is_none(store: Store) -> None:
    handle = described(store, "old")

    handle.rename("  new \n")
    assert handle.title == store.list()[0].title == "new"

    handle.rename("  ")
    assert handle.title == store.list()[0].title == ""


def test_an_end_has_a_trimmed_reason_that_another_end_replaces(store: Store) -> None:
    handle = described(store)

    handle.end(" new ")
    assert (handle.end_reason, handle.is_open) == ("new", False)

    handle.end("wq")
    assert handle.end_reason == store.list()[0].end_reason == "wq"


def test_an_ended_conversation_can_be_opened_again(store: Store) -> None:
    handle = described(store)
    handle.end("new")

    handle.reopen()

    assert (handle.end_reason, handle.is_open) == (None, True)


@pytest.mark.parametrize("empty", [None, ""])
def test_persona_and_project_can_be_unset(store: Store, empty: str | None) -> None:
    handle = described(store)
    handle.set_persona("p")
    handle.set_project("x")

    handle.set_persona(empty)
    handle.set_project(empty)

    assert handle.metadata() == Metadata()


def test_tags_are_sorted_and_each_there_once(store: Store) -> None:
    handle = described(store)

    handle.add_tags("b", "a", "b")
    handle.add_tags("c", "a")
    handle.remove_tags("b", "not there")

    assert handle.tags == ("a", "c")


def test_the_last_tag_that_goes_leaves_none(store: Store) -> None:
    handle = described(store)
    handle.add_tags("a")

    handle.remove_tags("a")

    assert handle.metadata() == Metadata()


def test_a_tag_that_is_there_is_not_written_again(store: Store) -> None:
    handle = described(store)
    handle.add_tags("a")
    before = list(store.export_lines())

    handle.add_tags("a")
    handle.remove_tags("b")

    assert list(store.export_lines()) == before


def test_a_pin_can_be_taken_back(store: Store) -> None:
    handle = described(store)

    handle.pin()
    assert handle.pinned

    handle.unpin()
    assert not handle.pinned


def test_a_scratchpad_is_replaced_as_a_whole(store: Store) -> None:
    handle = described(store)
    handle.set_scratchpad({"a": "1", "b": "2"})

    handle.set_scratchpad({"b": "3"})
    assert handle.metadata().scratchpad == {"b": "3"}

    handle.set_scratchpad({})
    assert handle.metadata() == Metadata()


def test_a_plan_is_replaced_as_a_whole(store: Store) -> None:
    handle = described(store)

    handle.set_plan(PLAN)
    assert handle.metadata().plan == PLAN

    handle.set_plan(PlanSnapshot())
    assert handle.metadata() == Metadata()


def test_an_empty_config_snapshot_is_one(store: Store) -> None:
    handle = described(store)

    handle.set_config_snapshot({})
    assert handle.metadata().config_snapshot == {}

    handle.set_config_snapshot(None)
    assert handle.metadata().config_snapshot is None


def test_a_link_can_be_set_before_its_roadmap_and_taken_back(store: Store) -> None:
    handle = described(store)

    handle.link_to_node("not there", "yet")
    assert handle.metadata().roadmap_link == RoadmapLink("not there", "yet")

    handle.unlink_from_node()
    assert handle.metadata().roadmap_link is None


@pytest.mark.parametrize("text", [text for text in AWKWARD if text.strip()])
def test_any_text_comes_back_equal(store: Store, text: str) -> None:  # T-1
    handle = described(store)
    name = f"x{text}x"

    handle.rename(name)
    handle.end(name)
    handle.set_persona(name)
    handle.set_project(name)
    handle.add_tags(name)
    handle.set_scratchpad({name: text})
    handle.set_plan(PlanSnapshot((Step(text, StepStatus.ACTIVE),)))
    handle.set_config_snapshot({name: [text]})
    handle.link_to_node(name, name)

    assert handle.metadata() == Metadata(
        title=name,
        end_reason=name,
        persona=name,
        project=name,
        tags=(name,),
        scratchpad={name: text},
        plan=PlanSnapshot((Step(text, StepStatus.ACTIVE),)),
        config_snapshot={name: [text]},
        roadmap_link=RoadmapLink(name, name),
    )


@sampled
@given(value=json_values())
def test_any_json_object_is_a_config_snapshot(backend: Backend, value: Any) -> None:  # T-1
    handle = described(store_over(backend))

    handle.set_config_snapshot({"value": value})

    assert handle.metadata().config_snapshot == {"value": value}


def test_large_values_come_back_whole(store: Store) -> None:
    handle = described(store)
    scratchpad = {str(n): "x" * 10_000 for n in range(200)}
    plan = PlanSnapshot(tuple(Step(f"step {n}", StepStatus.TO_DO) for n in range(5_000)))

    handle.set_scratchpad(scratchpad)
    handle.set_plan(plan)

    assert (handle.metadata().scratchpad, handle.metadata().plan) == (scratchpad, plan)


# --- what cannot be set


class Markup(str):
    """Text with manners of its own."""

    __slots__ = ()

    def __str__(self) -> str:
        return "something else"


BAD_CALLS: dict[str, Callable[[Any], object]] = {
    "a title that is no text": lambda handle: handle.rename(7),
    "no title": lambda handle: handle.rename(None),
    "a blank reason": lambda handle: handle.end("  "),
    "no reason": lambda handle: handle.end(None),
    "a reason that is a story": lambda handle: handle.end("x" * 513),
    "a persona that is no text": lambda handle: handle.set_persona(7),
    "a project that is no text": lambda handle: handle.set_project(b"x"),
    "a blank tag": lambda handle: handle.add_tags("a", " "),
    "a tag that is no text": lambda handle: handle.add_tags(7),
    "a tag that is too long": lambda handle: handle.add_tags("x" * 513),
    "a blank tag to remove": lambda handle: handle.remove_tags(""),
    "a scratchpad that is no mapping": lambda handle: handle.set_scratchpad([("a", "b")]),
    "a scratchpad key that is no text": lambda handle: handle.set_scratchpad({1: "b"}),
    "a scratchpad value that is no text": lambda handle: handle.set_scratchpad({"a": None}),
    "no plan": lambda handle: handle.set_plan(None),
    "a plan that is JSON": lambda handle: handle.set_plan(PLAN.to_json()),
    "a plan with another status": lambda handle: handle.set_plan(PlanSnapshot((Step("a", "secret"),))),  # type: ignore[arg-type]
    "a plan with a step that is none": lambda handle: handle.set_plan(PlanSnapshot(("a",))),  # type: ignore[arg-type]
    "a config that is no object": lambda handle: handle.set_config_snapshot([1]),
    "a config with NaN": lambda handle: handle.set_config_snapshot({"a": float("nan")}),
    "a config with an object": lambda handle: handle.set_config_snapshot({"a": object()}),
    "a config with a text of its own type": lambda handle: handle.set_config_snapshot({"a": Markup("b")}),
    "a config with keys that are no text": lambda handle: handle.set_config_snapshot({1: 2}),
    "a link to a blank roadmap": lambda handle: handle.link_to_node(" ", "n"),
    "a link to a blank node": lambda handle: handle.link_to_node("r", ""),
    "a link to nothing": lambda handle: handle.link_to_node("r", None),
}


@pytest.mark.parametrize("call", BAD_CALLS.values(), ids=BAD_CALLS.keys())
def test_what_cannot_be_stored_is_refused_before_anything_is_written(
    store: Store, call: Callable[[Any], object]
) -> None:
    handle = described(store, "t")
    before = list(store.export_lines())

    with pytest.raises(InputError) as caught:
        call(handle)

    assert "secret" not in str(caught.value)
    assert list(store.export_lines()) == before


def test_text_of_a_type_of_its_own_is_stored_as_text(store: Store) -> None:
    handle = described(store)

    handle.rename(Markup("t"))
    handle.add_tags(Markup("a"))
    handle.set_scratchpad({Markup("k"): Markup("v")})
    handle.link_to_node(Markup("r"), Markup("n"))

    assert handle.metadata() == Metadata(
        title="t", tags=("a",), scratchpad={"k": "v"}, roadmap_link=RoadmapLink("r", "n")
    )


# --- beside the log


@pytest.mark.parametrize("call", SETTERS.values(), ids=SETTERS.keys())
def test_no_metadata_call_moves_the_activity_or_the_list(
    store: Store, call: Callable[[Described], object]
) -> None:  # L-8
    first, last = store.create("first"), store.create("last")
    first.append_turn("q", "a")
    last.append_turn("q", "a")
    seen, order = first.activity_seq, [row.id for row in store.list()]

    call(Described(store._runtime, Target(first.uid, first.id)))

    assert first.activity_seq == seen
    assert [row.id for row in store.list()] == order == [last.id, first.id]
    first.append_turn("q2", "a2", after=seen)
    assert store.verify().ok


def test_metadata_add_no_event(store: Store) -> None:  # L-8
    handle = described(store)
    before = store.read_arrivals()

    for set_it in SETTERS.values():
        set_it(handle)

    assert store.read_arrivals() == before


def test_two_handles_of_one_conversation_see_the_same(store: Store) -> None:
    handle = described(store)
    other = Described(store._runtime, handle._target)

    handle.add_tags("a")
    other.add_tags("b")

    assert handle.tags == other.tags == ("a", "b")


def test_metadata_travel_with_an_export(store: Store) -> None:  # I-4
    handle = described(store)
    for set_it in SETTERS.values():
        set_it(handle)

    copy = store_over(memory_store(), workspace="demo")
    copy.import_lines(store.export_lines())

    there = Described(copy._runtime, Target(handle._target.uid, handle.id))
    assert there.metadata() == handle.metadata()


# --- before the first turn


@pytest.mark.parametrize("call", SETTERS.values(), ids=SETTERS.keys())
def test_a_reserved_conversation_can_be_described_before_its_first_turn(
    store: Store, call: Callable[[Described], object]
) -> None:
    plain, handle = described(store), reserved(store, "c1")

    call(plain)
    call(handle)

    assert handle.metadata() == plain.metadata()
    assert reserved(store, "c1").metadata() == handle.metadata()


def test_a_reserved_conversation_that_nobody_wrote_to_has_no_metadata_and_no_place(store: Store) -> None:
    handle = reserved(store, "c1")

    assert handle.metadata() == Metadata()
    assert handle.is_open
    with pytest.raises(InputError):
        handle.end(" ")
    with pytest.raises(NotFoundError):
        store.conversation("c1")


# --- inside the fence


def test_an_id_of_another_workspace_is_another_conversation(backend: Backend) -> None:  # N-1
    ours, theirs = store_over(backend, workspace="ours"), store_over(backend, workspace="theirs")
    handle = reserved(ours, "c1")
    for set_it in SETTERS.values():
        set_it(handle)
    before = handle.metadata()

    stranger = reserved(theirs, "c1")

    assert stranger.metadata() == Metadata()
    stranger.rename("theirs")
    stranger.end("theirs")
    assert stranger.metadata() == Metadata(title="theirs", end_reason="theirs")
    assert handle.metadata() == before


def test_a_conversation_that_is_gone_is_not_found(store: Store) -> None:
    handle = Described(store._runtime, Target(new_uid(), "gone"))

    with pytest.raises(NotFoundError):
        handle.metadata()
    for set_it in SETTERS.values():
        with pytest.raises(NotFoundError):
            set_it(handle)


# --- what somebody else wrote


GARBAGE: list[tuple[str, Any]] = [
    *((field, 7) for field in FIELDS),
    *((field, {"secret": 1}) for field in FIELDS if field not in ("config_snapshot", "plan")),
    ("tags", ["a", 1]),
    ("tags", "secret"),
    ("pin", "secret"),
    ("scratchpad", {"a": 1}),
    ("scratchpad", ["secret"]),
    ("plan", {"steps": [{"text": "secret", "status": "secret"}]}),
    ("plan", {"steps": [{"text": "secret"}]}),
    ("plan", {"steps": "secret"}),
    ("config_snapshot", ["secret"]),
    ("roadmap_link", {"roadmap_id": "secret"}),
]


@pytest.mark.parametrize(("field", "value"), GARBAGE)
def test_garbage_in_a_register_is_never_handed_out(store: Store, field: str, value: Any) -> None:
    handle = described(store)
    put_register(store, handle, field, value)

    with pytest.raises(EncodingError) as caught:
        handle.metadata()

    assert isinstance(caught.value, MetadataError)
    assert (caught.value.field, caught.value.of) == (field, f"conversation {handle.id}")
    assert "secret" not in str(caught.value)


def test_garbage_in_one_register_leaves_the_others_readable(store: Store) -> None:
    handle = described(store, "t")
    put_register(store, handle, "scratchpad", 7)

    assert (handle.title, handle.is_open, handle.tags, handle.pinned) == ("t", True, (), False)


def test_garbage_can_be_set_anew(store: Store) -> None:
    handle = described(store)
    put_register(store, handle, "scratchpad", 7)

    handle.set_scratchpad({"a": "b"})

    assert handle.metadata() == Metadata(scratchpad={"a": "b"})


def test_garbage_in_the_tags_is_not_written_over_in_passing(store: Store) -> None:
    handle = described(store)
    put_register(store, handle, "tags", "secret")

    with pytest.raises(MetadataError):
        handle.add_tags("a")


def test_a_register_that_nobody_knows_is_passed_over(store: Store) -> None:
    handle = described(store)
    put_register(store, handle, "mood", {"good": True})

    assert handle.metadata() == Metadata()


@sampled
@given(value=json_values())
def test_whatever_stands_in_a_register_is_read_or_refused(backend: Backend, value: Any) -> None:
    store = store_over(backend)
    handle = described(store)
    for field in FIELDS:
        put_register(store, handle, field, value)
        try:
            handle.metadata()
        except MetadataError as error:
            assert error.field == field
            put_register(store, handle, field, None)
