r"""
JSON as it stands in leaves, and the escape of names.

A leaf is UTF-8 JSON. Characters stand as themselves, so an escape of a surrogate (`\ud83d`) can only
come from a lone one: our reader never joins two of them, and any Python string comes back equal (T-1).
A plain JSON reader would join a high and a low one that follow each other; it loses nothing else.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

_BACKSLASH = 0x5C
_ENCODER = msgspec.json.Encoder()
_DECODER = msgspec.json.Decoder()
_SURROGATE = re.compile("[\ud800-\udfff]")
_SURROGATE_ESCAPE = re.compile(r"(\\+)u([dD][89abAB][0-9a-fA-F]{2}|[dD][c-fC-F][0-9a-fA-F]{2})")
_NAME_ESCAPED = re.compile("[\\\\\x00\ud800-\udfff]")
_NAME_ESCAPE = re.compile(r"\\(\\|0|u[0-9a-f]{4})")


def dumps(value: Any) -> bytes:
    """
    Write a value (JSON types and Structs) as leaf bytes.

    The bytes of equal values may differ between releases; a leaf is never written again, so that
    only these bytes count (C-1).
    """
    try:
        return _ENCODER.encode(value)
    except UnicodeEncodeError:
        return _dumps_with_surrogates(value)


def _dumps_with_surrogates(value: Any) -> bytes:
    text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, separators=(",", ":"))
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text).encode("utf-8")


def loads(data: bytes) -> Any:
    """
    Read leaf bytes.

    Raises:
        ValueError: the bytes are not UTF-8 JSON.
    """
    if not escapes_surrogate(data):
        return _DECODER.decode(data)
    return json.loads(_SURROGATE_ESCAPE.sub(_unescape_surrogate, data.decode("utf-8")))


def escapes_surrogate(data: bytes) -> bool:
    """Whether leaf bytes hold an escaped surrogate; a text without a backslash is known at once."""
    return _BACKSLASH in data and (b"\\ud" in data or b"\\uD" in data)


def _unescape_surrogate(match: re.Match[str]) -> str:
    """Turn an escape into the code point itself, which `json` leaves alone; skip escaped backslashes."""
    backslashes, digits = match.groups()
    if len(backslashes) % 2 == 0:
        return match[0]
    return backslashes[:-1] + chr(int(digits, 16))


def escape_name(text: str) -> str:
    r"""
    Write an id, key or alias so that every backend can hold it: `\\`, `\0` and `\udXXX`.

    Reversible, and a prefix of a name is written as a prefix of what is written for the name.
    """
    return _NAME_ESCAPED.sub(_escape_character, text)


def _escape_character(match: re.Match[str]) -> str:
    character = match[0]
    if character == "\\":
        return "\\\\"
    return "\\0" if character == "\x00" else f"\\u{ord(character):04x}"


def unescape_name(text: str) -> str:
    """Undo `escape_name`."""
    return _NAME_ESCAPE.sub(_unescape_character, text) if "\\" in text else text


def _unescape_character(match: re.Match[str]) -> str:
    escape = match[1]
    if escape == "\\":
        return "\\"
    return "\x00" if escape == "0" else chr(int(escape[1:], 16))
