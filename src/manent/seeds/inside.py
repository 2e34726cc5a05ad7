"""What a façade needs of a store beside its calls: several things written in one transaction."""

from __future__ import annotations

from manent.errors import InputError, WorkspaceRequiredError
from manent.history.runtime import Runtime
from manent.history.store import Store


def runtime_of(store: Store) -> Runtime:
    """The parts behind a store handle; façades write a thing and what describes it together, or nothing."""
    return store._runtime


class Within:
    """
    A façade over a store that somebody else opened, and will close.

    Args:
        store: a handle of a workspace, as `manent.open` gives it.

    Raises:
        InputError: it is something else.
        WorkspaceRequiredError: it is the owner's handle.
    """

    def __init__(self, store: Store) -> None:
        if not isinstance(store, Store):
            raise InputError(f"Give a manent.Store, as manent.open() makes one, not {type(store).__name__}.")
        self._store = store
        self._runtime = runtime_of(store)
        if self._runtime.workspace is None:
            raise WorkspaceRequiredError

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._store!r}>"
