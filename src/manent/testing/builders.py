"""Events as tests speak of them: `said("hi")`, `a_turn("how much?", "42")`, `a_conversation(turns=3)`."""

from __future__ import annotations

import secrets
from typing import Any

from manent.codec.chain import genesis
from manent.codec.sealing import seal
from manent.model.events import (
    ConversationCreated,
    ConversationForked,
    ConversationLinked,
    Event,
    HeadMoved,
    MessageAdded,
    MessageEdited,
    MessageRemoved,
    TurnAppended,
    TurnEnded,
    TurnStarted,
    TurnState,
)
from manent.model.ids import new_uid
from manent.model.log import Pending, SealedEvent
from manent.model.owners import Owner, Process
from manent.model.parts import AnyPart, TextPart
from manent.testing.clocks import NOON_NS


def began(**fields: Any) -> ConversationCreated:
    """A conversation began."""
    return ConversationCreated(**fields)


def said(
    words: str | tuple[AnyPart, ...],
    *,
    id: str | None = None,
    under: str | None = None,
    role: str = "user",
    **fields: Any,
) -> MessageAdded:
    """
    A message.

    Args:
        words: its text, or its parts.
        id: its name; a random one when None.
        under: the id of its parent; a root when None.
    """
    parts = (TextPart(words),) if isinstance(words, str) else words
    return MessageAdded(message_id=id or new_uid(), role=role, parent_id=under, parts=parts, **fields)


def answered(
    words: str | tuple[AnyPart, ...], *, id: str | None = None, under: str | None = None, **fields: Any
) -> MessageAdded:
    """A message of the assistant; arguments as for `said`."""
    return said(words, id=id, under=under, role="assistant", **fields)


def a_turn(question: str = "how much?", answer: str = "42", **fields: Any) -> TurnAppended:
    """A whole turn."""
    return TurnAppended(question=question, answer=answer, **fields)


def started(turn_id: str = "t1") -> TurnStarted:
    """A turn is open."""
    return TurnStarted(turn_id=turn_id)


def ended(turn_id: str = "t1", state: TurnState = TurnState.COMPLETE, **fields: Any) -> TurnEnded:
    """A turn ended."""
    return TurnEnded(turn_id=turn_id, state=state, **fields)


def edited(message_id: str, words: str) -> MessageEdited:
    """New words for a message."""
    return MessageEdited(message_id=message_id, new_parts=(TextPart(words),))


def removed(message_id: str) -> MessageRemoved:
    """A message and everything under it left the tree."""
    return MessageRemoved(message_id=message_id)


def head_moved(message_id: str | None) -> HeadMoved:
    """The active branch ends elsewhere."""
    return HeadMoved(message_id=message_id)


def linked(relation: str, to_uid: str, *, message_id: str | None = None) -> ConversationLinked:
    """A relation to another conversation."""
    return ConversationLinked(relation=relation, to_uid=to_uid, message_id=message_id)


def forked(from_uid: str, *, message_id: str | None = None) -> ConversationForked:
    """This conversation goes on from a message of another one."""
    return ConversationForked(from_uid=from_uid, from_message_id=message_id)


def an_owner(*, epoch: int = 1, writer: str = "ab" * 8, heartbeat_ns: int = NOON_NS, **process: Any) -> Owner:
    """Who owns a conversation; `process` names what differs in the process."""
    there: dict[str, Any] = {"host": "h", "boot_id": "b", "namespace": "n", "pid": 7, "started": 3, **process}
    return Owner(
        process=Process(**there), epoch=epoch, writer=writer, claimed_ns=NOON_NS, heartbeat_ns=heartbeat_ns
    )


def a_conversation(*, turns: int = 1) -> list[Event]:
    """A conversation from its beginning: `q1` and under it `a1`, under that `q2` and so on."""
    events: list[Event] = [began()]
    for number in range(1, turns + 1):
        above = f"a{number - 1}" if number > 1 else None
        events.append(said(f"question {number}", id=f"q{number}", under=above))
        events.append(answered(f"answer {number}", id=f"a{number}", under=f"q{number}"))
    return events


def pending(*events: Event, claim_ns: int | None = NOON_NS) -> list[Pending]:
    """Events that are about to be appended, with random ids and one claim of time."""
    return [Pending(event, new_uid(), claim_ns) for event in events]


def sealed(
    uid: str, *events: Event, writer: str = "ab" * 8, seq: int = 1, prev_hash: bytes | None = None
) -> list[SealedEvent]:
    """
    Events of another writer, as a merge or an import brings them.

    Args:
        seq: that of the first; the others count on.
        prev_hash: the hash of the event before; the chain's beginning when None.
    """
    start = genesis(uid, writer) if prev_hash is None else prev_hash
    found, _ = seal(
        pending(*events),
        uid=uid,
        writer=writer,
        first_seq=seq,
        prev_hash=start,
        new_salts=secrets.token_bytes,
    )
    return found
