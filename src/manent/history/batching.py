"""Batching: what is imported is cut and put together into transactions of about one size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeVar

from manent.history.preparing import Prepared, Ready

BATCH_BYTES = 2 << 20
"""About as many bytes of raw records are written in one transaction: an interrupted import goes on there."""

BATCH_MESSAGES = 1_000
"""At most so many messages, and conversations, are written in one transaction."""

FILE_BYTES = 256 << 10
"""What a file counts for, before it was read."""

T = TypeVar("T")


class Slice(NamedTuple):
    """
    What one transaction writes of one conversation.

    What goes with its first and last message, its identity, its head and its links, is written with them.
    """

    prepared: Prepared
    ready: tuple[Ready, ...]
    is_last: bool
    size_bytes: int


def cut(prepared: Prepared) -> Iterator[Slice]:
    """A conversation in slices; none where there is nothing to write."""
    if not prepared.keys or (prepared.uid is not None and not prepared.ready and not prepared.links):
        return
    start, size_bytes = 0, 0
    for place, item in enumerate(prepared.ready):
        own_bytes = _size(item)
        if place > start and (size_bytes + own_bytes > BATCH_BYTES or place - start >= BATCH_MESSAGES):
            yield Slice(prepared, prepared.ready[start:place], False, size_bytes)
            start, size_bytes = place, 0
        size_bytes += own_bytes
    yield Slice(prepared, prepared.ready[start:], True, size_bytes)


def _size(item: Ready) -> int:
    return len(item.message.native) + FILE_BYTES * len(item.message.files)


def together(slices: Iterable[Slice]) -> Iterator[list[Slice]]:
    """Slices that go into one transaction."""
    batch: list[Slice] = []
    size_bytes = messages = 0
    for one in slices:
        weight = max(1, len(one.ready))
        if batch and (size_bytes + one.size_bytes > BATCH_BYTES or messages + weight > BATCH_MESSAGES):
            yield batch
            batch, size_bytes, messages = [], 0, 0
        batch.append(one)
        size_bytes += one.size_bytes
        messages += weight
    if batch:
        yield batch


def marking_last(items: Iterable[T]) -> Iterator[tuple[T, bool]]:
    """Each item, and whether it is the last one."""
    held: list[T] = []
    for item in items:
        if held:
            yield held.pop(), False
        held.append(item)
    if held:
        yield held.pop(), True
