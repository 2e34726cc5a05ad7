"""Every event comes back from its leaves as it was (T-1), or is kept where it cannot be read (L-9)."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from manent.codec.leaves import NamedBytes, event_to_leaves, leaf_to_part, leaves_to_event
from manent.codec.sealing import seal
from manent.errors import EncodingError, InputError
from manent.model.events import KINDS, MessageAdded, TurnAppended, TurnEnded, UnknownEvent
from manent.model.parts import OpaquePart, ReasoningPart, TextPart, ToolCallPart
from manent.testing.builders import a_turn, edited, pending, said
from manent.testing.strategies import events, parts

PAIR = "\ud83d\ude00"
roomy = settings(
    max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large], deadline=None
)


@pytest.mark.parametrize("kind", KINDS)
@roomy
@given(data=st.data())
def test_an_event_comes_back_from_its_leaves(kind: str, data: st.DataObject) -> None:  # T-1
    event = data.draw(events(kind))

    assert leaves_to_event(kind, event.SCHEMA_VERSION, event_to_leaves(event)) == event


@roomy
@given(parts())
def test_a_part_comes_back_from_its_leaf(part: object) -> None:  # T-1
    event = said((part, TextPart("beside it")), id="m1")  # type: ignore[arg-type]

    leaf = event_to_leaves(event)[1]

    assert leaf_to_part(leaf.name, leaf.data) == part


@pytest.mark.parametrize("text", [PAIR, f"\\{PAIR}", "\x00", "\ude00\ud83d", ""])
def test_two_surrogates_in_a_part_stay_two(text: str) -> None:  # T-1
    event = said((ReasoningPart(text), TextPart(text), ToolCallPart(text, {text: text})), id="m1")

    assert leaves_to_event("message_added", 1, event_to_leaves(event)) == event


@pytest.mark.parametrize("text", ["", PAIR, "\x00"])
def test_a_field_that_is_empty_text_is_not_absent(text: str) -> None:  # T-1
    event = a_turn("", "", author=text, idempotency_key=text, native=text)

    assert leaves_to_event("turn_appended", 1, event_to_leaves(event)) == event


def test_a_turn_has_a_skeleton_without_words() -> None:  # C-2
    leaves = event_to_leaves(a_turn("secret question", "secret answer", author="ada", parent_id="m0"))

    assert leaves == (
        NamedBytes("skeleton", b'{"parent_message_id":"m0"}'),
        NamedBytes("question", b'"secret question"'),
        NamedBytes("answer", b'"secret answer"'),
        NamedBytes("author", b'"ada"'),
    )


def test_one_plain_text_stands_as_content() -> None:
    assert event_to_leaves(said("hi", id="m1"))[1:] == (NamedBytes("content", b'"hi"'),)
    assert event_to_leaves(edited("m1", "ho"))[1:] == (NamedBytes("new_content", b'"ho"'),)


def test_several_parts_are_a_leaf_each() -> None:
    leaves = event_to_leaves(said((TextPart("a"), TextPart("b")), id="m1"))

    assert [leaf.name for leaf in leaves] == ["skeleton", "text.0", "text.1"]


def test_an_erased_leaf_leaves_its_field_empty() -> None:
    skeleton, question, answer = event_to_leaves(a_turn("q", "a"))

    event = leaves_to_event("turn_appended", 1, [skeleton, (question.name, None), answer])

    assert event == TurnAppended(question="", answer="a")


def test_an_event_whose_skeleton_is_erased_is_unknown() -> None:  # L-9
    assert leaves_to_event("turn_ended", 1, [("skeleton", None)]) == UnknownEvent(
        kind="turn_ended", schema_version=1
    )


@pytest.mark.parametrize(("kind", "version"), [("telepathy_received", 1), ("message_added", 2)])
def test_a_kind_or_version_of_tomorrow_is_unknown(kind: str, version: int) -> None:  # L-9
    unknown = leaves_to_event(kind, version, [("skeleton", b"?")])

    assert unknown == UnknownEvent(kind=kind, schema_version=version)


def test_a_part_of_tomorrow_is_kept_as_it_came() -> None:  # L-9
    part = leaf_to_part("part.0", b'{"type":"hologram","data":"\\ud83d\\ude00"}')

    assert part == OpaquePart(data={"type": "hologram", "data": PAIR})


def test_a_leaf_of_tomorrow_is_passed_over() -> None:  # L-9
    leaves = [*event_to_leaves(said("hi", id="m1")), ("mood", b'"fine"')]

    assert leaves_to_event("message_added", 1, leaves) == MessageAdded(
        message_id="m1", role="user", parts=(TextPart("hi"),)
    )


@pytest.mark.parametrize(
    "leaves",
    [
        [],
        [("skeleton", b"")],
        [("skeleton", b"[]")],
        [("skeleton", b"{}")],
        [("skeleton", b'{"turn_id":"t1"'), ("reason", b'"x"')],
        [("skeleton", b'{"turn_id":"t1"}'), ("reason", b"5")],
        [("skeleton", b'{"turn_id":"t1"}'), ("reason", b'"\xff"')],
        [("skeleton", b'{"turn_id":"t1","state":"dreaming"}')],
        [("skeleton", b'{"turn_id":"t1"}'), ("question", b'"no field of this kind"')],
    ],
    ids=str,
)
def test_leaves_that_are_not_of_their_kind_are_an_error_that_names_the_event(
    leaves: list[tuple[str, bytes]],
) -> None:
    with pytest.raises(EncodingError) as caught:
        leaves_to_event("turn_ended", 1, leaves, event="7@ab")

    assert caught.value.event == "7@ab"


def test_an_error_never_shows_content() -> None:  # U-4
    with pytest.raises(EncodingError) as caught:
        leaves_to_event("turn_ended", 1, [("skeleton", b'{"turn_id":"t1"}'), ("reason", b'["secret"]')])

    assert "secret" not in str(caught.value)


def test_a_message_with_too_many_parts_is_refused() -> None:
    event = said(tuple(TextPart("") for _ in range(65_535)), id="m1")

    with pytest.raises(InputError):
        seal(
            pending(event), uid="00" * 16, writer="00" * 8, first_seq=1, prev_hash=bytes(32), new_salts=bytes
        )


def test_every_kind_is_known_by_its_name_on_disk() -> None:
    assert {cls.KIND for cls in KINDS.values()} == set(KINDS)
    assert len(KINDS) == 25
    assert all(issubclass(cls, msgspec.Struct) and cls.SCHEMA_VERSION == 1 for cls in KINDS.values())
    assert KINDS["turn_ended"] is TurnEnded
