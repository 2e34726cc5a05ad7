"""Idempotency: the same key with the same content gives the first result back (L-7)."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from manent.codec.leaves import event_to_leaves
from manent.codec.sealing import open_event
from manent.errors import IdempotencyError
from manent.history.runtime import Target
from manent.model.events import Attributed, Event, MessageAdded, TurnAppended
from manent.model.ids import Address, Stamp, message_address, turn_address
from manent.model.log import StoredEvent
from manent.projection.activity import key_digest
from manent.storage.port import Reader


def find_repeated(
    reader: Reader, target: Target, events: Sequence[Attributed], named: Sequence[bool] = ()
) -> list[StoredEvent]:
    """
    The events that these would repeat, or none when the first one's key is new or absent.

    Args:
        named: for each event whether the caller chose its message id, so that it is part of the content.

    Raises:
        IdempotencyError: the key stands for other content. What was erased since is not compared.
    """
    key = events[0].idempotency_key
    if key is None:
        return []
    stamp = reader.find_key(target.uid, key_digest(target.uid, key))
    if stamp is None:
        return []
    found = [_find(reader, target.uid, stamp, number) for number in range(len(events))]
    stored = [event for event in found if event is not None]
    is_named = list(named) or [False] * len(events)
    if len(stored) != len(events) or not all(map(_is_same, stored, events, is_named)):
        raise IdempotencyError(address=str(_address(target, stored[0])))
    return stored


def _find(reader: Reader, uid: str, first: Stamp, number: int) -> StoredEvent | None:
    """The events of one batch have consecutive seqs of one writer."""
    entry = reader.find_entry(uid, Stamp(first.seq + number, first.writer))
    return open_event(entry.position, entry) if entry else None


def _is_same(stored: StoredEvent, event: Attributed, named: bool) -> bool:
    if any(leaf.data is None for leaf in stored.leaves):
        return stored.event.KIND == event.KIND or stored.header.kind == event.KIND
    return _content(stored.event, named) == _content(event, named)


def _content(event: Event, named: bool) -> object:
    """What an event writes, less what the store chose: its parent, and its message id unless the caller's."""
    match event:
        case TurnAppended():
            return event_to_leaves(msgspec.structs.replace(event, parent_id=None))
        case MessageAdded():
            without = {} if named else {"message_id": ""}
            return event_to_leaves(msgspec.structs.replace(event, parent_id=None, **without))
        case _:
            return event


def _address(target: Target, stored: StoredEvent) -> Address:
    if isinstance(stored.event, MessageAdded):
        return message_address(target.id, stored.event.message_id)
    return turn_address(target.id, stored.header.seq)
