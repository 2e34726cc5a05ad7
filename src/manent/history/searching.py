"""Searching: a plain scan of every message that a reader can see, right for any script and any length."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from manent.history.assembly import entry_visible_text
from manent.history.listing import conversations
from manent.model.ids import Address, message_address, turn_address
from manent.model.log import find_text
from manent.model.records import Hit
from manent.model.rows import ConversationEntry, MessageEntry, MessageState, Place
from manent.search.matching import match
from manent.search.query import Query
from manent.search.snippet import cut_snippet
from manent.storage.port import Reader, Span

PAGE = 200


def search(reader: Reader, workspace: str | None, query: Query, *, limit: int) -> list[Hit]:
    """Find messages that hold every word or "phrase" of a query, the best first, newer ones before older."""
    ranked = ((hit.score, -number, hit) for number, hit in enumerate(_hits(reader, workspace, query)))
    best = heapq.nlargest(limit, ranked, key=lambda item: item[:2])
    return [hit for _, _, hit in best]


def _hits(reader: Reader, workspace: str | None, query: Query) -> Iterator[Hit]:
    for conversation in conversations(reader, workspace):
        for entry in _visible(reader, conversation.uid):
            text = entry_visible_text(entry)
            if (found := match(query, text)) is None:
                continue
            snippet = cut_snippet(text, found.spans)
            yield Hit(
                conversation_id=conversation.id,
                title=find_text(conversation.registers, "title"),
                address=_address(conversation, entry),
                message_id=entry.message_id,
                role=entry.role,
                score=found.score,
                snippet=snippet.text,
                highlights=snippet.highlights,
                cut_before=snippet.cut_before,
                cut_after=snippet.cut_after,
                claim_ns=entry.claim_ns,
            )


def _visible(reader: Reader, uid: str) -> Iterator[MessageEntry]:
    """Messages that are in the tree, newest first; what was injected is nobody's words but can be seen."""
    before: Place | None = None
    while page := reader.read_messages(uid, Span(before=before, newest_first=True, limit=PAGE)):
        yield from (entry for entry in page if entry.state == MessageState.PRESENT)
        before = page[-1].place


def _address(conversation: ConversationEntry, entry: MessageEntry) -> Address:
    if entry.turn_seq is None:
        return message_address(conversation.id, entry.message_id)
    return turn_address(conversation.id, entry.turn_seq)
