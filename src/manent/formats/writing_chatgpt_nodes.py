"""The nodes of one conversation in ChatGPT's shape: which message becomes which nodes, under which parent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from manent.formats.filenames import file_name
from manent.model.exported import ExportedConversation, ReadFile
from manent.model.parts import (
    AnyPart,
    FilePart,
    NoticePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    json_text,
)
from manent.model.records import StoredMessage

ROOT_ID = "client-created-root"
_SECOND_NS = 1_000_000_000
_ROLES = ("system", "user", "assistant", "tool")
_ALL = "all"


class Asset(NamedTuple):
    """An attachment that stands beside the list: its digest, the name of its file, and what reads it."""

    digest: str
    file_name: str
    read: ReadFile


class Nodes:
    """
    The mapping of one conversation.

    Args:
        conversation: whose messages they are.
        messages: those of its messages that become nodes, parents first.
        assets: attachments that stand beside the list, by digest, to be added to; None: there is no room.

    Attributes:
        mapping: id → node.
        files_left_out: attachments whose bytes are not in the export.
        last_model: the model that was named last.
    """

    def __init__(
        self,
        conversation: ExportedConversation,
        messages: Sequence[StoredMessage],
        assets: dict[str, Asset] | None,
    ) -> None:
        self._conversation = conversation
        self._assets = assets
        self._last: dict[str, str] = {}
        self._callers: dict[str, str] = {}
        self._own_ids = {message.id for message in messages}
        self.mapping: dict[str, dict[str, Any]] = {}
        self.files_left_out = 0
        self.last_model: str | None = None
        self._add(ROOT_ID, None, None)
        for message in messages:
            self._add_message(message)

    def last_of(self, message_id: str | None) -> str:
        """The last node of a message; the root for None, or for one that is not there."""
        return self._last.get(message_id or "", ROOT_ID)

    def _add_message(self, message: StoredMessage) -> None:
        at = self.last_of(message.parent_id)
        model = message.usage.model if message.usage else None
        self.last_model = model or self.last_model
        pieces = list(self._pieces(message)) or [{"content": _text([""])}]
        for number, piece in enumerate(pieces):
            node_id = message.id if number == len(pieces) - 1 else self._free_id(message.id, number)
            self._add(node_id, at, self._node(node_id, message, piece, is_last=number == len(pieces) - 1))
            at = node_id
        self._last[message.id] = at

    def _add(self, node_id: str, parent: str | None, message: dict[str, Any] | None) -> None:
        self.mapping[node_id] = {"id": node_id, "message": message, "parent": parent, "children": []}
        if parent is not None:
            self.mapping[parent]["children"].append(node_id)

    def _free_id(self, message_id: str, number: int) -> str:
        node_id = f"{message_id}/{number}"
        while node_id in self._own_ids or node_id in self.mapping:
            node_id += "/"
        return node_id

    def _node(
        self, node_id: str, message: StoredMessage, piece: dict[str, Any], *, is_last: bool
    ) -> dict[str, Any]:
        model = message.usage.model if message.usage else None
        metadata = dict(piece.get("metadata", {}))
        if model:
            metadata["model_slug"] = model
        if message.hidden:
            metadata["is_visually_hidden_from_conversation"] = True
        role = piece.get("role") or (message.role if message.role in _ROLES else "system")
        name = piece.get("name") or (message.role if message.role not in _ROLES else None)
        return {
            "id": node_id,
            "author": {"role": role, "name": name, "metadata": {}},
            "create_time": seconds(message.claim_ns),
            "update_time": None,
            "content": piece["content"],
            "status": "finished_successfully",
            "end_turn": is_last if role == "assistant" and "recipient" not in piece else None,
            "weight": 1.0,
            "metadata": metadata,
            "recipient": piece.get("recipient", _ALL),
        }

    def _pieces(self, message: StoredMessage) -> Iterator[dict[str, Any]]:
        """What becomes a node each: words and files that follow each other, a thought, a call, a result."""
        words: list[AnyPart] = []
        for part in message.parts:
            if isinstance(part, TextPart | FilePart | NoticePart):
                words.append(part)
                continue
            special = self._special(part)
            if special is not None:
                if words:
                    yield self._words(words)
                    words = []
                yield special
        if words:
            yield self._words(words)

    def _special(self, part: AnyPart) -> dict[str, Any] | None:
        match part:
            case ReasoningPart(text=text) if text:
                thoughts = [{"summary": "", "content": text, "chunks": [], "finished": True}]
                return {"role": "assistant", "content": {"content_type": "thoughts", "thoughts": thoughts}}
            case ToolCallPart(name=name, arguments=arguments, call_id=call_id):
                if call_id is not None:
                    self._callers[call_id] = name
                code = {"content_type": "code", "language": "unknown", "text": json_text(arguments)}
                return {"role": "assistant", "recipient": name or "tool", "content": code}
            case ToolResultPart(content=content, call_id=call_id, name=name):
                caller = name or self._callers.get(call_id or "") or "tool"
                output = {"content_type": "execution_output", "text": json_text(content)}
                return {"role": "tool", "name": caller, "content": output}
            case _:
                return None

    def _words(self, parts: list[AnyPart]) -> dict[str, Any]:
        texts: list[Any] = []
        attached: list[dict[str, Any]] = []
        for part in parts:
            if isinstance(part, FilePart):
                pointer = self._file(part, attached)
                texts += [pointer] if pointer else []
            elif isinstance(part, TextPart | NoticePart):
                texts.append(part.text)
        is_mixed = any(not isinstance(each, str) for each in texts)
        content = {"content_type": "multimodal_text", "parts": texts} if is_mixed else _text(texts or [""])
        return {"content": content, "metadata": {"attachments": attached} if attached else {}}

    def _file(self, file: FilePart, attached: list[dict[str, Any]]) -> dict[str, Any] | None:
        """An attachment, named beside the words; a picture that is here also has a pointer among them."""
        name = file.name or "file"
        asset = self._asset(file)
        if asset is None:
            self.files_left_out += 1
            attached.append({"name": name, "mime_type": file.media_type, "size": file.size_bytes})
            return None
        asset_id = asset.file_name.split("-")[1]
        attached.append(
            {"id": f"file-{asset_id}", "name": name, "mime_type": file.media_type, "size": file.size_bytes}
        )
        if not file.media_type.startswith("image/"):
            return None
        pointer = f"file-service://file-{asset_id}"
        return {
            "content_type": "image_asset_pointer",
            "asset_pointer": pointer,
            "size_bytes": file.size_bytes,
        }

    def _asset(self, file: FilePart) -> Asset | None:
        digest, assets = file.digest or "", self._assets
        if assets is None or digest not in self._conversation.files:
            return None
        if digest not in assets:
            name = f"file-{digest[:32]}-{file_name(file.name)}"
            assets[digest] = Asset(digest, name, self._conversation.read_file)
        return assets[digest]


def seconds(claim_ns: int | None) -> float | None:
    """A claim as the shape has it: seconds since 1970 UTC, to the microsecond."""
    return None if claim_ns is None else round(claim_ns / _SECOND_NS, 6)


def _text(parts: Iterable[str]) -> dict[str, Any]:
    return {"content_type": "text", "parts": list(parts)}
