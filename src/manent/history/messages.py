"""Reading messages: pages of the active branch or of all branches, in causal order."""

from __future__ import annotations

from typing import Literal, NamedTuple

from manent.errors import NotFoundError
from manent.history.assembly import to_message
from manent.history.runtime import Target
from manent.model.ids import Stamp
from manent.model.paging import Page, check_limit, cursor_to_place
from manent.model.records import StoredMessage
from manent.model.rows import ConversationRow, MessageEntry, MessageState, Place
from manent.storage.port import Reader, Span

Branch = Literal["active", "all"]
"""Which messages to read: those from the root to the head, or those of every branch."""

PAGE = 500
"""Messages fetched at a time when no limit is given."""

BEGINNING = Place(-1, "", -1)


class Window(NamedTuple):
    """What a page asks for; without `after` a limit takes the newest."""

    limit: int | None
    after: Place | None
    before: Place | None
    branch: Branch

    @classmethod
    def of(cls, limit: int | None, after: str | None, before: str | None, branch: Branch) -> Window:
        """
        Check a caller's wishes.

        Raises:
            InputError: a limit below 1, or a cursor that is none.
        """
        return cls(
            None if limit is None else check_limit(limit),
            None if after is None else cursor_to_place(after) if after else BEGINNING,
            None if before is None else cursor_to_place(before),
            branch,
        )

    @property
    def backward(self) -> bool:
        """Whether the page is taken from the end."""
        return self.after is None and self.limit is not None

    def holds(self, place: Place) -> bool:
        """Whether a place lies between the bounds, both exclusive."""
        return (self.after is None or place > self.after) and (self.before is None or place < self.before)

    def cut(self, ordered: list[MessageEntry]) -> tuple[list[MessageEntry], bool]:
        """At most `limit` of the entries, from the right end; and whether there are more."""
        if self.limit is None or len(ordered) <= self.limit:
            return ordered, False
        return (ordered[-self.limit :] if self.backward else ordered[: self.limit]), True


def read_page(reader: Reader, target: Target, window: Window) -> Page[StoredMessage]:
    """One page of messages, oldest first."""
    row = find_row(reader, target)
    entries, more = read_window(reader, target.uid, row, window)
    items = [to_message(reader, target, entry) for entry in entries]
    following, preceding = leads(window, more)
    return Page(
        items,
        next=items[-1].cursor if items and following else None,
        previous=items[0].cursor if items and preceding else None,
    )


def find_row(reader: Reader, target: Target) -> ConversationRow | None:
    """
    The row of a conversation that is there, or is reserved and has none yet.

    Raises:
        NotFoundError: it was deleted: there is nothing to read, which is not the same as an empty one.
    """
    row = reader.find_row(target.uid)
    if row is None and not target.reserved:
        stream = reader.find_stream(target.uid)
        if stream is None or stream.deleted:
            raise NotFoundError("conversation", target.id, "It was deleted.")
    return row


def leads(window: Window, more: bool) -> tuple[bool, bool]:
    """Whether something lies behind a page, and before it, given whether its own side has more."""
    if window.backward:
        return window.before is not None, more
    return more or window.before is not None, window.after is not None


def read_window(
    reader: Reader, uid: str, row: ConversationRow | None, window: Window
) -> tuple[list[MessageEntry], bool]:
    """The messages of a window, oldest first, and whether its side has more."""
    if window.branch == "active" and row is not None and not row.linear:
        return _read_branch(reader, uid, row, window)
    return _read_all(reader, uid, window)


def _read_all(reader: Reader, uid: str, window: Window) -> tuple[list[MessageEntry], bool]:
    """Messages by place. Without branches these are the active branch, less what was removed."""
    found: list[MessageEntry] = []
    after, before = window.after, window.before
    while window.limit is None or len(found) <= window.limit:
        size = PAGE if window.limit is None else window.limit + 1 - len(found)
        page = reader.read_messages(uid, Span(after, before, window.backward, size))
        found += [e for e in page if window.branch == "all" or e.state == MessageState.PRESENT]
        if len(page) < size:
            break
        if window.backward:
            before = page[-1].place
        else:
            after = page[-1].place
    return window.cut(found[::-1] if window.backward else found)


def _read_branch(
    reader: Reader, uid: str, row: ConversationRow, window: Window
) -> tuple[list[MessageEntry], bool]:
    """Messages from the head towards the root; a child's place is always after its parent's."""
    found: list[MessageEntry] = []
    message_id = row.head
    while message_id is not None:
        page = reader.read_branch(uid, message_id, PAGE)
        found += [entry for entry in page if window.holds(entry.place)]
        enough = window.backward and window.limit is not None and len(found) > window.limit
        passed = window.after is not None and page[-1].place <= window.after
        message_id = None if enough or passed else page[-1].parent_id
    return window.cut(found[::-1])


def get_message(reader: Reader, target: Target, message_id: str) -> StoredMessage:
    """
    One message by its id.

    Raises:
        NotFoundError: the conversation has no such message.
    """
    entries = reader.read_branch(target.uid, message_id, 1)
    if not entries:
        raise NotFoundError("message", message_id)
    return to_message(reader, target, entries[0])


def message_at(reader: Reader, target: Target, stamp: Stamp) -> StoredMessage:
    """The message that an event put."""
    span = Span(Place(stamp.seq, stamp.writer, -1), limit=1)
    return to_message(reader, target, reader.read_messages(target.uid, span)[0])


def siblings(reader: Reader, target: Target, message_id: str) -> list[str]:
    """
    The ids of the messages under the same parent, this one included, oldest first.

    Raises:
        NotFoundError: the conversation has no such message.
    """
    message = reader.find_message(target.uid, message_id)
    if message is None:
        raise NotFoundError("message", message_id)
    above = reader.find_message(target.uid, message.parent_id) if message.parent_id else None
    start = Place(above.seq, above.writer, above.ordinal) if above else BEGINNING
    return [
        row.message_id
        for row in reader.read_rows_after(target.uid, start)
        if row.parent_id == message.parent_id and row.state == message.state and row.hidden == message.hidden
    ]
