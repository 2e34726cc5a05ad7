"""Notes: what a reader had to decide about a conversation, counted, with the first places."""

from __future__ import annotations

from typing import Any

PLACES_MAX = 20
"""Places that are named of each kind of note; all of them are counted."""


class Notes:
    """Collects notes; `as_details` is what goes into the conversation's details."""

    def __init__(self) -> None:
        self._places: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}

    def add(self, kind: str, place: str) -> None:
        """Note one more of a kind, such as `absent_parent`; never content."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        places = self._places.setdefault(kind, [])
        if len(places) < PLACES_MAX:
            places.append(place)

    def as_details(self) -> dict[str, Any]:
        """`{"notes": {kind: {"count": 2, "places": [...]}}}`; empty when nothing was noted."""
        found = {
            kind: {"count": count, "places": self._places[kind]}
            for kind, count in sorted(self._counts.items())
        }
        return {"notes": found} if found else {}
