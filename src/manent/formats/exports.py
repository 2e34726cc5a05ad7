"""What exports of chat products share: conversations in one file or several, and files beside them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from manent.errors import FormatError
from manent.formats import jsontext
from manent.formats.jsonscan import Fields, load
from manent.formats.jsonstream import Element, Elements
from manent.formats.notes import Notes
from manent.formats.source import REFUSED_BYTES_MAX, Beside, Source
from manent.model.imported import ImportedConversation, Refusal

WRAPPER = "conversations"
SUFFIX = ".json"

Items = Iterator[ImportedConversation | Refusal]

_LIST_NAME = re.compile(r"conversations(?:[-_]\d+)?\.json")


def find_members(head: bytes) -> set[str]:
    """Names of the members of the objects in a list, in a list under `conversations`, or of one object."""
    paths = jsontext.outline(head)
    for prefix in ("[].", f"{WRAPPER}[].", ""):
        names = {path[len(prefix) :] for path in paths if path.startswith(prefix)}
        if any("." not in name and "[" not in name for name in names):
            return names
    return set()


def looks_like_conversations(file: Source) -> bool:
    """Whether a file is called what exports call their lists, and holds more than an empty one."""
    if _LIST_NAME.fullmatch(file.path.name) is None:
        return False
    return file.head().translate(None, b" \t\r\n") not in (b"", b"[]", b"{}")


def read_export(
    source: Source,
    *,
    recognises: Callable[[bytes, str], bool],
    marker: str,
    convert: Callable[[Source, Element], Items],
) -> Items:
    """
    Read a file, or every file of a folder or zip that `recognises` takes for its own.

    Args:
        marker: the member that holds a conversation's messages.
        convert: one conversation of a file, as items.

    Raises:
        FormatError: the one file that was asked for cannot be opened.
    """
    is_folder = source.is_folder
    for file in source.files(SUFFIX):
        if isinstance(file, Refusal):
            yield file
            continue
        try:
            if not is_folder or recognises(file.head(), file.name):
                yield from _read_file(file, marker, convert)
            elif looks_like_conversations(file):
                yield Refusal(place=file.name, reason="in no known format; left out")
        except FormatError as error:
            if not is_folder:
                raise
            yield Refusal(place=error.place, reason=error.detail)


def _read_file(file: Source, marker: str, convert: Callable[[Source, Element], Items]) -> Items:
    with file.stream() as stream:
        elements = Elements(
            stream, name=file.name, wrapper=WRAPPER, marker=marker, bytes_max=file.line_bytes_max
        )
        number = 0
        try:
            for item in elements:
                number += 1
                if isinstance(item, Refusal):
                    yield item
                else:
                    yield from _convert(file, item, convert)
        except FormatError as error:
            yield Refusal(place=error.place, reason=f"{error.detail}, after {number} conversations")


def _convert(file: Source, element: Element, convert: Callable[[Source, Element], Items]) -> Items:
    try:
        yield from convert(file, element)
    except FormatError as error:
        yield refuse(element, error.detail)


def refuse(element: Element, reason: str) -> Refusal:
    """A conversation as a refusal."""
    return Refusal(place=element.place, reason=reason, raw=element.raw[:REFUSED_BYTES_MAX])


def read_facts(fields: Fields, *, besides: str, notes: Notes, place: str) -> dict[str, Any]:
    """What an object says besides one member: whatever is not null or empty; the unreadable is noted."""
    facts: dict[str, Any] = {}
    for name, raw in fields.items():
        if name == besides:
            continue
        try:
            value = load(raw, place=place)
        except FormatError:
            notes.add("unreadable_member", place)
            continue
        if value is not None and value not in ("", [], {}):
            facts[name] = value
    return facts


def read_beside(file: Source, name: str, beside: Beside) -> Any:
    """The JSON of the file called `name` in the folder of another one; None where none can be read."""
    found = beside.find(file, name)
    if found is None:
        return None
    try:
        return load(found.whole(), place=found.name)
    except FormatError:
        return None
