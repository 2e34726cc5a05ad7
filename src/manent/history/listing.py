"""Listing: every conversation of a workspace, some at a time."""

from __future__ import annotations

from collections.abc import Iterator

from manent.model.rows import ConversationEntry
from manent.storage.port import Listing, Reader

PAGE = 200


def conversations(reader: Reader, workspace: str | None) -> Iterator[ConversationEntry]:
    """Every conversation, the most recently active first, some at a time."""
    listing = Listing(workspace, newest_first=True, limit=PAGE)
    while page := reader.list_conversations(listing):
        yield from page
        listing = listing._replace(after=(page[-1].rank, page[-1].uid))
