"""
Twins: each awaited method is made of the synchronous one, and is written nowhere a second time.

    append_turn = write(Conversation.append_turn)

Parameters, defaults and docstring are those of the synchronous method, for the type checker as for `help`.
What was a property is an awaited method without arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Coroutine
from functools import partial, wraps
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from manent.aio.interruption import Interruption
from manent.aio.workers import Lane, Workers

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")
S_co = TypeVar("S_co", covariant=True)


class Twin(Generic[S_co]):
    """
    The awaited form of an object.

    Args:
        sync: the object itself.
        workers: the threads on which its calls run.
    """

    def __init__(self, sync: S_co, workers: Workers) -> None:
        self._sync = sync
        self._workers = workers

    def __init_subclass__(cls) -> None:
        """Let tracebacks and warnings name a twin by its own name."""
        super().__init_subclass__()
        for name, value in vars(cls).items():
            if inspect.iscoroutinefunction(value):
                value.__qualname__ = f"{cls.__qualname__}.{name}"


def read(method: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[Twin[S], P], Coroutine[Any, Any, T]]:
    """The twin of a method or property that looks at little."""
    return _twin(method, Lane.READ)


def write(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[Twin[S], P], Coroutine[Any, Any, T]]:
    """The twin of a method that changes something, in one transaction."""
    return _twin(method, Lane.WRITE)


def long_read(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[Twin[S], P], Coroutine[Any, Any, T]]:
    """The twin of a method that may look at the whole store."""
    return _long_twin(method, Lane.LONG_READ)


def long_write(
    method: Callable[Concatenate[S, P], T],
) -> Callable[Concatenate[Twin[S], P], Coroutine[Any, Any, T]]:
    """The twin of a method that may change much, or wait for a source."""
    return _long_twin(method, Lane.LONG_WRITE)


def _twin(
    method: Callable[Concatenate[S, P], T], lane: Lane
) -> Callable[Concatenate[Twin[S], P], Coroutine[Any, Any, T]]:
    function: Callable[Concatenate[S, P], T] = getattr(method, "fget", method)

    @wraps(function)
    async def twin(self: Twin[S], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._workers.run(lane, partial(function, self._sync, *args, **kwargs))

    return twin


def _long_twin(
    method: Callable[Concatenate[S, P], T], lane: Lane
) -> Callable[Concatenate[Twin[S], P], Coroutine[Any, Any, T]]:
    """As `_twin`; a call that tells its progress does so on the event loop, and can be interrupted there."""
    reports = "progress" in inspect.signature(method).parameters

    @wraps(method)
    async def twin(self: Twin[S], /, *args: P.args, **kwargs: P.kwargs) -> T:
        interruption = Interruption()
        named: dict[str, Any] = dict(kwargs)
        if reports:
            named["progress"] = interruption.reporting(named.get("progress"))
        work: Callable[[], T] = partial(method, self._sync, *args, **named)
        return await self._workers.run(lane, work, interruption=interruption)

    return twin
