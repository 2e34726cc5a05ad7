"""Listing: conversations by activity, some at a time, and those of them that somebody asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from manent.errors import InputError
from manent.model.ids import SEQ_MAX, check_text
from manent.model.log import END_FIELD, KEY_FIELD
from manent.model.paging import Page
from manent.model.records import ConversationSummary
from manent.model.rows import ConversationEntry
from manent.storage.port import Listing, Reader

PAGE = 200


class Wanted(NamedTuple):
    """
    Which conversations a list shows; None asks for nothing in particular.

    Args:
        project: those of exactly this project.
        tag: those that have this tag.
        is_open: those that were not ended, or (False) those that were.
        pinned: those that are pinned, or (False) those that are not.
    """

    project: str | None = None
    tag: str | None = None
    is_open: bool | None = None
    pinned: bool | None = None

    def takes(self, shown: ConversationSummary) -> bool:
        """Whether a list shows this one."""
        return (
            self.project in (None, shown.project)
            and (self.tag is None or self.tag in shown.tags)
            and self.is_open in (None, shown.end_reason is None)
            and self.pinned in (None, shown.pinned)
        )


def conversations(reader: Reader, workspace: str | None) -> Iterator[ConversationEntry]:
    """Every conversation, the most recently active first, some at a time."""
    return _entries(reader, Listing(workspace, newest_first=True, limit=PAGE))


def read_page(reader: Reader, listing: Listing, wanted: Wanted) -> Page[ConversationSummary]:
    """
    One page of a list.

    Args:
        listing: `limit` conversations at most; where `as_of` is None the list begins now.
        wanted: which of them.
    """
    as_of = reader.info().clock if listing.as_of is None else listing.as_of
    limit = listing.limit
    size = limit + 1 if wanted == Wanted() else max(limit + 1, PAGE)
    shown: list[tuple[ConversationEntry, ConversationSummary]] = []
    for entry in _entries(reader, listing._replace(as_of=as_of, limit=size)):
        summary = to_summary(entry)
        if wanted.takes(summary):
            shown.append((entry, summary))
            if len(shown) > limit:
                last = shown[limit - 1][0]
                items = [each for _, each in shown[:limit]]
                return Page(items, next=f"{as_of}.{last.rank}.{last.uid}")
    return Page([each for _, each in shown])


def _entries(reader: Reader, listing: Listing) -> Iterator[ConversationEntry]:
    """All that a listing leads to, from where it begins, `limit` at a time."""
    while page := reader.list_conversations(listing):
        yield from page
        if len(page) < listing.limit:
            return
        listing = listing._replace(after=(page[-1].rank, page[-1].uid))


def parse_cursor(cursor: str) -> tuple[int, tuple[int, str]]:
    """
    The clock when a list began, and the (rank, uid) of the last conversation shown.

    Raises:
        InputError: it is none that a page gave.
    """
    try:
        as_of, rank, uid = check_text(cursor, "cursor").split(".")
        if max(int(as_of), int(rank)) > SEQ_MAX:
            raise ValueError("beyond every clock")
        return int(as_of), (int(rank), bytes.fromhex(uid).hex())
    except ValueError as error:
        raise InputError(f"{cursor[:40]!r} is no cursor; pass one that a page gave.") from error


def to_summary(entry: ConversationEntry) -> ConversationSummary:
    """A conversation as a list shows it."""
    registers = {register.field: register.value for register in entry.registers}
    tags = registers.get("tags")
    return ConversationSummary(
        id=entry.id,
        workspace=entry.workspace,
        title=registers.get("title") or "",
        persona=registers.get("persona"),
        key=registers.get(KEY_FIELD),
        project=registers.get("project"),
        end_reason=registers.get(END_FIELD),
        activity_seq=entry.row.activity.seq,
        started_ns=entry.row.claim_first_ns,
        last_ns=entry.row.claim_max_ns,
        tags=tuple(map(str, tags)) if isinstance(tags, list) else (),
        pinned=registers.get("pin") is True,
    )
