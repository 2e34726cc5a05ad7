"""A node of a ChatGPT conversation as a message: who spoke, what is hidden, which call a result answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import msgspec

from manent.errors import FormatError
from manent.formats.blocks import text_or_none
from manent.formats.chatgpt_files import Assets, attached_files, find_bytes, name_files
from manent.formats.chatgpt_parts import NAME, cited, content_to_parts, result_to_parts, words_of
from manent.formats.jsonscan import fields_of, load
from manent.formats.jsontext import loads
from manent.formats.notes import Notes
from manent.formats.times import read_claim
from manent.model.imported import ImportedMessage
from manent.model.parts import AnyPart, OpaquePart, ToolCallPart, Usage

_NODE_MEMBERS = {"id", "parent", "children", "message"}
_CONTEXT = ("user_editable_context", "model_editable_context")
_HIDDEN = "is_visually_hidden_from_conversation"
_TO_PEOPLE = ("", "all", "user", "assistant")
"""Recipients that are no tools."""

_OPEN_CALLS_MAX = 16


@dataclass(slots=True)
class Node:
    """
    A node as it stands in the file; `message` is None where it has none.

    `tool` is the one that an assistant's message is for; None when it is for people. `more` is what the node
    has besides what nodes have.
    """

    place: str
    parent: str | None = None
    children: tuple[str, ...] = ()
    raw: bytes = b""
    message: Any = None
    role: str = "unknown"
    tool: str | None = None
    hidden: bool = False
    more: dict[str, Any] = field(default_factory=dict)


class Home(NamedTuple):
    """What the messages of a conversation share: files beside it, its model, feedback by message id."""

    beside: Assets | None
    model: str | None
    feedback: Mapping[str, Any]


class Call(NamedTuple):
    """A call of a tool that waits for its result."""

    call_id: str
    tool: str


class _Node(msgspec.Struct, forbid_unknown_fields=True):
    id: Any = None
    parent: Any = None
    children: Any = None
    message: msgspec.Raw = msgspec.Raw(b"null")


_NODE = msgspec.json.Decoder(_Node)


def read_node(raw: msgspec.Raw, *, place: str) -> Node:
    """
    Read one node.

    Raises:
        FormatError: it is no object, or its message is beyond what can be read.
    """
    more: dict[str, Any] = {}
    try:
        node = _NODE.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        fields = fields_of(raw, place=place)
        known = {name: load(fields[name], place=place) for name in ("parent", "children") if name in fields}
        node = _Node(message=fields.get("message", msgspec.Raw(b"null")), **known)
        more = {name: load(value, place=place) for name, value in fields.items() if name not in _NODE_MEMBERS}
    content = bytes(node.message)
    children = node.children if isinstance(node.children, list) else ()
    message = None if content == b"null" else load(content, place=place)
    role = _role(message)
    return Node(
        place=place,
        parent=text_or_none(node.parent),
        children=tuple(child for child in children if isinstance(child, str)),
        raw=content,
        message=message,
        role=role,
        tool=_called_tool(message) if message is not None and role == "assistant" else None,
        hidden=_is_hidden(message, role),
        more=more,
    )


def pair_calls(
    nodes: Mapping[str, Node], parents: Mapping[str, str | None], ordered: Sequence[str]
) -> dict[str, str]:
    """
    Tool message → id of the call that it answers: the nearest one above it for that tool, not answered yet.

    The export has no call ids; the id of the calling node is the call's. `ordered` has parents first.
    """
    answers: dict[str, str] = {}
    waiting: dict[str | None, tuple[Call, ...]] = {None: ()}
    for node_id in ordered:
        node = nodes[node_id]
        calls = waiting[parents[node_id]]
        if node.tool is not None:
            calls = (*calls, Call(node_id, node.tool))[-_OPEN_CALLS_MAX:]
        elif calls and node.role == "tool":
            name = _author_name(node.message)
            call = next((call for call in calls if _is_answer(call.tool, name)), None)
            if call is not None:
                answers[node_id] = call.call_id
                calls = tuple(other for other in calls if other is not call)
        elif node.role == "user" and not node.hidden:
            calls = ()
        waiting[node_id] = calls
    return answers


def _is_answer(called: str, name: str | None) -> bool:
    """`file_search.msearch` is answered by that name or by `file_search`; a nameless one answers anything."""
    if name is None:
        return True
    return called == name or called.split(".")[0] == name or name.split(".")[0] == called


def _called_tool(message: dict[str, Any]) -> str | None:
    recipient = text_or_none(message.get("recipient")) or ""
    return None if recipient in _TO_PEOPLE else recipient


def _is_hidden(message: Any, role: str) -> bool:
    """Whether a program put it there: a profile, instructions, what the source itself does not show."""
    if not isinstance(message, dict):
        return False
    if _dict(message, "metadata").get(_HIDDEN) is True:
        return True
    if _dict(message, "content").get("content_type") in _CONTEXT:
        return True
    weight = message.get("weight")
    return role == "system" and isinstance(weight, int | float) and weight == 0


def _dict(value: dict[str, Any], name: str) -> dict[str, Any]:
    found = value.get(name)
    return found if isinstance(found, dict) else {}


def _role(message: Any) -> str:
    if not isinstance(message, dict):
        return "unknown"
    return text_or_none(_dict(message, "author").get("role")) or "unknown"


def _author_name(message: dict[str, Any]) -> str | None:
    return text_or_none(_dict(message, "author").get("name"))


def to_message(
    node_id: str, node: Node, parent: str | None, call_id: str | None, home: Home, notes: Notes
) -> ImportedMessage:
    """
    A node with a message as one of ours.

    Args:
        parent: the nearest node above it that has a message.
        call_id: the call that it answers, if it is a result of one.
    """
    message = node.message
    parts: tuple[AnyPart, ...] = (OpaquePart(data=message, origin=NAME),)
    if isinstance(message, dict):
        parts = _parts(node_id, node, call_id, home.beside)
    else:
        message = {}
    claim = read_claim(message.get("create_time"))
    if claim.problem:
        notes.add(claim.problem, node.place)
    return ImportedMessage(
        role=node.role,
        parts=parts,
        native=node.raw,
        place=node.place,
        native_id=node_id,
        parent_native_id=parent,
        claim_ns=claim.ns,
        hidden=node.hidden,
        usage=_usage(message, home.model) if node.role == "assistant" else None,
        author=None if node.role == "tool" else _author_name(message),
        metadata=_metadata(node_id, node, message, home),
        files=find_bytes(parts, home.beside),
    )


def _parts(node_id: str, node: Node, call_id: str | None, beside: Assets | None) -> tuple[AnyPart, ...]:
    message = node.message
    content, metadata = message.get("content"), _dict(message, "metadata")
    if node.role == "tool":
        said = result_to_parts(content, metadata, call_id=call_id, name=_author_name(message))
    elif node.tool is not None:
        words = words_of(content)
        more = content_to_parts(content, metadata) if words is None else ()
        said = (ToolCallPart(node.tool, _arguments(words), node_id), *more)
    else:
        said = content_to_parts(content, metadata)
    named = name_files((*said, *attached_files(metadata, said)), metadata, beside)
    return (*named, *cited(metadata, words_of(content) or ""))


def _arguments(words: str | None) -> Any:
    """JSON objects and lists as values; code and anything else as the text that it is."""
    if words is None or not words.lstrip().startswith(("{", "[")):
        return words
    try:
        return loads(words.encode("utf-8", "surrogatepass"), place="arguments")
    except FormatError:
        return words


def _usage(message: dict[str, Any], model: str | None) -> Usage | None:
    """The model alone: the export counts no tokens."""
    named = text_or_none(_dict(message, "metadata").get("model_slug")) or model
    return Usage(model=named) if named else None


def _metadata(node_id: str, node: Node, message: dict[str, Any], home: Home) -> dict[str, Any] | None:
    message_id = text_or_none(message.get("id")) or node_id
    feedback = home.feedback.get(message_id) or home.feedback.get(node_id)
    found = ({"feedback": feedback} if feedback else {}) | ({"node": node.more} if node.more else {})
    return found or None
