"""Blocks: bounded, deterministic, and never closed from inside."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manent.history.blocks import (
    LABEL_CHARACTERS_MAX,
    VALUE_CHARACTERS_MAX,
    VALUES_CHARACTERS_MAX,
    plan_get,
    render_plan,
    render_state,
)
from manent.model.plans import PlanSnapshot, Step, StepStatus
from manent.testing.strategies import any_text

TAG = re.compile(r"<\s*/?\s*(?:state|plan)", re.IGNORECASE)


def a_plan(*texts: str, status: StepStatus = StepStatus.TO_DO) -> PlanSnapshot:
    return PlanSnapshot(tuple(Step(text, status) for text in texts))


def inside(block: str) -> str:
    """What stands between the first and the last line."""
    return block.split("\n", 1)[1].rsplit("\n", 1)[0]


def test_a_scratchpad_has_a_line_for_each_key_in_sorted_order() -> None:
    block = render_state({"goal": "mend it", "branch": "fix-1"})

    assert block == "<state>\nbranch: fix-1\ngoal: mend it\n</state>"


def test_a_plan_has_a_line_for_each_step_in_its_order() -> None:
    plan = PlanSnapshot(
        (
            Step("read the log", StepStatus.DONE),
            Step("mend it", StepStatus.ACTIVE),
            Step("ship", StepStatus.TO_DO),
        )
    )

    assert render_plan(plan) == "<plan>\n1. [done] read the log\n2. [active] mend it\n3. [todo] ship\n</plan>"


def test_nothing_to_show_is_no_block() -> None:
    assert render_state({}) == ""
    assert render_plan(PlanSnapshot()) == ""


def test_further_lines_of_a_value_are_indented() -> None:
    assert inside(render_state({"a": "one\ngoal: two\r\nthree"})) == "a: one\n  goal: two\r\n  three"
    assert inside(render_state({"a\nb": ""})) == "a b: "


def test_a_value_has_room_for_its_characters_and_what_was_cut_is_said() -> None:
    whole, more = "x" * VALUE_CHARACTERS_MAX, "x" * (VALUE_CHARACTERS_MAX + 1)

    assert inside(render_state({"a": whole})) == f"a: {whole}"
    assert inside(render_state({"a": more})) == f"a: {whole} [cut: 2,001 characters in all]"
    assert inside(render_plan(a_plan(more))) == f"1. [todo] {whole} [cut: 2,001 characters in all]"


def test_all_values_together_have_a_bound_and_what_is_left_out_is_counted() -> None:
    value = "x" * VALUE_CHARACTERS_MAX
    four = {str(n): value for n in range(4)}

    exact, beyond = render_state(four), render_state({**four, "4": "y", "5": "y"})

    assert "cut" not in exact
    assert exact.count("x") == VALUES_CHARACTERS_MAX
    assert beyond == exact.replace("\n</state>", "\n[cut: 2 more of 6 are not shown]\n</state>")


def test_the_last_value_has_the_room_that_is_left() -> None:
    values = {str(n): "x" * 1_900 for n in range(5)}

    block = render_state(values)

    assert block.count("x") == VALUES_CHARACTERS_MAX
    assert block.endswith("x" * 400 + " [cut: 1,900 characters in all]\n</state>")


def test_keys_are_bounded_too() -> None:
    long = "k" * (LABEL_CHARACTERS_MAX + 1)

    assert inside(render_state({long: "v"})) == (
        "k" * LABEL_CHARACTERS_MAX + " [cut: 201 characters in all]: v"
    )
    assert len(render_state({f"{n:>0200}": "" for n in range(10_000)})) < 10_000


def test_many_empty_values_come_to_an_end() -> None:
    block = render_plan(a_plan(*[""] * 100_000))

    assert len(block) < 3 * VALUES_CHARACTERS_MAX
    assert "of 100,000 are not shown]" in block


def test_a_value_is_cut_between_graphemes() -> None:
    room = VALUE_CHARACTERS_MAX - 1
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"

    for last in ("e\u0301", family, "\ud83d\ude00"):
        shown = inside(render_state({"a": "x" * room + last}))
        assert shown == f"a: {'x' * room} [cut: {room + len(last):,} characters in all]"


@pytest.mark.parametrize(
    "text",
    [
        "</state>",
        "</plan>",
        "<state>",
        "</STATE>",
        "< / state >",
        "<\u200b/state>",
        "<\n/state>",
        "a </state> b <plan> c",
        "<<</state",
    ],
)
def test_no_value_can_close_or_open_a_block(text: str) -> None:
    for block in (render_state({"a": text}), render_state({text: "a"}), render_plan(a_plan(text))):
        assert "&lt;" in inside(block)
        assert TAG.findall(re.sub("[\u200b]", "", inside(block))) == []


def test_no_two_entries_make_a_tag_together() -> None:
    assert TAG.findall(inside(render_state({"/state>": "b", "-": "<", "/plan": "<"}))) == []
    assert TAG.findall(inside(render_plan(a_plan("<", "/plan>")))) == []


def test_other_tags_and_comparisons_stay_as_they_are() -> None:
    assert inside(render_state({"a": "if a < b: </div>"})) == "a: if a < b: </div>"


@given(scratchpad=st.dictionaries(any_text(), any_text(max_size=60) | st.just("</state>\ud83d" * 400)))
def test_any_scratchpad_is_a_whole_bounded_block(scratchpad: dict[str, str]) -> None:
    block = render_state(scratchpad)

    assert block == render_state(dict(reversed(scratchpad.items())))
    if scratchpad:
        assert block.startswith("<state>\n") and block.endswith("\n</state>")
        assert TAG.findall(inside(block)) == []


def test_the_whole_plan_is_said_in_words() -> None:
    long = "x" * (VALUE_CHARACTERS_MAX + 1)
    plan = PlanSnapshot((Step("one\ntwo", StepStatus.DONE), Step(long, StepStatus.TO_DO)))

    assert plan_get(plan) == f"Plan: 1 of 2 steps done.\n1. [done] one\n  two\n2. [todo] {long}"


def test_no_plan_is_said_in_words() -> None:
    assert plan_get(PlanSnapshot()) == "There is no plan."
