"""Plans: snapshots that are read strictly, and trees that come back from TOML as they were."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manent.errors import FormatError, InputError, NotFoundError
from manent.model.plans import (
    Aggregation,
    CaveatPolicy,
    Plan,
    PlanSnapshot,
    Step,
    StepStatus,
    Subtask,
    SubtaskStatus,
)
from manent.testing.strategies import any_text, json_values

WHOLE = """\
goal = "ship it"
aggregation = "lastwins"

[[subtask]]
id = "build"
instruction = "build it"

[[subtask]]
id = "compile"
instruction = "compile it"
deps = [
    "fetch",
]
parallel_ok = true
context = [
    "main.c",
]
verify = "make check"
status = "running"
result = "half"
parent = "build"

[subtask.caveat_policy]
fs_read = "all"
net = [
    "example.org",
]
max_calls = 3
"""

COMPILE = Subtask(
    "compile",
    "compile it",
    deps=("fetch",),
    parallel_ok=True,
    context=("main.c",),
    verify="make check",
    status=SubtaskStatus.RUNNING,
    result="half",
    parent="build",
    caveat_policy=CaveatPolicy(fs_read="all", net=("example.org",), max_calls=3),
)


def a_plan(*subtasks: Subtask) -> Plan:
    return Plan(subtasks=subtasks)


def to_do(id: str, **fields: Any) -> Subtask:
    return Subtask(id, f"do {id}", **fields)


def done(id: str, **fields: Any) -> Subtask:
    return to_do(id, status=SubtaskStatus.DONE, **fields)


def one_table(lines: str) -> str:
    return f'[[subtask]]\nid = "a"\ninstruction = "b"\n{lines}\n'


# --- snapshots


def test_a_snapshot_has_a_documented_json() -> None:
    plan = PlanSnapshot((Step("read the log", StepStatus.DONE), Step("mend it", StepStatus.ACTIVE)))

    value = plan.to_json()

    assert value == {
        "steps": [{"text": "read the log", "status": "done"}, {"text": "mend it", "status": "active"}]
    }
    assert PlanSnapshot.from_json(value) == plan


@given(steps=st.lists(st.builds(Step, any_text(), st.sampled_from(StepStatus)), max_size=5).map(tuple))
def test_any_snapshot_comes_back_equal(steps: tuple[Step, ...]) -> None:  # T-1
    assert PlanSnapshot.from_json(PlanSnapshot(steps).to_json()) == PlanSnapshot(steps)


def test_fields_of_a_snapshot_that_nobody_knows_are_passed_over() -> None:
    value = {"steps": [{"text": "a", "status": "todo", "colour": "red"}], "mood": "good"}

    assert PlanSnapshot.from_json(value) == PlanSnapshot((Step("a", StepStatus.TO_DO),))


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"steps": [{"text": "a", "status": "todo"}, {"text": "b", "status": "secret"}]}, "steps[1].status"),
        ({"steps": [{"text": "a", "status": "\ud800"}]}, "plan"),
        ({"steps": [{"text": 1, "status": "todo"}]}, "steps[0].text"),
        ({"steps": [{"text": "secret"}]}, "status"),
        ({"steps": "secret"}, "steps"),
        (["secret"], "plan"),
        (None, "plan"),
    ],
)
def test_a_snapshot_of_another_shape_is_refused_by_the_name_of_its_field(value: Any, where: str) -> None:
    with pytest.raises(InputError) as caught:
        PlanSnapshot.from_json(value)

    assert where in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("status", ["secret", "DONE", 1, None, object()])
def test_a_snapshot_that_holds_no_status_is_not_written(status: Any) -> None:
    with pytest.raises(InputError):
        PlanSnapshot((Step("a", status),)).to_json()


# --- trees and TOML


def test_a_tree_is_read_from_its_toml() -> None:
    plan = Plan.from_toml(WHOLE)

    assert plan == Plan("ship it", Aggregation.LASTWINS, (Subtask("build", "build it"), COMPILE))


def test_a_tree_is_written_as_toml_without_its_defaults() -> None:
    plan = Plan("ship it", Aggregation.LASTWINS, (Subtask("build", "build it"), COMPILE))

    assert plan.to_toml() == WHOLE


@pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n"])
def test_an_empty_text_is_an_empty_plan(text: str) -> None:
    assert Plan.from_toml(text) == Plan()
    assert Plan().to_toml() == ""


def test_a_subtask_is_denied_what_it_does_not_ask_for() -> None:
    (subtask,) = Plan.from_toml(one_table('[subtask.caveat_policy]\nexec = ["make"]')).subtasks

    assert subtask.caveat_policy == CaveatPolicy(
        fs_read="none", fs_write="none", exec=("make",), net="none", max_calls=None
    )


def test_a_part_of_a_plan_is_a_plan() -> None:
    text = one_table('parent = "elsewhere"\ndeps = ["elsewhere too"]')

    plan = Plan.from_toml(text)

    assert plan == a_plan(Subtask("a", "b", deps=("elsewhere too",), parent="elsewhere"))
    assert plan.roots() == plan.subtasks


TOML_TEXTS = any_text().filter(lambda text: not any("\ud800" <= one <= "\udfff" for one in text))
SCOPES = st.sampled_from(["none", "all"]) | st.lists(TOML_TEXTS, max_size=2).map(tuple)
POLICIES = st.builds(
    CaveatPolicy,
    fs_read=SCOPES,
    fs_write=SCOPES,
    exec=SCOPES,
    net=SCOPES,
    max_calls=st.none() | st.integers(0, 1 << 62),
)
TEXTS = st.lists(TOML_TEXTS, max_size=2).map(tuple)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    ids = draw(st.lists(TOML_TEXTS.filter(lambda text: bool(text.strip())), unique=True, max_size=4))
    subtasks = tuple(
        Subtask(
            id,
            draw(TOML_TEXTS),
            deps=tuple(draw(st.lists(st.sampled_from(ids), max_size=2)) if number else ()),
            parallel_ok=draw(st.booleans()),
            context=draw(TEXTS),
            verify=draw(st.none() | TOML_TEXTS),
            status=draw(st.sampled_from(SubtaskStatus)),
            result=draw(st.none() | TOML_TEXTS),
            parent=draw(st.none() | st.sampled_from(ids[:number])) if number else None,
            caveat_policy=draw(POLICIES),
        )
        for number, id in enumerate(ids)
    )
    apart = tuple(
        msgspec.structs.replace(each, deps=tuple(dep for dep in each.deps if dep != each.id))
        for each in subtasks
    )
    return Plan(draw(st.none() | TOML_TEXTS), draw(st.sampled_from(Aggregation)), apart)


@given(plan=plans())
def test_any_tree_comes_back_from_toml_equal(plan: Plan) -> None:  # T-1
    text = plan.to_toml()

    assert Plan.from_toml(text) == plan
    assert Plan.from_toml(text).to_toml() == text


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("goal = secret", "line 1"),
        ("goal = 'a'\ngoal = 'secret'", "plan"),
        ("goal = 'a\x00secret'", "line 1"),
        ('goal = "\\ud800 secret"', "line 1"),
        ("goal = '\ud800 secret'", "surrogate"),
        ("x = " + "[" * 100_000, "no TOML"),
        ("x = " + "9" * 5_000, "no TOML"),
        ("goal = 1979-05-27", "plan.goal"),
        ("aggregation = 'secret'", "plan.aggregation"),
        ("stranger = 'secret'", "'stranger'"),
        ("'a secret' = 1", "unknown field"),
        ("subtask = 'secret'", "plan.subtask"),
        ("[subtask]\nid = 'secret'", "plan.subtask"),
        ("[[subtask]]\nid = 'a'", "instruction"),
        ("[[subtask]]\ninstruction = 'secret'", "id"),
        (one_table("stranger = 'secret'"), "'stranger'"),
        (one_table("status = 'secret'"), "plan.subtask[0].status"),
        (one_table("deps = 'secret'"), "plan.subtask[0].deps"),
        (one_table("deps = ['x', 1]"), "plan.subtask[0].deps[1]"),
        (one_table("parallel_ok = 'secret'"), "plan.subtask[0].parallel_ok"),
        (one_table("[subtask.caveat_policy]\nnet = 'secret'"), "plan.subtask[0].caveat_policy.net"),
        (one_table("[subtask.caveat_policy]\nmax_calls = -1"), "plan.subtask[0].caveat_policy.max_calls"),
        (one_table("[subtask.caveat_policy]\nstranger = 'secret'"), "'stranger'"),
    ],
)
def test_a_text_that_is_no_plan_is_refused_by_its_place(text: str, where: str) -> None:
    with pytest.raises(FormatError) as caught:
        Plan.from_toml(text)

    assert where in str(caught.value)
    assert "secret" not in str(caught.value)


BAD_TREES = [
    a_plan(to_do("a"), to_do("a")),
    a_plan(to_do("a", deps=("a",))),
    a_plan(to_do("a", parent="a")),
    a_plan(to_do("a", parent="c"), to_do("b", parent="a"), to_do("c", parent="b"), to_do("d", parent="c")),
]


@pytest.mark.parametrize("plan", BAD_TREES)
def test_a_bad_tree_is_not_written(plan: Plan) -> None:
    with pytest.raises(InputError):
        plan.check()
    with pytest.raises(InputError):
        plan.to_toml()


@pytest.mark.parametrize("fields", ["", 'deps = ["a"]', 'parent = "a"'])
def test_a_bad_tree_is_not_read(fields: str) -> None:
    text = one_table(fields) + (one_table("") if not fields else "")

    with pytest.raises(InputError, match="'a'"):
        Plan.from_toml(text)


def test_a_subtask_needs_an_id() -> None:
    with pytest.raises(InputError):
        a_plan(to_do(" ")).check()


@pytest.mark.parametrize(
    "plan",
    [
        Plan(goal="\ud800"),
        a_plan(to_do("\udfff")),
        a_plan(to_do("a", caveat_policy=CaveatPolicy(net=("\ud83d\ude00",)))),
    ],
)
def test_a_lone_surrogate_is_refused_before_it_is_written(plan: Plan) -> None:  # T-1
    with pytest.raises(InputError, match="surrogate"):
        plan.to_toml()


@pytest.mark.parametrize(
    "field", ["deps", "context", "verify", "status", "result", "parent", "caveat_policy"]
)
@pytest.mark.parametrize("value", [1, object(), ["x", 2]])
def test_a_field_of_another_type_is_not_written(field: str, value: Any) -> None:
    with pytest.raises(InputError):
        a_plan(to_do("a", **{field: value})).to_toml()


def test_a_long_chain_of_parents_is_a_tree() -> None:
    chain = a_plan(to_do("0"), *(to_do(str(n), parent=str(n - 1)) for n in range(1, 20_000)))

    chain.check()

    assert [leaf.id for leaf in chain.leaves()] == ["19999"]


# --- walking the tree


TREE = a_plan(
    to_do("build"),
    done("fetch", parent="build"),
    to_do("link", parent="build", deps=("compile",)),
    to_do("compile", parent="build", deps=("fetch",)),
    to_do("ship", deps=("build", "elsewhere")),
)


def ids(subtasks: tuple[Subtask, ...]) -> list[str]:
    return [subtask.id for subtask in subtasks]


def test_a_tree_has_roots_children_and_leaves() -> None:
    assert ids(TREE.roots()) == ["build", "ship"]
    assert ids(TREE.children("build")) == ["fetch", "link", "compile"]
    assert ids(TREE.children("elsewhere")) == []
    assert ids(TREE.leaves()) == ["fetch", "link", "compile", "ship"]


def test_a_subtask_is_found_by_its_id() -> None:
    assert TREE.find("compile") == to_do("compile", parent="build", deps=("fetch",))
    assert TREE.find("elsewhere") is None


def test_the_next_ready_leaf_is_the_first_whose_deps_are_done() -> None:
    ready = TREE.next_ready_leaf()

    assert ready is not None
    assert ready.id == "compile"


def test_a_leaf_whose_dep_is_elsewhere_is_never_ready() -> None:
    assert a_plan(to_do("a", deps=("elsewhere",))).next_ready_leaf() is None


@pytest.mark.parametrize("status", ["running", "failed"])
def test_a_leaf_that_is_not_pending_is_not_ready(status: str) -> None:
    assert a_plan(to_do("a")).marked("a", status).next_ready_leaf() is None


def test_marking_gives_another_plan_and_leaves_the_first_alone() -> None:
    plan = a_plan(to_do("a"), to_do("b", deps=("a",)))

    marked = plan.marked("a", SubtaskStatus.DONE, "it went well")

    assert marked == a_plan(done("a", result="it went well"), to_do("b", deps=("a",)))
    assert plan == a_plan(to_do("a"), to_do("b", deps=("a",)))


def test_marking_without_a_result_keeps_the_one_that_is_there() -> None:
    plan = a_plan(to_do("a", result="half"))

    assert plan.marked("a", "done") == a_plan(done("a", result="half"))


def test_marking_refuses_what_is_not_there_and_what_is_no_status() -> None:
    plan = a_plan(to_do("a"))

    with pytest.raises(NotFoundError):
        plan.marked("b", SubtaskStatus.DONE)
    with pytest.raises(InputError):
        plan.marked("a", "finished")
    with pytest.raises(InputError):
        plan.marked("a", "done", result=7)  # type: ignore[arg-type]


def test_a_plan_is_complete_when_every_leaf_is_done() -> None:
    plan = a_plan(to_do("above"), done("a", parent="above"), to_do("b", parent="above"))

    assert not plan.is_complete
    assert plan.marked("b", "done").is_complete
    assert Plan().is_complete


@given(value=json_values())
def test_garbage_is_a_plan_or_an_input_error(value: Any) -> None:
    for garbage in (value, {"steps": value}, {"steps": [value]}):
        try:
            PlanSnapshot.from_json(garbage)
        except InputError as error:
            assert str(error).startswith("plan")
