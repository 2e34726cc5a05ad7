"""
OpenAI chat messages: `{"messages": [...]}` a line, a bare list a line, or one such value in a `.json` file.

There are no ids and no times: a message follows the one before it. Its record is its own JSON in compact
form, which is the same each time; whatever stands beside the messages goes into the details.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from manent.errors import FormatError
from manent.formats import jsontext
from manent.formats.data_urls import take_files
from manent.formats.openai_parts import NAME, message_to_parts
from manent.formats.source import Line, Source
from manent.model.imported import ImportedConversation, ImportedMessage, Refusal

_ROLES = {"developer": "system", "function": "tool"}
"""Roles that have another name here; the record keeps theirs."""

_SUFFIXES = (".jsonl", ".json")


class _Found(NamedTuple):
    """A conversation as it stands in the file: its messages, what is beside them, and where it is."""

    messages: list[Any]
    beside: dict[str, Any]
    place: str


def recognises(head: bytes, name: str) -> bool:  # noqa: ARG001 - every format is asked alike
    """Whether the first value is, or holds, a list of messages with roles and without ids of their own."""
    paths = jsontext.outline(head)
    for messages in ("messages", "", "[].messages", "input.messages"):
        message = f"{messages}[]."
        if f"{message}role" in paths:
            return {f"{message}id", f"{message}parts", f"{message}info"}.isdisjoint(paths)
    return False


def read(source: Source) -> Iterator[ImportedConversation | Refusal]:
    """
    Read a file, or every such file below a folder.

    Raises:
        FormatError: the one file that was asked for cannot be opened.
    """
    is_folder = source.is_folder
    for file in source.files(*_SUFFIXES):
        if isinstance(file, Refusal):
            yield file
            continue
        try:
            if is_folder and not recognises(file.head(), file.name):
                yield Refusal(place=file.name, reason="no OpenAI messages; left out")
                continue
            yield from _read_file(file)
        except FormatError as error:
            if not is_folder:
                raise
            yield Refusal(place=error.place, reason=error.detail)


def _read_file(file: Source) -> Iterator[ImportedConversation | Refusal]:
    if _is_one_value(file.head()):
        whole = Line(1, file.name, file.whole())
        yield from _read_value(whole)
        return
    for line in file.lines():
        if isinstance(line, Refusal):
            yield line
        else:
            yield from _read_value(line)


def _is_one_value(head: bytes) -> bool:
    """Whether the file is one value over several lines: its first one goes on, and the next is none."""
    first, _, rest = head.lstrip().partition(b"\n")
    if not rest or first.rstrip()[-1:] not in (b"[", b"{", b",", b":"):
        return False
    try:
        jsontext.loads(rest.lstrip().partition(b"\n")[0], place="")
    except FormatError:
        return True
    return False


def _read_value(line: Line) -> Iterator[ImportedConversation | Refusal]:
    try:
        value = jsontext.loads(line.raw, place=line.place)
    except FormatError as error:
        yield line.refuse(error.detail)
        return
    for found in _find_conversations(value, line.place):
        if isinstance(found, Refusal):
            yield found
        else:
            yield from _to_conversation(found)


def _find_conversations(value: Any, place: str) -> Iterator[_Found | Refusal]:
    """The one conversation that a value is, or those that a list holds."""
    match value:
        case {"messages": list(messages)}:
            yield _Found(messages, _without(value, "messages"), place)
        case {"input": {"messages": list(messages)}}:
            beside = {**_without(value["input"], "messages"), **_without(value, "input")}
            chosen = value.get("preferred_output")
            yield _Found(messages + (chosen if isinstance(chosen, list) else []), beside, place)
        case [{"messages": _} | {"input": _}, *_]:
            for number, item in enumerate(value, start=1):
                yield from _find_conversations(item, f"{place}, conversation {number}")
        case [{"role": _}, *_]:
            yield _Found(value, {}, place)
        case _:
            yield Refusal(place=place, reason="there is no list of messages here", raw=jsontext.dumps(value))


def _without(value: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: item for key, item in value.items() if key != name}


def _to_conversation(found: _Found) -> Iterator[ImportedConversation | Refusal]:
    messages: list[ImportedMessage] = []
    for number, message in enumerate(found.messages, start=1):
        place = f"{found.place}, message {number}"
        role = message.get("role") if isinstance(message, dict) else None
        if isinstance(role, str):
            messages.append(_to_message(message, role, place))
        else:
            yield Refusal(place=place, reason="a message without a role", raw=jsontext.dumps(message))
    yield ImportedConversation(
        format=NAME, messages=tuple(messages), place=found.place, details=found.beside or None
    )


def _to_message(message: dict[str, Any], role: str, place: str) -> ImportedMessage:
    name = message.get("name")
    is_tool = role in ("tool", "function")
    parts, files = take_files(message_to_parts(message, role))
    return ImportedMessage(
        role=_ROLES.get(role, role),
        parts=parts,
        files=files,
        metadata={"weight": message["weight"]} if "weight" in message else None,
        native=jsontext.dumps(message),
        place=place,
        follows=True,
        author=name if isinstance(name, str) and name and not is_tool else None,
    )
