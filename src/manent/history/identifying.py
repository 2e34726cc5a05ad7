"""
Identities of what is imported: each message is named so that a re-import finds it again.

A source's own id, or a keyed hash of the raw bytes: of a list without ids each message's hash covers all
before it, so that a longer copy of the list is known as its growth. Hashes are made before secrets are
masked, so that a better table of patterns changes no identity.

A message that an undo took away keeps its id in the tree; when it comes again it has another one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

from blake3 import blake3

from manent.model.ids import made_place
from manent.model.imported import ImportedConversation, ImportedMessage
from manent.model.log import Register

UNDONE_FIELD = "undone_messages"
"""The register of a conversation that holds the ids of messages that were imported and taken back."""

_ID_LENGTH = 32


class Identified(NamedTuple):
    """A message with the id that it has or would have here, and that of its parent."""

    message_id: str
    parent_id: str | None
    hash: str
    message: ImportedMessage


def identify(conversation: ImportedConversation, source_key: bytes) -> list[Identified]:
    """
    Name each message: by its own id, or by a hash that a re-import finds again.

    Args:
        source_key: 32 bytes, the store's own.
    """
    identified: list[Identified] = []
    names: dict[str, str] = {}
    repeats: Counter[str] = Counter()
    rolls = any(m.native_id is None and m.follows for m in conversation.messages)
    rolling = b""
    for message in conversation.messages:
        if rolls:
            rolling = blake3(rolling + message.native, key=source_key).digest()
        own = blake3(message.native, key=source_key).hexdigest()[:_ID_LENGTH]
        if message.native_id is not None:
            message_id, mark = free_name(message.native_id), own
        elif message.follows:
            message_id = mark = rolling.hex()[:_ID_LENGTH]
        else:
            repeats[own] += 1
            message_id, mark = f"{own}.{repeats[own]}", own
        if message.follows:
            parent_id = identified[-1].message_id if identified else None
        else:
            parent_id = names.get(message.parent_native_id) if message.parent_native_id else None
        if message.native_id is not None:
            names[message.native_id] = message_id
        identified.append(Identified(message_id, parent_id, mark, message))
    return identified


def free_name(native_id: str) -> str:
    """A source's id as ours; one of the form that turns make of their place would stand for that place."""
    return f"native:{native_id}" if made_place(native_id) else native_id


def read_undone(registers: Sequence[Register]) -> frozenset[str]:
    """The ids of a conversation's messages that were imported and taken back."""
    value = next((register.value for register in registers if register.field == UNDONE_FIELD), None)
    return frozenset(map(str, value)) if isinstance(value, list) else frozenset()


def rename(message_id: str, undone: Collection[str]) -> str:
    """The id under which a message comes again, after it was taken back as often as `undone` knows."""
    name, times = message_id, 0
    while name in undone:
        times += 1
        name = f"again:{times}:{message_id}"
    return name


def rename_all(identified: list[Identified], undone: Collection[str]) -> list[Identified]:
    """Messages under the ids that they have or would have here, as `rename` gives them."""
    if not undone:
        return identified
    return [
        item._replace(
            message_id=rename(item.message_id, undone),
            parent_id=None if item.parent_id is None else rename(item.parent_id, undone),
        )
        for item in identified
    ]
