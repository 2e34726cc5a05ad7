"""
Secrets, found and masked before anything is written (K-1): in text, in JSON values, in raw records.

Only the secret itself gives way to `[secret:<kind>]`; the words around it stay. What is masked once is not
masked again: no pattern matches any part of what stands there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from manent.history.secret_patterns import SCANS, Secret, could_be_secret, judge, kind_of_key

KNOWN_LENGTH_MIN = 8
"""A shorter secret that is known is not looked for elsewhere: it would be found in words."""

_VALUE_OF_KEY = re.compile(r"[^\s\"'`\\]{8,200}")
_GUESSED = {"password", "secret", "token", "api_key", "bearer_token"}
"""Kinds told by the word before: a kind that tells by the secret's own shape goes before them."""

NO_KINDS: frozenset[str] = frozenset()
"""Nothing is allowed: every kind is masked."""

_PLAIN = re.compile(r"[A-Za-z0-9_.:+=~@-]*")
_ESCAPED_SIGN = re.compile(r"\\u00(?:2[bdefBDEF]|3[0-9adAD]|4[0-9a-fA-F]|5[0-9afAF]|6[0-9a-fA-F]|7[0-9aA])")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*+)("|\Z)(?=(\s*:)?)', re.DOTALL)
_UNIT = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|.", re.DOTALL
)
_SPACE = re.compile(r"[ \t\r\n\ufeff]*")
_DECODER = json.JSONDecoder(strict=False, parse_int=str, parse_float=str, parse_constant=str)


class _Rules(NamedTuple):
    """What is known to be a secret, to its kind, and the kinds that are left alone."""

    known: Mapping[str, str] | None
    allowed: frozenset[str]


class Masked(NamedTuple):
    """A text without its secrets, and the kind of each that was masked, in their order."""

    text: str
    kinds: tuple[str, ...]


def find_secrets(
    text: str, known: Mapping[str, str] | None = None, allowed: frozenset[str] = NO_KINDS
) -> tuple[Secret, ...]:
    """
    Find secrets in a text.

    Args:
        text: anything, also JSON or code as text.
        known: secrets found elsewhere, to their kinds: an echo of one is found without the words that
            gave it away there.
        allowed: kinds that are left alone.

    Returns:
        In the order of the text, none overlapping another.
    """
    found = [secret for scan in SCANS for secret in _scan(scan, text)]
    found += _echoes(text, known or {})
    if len(found) > 1:
        ordered = sorted(found, key=lambda secret: (secret.start, secret.kind in _GUESSED))
        found = list(_without_overlaps(ordered))
    return tuple([secret for secret in found if secret.kind not in allowed] if allowed else found)


def _scan(scan: re.Pattern[str], text: str) -> Iterator[Secret]:
    at = 0
    while (match := scan.search(text, at)) is not None:
        secret = judge(text, match)
        at = secret.end if secret else match.start() + 1
        if secret is not None:
            yield secret


def _echoes(text: str, known: Mapping[str, str]) -> Iterator[Secret]:
    for secret, kind in known.items():
        if len(secret) >= KNOWN_LENGTH_MIN:
            for match in re.finditer(re.escape(secret), text):
                yield Secret(kind, *match.span())


def _without_overlaps(found: list[Secret]) -> tuple[Secret, ...]:
    """What overlaps is one secret, of the first one's kind."""
    joined = [found[0]]
    for secret in found[1:]:
        last = joined[-1]
        if secret.start >= last.end:
            joined.append(secret)
        elif secret.end > last.end:
            joined[-1] = last._replace(end=secret.end)
    return tuple(joined)


def mask(text: str, known: Mapping[str, str] | None = None, allowed: frozenset[str] = NO_KINDS) -> Masked:
    """Put `[secret:<kind>]` in the place of each secret; see `find_secrets`."""
    kinds: list[str] = []
    while secrets := find_secrets(text, known, allowed):
        kinds += (secret.kind for secret in secrets)
        text = "".join(_splice(text, secrets))
    return Masked(text, tuple(kinds))


def _splice(units: str | list[str], secrets: tuple[Secret, ...]) -> Iterator[str]:
    at = 0
    for secret in secrets:
        yield "".join(units[at : secret.start])
        yield f"[secret:{secret.kind}]"
        at = secret.end
    yield "".join(units[at:])


# --- JSON values --------------------------------------------------------------------------------


def mask_value(
    value: Any, known: Mapping[str, str] | None = None, allowed: frozenset[str] = NO_KINDS
) -> tuple[Any, tuple[Secret, ...]]:
    """
    Mask the strings of a JSON value, keys included; a string under a key such as `password` as a whole.

    Returns:
        The value itself when nothing was found, else a copy; and the secrets, each with its place in the
        string that held it.
    """
    if not may_hold(value, known):
        return value, ()
    secrets: list[Secret] = []
    rules = _Rules(known, allowed)
    root: list[Any] = [None]
    pending: list[tuple[Any, Any, Any, str]] = [(root, 0, value, "")]
    while pending:
        target, place, item, key = pending.pop()
        if isinstance(item, str):
            target[place] = _mask_string(item, key, rules, secrets)
        elif isinstance(item, dict):
            target[place] = {}
            pending += reversed(list(_members(item, target[place], rules, secrets)))
        elif isinstance(item, list | tuple):
            target[place] = [None] * len(item)
            pending += reversed([(target[place], n, inner, "") for n, inner in enumerate(item)])
        else:
            target[place] = item
    return (root[0], tuple(secrets)) if secrets else (value, ())


def collect_secrets(value: Any, allowed: frozenset[str] = NO_KINDS) -> dict[str, str]:
    """Every secret in a JSON value, to its kind: what `known` takes, to find its echoes elsewhere."""
    texts: dict[str, str] = {}
    for key, text in _strings(value):
        kind = _kind_under(key, text)
        if kind is not None and kind not in allowed:
            texts.setdefault(text, kind)
        for secret in find_secrets(text, None, allowed):
            texts.setdefault(text[secret.start : secret.end], secret.kind)
    return texts


def _members(
    item: dict[Any, Any], target: dict[Any, Any], rules: _Rules, secrets: list[Secret]
) -> Iterator[tuple[Any, Any, Any, str]]:
    """What is to be masked in an object, its keys masked already; two keys never become one."""
    for key, inner in item.items():
        name = masked = _mask_string(str(key), "", rules, secrets)
        number = 1
        while name in target:
            number += 1
            name = f"{masked} {number}"
        target[name] = None
        yield target, name, inner, str(key)


def _mask_string(text: str, key: str, rules: _Rules, secrets: list[Secret]) -> str:
    kind = _kind_under(key, text)
    if kind is not None and kind not in rules.allowed:
        secrets.append(Secret(kind, 0, len(text)))
        return f"[secret:{kind}]"
    while found := find_secrets(text, *rules):
        secrets += found
        text = "".join(_splice(text, found))
    return text


def _kind_under(key: str, text: str) -> str | None:
    """The kind of a string that is a secret because of its key."""
    if not key or _VALUE_OF_KEY.fullmatch(text) is None or (kind := kind_of_key(key)) is None:
        return None
    if any(secret.start == 0 and secret.end == len(text) for secret in find_secrets(text)):
        return None
    return kind if could_be_secret(text, kind, quoted=True) else None


def _strings(value: Any) -> Iterator[tuple[str, str]]:
    """Each string of a value with the key that it stands under, "" where it is a key or in a list."""
    pending: list[tuple[str, Any]] = [("", value)]
    while pending:
        key, item = pending.pop()
        if isinstance(item, str):
            yield key, item
        elif isinstance(item, dict):
            pending += [("", str(name)) for name in item] + [
                (str(name), inner) for name, inner in item.items()
            ]
        elif isinstance(item, list | tuple):
            pending += [("", inner) for inner in item]


def _as_text(value: Any) -> str:
    """All strings of a value as one text in which every secret of the value is a candidate."""
    return "\n".join(f'{key}="{text}"' if key else text for key, text in _strings(value))


def may_hold(value: Any, known: Mapping[str, str] | None = None) -> bool:
    """Whether a JSON value could hold a secret at all: one quick look, which most values do not pass."""
    return _may_hold(_as_text(value), known)


def _may_hold(text: str, known: Mapping[str, str] | None) -> bool:
    return any(scan.search(text) for scan in SCANS) or any(secret in text for secret in known or ())


# --- raw records --------------------------------------------------------------------------------


def mask_native(raw: bytes, secrets: Collection[str] = (), allowed: frozenset[str] = NO_KINDS) -> bytes:
    """
    Mask a raw record: one or several JSON values, or whatever stood in a file in place of one.

    Strings are read as JSON reads them, so that no escape hides a secret, and only the secret's own bytes
    change. The result is then parsed and looked through; if it were not clean, the masked values would be
    written anew.

    Args:
        raw: UTF-8, or bytes that are not; those come back as they are.
        secrets: known ones, as a collection or to their kinds; see `find_secrets`.
        allowed: kinds that are left alone.
    """
    known = dict(secrets) if isinstance(secrets, Mapping) else dict.fromkeys(secrets, "known")
    text = raw.decode("utf-8", "surrogateescape")
    if (
        not _may_hold(text, known)
        and _ESCAPED_SIGN.search(text) is None
        and all(map(_PLAIN.fullmatch, known))
    ):
        return raw
    rules, values = _Rules(known, allowed), _read_values(text)
    masked = "".join(_mask_strings(text, rules))
    if values is None:
        masked = mask(masked, *rules).text
    elif not _is_clean(masked, rules):
        masked = "\n".join(json.dumps(mask_value(value, *rules)[0]) for value in values)
    return masked.encode("utf-8", "surrogateescape")


def _mask_strings(text: str, rules: _Rules) -> Iterator[str]:
    """The text in pieces, each JSON string masked; a string after `"key":` is judged by its key too."""
    at, key = 0, ""
    for match in _STRING.finditer(text):
        before = text[at : match.start()]
        if before.strip(" \t\r\n:"):
            key = ""
        yield before
        inner, plain = _mask_units(match[1], key, rules)
        yield f'"{inner}{match[2]}'
        at = match.end()
        key = plain if match[3] is not None else ""
    yield text[at:]


def _mask_units(inner: str, key: str, rules: _Rules) -> tuple[str, str]:
    """The inside of a JSON string, masked in its own spelling, and what it said before."""
    if "\\" not in inner:
        return _mask_string(inner, key, rules, []), inner
    units = _UNIT.findall(inner)
    first = plain = "".join(_character(unit) for unit in units)
    if (kind := _kind_under(key, plain)) is not None and kind not in rules.allowed:
        return f"[secret:{kind}]", first
    while found := find_secrets(plain, *rules):
        units = _UNIT.findall("".join(_splice(units, found)))
        plain = "".join(_character(unit) for unit in units)
    return "".join(units), first


def _character(unit: str) -> str:
    """The one character that a unit of a JSON string stands for."""
    if len(unit) == 1:
        return unit
    try:
        character = json.loads(f'"{unit}"')
    except ValueError:
        return "\ufffd"
    return character if isinstance(character, str) and len(character) == 1 else "\ufffd"


def _read_values(text: str) -> list[Any] | None:
    """The JSON values that a text is made of; None when it is not."""
    values: list[Any] = []
    at = _after_space(text, 0)
    try:
        while at < len(text):
            value, at = _DECODER.raw_decode(text, at)
            values.append(value)
            at = _after_space(text, at)
    except (ValueError, RecursionError):
        return None
    return values


def _after_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _is_clean(text: str, rules: _Rules) -> bool:
    values = _read_values(text)
    return values is not None and not any(mask_value(value, *rules)[1] for value in values)
