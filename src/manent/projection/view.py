"""What a projection may read: the rows of the event's own conversation, as of just before the event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from manent.model.ids import Stamp
from manent.model.rows import ConversationRow, LinkRow, MessageRow, Place, TurnRow


class View(Protocol):
    """The rows of one conversation, named by its uid; every backend's reader is one."""

    def find_row(self, uid: str) -> ConversationRow | None:
        """The conversation's own row, or None before its first event."""

    def read_links(self, uid: str) -> Sequence[LinkRow]:
        """The relations of the conversation to others, which may be told before its row is there."""

    def find_message(self, uid: str, message_id: str) -> MessageRow | None:
        """One message, or None."""

    def read_rows_after(self, uid: str, place: Place) -> Iterator[MessageRow]:
        """The messages that appeared after a place, in causal order; read while nothing is written."""

    def find_turn(self, uid: str, turn_id: str) -> TurnRow | None:
        """One turn by its id, or None."""

    def find_turn_at(self, uid: str, stamp: Stamp) -> TurnRow | None:
        """One turn by the stamp of the event that began it, or None."""
