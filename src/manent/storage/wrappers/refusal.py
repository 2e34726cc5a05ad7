"""A backend that can be read only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from manent.errors import ReadOnlyError
from manent.storage.port import Backend, Blobs, Drafts
from manent.storage.wrappers.wrapper import Wrapper, stepped_into

_WRITES = frozenset(("blobs.put", "blobs.drop", "drafts.put", "drafts.drop"))


def read_only(backend: Backend) -> Backend:
    """The same store, in which every write raises ReadOnlyError and every read works."""
    return _ReadOnly(backend)


class _ReadOnly(Wrapper):
    @property
    def blobs(self) -> Blobs:
        return stepped_into("blobs", self.inner.blobs, self._reading_only)

    @property
    def drafts(self) -> Drafts:
        return stepped_into("drafts", self.inner.drafts, self._reading_only)

    def transaction(self) -> NoReturn:
        self._refuse()

    def _reading_only(self, name: str, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        if name in _WRITES:
            self._refuse()
        return method(*args, **kwargs)

    def _refuse(self) -> NoReturn:
        raise ReadOnlyError(store=self.url, why="this handle is read-only")
