"""What a façade needs of a store beside its calls: several things written in one transaction."""

from __future__ import annotations

from manent.history.runtime import Runtime
from manent.history.store import Store


def runtime_of(store: Store) -> Runtime:
    """The parts behind a store handle; façades write a thing and what describes it together, or nothing."""
    return store._runtime
