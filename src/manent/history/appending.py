"""Appending: turns and messages go into the log, whole or not at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeVar

import msgspec

from manent.codec.leaves import check_storable
from manent.errors import AlreadyExistsError, ConflictError, InputError, NotFoundError
from manent.history.handle import reach
from manent.history.idempotency import find_repeated
from manent.history.masked import MaskedAt, MaskedTogether, is_output, remember
from manent.history.ownership import check_epoch
from manent.history.recording import record
from manent.history.runtime import Runtime, Target
from manent.model.events import ConversationCreated, Event, MessageAdded, TurnAppended
from manent.model.ids import check_message_id, check_name
from manent.model.log import Pending, StoredEvent
from manent.model.parts import USAGE_COUNTS, AnyPart, Part, Usage, check_json
from manent.model.records import Message, StoredMessage
from manent.model.rows import ConversationRow, MessageState
from manent.storage.port import Reader, Transaction

_FREE_FIELDS = ("arguments", "content", "details", "data")
_MESSAGE_ID_LENGTH = 16
E = TypeVar("E", TurnAppended, MessageAdded)


class Root(NamedTuple):
    """The type of `ROOT`."""

    name: str = "ROOT"


ROOT = Root()
"""As `parent`: the message begins a tree of its own, beside whatever there is."""

Parent = StoredMessage | str | Root | None


class Guard(NamedTuple):
    """
    What must still hold when an append is written.

    Args:
        after: the activity seq that the caller has seen.
        epoch: the owner's epoch, if only the owner may write.
    """

    after: int | None = None
    epoch: int | None = None


def append_turn(
    runtime: Runtime, target: Target, turn: TurnAppended, guard: Guard
) -> tuple[StoredEvent, bool]:
    """Append a turn after the head, or find it under its key; return it, and whether it was there."""
    check_turn(turn)
    with runtime.backend.transaction() as tx:
        return append_turn_within(runtime, tx, target, turn, guard)


def check_turn(turn: TurnAppended) -> None:
    """
    Refuse a turn that cannot be stored, before any transaction begins.

    Raises:
        InputError: something in it is of another type, or JSON cannot carry it.
    """
    _check_usage(turn.usage)
    for citation in turn.citations:
        check_part(citation)
    check_storable(turn)


def append_turn_within(
    runtime: Runtime, tx: Transaction, target: Target, turn: TurnAppended, guard: Guard
) -> tuple[StoredEvent, bool]:
    """As `append_turn`, of a turn that is checked, beside other writes of one transaction."""
    target, row = _reach(runtime, tx, target)
    if found := find_repeated(tx.read, target, [turn]):
        return found[0], True
    _check(runtime, tx, target, row, guard)
    turn = _under(turn, row.head if row else None)
    return _record(runtime, tx, target, [turn], row)[0], False


def append_messages(
    runtime: Runtime,
    target: Target,
    messages: Sequence[Message],
    *,
    parent: Parent,
    idempotency_key: str | None,
    guard: Guard,
) -> list[StoredEvent]:
    """Append messages, each under the one before, or find them under the key."""
    batch = to_batch(runtime, messages, idempotency_key)
    with runtime.backend.transaction() as tx:
        return append_messages_within(runtime, tx, target, batch, parent=parent, guard=guard)


class Batch(NamedTuple):
    """Messages that are checked, the events that they become, and what was masked in them."""

    messages: Sequence[Message]
    events: Sequence[MessageAdded]
    masked: tuple[MaskedAt, ...] = ()


def to_batch(runtime: Runtime, messages: Sequence[Message], idempotency_key: str | None = None) -> Batch:
    """
    Check messages, at least one, before any transaction begins.

    Raises:
        InputError: one is of another type, or JSON cannot carry it.
    """
    events = [_to_event(message, runtime) for message in messages]
    if idempotency_key is not None:
        size = len(events)
        events[0] = msgspec.structs.replace(events[0], idempotency_key=idempotency_key, batch_size=size)
    for event in events:
        check_storable(event)
    events, masked = _mask_tool_output(events, runtime)
    return Batch(messages, events, masked)


def append_messages_within(
    runtime: Runtime, tx: Transaction, target: Target, batch: Batch, *, parent: Parent, guard: Guard
) -> list[StoredEvent]:
    """As `append_messages`, beside other writes of one transaction."""
    target, row = _reach(runtime, tx, target)
    named = [message.id is not None for message in batch.messages]
    if found := find_repeated(tx.read, target, batch.events, named):
        return found
    _check(runtime, tx, target, row, guard)
    _refuse_taken_ids(tx.read, target, batch.messages)
    above = _parent_id(tx.read, target, row, parent)
    chained = []
    for event in batch.events:
        chained.append(_under(event, above))
        above = event.message_id
    stored = _record(runtime, tx, target, chained, row)
    if batch.masked:
        told = MaskedTogether(claim_ns=runtime.clock(), found=batch.masked)
        remember(tx, target.uid, stored[0].header.seq, told)
    return stored


def _mask_tool_output(
    events: list[MessageAdded], runtime: Runtime
) -> tuple[list[MessageAdded], tuple[MaskedAt, ...]]:
    """Mask secrets in what tools gave back; the table of secrets is loaded when there is any of that."""
    if not any(is_output(event, part) for event in events for part in event.parts):
        return events, ()
    from manent.history.masking import mask_tool_output

    return mask_tool_output(events, runtime.allow_secrets)


def _record(
    runtime: Runtime, tx: Transaction, target: Target, events: Sequence[Event], row: ConversationRow | None
) -> list[StoredEvent]:
    """Append events; a conversation that was reserved begins with them."""
    first: list[Event] = [] if row is not None else [ConversationCreated()]
    stored = record(tx, target.uid, pending(runtime, [*first, *events]), row)
    return stored[len(first) :]


def pending(runtime: Runtime, events: Sequence[Event]) -> list[Pending]:
    """Events with their ids and one claim of time."""
    now_ns = runtime.clock()
    return [Pending(event, runtime.new_id(), now_ns) for event in events]


def _reach(runtime: Runtime, tx: Transaction, target: Target) -> tuple[Target, ConversationRow | None]:
    """Where a conversation stands, and its row, which alone says most often that it is where it was."""
    row = tx.read.find_row(target.uid)
    if row is not None and row.workspace == target.workspace:
        return target, row
    target = reach(runtime, tx, target)
    return target, tx.read.find_row(target.uid)


def _check(
    runtime: Runtime, tx: Transaction, target: Target, row: ConversationRow | None, guard: Guard
) -> None:
    """
    See that what the caller counts on holds (L-3, O-2).

    Raises:
        ConflictError: somebody wrote since `guard.after`.
        OwnershipLostError: `guard.epoch` is over.
    """
    for value in guard:
        if value is not None and type(value) is not int:
            raise InputError(f"after= and epoch= are whole numbers, not {type(value).__name__}.")
    actual = row.activity.seq if row else 0
    if guard.after is not None and guard.after != actual:
        raise ConflictError(conversation_id=target.id, expected=guard.after, actual=actual)
    check_epoch(runtime, tx, target, guard.epoch)


def check_part(part: AnyPart) -> None:
    """
    Refuse what is no part, and a part that JSON cannot carry.

    Raises:
        InputError: it is something else, or one of its free fields holds something else; names the type.
    """
    if not isinstance(part, Part):
        raise InputError(f"A part of a message is one of manent.parts, not {type(part).__name__}.")
    for field in _FREE_FIELDS:
        check_json(getattr(part, field, None), f"{part.__struct_config__.tag} {field}")


def _check_usage(usage: Usage | None) -> None:
    """
    Refuse what is no report of a provider: it would be counted, and nobody could take it back.

    Raises:
        InputError: it is something else, or a count in it is none.
    """
    if usage is None:
        return
    if not isinstance(usage, Usage):
        raise InputError(f"usage is a manent.Usage, not {type(usage).__name__}.")
    for name in USAGE_COUNTS:
        count = getattr(usage, name)
        if count is not None and (type(count) is not int or count < 0):
            raise InputError(f"usage.{name} is a whole number from 0 on, or None where nobody reported it.")


def _to_event(message: Message, runtime: Runtime) -> MessageAdded:
    if not isinstance(message, Message):
        raise InputError(f"A message to append is a manent.Message, not {type(message).__name__}.")
    _check_usage(message.usage)
    parts = message.ordered_parts()
    for part in parts:
        check_part(part)
    check_json(message.metadata, "metadata")
    new_id = runtime.new_id()[:_MESSAGE_ID_LENGTH]
    return MessageAdded(
        message_id=new_id if message.id is None else check_message_id(message.id),
        role=check_name(message.role, "role"),
        hidden=message.hidden,
        parts=parts,
        usage=message.usage,
        metadata=message.metadata,
        author=message.author,
    )


def _under(event: E, parent_id: str | None) -> E:
    return msgspec.structs.replace(event, parent_id=parent_id)


def _refuse_taken_ids(reader: Reader, target: Target, messages: Sequence[Message]) -> None:
    seen: set[str] = set()
    for message in messages:
        if message.id is None:
            continue
        if message.id in seen or reader.find_message(target.uid, message.id):
            raise AlreadyExistsError("message id", message.id)
        seen.add(message.id)


def _parent_id(reader: Reader, target: Target, row: ConversationRow | None, parent: Parent) -> str | None:
    if parent is None:
        return row.head if row else None
    if isinstance(parent, Root):
        return None
    message_id = parent.id if isinstance(parent, StoredMessage) else parent
    found = reader.find_message(target.uid, message_id)
    if found is None or found.state != MessageState.PRESENT:
        raise NotFoundError("message", message_id, "It was removed, or never was.")
    return message_id
