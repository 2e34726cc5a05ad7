"""
The Claude.ai export: `conversations.json` or numbered files, in a folder or zip, or one conversation.

A conversation is a list of messages; newer ones name their parents, so that edits and retries are branches.
The export knows no token counts, no bytes of files and, as a rule, neither model nor active branch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from manent.errors import FormatError
from manent.formats import tree
from manent.formats.blocks import text_or_none
from manent.formats.claude_ai_parts import NAME, message_to_parts
from manent.formats.exports import SUFFIX, Items, find_members, read_beside, read_export, read_facts, refuse
from manent.formats.jsonscan import items_of, load
from manent.formats.jsonstream import Element
from manent.formats.notes import Notes
from manent.formats.source import REFUSED_BYTES_MAX, Beside, Source
from manent.formats.times import read_claim
from manent.model.imported import ImportedConversation, ImportedMessage, Refusal
from manent.model.parts import Usage

SUFFIXES = (SUFFIX,)

_MARKER = "chat_messages"
_ROOT = "00000000-0000-4000-8000-000000000000"
_ROLES = {"human": "user"}
_NOT_DETAILS = {"name", "uuid", "current_leaf_message_uuid"}
_PROJECTS = "projects.json"
_PROJECTS_FOLDER = "projects"
_LEFT_OUT = ("memories.json", "users.json")


class _Read(NamedTuple):
    """A message as it stands in the list: its own id, the parent it names, its bytes and its value."""

    uuid: str | None
    parent: str | None
    raw: bytes
    value: Any
    place: str


def recognises(head: bytes, name: str) -> bool:  # noqa: ARG001 - every format is asked alike
    """Whether the objects have `chat_messages`, and ids or times beside them."""
    members = find_members(head)
    return _MARKER in members and not members.isdisjoint({"uuid", "name", "created_at", "updated_at"})


def read(source: Source) -> Iterator[ImportedConversation | Refusal]:
    """
    Read a file, or every such file of a folder or zip.

    Raises:
        FormatError: the one file that was asked for cannot be opened.
    """
    yield from read_export(source, recognises=recognises, marker=_MARKER, convert=_convert)


def _convert(file: Source, element: Element) -> Items:
    if _MARKER not in element.fields:
        yield refuse(element, f"a conversation without {_MARKER!r}")
        return
    records: list[_Read] = []
    for number, raw in enumerate(items_of(element.fields[_MARKER], place=element.place), start=1):
        place = f"{element.place}, message {number}"
        content = bytes(raw)
        try:
            value = load(content, place=place)
        except FormatError as error:
            yield Refusal(place=place, reason=error.detail, raw=content[:REFUSED_BYTES_MAX])
            continue
        known = value if isinstance(value, dict) else {}
        uuid, parent = (text_or_none(known.get(name)) for name in ("uuid", "parent_message_uuid"))
        records.append(_Read(uuid, parent, content, value, place))
    yield _conversation(file, element, records)


def _conversation(file: Source, element: Element, records: list[_Read]) -> ImportedConversation:
    notes = Notes()
    facts = read_facts(element.fields, besides=_MARKER, notes=notes, place=element.place)
    named, copies = _name(records, notes)
    parents = _find_parents(named, notes)
    model = text_or_none(facts.get("model"))
    messages = tuple(
        _to_message(native_id, parents[native_id], named[native_id], copies.get(native_id, 0), model, notes)
        for native_id in tree.parents_first(parents)
    )
    leaf = text_or_none(facts.get("current_leaf_message_uuid"))
    project = _project(file, facts)
    _note_left_out(file.beside, notes)
    details = {name: value for name, value in facts.items() if name not in _NOT_DETAILS} | notes.as_details()
    return ImportedConversation(
        format=NAME,
        messages=messages,
        place=element.place,
        native_id=text_or_none(facts.get("uuid")),
        title=text_or_none(facts.get("name")),
        project=project,
        head_native_id=leaf if leaf in parents else tree.newest_leaf(parents),
        details=details or None,
    )


def _name(records: list[_Read], notes: Notes) -> tuple[dict[str, _Read], dict[str, int]]:
    """
    Each message under an id of its own, and how many exact copies of each stand in the list.

    A message without an id is named by its place; other words under a known id stay a message.
    """
    named: dict[str, _Read] = {}
    copies: dict[str, int] = {}
    for number, record in enumerate(records, start=1):
        native_id = record.uuid or f"message-{number}"
        if (known := named.get(native_id)) is not None and known.value == record.value:
            copies[native_id] = copies.get(native_id, 0) + 1
            notes.add("repeated_record", record.place)
            continue
        if known is not None:
            notes.add("other_words_under_a_known_id", record.place)
            native_id = f"{native_id}#{number}"
        named[native_id] = record
    return named, copies


def _find_parents(named: dict[str, _Read], notes: Notes) -> tree.Parents:
    """Parents as messages name them; where none does, the list is a plain one."""
    if not any(record.parent for record in named.values()):
        order = list(named)
        return dict(zip(order, [None, *order], strict=False))
    parents: tree.Parents = {}
    for native_id, record in named.items():
        parent = None if record.parent == _ROOT else record.parent
        if parent is not None and parent not in named:
            notes.add("absent_parent", record.place)
            parent = None
        parents[native_id] = parent
    for first in tree.cut_circles(parents):
        notes.add("circle_of_parents", named[first].place)
    return parents


def _to_message(
    native_id: str, parent: str | None, record: _Read, copies: int, model: str | None, notes: Notes
) -> ImportedMessage:
    value = record.value if isinstance(record.value, dict) else {}
    sender = text_or_none(value.get("sender")) or "unknown"
    claim = read_claim(value.get("created_at"))
    if claim.problem:
        notes.add(claim.problem, record.place)
    own_model = text_or_none(value.get("model")) or model
    return ImportedMessage(
        role=_ROLES.get(sender, sender),
        parts=message_to_parts(record.value, native_id),
        native=record.raw,
        place=record.place,
        native_id=native_id,
        parent_native_id=parent,
        claim_ns=claim.ns,
        usage=Usage(model=own_model) if sender == "assistant" and own_model else None,
        records=1 + copies,
    )


def _project(file: Source, facts: dict[str, Any]) -> str | None:
    """The name of the project that a conversation belongs to, where it says so; else the id that it gives."""
    project = facts.get("project")
    if isinstance(project, dict):
        named = text_or_none(project.get("name"))
        uuid = text_or_none(project.get("uuid"))
    else:
        named, uuid = None, text_or_none(project) or text_or_none(facts.get("project_uuid"))
    return named or _project_names(file).get(uuid or "") or uuid


def _project_names(file: Source) -> dict[str, str]:
    """Project id → name, from `projects.json` or `projects/`; looked up once for a folder or zip."""
    if file.beside is None:
        return {}
    key = f"{NAME}:{file.path.parent.as_posix()}"
    known = file.beside.memo.get(key)
    if not isinstance(known, dict):
        known = file.beside.memo[key] = dict(_each_project(file, file.beside))
    return known


def _each_project(file: Source, beside: Beside) -> Iterator[tuple[str, str]]:
    folder = file.path.parent / _PROJECTS_FOLDER
    single = [found for found in beside.files().values() if found.path.parent == folder]
    values = [read_beside(found, found.path.name, beside) for found in single]
    listed = read_beside(file, _PROJECTS, beside)
    for project in (*(listed if isinstance(listed, list) else ()), *values):
        if isinstance(project, dict):
            uuid, name = text_or_none(project.get("uuid")), text_or_none(project.get("name"))
            if uuid and name:
                yield uuid, name


def _note_left_out(beside: Beside | None, notes: Notes) -> None:
    """Say once for a folder or zip which files of it hold no conversations and were not taken in."""
    if beside is None or beside.memo.get(f"{NAME}:left out"):
        return
    beside.memo[f"{NAME}:left out"] = True
    for name, found in beside.files().items():
        if found.path.name in _LEFT_OUT:
            notes.add("file_without_conversations", name)
