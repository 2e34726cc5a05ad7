"""
Links that a source tells of: recorded when both ends are here, remembered until then.

A link whose other end is not here yet is a register of the workspace's own stream. Each import looks at its
end whether one has come.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import NamedTuple

import msgspec
from blake3 import blake3

from manent.history.appending import pending
from manent.history.identifying import free_name, read_undone, rename
from manent.history.local_registers import AWAITED_LINK_FIELD
from manent.history.recording import record
from manent.history.runtime import Runtime
from manent.history.workspaces import own_stream
from manent.model.events import RELATIONS, ConversationLinked
from manent.model.imported import ImportedConversation
from manent.model.log import StreamInfo
from manent.storage.port import Reader, Transaction

RECORDED, KNOWN, AWAITED = "recorded", "known", "awaited"
"""What became of a link."""


class AwaitedLink(NamedTuple):
    """
    How a conversation that is here came from one that may not be.

    Args:
        uid: the conversation that is here; "" while it is about to come.
        relation: see `manent.model.events.RELATIONS`.
        key: what the other one is or will be known by.
        message: the source's id of the message of the other one that it is about, or "".
    """

    uid: str
    relation: str
    key: str
    message: str = ""

    @property
    def field(self) -> str:
        """The register that remembers it."""
        name = "\0".join((self.uid, self.relation, self.key)).encode("utf-8", "surrogatepass")
        return AWAITED_LINK_FIELD + blake3(name).hexdigest(length=16)


def links_of(conversation: ImportedConversation) -> list[AwaitedLink]:
    """The links of a conversation that is about to come, each once; one to itself says nothing."""
    links: dict[tuple[str, str], AwaitedLink] = {}
    for link in conversation.links:
        if link.native_id != conversation.native_id and link.relation in RELATIONS:
            key = f"{conversation.format}:{link.native_id}"
            named = AwaitedLink("", link.relation, key, link.message_native_id or "")
            links.setdefault((link.relation, key), named)
    return list(links.values())


def find_target(reader: Reader, workspace: str, link: AwaitedLink) -> StreamInfo | None:
    """The other end of a link, when it is here."""
    return next(iter(reader.find_by_key(workspace, link.key)), None)


def is_recorded(reader: Reader, link: AwaitedLink, target: StreamInfo) -> bool:
    """Whether the log says so already."""
    return any(
        row.relation == link.relation and row.to_uid == target.uid for row in reader.read_links(link.uid)
    )


def record_or_await(runtime: Runtime, tx: Transaction, workspace: str, link: AwaitedLink) -> str:
    """Record a link when its other end is here, else remember it; return what became of it."""
    target = find_target(tx.read, workspace, link)
    if target is not None:
        if is_recorded(tx.read, link, target):
            return KNOWN
        _record(runtime, tx, link, target)
        return RECORDED
    for stream in _own_streams(tx.read, workspace):
        if any(r.field == link.field and r.value is not None for r in tx.read.read_registers(stream)):
            return AWAITED
    tx.put_metadata(own_stream(runtime, tx, workspace), link.field, msgspec.to_builtins(link))
    return AWAITED


def settle(runtime: Runtime, tx: Transaction, workspace: str) -> list[AwaitedLink]:
    """Record what waited for something that is here by now, and return it. Forget what nobody is left for."""
    recorded = []
    for stream, link in list(awaited_in(tx.read, workspace)):
        source = tx.read.find_stream(link.uid)
        target = find_target(tx.read, workspace, link)
        is_gone = source is None or source.deleted or source.workspace != workspace
        if not is_gone and target is None:
            continue
        if not is_gone and target is not None and not is_recorded(tx.read, link, target):
            _record(runtime, tx, link, target)
            recorded.append(link)
        tx.put_metadata(stream, link.field, None)
    return recorded


def can_settle(reader: Reader, workspace: str) -> bool:
    """Whether `settle` would do anything."""
    for _, link in awaited_in(reader, workspace):
        source = reader.find_stream(link.uid)
        if source is None or source.deleted or find_target(reader, workspace, link) is not None:
            return True
    return False


def awaited_in(reader: Reader, workspace: str) -> Iterator[tuple[str, AwaitedLink]]:
    """The links of a workspace that wait, each with the stream that remembers it."""
    for stream in _own_streams(reader, workspace):
        for register in reader.read_registers(stream):
            if register.value is not None and register.field.startswith(AWAITED_LINK_FIELD):
                with suppress(msgspec.ValidationError):  # a damaged one waits for nothing
                    yield stream, msgspec.convert(register.value, AwaitedLink)


def _own_streams(reader: Reader, workspace: str) -> tuple[str, ...]:
    info = reader.find_workspace_info(workspace)
    return info.streams if info is not None else ()


def _record(runtime: Runtime, tx: Transaction, link: AwaitedLink, target: StreamInfo) -> None:
    message_id = None
    if link.message:
        name = rename(free_name(link.message), read_undone(tx.read.read_registers(target.uid)))
        message_id = name if tx.read.find_message(target.uid, name) is not None else None
    event = ConversationLinked(relation=link.relation, to_uid=target.uid, message_id=message_id)
    record(tx, link.uid, pending(runtime, [event]))
