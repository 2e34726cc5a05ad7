"""
Old events read anew: version n of a kind's fields to n + 1, on reading, never in place (L-9).

A step is a pure function that is never edited after its release. Fields are those of the skeleton and
of the leaves in one dictionary, as JSON values.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Payload = dict[str, Any]
Upcast = Callable[[Payload], Payload]

UPCASTS: dict[tuple[str, int], Upcast] = {}
"""(kind, version) → the step from that version to the next one. Empty until a kind gets its version 2."""


def upcast(
    kind: str, schema_version: int, payload: Payload, steps: Mapping[tuple[str, int], Upcast] = UPCASTS
) -> tuple[int, Payload]:
    """Take `payload` through every step that exists; return the version reached and the fields."""
    while step := steps.get((kind, schema_version)):
        payload, schema_version = step(payload), schema_version + 1
    return schema_version, payload
