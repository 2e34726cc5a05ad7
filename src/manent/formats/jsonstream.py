"""
The objects of a large JSON file, one at a time, without the file in memory.

The file is a list of objects, an object that holds such a list, or one object after the other. What is wrong
with one of them costs that one: reading goes on behind it when its end can be told, or where the next one
visibly begins; otherwise what was read before stays, and the rest is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from manent.errors import FormatError
from manent.formats import jsontext
from manent.formats.jsonscan import MEMBERS_MAX, Fields, fields_if_whole, fields_of, scan, skip_space
from manent.formats.source import HEAD_BYTES, REFUSED_BYTES_MAX
from manent.model.imported import Refusal

READ_BYTES = 1 << 20
_GROWTH_BYTES_MAX = 8 << 20
_RESCANNED_BYTES_MAX = 512 << 20
"""What may be looked at twice for damage in one file; a file of nothing but damage ends there."""

_REFUSED_IN_A_ROW_MAX = 1_000
_GUESS_BYTES = 8 << 20
"""What may be looked through for wrong guesses, beyond as much as right ones have saved."""

_BOM = b"\xef\xbb\xbf"
_FIRST_NAME = re.compile(rb'\{\s*("[^"\\]{1,100}")')
_STRING_REST = re.compile(rb'(?:[^"\\]++|\\.)*+', re.DOTALL)
_BEFORE_TORN_STRING = re.compile(rb'(?:[^"]++|"(?:[^"\\]++|\\.)*+")*+', re.DOTALL)
_SCALAR_REST = re.compile(rb"[^,}\]]*")


class Element(NamedTuple):
    """One object of a file: its place, its bytes, and those of each of its members."""

    place: str
    raw: bytes
    fields: Fields


class Elements:
    """
    Reads the objects of a stream.

    Args:
        stream: read in pieces; the caller closes it.
        name: the file, for places.
        wrapper: the member that holds the list, where the file is an object around one.
        marker: a member that the objects looked for have, near their beginning.
        bytes_max: a longer object is refused, without being held.
    """

    def __init__(
        self,
        stream: BinaryIO,
        *,
        name: str,
        wrapper: str,
        marker: str,
        bytes_max: int,
    ) -> None:
        self._window = _Window(stream)
        self._name = name
        self._wrapper = wrapper
        self._marker = marker
        self._bytes_max = bytes_max
        self._number = 0
        self._rescanned = 0
        self._guess_bytes = _GUESS_BYTES

    def __iter__(self) -> Iterator[Element | Refusal]:
        refused = 0
        for item in self._items():
            refused = refused + 1 if isinstance(item, Refusal) else 0
            yield item
            if refused == _REFUSED_IN_A_ROW_MAX:
                reason = f"{refused:,} entries in a row could not be read; the rest was left out"
                yield Refusal(place=self._name, reason=reason)
                return

    def _items(self) -> Iterator[Element | Refusal]:
        window = self._window
        window.skip_mark()
        if window.peek() == b"{" and not self._is_one(window.head()) and not self._enter_wrapper():
            return
        if window.peek() == b"[":
            window.at += 1
            yield from self._list()
        else:
            while window.peek() == b"{":
                yield from self._element()
        yield from self._check_rest()

    @property
    def _place(self) -> str:
        return f"{self._name}: conversation {self._number}"

    def _enter_wrapper(self) -> bool:
        """Go to the list inside an object; False when there is none."""
        window = self._window
        window.at += 1
        while window.peek() == b'"':
            name = window.string()
            if window.peek() != b":":
                return False
            window.at += 1
            if name == self._wrapper.encode() and window.peek() == b"[":
                return True
            window.skip_value()
            if window.peek() == b",":
                window.at += 1
        return False

    def _list(self) -> Iterator[Element | Refusal]:
        """The elements of the list whose bracket was just passed."""
        window = self._window
        while (sign := window.peek()) not in (b"]", b""):
            if sign == b",":
                window.at += 1
            elif sign == b"{":
                yield from self._element()
            elif sign in (b"}", b":"):
                yield from self._go_on("here the list is broken", window.at, window.at + 1)
            else:
                self._number += 1
                yield Refusal(place=self._place, reason="an entry that is no object")
                window.skip_value()
        if sign == b"":
            reason = f"the file ends inside its list, after {self._number} conversations"
            yield Refusal(place=self._name, reason=reason)
        window.at += 1

    def _check_rest(self) -> Iterator[Refusal]:
        """What follows a list or an object; a wrapper's other members may."""
        if self._number and self._window.peek() not in (b"", b",", b"}"):
            reason = f"after {self._number} conversations follows something else; it was left out"
            yield Refusal(place=self._name, reason=reason)

    def _element(self) -> Iterator[Element | Refusal]:
        """The object that begins here, or why it cannot be read."""
        window = self._window
        self._number += 1
        if (element := self._guess()) is not None:
            yield element
            return
        at, depth = window.at, 0
        while True:
            end, at, depth = scan(window.data, at, depth)
            held = len(window.data) - window.at
            if end >= 0 and end - window.at <= self._bytes_max:
                yield from self._take(end)
                return
            if end >= 0 or held > self._bytes_max:
                yield from self._skip_large(end, at, depth)
                return
            done = at - window.at
            if not window.grow():
                reason = "the file ends in the middle of it"
                yield from self._go_on(reason, window.at, len(window.data))
                return
            at = window.at + done

    def _guess(self) -> Element | None:
        """
        The object up to where one with the same first name seems to begin, if that is an object indeed.

        No beginning of an object is an object, so a guess is right or is seen to be wrong; it is much faster
        than a look at each bracket.
        """
        window = self._window
        first = _FIRST_NAME.match(window.data, window.at)
        if first is None or self._guess_bytes <= 0:
            return None
        pattern = re.compile(rb"\}\s*,\s*\{\s*" + re.escape(first[1]))
        found = pattern.search(window.data, window.at, window.at + self._bytes_max)
        end = found.start() + 1 if found is not None else len(window.data)
        self._guess_bytes -= end - window.at
        raw = window.piece(window.at, end) if found is not None else b""
        if raw.count(b",") > MEMBERS_MAX or (fields := fields_if_whole(raw)) is None:
            return None
        self._guess_bytes = min(self._guess_bytes + 2 * len(raw), _GUESS_BYTES)
        window.leave(end)
        return Element(self._place, raw, fields)

    def _take(self, end: int) -> Iterator[Element | Refusal]:
        window = self._window
        raw = window.piece(window.at, end)
        try:
            fields = fields_of(raw, place=self._place)
        except FormatError as error:
            yield from self._go_on(error.detail, window.at, end)
            return
        window.leave(end)
        yield Element(self._place, raw, fields)

    def _go_on(self, reason: str, start: int, end: int) -> Iterator[Refusal]:
        """Refuse what stands from `start` on, and go on where the next object visibly begins, or at `end`."""
        window = self._window
        found = self._next_object(start, end if end > start + 1 else len(window.data))
        stop = end if found is None else found
        self._rescanned += end - stop
        yield Refusal(
            place=self._place, reason=reason, raw=window.piece(start, min(stop, start + REFUSED_BYTES_MAX))
        )
        window.at = stop

    def _next_object(self, start: int, end: int) -> int | None:
        """Where behind `start` another object of the same kind begins: with the same name, and the marker."""
        data = self._window.data
        first = _FIRST_NAME.match(data, start)
        name = re.escape(first[1]) if first else b'"'
        marker, marker_at = f'"{self._marker}"'.encode(), -1
        for found in re.finditer(rb",\s*(?=\{\s*" + name + rb")", memoryview(data)[start:end]):
            at = start + found.end()
            if marker_at < at:
                marker_at = data.find(marker, at)
            if marker_at < 0 or self._rescanned > _RESCANNED_BYTES_MAX:
                break
            if marker_at - at < HEAD_BYTES:
                self._rescanned += HEAD_BYTES
                if self._is_one(self._window.piece(at, at + HEAD_BYTES)):
                    return at
        self._rescanned += end - start
        return None

    def _is_one(self, head: bytes) -> bool:
        return self._marker in jsontext.outline(head)

    def _skip_large(self, end: int, at: int, depth: int) -> Iterator[Refusal]:
        """An object above the bound: read past it; nothing of it is kept but its beginning."""
        window = self._window
        if end < 0 and self._next_object(window.at, len(window.data)) is not None:
            yield from self._go_on("it has no end", window.at, len(window.data))
            return
        start = window.piece(window.at, window.at + REFUSED_BYTES_MAX)
        before = window.offset
        if end < 0:
            window.skip_container(at, depth)
        else:
            window.at = end
        reason = f"a conversation of {window.offset - before:,} bytes; at most {self._bytes_max:,} are read"
        yield Refusal(place=self._place, reason=reason, raw=start)


class _Window:
    """The part of a stream that is held: `data` from `at` on is still to be read."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._dropped = 0
        self.data = bytearray()
        self.at = 0

    @property
    def offset(self) -> int:
        """How far the whole stream was read."""
        return self._dropped + self.at

    def leave(self, at: int) -> None:
        """Go to `at`; what was read is let go of when it is much."""
        self.at = at
        if at > 2 * READ_BYTES:
            self._cut()

    def _cut(self) -> None:
        self._dropped += self.at
        del self.data[: self.at]
        self.at = 0

    def grow(self) -> bool:
        """Let go of what was read, and hold more; False at the end. `at` becomes 0."""
        self._cut()
        piece = self._stream.read(min(max(READ_BYTES, len(self.data)), _GROWTH_BYTES_MAX))
        self.data += piece
        return bool(piece)

    def piece(self, start: int, end: int) -> bytes:
        """A copy of what is held."""
        with memoryview(self.data) as view:
            return bytes(view[start:end])

    def head(self) -> bytes:
        """The next `HEAD_BYTES`, or what there is."""
        while len(self.data) - self.at < HEAD_BYTES and self.grow():
            pass
        return self.piece(self.at, self.at + HEAD_BYTES)

    def skip_mark(self) -> None:
        """A byte order mark is no part of the first value."""
        if self.head().startswith(_BOM):
            self.at += len(_BOM)

    def peek(self) -> bytes:
        """The next sign that is no white space, where `at` then stands; nothing at the end."""
        while (at := skip_space(self.data, self.at)) == len(self.data):
            self.at = at
            if not self.grow():
                return b""
        self.at = at
        return bytes(self.data[at : at + 1])

    def string(self) -> bytes:
        """The bytes between the quotes of the string here, or the beginning of a long one."""
        self.at += 1
        start = self.head()
        self._skip_string()
        found = _STRING_REST.match(start)
        return found[0] if found else b""

    def skip_value(self) -> None:
        """Read past the value here, without holding it."""
        sign = self.peek()
        if sign == b'"':
            self.at += 1
            self._skip_string()
        elif sign in (b"{", b"["):
            self.skip_container(self.at, 0)
        else:
            self._skip_scalar()

    def skip_container(self, at: int, depth: int) -> None:
        """Read on from `at`, `depth` brackets inside a container, to its end."""
        while True:
            end, self.at, depth = scan(self.data, at, depth)
            if end >= 0:
                return
            found = _BEFORE_TORN_STRING.match(self.data, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.data):
                self.at += 1
                self._skip_string()
            elif not self.grow():
                return
            at = self.at

    def _skip_string(self) -> None:
        """From inside a string to behind its closing quote."""
        while True:
            found = _STRING_REST.match(self.data, self.at)
            self.at = found.end() if found else self.at
            if self.data[self.at : self.at + 1] == b'"':
                self.at += 1
                return
            if not self.grow():
                self.at = len(self.data)
                return

    def _skip_scalar(self) -> None:
        while True:
            found = _SCALAR_REST.match(self.data, self.at)
            self.at = found.end() if found else self.at
            if self.at < len(self.data) or not self.grow():
                return
