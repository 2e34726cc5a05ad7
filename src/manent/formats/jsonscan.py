"""
JSON in bytes, taken apart without being read: where a value ends, what stands in an object or list.

Only strings and brackets are looked at, so that a fault inside one value costs that value; whoever reads the
value finds it. Nothing is built, and nothing is recursive: depth costs no memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from manent.errors import FormatError
from manent.formats import jsontext

Fields = dict[str, msgspec.Raw]
"""An object: the bytes of each member's value. A name that occurs twice stands for its last value."""

MEMBERS_MAX = 250_000
"""Members of one object, values of one list."""

_FLAT = rb'[^"{}\[\]]++|"(?:[^"\\]++|\\.)*+"'
_PLAIN = rb"(?:" + _FLAT + rb"|[\[{](?:" + _FLAT + rb")*+[\]}])*+"
_STEP = re.compile(_PLAIN + rb'(?:([\[{]++)|([\]}]++)|"|\Z)', re.DOTALL)
"""
To the next brackets that are no flat container; to the quote of a string that does not end here; or to the
end. Always matches, and looks at no byte more than twice.
"""

_STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+"', re.DOTALL)
_SCALAR = re.compile(rb"[^\s,:{}\[\]\"]+")
_SPACE = re.compile(rb"[ \t\n\r]*")

_FIELDS = msgspec.json.Decoder(Fields)
_ITEMS = msgspec.json.Decoder(list[msgspec.Raw])
_ANYTHING = msgspec.json.Decoder()


class Scan(NamedTuple):
    """How far a scan came: the `end` of the value, or -1 and where to go on, and how deep that is."""

    end: int
    at: int
    depth: int


def scan(data: bytes | bytearray, at: int, depth: int) -> Scan:
    """
    Go on from `at` until `depth` containers are closed.

    Args:
        at: in no string. With depth 0 a container opens there.
    """
    if depth == 0:
        at, depth = at + 1, 1
    for found in _STEP.finditer(data, at):
        if found.lastindex is None:
            break
        at = found.end()
        if found.lastindex == 1:
            depth += at - found.start(1)
        else:
            depth -= at - found.start(2)
            if depth <= 0:
                return Scan(at + depth, at + depth, 0)
    return Scan(-1, at, depth)


def skip_space(data: bytes | bytearray, at: int) -> int:
    """Where the next sign stands."""
    found = _SPACE.match(data, at)
    return found.end() if found else at


def fields_of(raw: bytes | msgspec.Raw, *, place: str) -> Fields:
    """
    The members of an object.

    Raises:
        FormatError: these bytes are no object, or one of more than `MEMBERS_MAX` members.
    """
    content = bytes(raw)
    _check_number(content, b"{}", place)
    whole = fields_if_whole(content)
    fields = dict(_members(content, place)) if whole is None else whole
    _check_length(len(fields), place)
    return fields


def fields_if_whole(raw: bytes) -> Fields | None:
    """The members of an object; None unless these bytes are one object from end to end."""
    try:
        return _FIELDS.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return None


def items_of(raw: bytes | msgspec.Raw, *, place: str) -> list[msgspec.Raw]:
    """
    The values of a list.

    Raises:
        FormatError: these bytes are no list, or one of more than `MEMBERS_MAX` values.
    """
    content = bytes(raw)
    _check_number(content, b"[]", place)
    try:
        items = _ITEMS.decode(content)
    except (msgspec.DecodeError, RecursionError):
        items = [msgspec.Raw(piece) for _, piece in _pieces(content, b"[]", place)]
    _check_length(len(items), place)
    return items


def load(raw: bytes | msgspec.Raw, *, place: str) -> Any:
    """
    Read a value, as `jsontext.loads` does but faster.

    Raises:
        FormatError: these bytes are no JSON, or beyond the bounds of depth and number.
    """
    content = bytes(raw)
    jsontext.check_shape(content, place=place)
    try:
        return _ANYTHING.decode(content)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return jsontext.loads(content, place=place)


def _check_number(raw: bytes, brackets: bytes, place: str) -> None:
    """Count before anything is built, where there may be far too many."""
    if raw.count(b",") > 4 * MEMBERS_MAX:
        for number, _ in enumerate(_pieces(raw, brackets, place), start=1):
            _check_length(number, place)


def _check_length(number: int, place: str) -> None:
    if number > MEMBERS_MAX:
        raise FormatError(f"more than {MEMBERS_MAX:,} members in one object or list", place=place)


def _members(raw: bytes, place: str) -> Iterator[tuple[str, msgspec.Raw]]:
    for name, piece in _pieces(raw, b"{}", place):
        key = jsontext.loads(name, place=place)
        yield key if isinstance(key, str) else str(key), msgspec.Raw(piece)


def _pieces(raw: bytes, brackets: bytes, place: str) -> Iterator[tuple[bytes, bytes]]:
    """Each value of an object or list, with its name in an object."""
    closing = brackets[1:]
    at = _expect(raw, 0, brackets[:1], place)
    while raw[at : at + 1] != closing:
        name = b""
        if closing == b"}":
            end = _end_of_string(raw, at, place)
            name, at = raw[at:end], _expect(raw, end, b":", place)
        end = _end_of_value(raw, at, place)
        yield name, raw[at:end]
        at = skip_space(raw, end)
        at = at if raw[at : at + 1] == closing else _expect(raw, at, b",", place)
    if skip_space(raw, at + 1) != len(raw):
        raise FormatError(f"not JSON: something follows the value at byte {at + 2}", place=place)


def _end_of_value(raw: bytes, at: int, place: str) -> int:
    sign = raw[at : at + 1]
    if sign == b'"':
        return _end_of_string(raw, at, place)
    if sign in (b"{", b"["):
        end = scan(raw, at, 0).end
    else:
        found = _SCALAR.match(raw, at)
        end = found.end() if found else -1
    if end < 0:
        raise FormatError(f"not JSON: no value at byte {at + 1}", place=place)
    return end


def _end_of_string(raw: bytes, at: int, place: str) -> int:
    found = _STRING.match(raw, at)
    if found is None:
        raise FormatError(f"not JSON: no string at byte {at + 1}", place=place)
    return found.end()


def _expect(raw: bytes, at: int, sign: bytes, place: str) -> int:
    at = skip_space(raw, at)
    if raw[at : at + 1] != sign:
        raise FormatError(f"not JSON: no {sign.decode()!r} at byte {at + 1}", place=place)
    return skip_space(raw, at + 1)
