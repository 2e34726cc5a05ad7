"""
Which fields of an event are leaves, and their JSON.

The first leaf of every event is its skeleton: an object of all fields that hold nobody's words. Each
other leaf holds one field. A message's parts are a leaf each, `text.0`, `part.1` …, numbered through: `text`
for words, `part` for anything else, so that erasing shows what kind of thing is gone; one plain text part
alone stands as `content`, under the name that the editor log gave it. Empty fields have no leaf.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from manent.codec import canonical, upcasts
from manent.errors import EncodingError, InputError
from manent.model.events import KINDS, Event, UnknownEvent
from manent.model.parts import (
    AnyPart,
    Citation,
    OpaquePart,
    PhantomReach,
    TextPart,
    ToolEvent,
    Usage,
    check_json,
)

SKELETON = "skeleton"
"""The name of every event's first leaf."""

LEAVES_MAX = 1 << 16
"""An event has fewer leaves than this, so that (position, leaf) fits one integer."""

_TYPES: dict[str, Any] = {
    "origin": dict[str, Any] | None,
    "question": str,
    "answer": str,
    "tool_events": tuple[ToolEvent, ...],
    "citations": tuple[Citation, ...],
    "usage": Usage | None,
    "phantom_reaches": tuple[PhantomReach, ...],
    "metadata": dict[str, Any] | None,
    "reason": str | None,
    "prompts": tuple[dict[str, Any], ...],
    "answers": dict[str, Any] | None,
    "replacement": str | None,
    "summary": str | None,
    "diff": dict[str, Any] | None,
    "found": dict[str, Any] | None,
    "source": dict[str, Any] | None,
    "author": str | None,
    "idempotency_key": str | None,
    "native": str | None,
}
"""Field → type of every leaf that holds one field, in the order in which leaves are written."""

_TEXTS = (str, str | None)
_PARTS = {"parts": "", "new_parts": "new_"}
"""Field of parts → what stands before the names of its leaves."""

_PART_NAME = re.compile(r"(new_)?(?:content|(?:text|part)\.(?:0|[1-9][0-9]{0,4}))\Z")
_DECODERS = {name: msgspec.json.Decoder(of) for name, of in _TYPES.items()}
_SKELETONS = {kind: msgspec.json.Decoder(cls) for kind, cls in KINDS.items()}
_PART_DECODER: msgspec.json.Decoder[AnyPart] = msgspec.json.Decoder(AnyPart)


class NamedBytes(NamedTuple):
    """A leaf before it is salted: its name and its JSON."""

    name: str
    data: bytes


def _layout(cls: type[Event]) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, Any]]:
    fields = set(cls.__struct_fields__)
    single = tuple(name for name in _TYPES if name in fields)
    parts = tuple(name for name in _PARTS if name in fields)
    empty: dict[str, Any] = {f.name: f.default for f in msgspec.structs.fields(cls) if f.name in single}
    return single, parts, empty | dict.fromkeys(parts, ())


_LAYOUTS = {cls: _layout(cls) for cls in KINDS.values()}


def event_to_leaves(event: Event) -> tuple[NamedBytes, ...]:
    """The leaves of an event, skeleton first."""
    single, parts, empty = _LAYOUTS[type(event)]
    skeleton = msgspec.structs.replace(event, **empty)
    leaves = [NamedBytes(SKELETON, canonical.dumps(skeleton))]
    for name in parts:
        leaves += _parts_to_leaves(name, getattr(event, name))
    for name in single:
        value = getattr(event, name)
        if value is not None and value != ():
            leaves.append(NamedBytes(name, canonical.dumps(value)))
    return tuple(leaves)


def check_storable(event: Event) -> None:
    """
    Refuse an event that could be written and not be read again, before a byte is written.

    Structs take any value into any field; what was meant as a number may be text.

    Raises:
        InputError: a field holds another type than its own; names the field, never the value.
    """
    single, parts, empty = _LAYOUTS[type(event)]
    for name in single:
        value = getattr(event, name)
        if value is empty[name]:
            continue
        if _TYPES[name] not in _TEXTS:
            _check_field(name, value, _TYPES[name])
        elif type(value) is not str:
            raise InputError(f"{name} is text, not {type(value).__name__}.")
    for name in parts:
        for part in getattr(event, name):
            _check_field(name, part, AnyPart)
    _check_field("an argument", msgspec.structs.replace(event, **empty), type(event))


def _check_field(name: str, value: object, of: Any) -> None:
    try:
        plain = msgspec.to_builtins(value)
        check_json(plain, name)
        msgspec.convert(plain, of)
    except (msgspec.ValidationError, TypeError, OverflowError, RecursionError) as error:
        raise InputError(f"{name} holds a value of another type than it takes.") from error


def _parts_to_leaves(field: str, parts: tuple[AnyPart, ...]) -> list[NamedBytes]:
    before = _PARTS[field]
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return [NamedBytes(f"{before}content", canonical.dumps(parts[0].text))]
    stems = ["text" if isinstance(part, TextPart) else "part" for part in parts]
    return [
        NamedBytes(f"{before}{stem}.{number}", canonical.dumps(part))
        for number, (stem, part) in enumerate(zip(stems, parts, strict=True))
    ]


def leaves_to_event(
    kind: str, schema_version: int, leaves: Sequence[tuple[str, bytes | None]], *, event: str = ""
) -> Event:
    """
    Read an event from (name, JSON) pairs; an erased leaf (None) leaves its field empty.

    A kind or version that this release does not know becomes `UnknownEvent`.

    Raises:
        EncodingError: a leaf is no JSON of its type; carries `event`, the name to show.
    """
    cls = KINDS.get(kind)
    if cls is None or schema_version > cls.SCHEMA_VERSION:
        return UnknownEvent(kind=kind, schema_version=schema_version)
    if any(data is None for _, data in leaves[:1]):
        return UnknownEvent(kind=kind, schema_version=schema_version)
    try:
        if schema_version == cls.SCHEMA_VERSION:
            return _decode_current(kind, leaves)
        return _decode_old(cls, schema_version, leaves)
    except (msgspec.MsgspecError, ValueError, TypeError, IndexError, RecursionError) as error:
        raise EncodingError(f"{type(error).__name__} in its leaves", event=event or kind) from error


def _decode_current(kind: str, leaves: Sequence[tuple[str, bytes | None]]) -> Event:
    skeleton = _decode(_SKELETONS[kind], leaves[0][1] or b"", KINDS[kind])
    values: dict[str, Any] = {}
    for name, data in leaves[1:]:
        if data is None:
            continue
        if (decoder := _DECODERS.get(name)) is not None:
            values[name] = _decode(decoder, data, _TYPES[name])
        elif (match := _PART_NAME.match(name)) is not None:
            field = "new_parts" if match[1] else "parts"
            values[field] = (*values.get(field, ()), leaf_to_part(name, data))
    event: Event = msgspec.structs.replace(skeleton, **values) if values else skeleton
    return event


def leaf_to_part(name: str, data: bytes) -> AnyPart:
    """One part from its leaf; a part of a type that this release does not know stays as it is."""
    if name in ("content", "new_content"):
        return TextPart(leaf_to_text(data))
    try:
        part: AnyPart = _decode(_PART_DECODER, data, AnyPart)
        return part
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return OpaquePart(data=canonical.loads(data))


def leaf_to_text(data: bytes) -> str:
    """The string in a leaf that is one."""
    value = canonical.loads(data)
    if type(value) is not str:
        raise ValueError("not a string")
    return value


def _decode(decoder: msgspec.json.Decoder[Any], data: bytes, of: Any) -> Any:
    """Decode straight into `of`; only bytes with an escaped surrogate go the long way."""
    if not canonical.escapes_surrogate(data):
        return decoder.decode(data)
    return msgspec.convert(canonical.loads(data), of)


def _decode_old(cls: type[Event], schema_version: int, leaves: Sequence[tuple[str, bytes | None]]) -> Event:
    payload: dict[str, Any] = dict(canonical.loads(leaves[0][1] or b""))
    for name, data in leaves[1:]:
        if data is None:
            continue
        if match := _PART_NAME.match(name):
            part = msgspec.to_builtins(leaf_to_part(name, data))
            payload.setdefault("new_parts" if match[1] else "parts", []).append(part)
        else:
            payload[name] = canonical.loads(data)
    version, payload = upcasts.upcast(cls.KIND, schema_version, payload)
    if version != cls.SCHEMA_VERSION:
        raise ValueError(f"no upcast from version {version}")
    return msgspec.convert(payload, cls)
