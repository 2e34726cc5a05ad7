"""
Conversations in the shape of ChatGPT's `conversations.json`, written: a tree of nodes with all branches.

A message is one node, or several under each other where it thinks, calls tools or gives results: the shape
knows a call by its recipient alone. With room for files, attachments stand beside the list.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from manent.formats import jsontext
from manent.formats.writing_chatgpt_nodes import Asset, Nodes, seconds
from manent.model.exported import Choices, Entry, ExportedConversation, Tally, count_beside
from manent.model.parts import Citation, NoticePart, OpaquePart, ReasoningPart, ToolCallPart, ToolResultPart
from manent.model.records import StoredMessage


def write(conversations: Iterable[ExportedConversation], tally: Tally, choices: Choices) -> Iterator[Entry]:
    """`conversations.json`, and behind it, where files are wanted, each attachment once."""
    assets: dict[str, Asset] = {}
    yield Entry("conversations.json", _list(conversations, tally, choices, assets))
    for asset in assets.values():
        tally.attachments += 1
        yield Entry(asset.file_name, asset.read(asset.digest))


def _list(
    conversations: Iterable[ExportedConversation], tally: Tally, choices: Choices, assets: dict[str, Asset]
) -> Iterator[bytes]:
    before = b"["
    for conversation in conversations:
        yield before + b"\n" + jsontext.dumps(_conversation(conversation, tally, choices, assets))
        before = b","
    yield b"[]\n" if before == b"[" else b"\n]\n"


def _conversation(
    conversation: ExportedConversation, tally: Tally, choices: Choices, assets: dict[str, Asset]
) -> dict[str, Any]:
    """One entry of the list."""
    summary, messages = conversation.summary, _written(conversation, choices, tally)
    _count(conversation, messages, tally)
    nodes = Nodes(conversation, messages, assets if choices.files else None)
    tally.leave_out("attachments", nodes.files_left_out)
    tally.wrote(len(messages))
    return {
        "title": summary.title,
        "create_time": seconds(summary.started_ns),
        "update_time": seconds(summary.last_ns),
        "mapping": nodes.mapping,
        "current_node": nodes.last_of(conversation.head),
        "conversation_id": summary.id,
        "id": summary.id,
        "default_model_slug": nodes.last_model,
        "is_archived": False,
    }


def _written(conversation: ExportedConversation, choices: Choices, tally: Tally) -> list[StoredMessage]:
    """Every message of the tree; hidden ones too when asked for, and where others follow them."""
    present = conversation.present()
    if choices.hidden:
        return present
    followed = {message.parent_id for message in present}
    kept = [message for message in present if not message.hidden or message.id in followed]
    tally.leave_out("hidden", len(present) - len(kept))
    return kept


def _count(conversation: ExportedConversation, messages: list[StoredMessage], tally: Tally) -> None:
    """What the shape has no place for."""
    count_beside(conversation, tally)
    tally.leave_out("projects", conversation.summary.project is not None)
    for message in messages:
        usage = message.usage
        counts = usage is not None and (usage.input_tokens, usage.output_tokens, usage.cost) != (None,) * 3
        tally.leave_out("usage", counts)
        tally.leave_out("authors", message.author is not None)
        for part in message.parts:
            match part:
                case ToolCallPart():
                    tally.leave_out("call_ids", part.call_id is not None)
                case ToolResultPart():
                    tally.leave_out("failed_results", part.is_error)
                case ReasoningPart():
                    tally.leave_out("signatures", part.signature is not None)
                case Citation():
                    tally.leave_out("citations")
                case NoticePart():
                    tally.leave_out("notices")
                case OpaquePart():
                    tally.leave_out("opaque")
                case _:
                    pass
