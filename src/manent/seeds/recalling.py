"""
Full-text recall over turns, as `ConversationStore.search` gives it: operators, whole turns, marked snippets.

Each term is looked for through the store's own search, and in the names and digests of the tools that ran;
what the terms have found is then joined turn by turn. A term may stand in the question, another one in the
answer. Terms side by side bind tightest, then NOT, then AND, then OR, as in SQLite's full-text search.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import NamedTuple

from manent.history.listing import conversations
from manent.history.recording import open_leniently
from manent.history.runtime import Runtime
from manent.history.store import Store
from manent.history.workspaces import find_fence, is_there
from manent.model.events import TurnAppended
from manent.model.ids import made_place
from manent.model.log import find_text
from manent.model.records import Hit
from manent.model.rows import MessageState, TurnRow
from manent.search.matching import match
from manent.search.query import Query, parse_query
from manent.search.snippet import Snippet, cut_snippet
from manent.seeds.conversation_records import SearchHit
from manent.seeds.inside import runtime_of
from manent.seeds.sanitizing import Token, read_tokens
from manent.storage.port import Reader, Span

OPENING, CLOSING, CUT = ">>>", "<<<", "…"
"""How a snippet marks a match, and where the text goes on."""

_EVERY = 1 << 31
"""Hits of one term that are asked for: all of them, or a turn that the other terms need may be missing."""


class Place(NamedTuple):
    """Which turn: two writers may share a seq."""

    conversation_id: str
    seq: int
    writer: str


class Found(NamedTuple):
    """A turn that a term is in: how well, and its best piece."""

    score: float
    title: str
    piece: Snippet


Finds = dict[Place, Found]


def recall(store: Store, text: str, limit: int) -> list[SearchHit]:
    """
    Find turns, the best first; of equal ones by conversation and seq.

    Raises:
        EmptyQueryError: nothing is left to search.
    """
    tokens = read_tokens(text)
    queries = {token.text: parse_query(f'"{token.text}"') for token in tokens if not token.is_operator}
    tools = _find_tools(runtime_of(store), queries)
    by_term = {term: _joined([_find_words(store, term), tools[term]]) for term in queries}
    found = _any_of(tokens, by_term)
    ranked = sorted(found.items(), key=lambda item: (-item[1].score, item[0]))
    return [_to_hit(place, each, list(queries.values())) for place, each in ranked[:limit]]


# --- what one term finds


def _find_words(store: Store, term: str) -> Finds:
    hits = store.search(f'"{term}"', limit=_EVERY)
    return _joined({_place(hit): _to_found(hit)} for hit in hits if hit.address.kind == "turn")


def _place(hit: Hit) -> Place:
    made = made_place(hit.message_id)
    return Place(hit.conversation_id, int(hit.address.ref), hit.address.writer or (made[1] if made else ""))


def _to_found(hit: Hit) -> Found:
    return Found(hit.score, hit.title, Snippet(hit.snippet, hit.highlights, hit.cut_before, hit.cut_after))


def _find_tools(runtime: Runtime, queries: dict[str, Query]) -> dict[str, Finds]:
    """The turns whose tools or their digests hold a term, for each term."""
    found: dict[str, Finds] = {term: {} for term in queries}
    with runtime.backend.reading() as reader:
        if not is_there(runtime, reader):
            return found
        for place, title, text in _tool_texts(reader, find_fence(runtime, reader)):
            for term, query in queries.items():
                if (matched := match(query, text)) is not None:
                    found[term][place] = Found(matched.score, title, cut_snippet(text, matched.spans))
    return found


def _tool_texts(reader: Reader, fence: str | None) -> Iterator[tuple[Place, str, str]]:
    for entry in conversations(reader, fence):
        for row in reader.read_turns(entry.uid, Span(limit=-1)):
            text = _tool_text(reader, entry.uid, row) if row.has_details else ""
            if text:
                title = find_text(entry.registers, "title")
                yield Place(entry.id, row.seq, row.writer), title, text


def _tool_text(reader: Reader, uid: str, row: TurnRow) -> str:
    """The tools of a turn that is still in the tree, one a line."""
    entry = reader.find_entry(uid, row.stamp)
    event = open_leniently(entry).event if entry else None
    if not isinstance(event, TurnAppended) or not event.tool_events:
        return ""
    messages = reader.read_turn_messages(uid, row.stamp, row.stamp)
    if all(message.state != MessageState.PRESENT for message in messages):
        return ""
    return "\n".join(f"{each.tool} {each.args_digest}".strip() for each in event.tool_events)


# --- what an expression finds


def _any_of(tokens: Sequence[Token], by_term: dict[str, Finds]) -> Finds:
    return _joined(_all_of(part, by_term) for part in _split(tokens, "OR"))


def _all_of(tokens: Sequence[Token], by_term: dict[str, Finds]) -> Finds:
    return reduce(_both, (_without(part, by_term) for part in _split(tokens, "AND")))


def _without(tokens: Sequence[Token], by_term: dict[str, Finds]) -> Finds:
    wanted, *unwanted = (
        reduce(_both, (by_term[token.text] for token in part)) for part in _split(tokens, "NOT")
    )
    return {place: found for place, found in wanted.items() if all(place not in each for each in unwanted)}


def _split(tokens: Sequence[Token], operator: str) -> list[list[Token]]:
    """The stretches between the operators of that name; none is empty."""
    parts: list[list[Token]] = [[]]
    for token in tokens:
        if token.is_operator and token.text == operator:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _both(one: Finds, other: Finds) -> Finds:
    return {place: _better(one[place], other[place], sum) for place in one.keys() & other.keys()}


def _joined(several: Iterable[Finds]) -> Finds:
    joined: Finds = {}
    for finds in several:
        for place, found in finds.items():
            joined[place] = _better(joined[place], found, max) if place in joined else found
    return joined


def _better(one: Found, other: Found, total: Callable[[list[float]], float]) -> Found:
    best = max(one, other, key=lambda found: found.score)
    return best._replace(score=total([one.score, other.score]))


# --- what is shown


def _to_hit(place: Place, found: Found, queries: Sequence[Query]) -> SearchHit:
    piece = found.piece
    highlights = _highlights(piece, queries)
    return SearchHit(
        conversation_id=place.conversation_id,
        title=found.title,
        seq=place.seq,
        snippet=_marked(piece, highlights),
        rank=-found.score,
        excerpt=piece.text,
        highlights=highlights,
        writer=place.writer,
    )


def _highlights(piece: Snippet, queries: Sequence[Query]) -> tuple[tuple[int, int], ...]:
    """The places of every term in a piece, those that overlap as one."""
    matches = (match(query, piece.text) for query in queries)
    spans = sorted({*piece.highlights, *(span for found in matches if found for span in found.spans)})
    merged: list[tuple[int, int]] = []
    for start, end in spans:
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _marked(piece: Snippet, highlights: Sequence[tuple[int, int]]) -> str:
    shown, at = "", 0
    for start, end in highlights:
        shown += f"{piece.text[at:start]}{OPENING}{piece.text[start:end]}{CLOSING}"
        at = end
    before, after = (CUT if cut else "" for cut in (piece.cut_before, piece.cut_after))
    return f"{before}{shown}{piece.text[at:]}{after}"
