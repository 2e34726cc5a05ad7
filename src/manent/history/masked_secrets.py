"""What was masked: kinds and places of secrets, never the secrets."""

from __future__ import annotations

from collections.abc import Iterator

from manent.errors import InputError
from manent.history.listing import PAGE, parse_cursor
from manent.history.masked import MASKED_FIELD, MaskedTogether, to_masked
from manent.history.runtime import Runtime
from manent.history.workspaces import find_fence, is_there
from manent.model.ids import message_address, turn_address
from manent.model.imports import MaskedSecret
from manent.model.log import Register
from manent.model.paging import Page, check_limit
from manent.model.rows import ConversationEntry
from manent.storage.port import Listing, Reader

LIST_LIMIT = 50


class Secrets:
    """What was masked in a workspace; on the owner's handle in all the store. Get it from `Store.secrets`."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __repr__(self) -> str:
        return f"<Secrets masked in {self._runtime.backend.url}>"

    def list(
        self, *, kind: str | None = None, limit: int = LIST_LIMIT, cursor: str | None = None
    ) -> Page[MaskedSecret]:
        """
        What was masked and where, by conversation, the most recently active first; in one as it was written.

        It goes with its conversation: what was deleted is not listed.

        Args:
            kind: only this one, such as `github_token`.
            limit: at most this many.
            cursor: the `next` of the page before, with the same `kind`.

        Raises:
            InputError: no such kind, a limit below 1, or a cursor that is none.
        """
        if kind is not None:
            from manent.history.masking import check_kinds

            check_kinds([kind])
        check_limit(limit)
        with self._runtime.backend.reading() as reader:
            if not is_there(self._runtime, reader):
                return Page(())
            as_of, after, skip = _parse(cursor) if cursor else (reader.info().clock, None, 0)
            listing = Listing(find_fence(self._runtime, reader), True, PAGE, as_of, after)
            return _page(reader, listing, kind, limit, skip)


def _page(reader: Reader, listing: Listing, kind: str | None, limit: int, skip: int) -> Page[MaskedSecret]:
    found: list[MaskedSecret] = []
    after = listing.after
    while entries := reader.list_conversations(listing):
        for entry in entries:
            masked = [one for one in _masked_in(reader, entry) if kind in (None, one.kind)]
            room = limit - len(found)
            found += masked[skip : skip + room]
            if len(masked) - skip > room:
                rank, uid = after or (0, "0" * 32)
                return Page(found, next=f"{listing.as_of}.{rank}.{uid}.{skip + room}")
            after, skip = (entry.rank, entry.uid), 0
        listing = listing._replace(after=after)
    return Page(found)


def _parse(cursor: str) -> tuple[int, tuple[int, str] | None, int]:
    """The clock when a list began, the last conversation that is done, and how much of the next one is."""
    place, _, skip = cursor.rpartition(".")
    if not (skip.isascii() and skip.isdigit() and len(skip) < 10):
        raise InputError(f"{cursor[:40]!r} is no cursor; pass one that a page gave.")
    as_of, (rank, uid) = parse_cursor(place)
    return as_of, (rank, uid) if rank else None, int(skip)


def _masked_in(reader: Reader, entry: ConversationEntry) -> Iterator[MaskedSecret]:
    """What was masked in one conversation, as it was written."""
    for _, told in sorted(_told(entry.registers), key=lambda pair: pair[0]):
        for message_id, kinds in told.found:
            address = _address(reader, entry, message_id)
            for kind, count in sorted(kinds.items()):
                yield MaskedSecret(
                    kind=kind,
                    conversation_id=entry.id,
                    address=address,
                    count=count,
                    claim_ns=told.claim_ns,
                    import_id=told.import_id,
                )


def _told(registers: tuple[Register, ...]) -> Iterator[tuple[int, MaskedTogether]]:
    """What registers tell; a damaged one tells nothing, and `verify` reports it."""
    for register in registers:
        seq = register.field.removeprefix(MASKED_FIELD)
        if seq != register.field and seq.isascii() and seq.isdigit() and (told := to_masked(register)):
            yield int(seq), told


def _address(reader: Reader, entry: ConversationEntry, message_id: str) -> str | None:
    """Where something was masked: None for the conversation itself."""
    if not message_id:
        return None
    row = reader.find_message(entry.uid, message_id)
    if row is None or row.turn_seq is None:
        return str(message_address(entry.id, message_id))
    return str(turn_address(entry.id, row.turn_seq))
