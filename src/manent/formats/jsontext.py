"""
Foreign JSON, read by the standard library: it keeps lone surrogates, and takes repeated keys (the last).

What JSON cannot carry is kept as text: `NaN`, `Infinity`, numbers beyond a float or of thousands of digits.
Depth and number of values are bounded before anything is built, so that a bomb is a `FormatError` and
neither a `RecursionError` nor a gigabyte of empty lists (I-3).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator, Iterator
from typing import Any, NamedTuple

from manent.errors import FormatError

DEPTH_MAX = 200
"""Containers inside each other."""

VALUES_MAX = 2_000_000
"""Values and containers of one record."""

_SPACE = re.compile(r"[ \t\n\r]*")
_STRINGS = re.compile(
    rb'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL
)  # a torn one too: never try its quotes again
_NOT_STRUCTURE = bytes(byte for byte in range(256) if byte not in b"[]{},")
_OPENING = frozenset(b"[{")
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+(?:"(?P<key>\s*:)?|\Z)|[\[\]{}]', re.DOTALL)

_OUTLINE_DEPTH_MAX = 6
_OUTLINE_VALUE_MAX = 80


def loads(raw: bytes, *, place: str) -> Any:
    """
    Read one JSON value.

    Args:
        raw: UTF-8; white space around it is fine.
        place: file and line, for the error.

    Raises:
        FormatError: these bytes are no JSON, or beyond the bounds; the text never shows them.
    """
    text = decode(raw, place=place)
    check_shape(raw, place=place)
    value, end = read_value(text, _skip_space(text, 0), place=place)
    if _skip_space(text, end) != len(text):
        raise FormatError(f"not JSON: something follows the value at character {end + 1}", place=place)
    return value


def dumps(value: Any) -> bytes:
    """Compact JSON in UTF-8, keys in their order, lone surrogates escaped: equal values, equal bytes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode("utf-8")


def decode(raw: bytes, *, place: str) -> str:
    """
    UTF-8 to text, whatever the machine's own encoding is. Surrogates written as UTF-8 are kept.

    Raises:
        FormatError: other bytes.
    """
    try:
        return raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 at byte {error.start + 1}", place=place) from error


def check_shape(raw: bytes, *, place: str) -> None:
    """
    Refuse what would take too much depth or memory, before it is built.

    Raises:
        FormatError: deeper than `DEPTH_MAX`, or more than `VALUES_MAX` values.
    """
    opened = raw.count(b"[") + raw.count(b"{")
    if opened <= DEPTH_MAX and raw.count(b",") <= VALUES_MAX - opened:
        return
    structure = _STRINGS.sub(b"", raw).translate(None, _NOT_STRUCTURE)
    if len(structure) - structure.count(b"]") - structure.count(b"}") > VALUES_MAX:
        raise FormatError(f"more than {VALUES_MAX:,} values", place=place)
    depth = 0
    for byte in structure.translate(None, b","):
        depth += 1 if byte in _OPENING else -1
        if depth > DEPTH_MAX:
            raise FormatError(f"nested deeper than {DEPTH_MAX}", place=place)


def read_value(text: str, start: int, *, place: str) -> tuple[Any, int]:
    """
    Read the value that begins at `start`; return it and where it ends. Bounds are the caller's to check.

    Raises:
        FormatError: no JSON value begins there.
    """
    try:
        return _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        raise FormatError(f"not JSON: {error.msg} at character {error.pos + 1}", place=place) from error
    except RecursionError as error:
        raise FormatError("nested too deeply to be read from here", place=place) from error
    except ValueError:
        return _read_with_long_numbers(text, start, place)


class Member(NamedTuple):
    """A member of an object, or, with its bytes, one element of the array that was asked for."""

    name: str
    value: Any
    raw: bytes | None = None


def members(text: str, array: str, *, place: str) -> Iterator[Member]:
    """
    Read an object member by member, and the array under `array` element by element, each with its bytes.

    What stands before a damaged place is yielded before the error is raised.

    Raises:
        FormatError: the text is no object, or breaks off.
    """
    at = _expect(text, 0, "{", place)
    while text[at : at + 1] != "}":
        name, at = read_value(text, at, place=place)
        at = _expect(text, at, ":", place)
        if name == array and text[at : at + 1] == "[":
            at = yield from _elements(text, at, str(name), place)
        else:
            value, at = read_value(text, at, place=place)
            yield Member(str(name), value)
        at = _next(text, at, "}", place)


def _elements(text: str, at: int, name: str, place: str) -> Generator[Member, None, int]:
    at = _skip_space(text, at + 1)
    while text[at : at + 1] != "]":
        value, end = read_value(text, at, place=place)
        yield Member(name, value, text[at:end].encode("utf-8", "surrogatepass"))
        at = _next(text, end, "]", place)
    return at + 1


def _next(text: str, at: int, closing: str, place: str) -> int:
    """Where the next element begins, or the closing bracket stands."""
    at = _skip_space(text, at)
    return at if text[at : at + 1] == closing else _expect(text, at, ",", place)


def _expect(text: str, at: int, sign: str, place: str) -> int:
    at = _skip_space(text, at)
    if text[at : at + 1] != sign:
        raise FormatError(f"not JSON: no {sign!r} at character {at + 1}", place=place)
    return _skip_space(text, at + 1)


def _skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _read_float(digits: str) -> float | str:
    value = float(digits)
    return value if math.isfinite(value) else digits


def _read_int(digits: str) -> int | str:
    try:
        return int(digits)
    except ValueError:
        return digits


_DECODER = json.JSONDecoder(strict=False, parse_float=_read_float, parse_constant=str)
_CAREFUL_DECODER = json.JSONDecoder(
    strict=False, parse_float=_read_float, parse_constant=str, parse_int=_read_int
)


def _read_with_long_numbers(text: str, start: int, place: str) -> tuple[Any, int]:
    """Python refuses to read thousands of digits as an integer: keep them as text."""
    try:
        return _CAREFUL_DECODER.raw_decode(text, start)
    except ValueError as error:
        raise FormatError("not JSON", place=place) from error


def outline(head: bytes) -> dict[str, str]:
    """
    The paths in the first JSON value of a text that may be cut anywhere, each with its first string's bytes.

    `{"a": [{"b": "x"` gives `{"a": "", "a[]": "", "a[].b": "x"}`. For recognisers: nothing is built.
    """
    paths: dict[str, str] = {}
    containers: list[tuple[str, bool]] = []
    here = ""
    for token in _TOKEN.finditer(head):
        sign = token[0][:1]
        if sign in b"[{":
            containers.append((here, sign == b"["))
            here = f"{here}[]" if sign == b"[" and len(containers) <= _OUTLINE_DEPTH_MAX else here
        elif sign in b"]}":
            here = containers.pop()[0] if containers else ""
            here = f"{containers[-1][0]}[]" if containers and containers[-1][1] else here
        elif token["key"] is not None and len(containers) <= _OUTLINE_DEPTH_MAX:
            here = _member_path(containers, token[0])
        if len(containers) <= _OUTLINE_DEPTH_MAX and sign not in b"]}":
            is_text = sign == b'"' and token["key"] is None
            paths[here] = paths.get(here) or (_shown(token[0]) if is_text else "")
        if not containers:
            break
    return paths


def _member_path(containers: list[tuple[str, bool]], token: bytes) -> str:
    name = _shown(token.rpartition(b'"')[0] + b'"')
    above = containers[-1][0] if containers else ""
    path = f"{above}[]" if containers and containers[-1][1] else above
    return f"{path}.{name}" if path else name


def _shown(token: bytes) -> str:
    return token[1 : _OUTLINE_VALUE_MAX + 1].rstrip(b'"').decode("utf-8", "replace")
