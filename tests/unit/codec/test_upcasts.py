"""Old events are read anew, step by step, and never rewritten (L-9)."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from manent.codec import upcasts
from manent.codec.leaves import leaves_to_event
from manent.codec.upcasts import UPCASTS, Payload, Upcast, upcast
from manent.errors import EncodingError
from manent.model.events import KINDS, TurnEnded, TurnState


def said_v1_to_v2(payload: Payload) -> Payload:
    """Version 2 holds parts where version 1 held one string."""
    rest = {name: value for name, value in payload.items() if name != "content"}
    return {**rest, "parts": [payload["content"]]}


def said_v2_to_v3(payload: Payload) -> Payload:
    """Version 3 names who spoke."""
    return {"role": "user", **payload}


STEPS: Mapping[tuple[str, int], Upcast] = {("said", 1): said_v1_to_v2, ("said", 2): said_v2_to_v3}


def test_an_old_event_takes_every_step_to_the_present() -> None:  # L-9
    version, payload = upcast("said", 1, {"content": "hi"}, STEPS)

    assert (version, payload) == (3, {"role": "user", "parts": ["hi"]})


def test_an_event_in_between_takes_the_steps_that_are_left() -> None:  # L-9
    assert upcast("said", 2, {"parts": ["hi"]}, STEPS) == (3, {"role": "user", "parts": ["hi"]})


def test_an_event_of_the_present_stays_as_it_is() -> None:  # L-9
    payload: Payload = {"role": "tool", "parts": []}

    assert upcast("said", 3, payload, STEPS) == (3, payload)
    assert upcast("heard", 1, payload, STEPS) == (1, payload)


def test_a_step_leaves_the_stored_fields_alone() -> None:
    stored: Payload = {"content": "hi"}

    upcast("said", 1, stored, STEPS)

    assert stored == {"content": "hi"}


def test_every_kind_has_the_steps_from_its_first_version_to_the_present() -> None:  # L-9
    walked = {kind: upcast(kind, 1, {}, _counting(kind))[0] for kind in KINDS}

    assert walked == {kind: cls.SCHEMA_VERSION for kind, cls in KINDS.items()}


def _counting(kind: str) -> Mapping[tuple[str, int], Upcast]:
    """The real steps of a kind, as far as they go, without what they do."""
    return {key: lambda payload: payload for key in UPCASTS if key[0] == kind}


class TestThroughLeaves:
    """An event of version 1 in a release where its kind has version 2."""

    @pytest.fixture(autouse=True)
    def second_version(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(TurnEnded, "SCHEMA_VERSION", 2)

    def test_old_leaves_become_the_present_event(self, monkeypatch: pytest.MonkeyPatch) -> None:  # L-9
        def outcome_to_state(payload: Payload) -> Payload:
            return {"turn_id": payload["turn_id"], "state": payload["outcome"], "reason": payload["why"]}

        monkeypatch.setitem(upcasts.UPCASTS, ("turn_ended", 1), outcome_to_state)

        event = leaves_to_event(
            "turn_ended",
            1,
            [("skeleton", b'{"turn_id":"t1","outcome":"failed"}'), ("why", b'"\\ud83d\\ude00"')],
        )

        assert event == TurnEnded(turn_id="t1", state=TurnState.FAILED, reason="\ud83d\ude00")

    def test_a_missing_step_is_an_error(self) -> None:  # L-9
        with pytest.raises(EncodingError):
            leaves_to_event("turn_ended", 1, [("skeleton", b'{"turn_id":"t1"}')])
