"""
The ChatGPT export: `conversations.json` or numbered files, in a folder or zip, or one captured conversation.

A conversation's `mapping` is a tree of nodes in no useful order. Its ids and parents are kept, all branches
with them; what the program put in for the model is hidden; pictures and files come in where the export has
their bytes. The export knows no token counts, no costs and no ids of tool calls.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from manent.errors import FormatError
from manent.formats import tree
from manent.formats.blocks import text_or_none
from manent.formats.chatgpt_messages import Home, Node, pair_calls, read_node, to_message
from manent.formats.chatgpt_parts import NAME
from manent.formats.exports import SUFFIX, Items, find_members, read_beside, read_export, read_facts, refuse
from manent.formats.jsonscan import fields_of
from manent.formats.jsonstream import Element
from manent.formats.notes import Notes
from manent.formats.source import REFUSED_BYTES_MAX, Source
from manent.model.imported import ImportedConversation, Refusal

SUFFIXES = (SUFFIX,)

_MARKER = "mapping"
_WITH_MAPPING = {"title", "create_time", "update_time", "current_node", "conversation_id"}
_WITHOUT_MAPPING = {"current_node", "default_model_slug"}
_NOT_DETAILS = {"title", "current_node", "id", "conversation_id"}
_FEEDBACK = "message_feedback.json"
_PROJECT = "g-p-"


def recognises(head: bytes, name: str) -> bool:  # noqa: ARG001 - every format is asked alike
    """Whether the objects have a `mapping`, or the other members of such a conversation that lost it."""
    members = find_members(head)
    if _MARKER in members:
        return not members.isdisjoint(_WITH_MAPPING)
    return "conversation_id" in members and not members.isdisjoint(_WITHOUT_MAPPING)


def read(source: Source) -> Iterator[ImportedConversation | Refusal]:
    """
    Read a file, or every such file of a folder or zip.

    Raises:
        FormatError: the one file that was asked for cannot be opened.
    """
    yield from read_export(source, recognises=recognises, marker=_MARKER, convert=_convert)


def _convert(file: Source, element: Element) -> Items:
    if _MARKER not in element.fields:
        yield refuse(element, f"a conversation without a {_MARKER!r}: there are no messages in it")
        return
    nodes, refusals = _read_nodes(element)
    yield from refusals
    yield _conversation(file, element, nodes)


def _read_nodes(element: Element) -> tuple[dict[str, Node], list[Refusal]]:
    """Every node under its id; one that cannot be read has no message, and is a refusal."""
    nodes: dict[str, Node] = {}
    refusals: list[Refusal] = []
    for node_id, raw in fields_of(element.fields[_MARKER], place=element.place).items():
        place = f"{element.place}, node {node_id}"
        try:
            nodes[node_id] = read_node(raw, place=place)
        except FormatError as error:
            nodes[node_id] = Node(place)
            refusals.append(Refusal(place=place, reason=error.detail, raw=bytes(raw)[:REFUSED_BYTES_MAX]))
    return nodes, refusals


def _conversation(file: Source, element: Element, nodes: dict[str, Node]) -> ImportedConversation:
    notes = Notes()
    facts = read_facts(element.fields, besides=_MARKER, notes=notes, place=element.place)
    parents = _find_parents(nodes, notes)
    spoken = tree.nearest(parents, {node_id for node_id, node in nodes.items() if node.message is not None})
    ordered = tree.parents_first(spoken)
    home = Home(file.beside, text_or_none(facts.get("default_model_slug")), _feedback(file))
    calls = pair_calls(nodes, spoken, ordered)
    messages = tuple(
        to_message(node_id, nodes[node_id], spoken[node_id], calls.get(node_id), home, notes)
        for node_id in ordered
    )
    return ImportedConversation(
        format=NAME,
        messages=messages,
        place=element.place,
        native_id=text_or_none(facts.get("conversation_id")) or text_or_none(facts.get("id")),
        title=text_or_none(facts.get("title")),
        project=_project(facts),
        head_native_id=_head(text_or_none(facts.get("current_node")), parents, spoken),
        details=_details(facts) | notes.as_details() or None,
    )


def _details(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name not in _NOT_DETAILS}


def _project(facts: dict[str, Any]) -> str | None:
    """The id of a project stands where else the id of a custom assistant does."""
    named = (text_or_none(facts.get(name)) for name in ("conversation_template_id", "gizmo_id"))
    return next((name for name in named if name and name.startswith(_PROJECT)), None)


def _find_parents(nodes: dict[str, Node], notes: Notes) -> tree.Parents:
    """Each node's parent, as it says itself, or else as the node that lists it as a child says."""
    listed = {child: node_id for node_id, node in nodes.items() for child in node.children}
    parents: tree.Parents = {}
    for node_id, node in nodes.items():
        parent = node.parent
        if parent is not None and parent not in nodes:
            notes.add("absent_parent", node.place)
            parent = None
        above = listed.get(node_id)
        parents[node_id] = above if parent is None and above != node_id else parent
    for first in tree.cut_circles(parents):
        notes.add("circle_of_parents", nodes[first].place)
    return parents


def _head(current: str | None, parents: tree.Parents, spoken: tree.Parents) -> str | None:
    """Where the source stands; a node without words stands for what is above it."""
    at = current if current in parents else None
    while at is not None and at not in spoken:
        at = parents[at]
    return at or tree.newest_leaf(spoken)


def _feedback(file: Source) -> dict[str, Any]:
    """Message id → what its reader thought of it; looked up once for a folder or zip."""
    if file.beside is None:
        return {}
    key = f"{NAME}:{file.path.parent.as_posix()}"
    known = file.beside.memo.get(key)
    if not isinstance(known, dict):
        listed = read_beside(file, _FEEDBACK, file.beside)
        entries = [entry for entry in listed if isinstance(entry, dict)] if isinstance(listed, list) else []
        known = {
            message_id: entry
            for entry in entries
            for name in ("message_id", "id")
            if (message_id := text_or_none(entry.get(name)))
        }
        file.beside.memo[key] = known
    return known
