"""What all wrappers share: passing calls on, and stepping in between."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, Protocol, TypeVar, cast

from manent.storage.port import Backend, Blobs, Capabilities, Drafts, Reader, Transaction

T = TypeVar("T")


class Wrapper:
    """A backend that passes everything on to `inner`; the base of those that do something else."""

    def __init__(self, inner: Backend) -> None:
        self.inner = inner

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.inner!r})"

    @property
    def url(self) -> str:
        return self.inner.url

    @property
    def capabilities(self) -> Capabilities:
        return self.inner.capabilities

    @property
    def writer(self) -> str | None:
        return self.inner.writer

    @property
    def notice(self) -> str | None:
        return self.inner.notice

    @property
    def blobs(self) -> Blobs:
        return self.inner.blobs

    @property
    def drafts(self) -> Drafts:
        return self.inner.drafts

    def transaction(self) -> AbstractContextManager[Transaction]:
        return self.inner.transaction()

    def reading(self) -> AbstractContextManager[Reader]:
        return self.inner.reading()

    def close(self) -> None:
        self.inner.close()


class Between(Protocol):
    """Stands between a caller and a method: sees its name and arguments, and makes the call or does not."""

    def __call__(self, name: str, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Do what the caller of `method(*args, **kwargs)` gets; `name` is like `read.find_row`."""


def stepped_into(room: str, inner: T, between: Between, **replaced: object) -> T:
    """
    Something of the type of `inner`, whose methods are called through `between`.

    Args:
        room: the first half of the names that `between` sees.
        replaced: attributes that are something else than `inner`'s.
    """
    return cast(T, _SteppedInto(room, inner, between, replaced))


def stepped_into_transaction(tx: Transaction, between: Between) -> Transaction:
    """A transaction whose calls, and those of its `read` and its `blobs`, are made through `between`."""
    read, blobs = stepped_into("read", tx.read, between), stepped_into("blobs", tx.blobs, between)
    return stepped_into("transaction", tx, between, read=read, blobs=blobs)


class _SteppedInto:
    def __init__(self, room: str, inner: object, between: Between, replaced: dict[str, object]) -> None:
        self._room = room
        self._inner = inner
        self._between = between
        self.__dict__.update(replaced)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._inner, name)
        return partial(self._between, f"{self._room}.{name}", found) if callable(found) else found
