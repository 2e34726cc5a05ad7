"""
Identities of what is imported: each message is named so that a re-import finds it again.

A source's own id, or a keyed hash of the raw bytes: of a list without ids each message's hash covers all
before it, so that a longer copy of the list is known as its growth. Hashes are made before secrets are
masked, so that a better table of patterns changes no identity.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from blake3 import blake3

from manent.model.ids import made_place
from manent.model.imported import ImportedConversation, ImportedMessage

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
    rolling = b""
    for message in conversation.messages:
        rolling = blake3(rolling + message.native, key=source_key).digest()
        own = blake3(message.native, key=source_key).hexdigest()[:_ID_LENGTH]
        if message.native_id is not None:
            message_id, mark = _free_name(message.native_id), own
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


def _free_name(native_id: str) -> str:
    """A source's id as ours; one of the form that turns make of their place would stand for that place."""
    return f"native:{native_id}" if made_place(native_id) else native_id
