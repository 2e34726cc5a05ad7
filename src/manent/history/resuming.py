"""Resuming: exactly the conversation that was named, and the latest one that may be offered."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from manent.history.runtime import Runtime
from manent.history.workspaces import find_fence, is_there
from manent.model.log import find_text
from manent.model.owners import Owner
from manent.model.rows import ConversationEntry
from manent.storage.port import Listing, Reader

if TYPE_CHECKING:
    from manent.history.conversation import Conversation

_PAGE = 20


class Resumption(NamedTuple):
    """
    A conversation that was asked for by name, and what whoever resumes it should know.

    Args:
        conversation: exactly the one that was named, ended or not.
        continued_by: the ids of conversations that go on from it; a notice, never followed by itself.
        end_reason: why it was ended, or None.
        owner: the process that owns it and lives, or None. Do not attach while it does.
    """

    conversation: Conversation
    continued_by: tuple[str, ...]
    end_reason: str | None
    owner: Owner | None


def find_latest_open(runtime: Runtime, reader: Reader, project: str | None) -> ConversationEntry | None:
    """
    The most recently active conversation that is open, was last spoken to here, and that no other one runs.

    Args:
        project: only those of this project; None takes any.
    """
    if not is_there(runtime, reader):
        return None
    fence = find_fence(runtime, reader)
    listing = Listing(fence, newest_first=True, limit=1 if project is None else _PAGE, resumable=True)
    while page := reader.list_conversations(listing):
        for entry in page:
            if project is None or find_text(entry.registers, "project") == project:
                return entry
        listing = listing._replace(after=(page[-1].rank, page[-1].uid))
    return None
