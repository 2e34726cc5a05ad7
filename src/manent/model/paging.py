"""Pages: a bounded piece of an ordered list, and the cursors that lead on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar, overload

from manent.errors import InputError
from manent.model.ids import SEQ_MAX, check_text
from manent.model.rows import Place

T = TypeVar("T", covariant=True)


class Page(Sequence[T], Generic[T]):
    """
    Some items in order; `next` and `previous` are cursors, None where nothing lies beyond.

    A cursor is opaque text; it stays good while others append, rename or remove.
    """

    __slots__ = ("_items", "next", "previous")

    def __init__(self, items: Sequence[T], *, next: str | None = None, previous: str | None = None) -> None:
        self._items = tuple(items)
        self.next = next
        self.previous = previous

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self._items[index]

    def __len__(self) -> int:
        return len(self._items)

    def __iter__(self) -> Iterator[T]:
        return iter(self._items)

    def __repr__(self) -> str:
        return f"Page({len(self._items)} items, next={self.next!r}, previous={self.previous!r})"


def place_to_cursor(place: Place) -> str:
    """A message's place as opaque text."""
    return f"{place.seq}.{place.writer}.{place.ordinal}"


def cursor_to_place(cursor: str) -> Place:
    """
    Undo `place_to_cursor`.

    Raises:
        InputError: the text is no cursor.
    """
    try:
        seq, writer, ordinal = check_text(cursor, "cursor").split(".")
        place = Place(int(seq), bytes.fromhex(writer).hex(), int(ordinal))
        if max(place.seq, place.ordinal) > SEQ_MAX:
            raise ValueError("beyond every place")
        return place
    except ValueError as error:
        raise InputError(f"{cursor[:40]!r} is no cursor; pass one that a page gave.") from error


def check_limit(limit: int) -> int:
    """
    Return `limit`, the greatest number of items in a page.

    Raises:
        InputError: it is below 1.
    """
    if not isinstance(limit, int) or not 1 <= limit < SEQ_MAX:
        raise InputError(f"limit is a whole number from 1 on, not {limit!r}.")
    return limit
