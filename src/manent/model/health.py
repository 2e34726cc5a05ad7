"""How a store stands, as whoever looks after it is told."""

from __future__ import annotations

from typing import Literal

import msgspec

Facts = dict[str, str | int | float | bool | None]
"""What was measured, by name."""

CheckState = Literal["ok", "notice", "wrong"]
"""A `notice` is worth knowing and nothing to mend; what is `wrong` is."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """
    One thing that was looked at.

    Args:
        name: what it is about, one word.
        state: how it stands.
        said: what was found, never what anybody wrote.
        advice: what to do; "" where nothing is to be done.
        facts: what was measured, by name; bytes, milliseconds and file modes say so in the name.
    """

    name: str
    state: CheckState
    said: str
    advice: str = ""
    facts: Facts = msgspec.field(default_factory=dict)
