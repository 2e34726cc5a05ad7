"""Reading turns: pages in causal order, and one by its address."""

from __future__ import annotations

from collections.abc import Sequence

from manent.errors import AmbiguousAddressError, NotFoundError
from manent.history.assembly import to_turns
from manent.history.messages import Window, find_row, leads, read_window
from manent.history.runtime import Target
from manent.model.ids import SEQ_MAX, Address, Stamp, parse_address, turn_address
from manent.model.paging import Page, place_to_cursor
from manent.model.records import Turn
from manent.model.rows import ConversationRow, MessageEntry, MessageState, Place, TurnRow
from manent.storage.port import Reader, Span

_LAST_WRITER = "ff" * 16


def read_page(reader: Reader, target: Target, window: Window) -> Page[Turn]:
    """One page of turns, oldest first."""
    row = find_row(reader, target)
    if window.branch == "active" and row is not None and not row.linear:
        rows, entries, more = _of_branch(reader, target.uid, row, window)
    else:
        rows, more = _by_stamp(reader, target.uid, window)
        entries = _words(reader, target.uid, rows, window)
    turns = to_turns(reader, target, rows, entries)
    following, preceding = leads(window, more)
    return Page(
        turns,
        next=_cursor(rows[-1]) if rows and following else None,
        previous=_cursor(rows[0]) if rows and preceding else None,
    )


def _cursor(row: TurnRow) -> str:
    return place_to_cursor(_place(row))


def _place(row: TurnRow) -> Place:
    return Place(row.seq, row.writer, 0)


def _by_stamp(reader: Reader, uid: str, window: Window) -> tuple[list[TurnRow], bool]:
    size = -1 if window.limit is None else window.limit + 1
    rows = list(reader.read_turns(uid, Span(window.after, window.before, window.backward, size)))
    more = window.limit is not None and len(rows) > window.limit
    kept = rows[: window.limit]
    return (kept[::-1] if window.backward else kept), more


def _words(reader: Reader, uid: str, rows: Sequence[TurnRow], window: Window) -> list[MessageEntry]:
    if not rows:
        return []
    found = reader.read_turn_messages(uid, rows[0].stamp, rows[-1].stamp)
    return [entry for entry in found if window.branch == "all" or entry.state == MessageState.PRESENT]


def _of_branch(
    reader: Reader, uid: str, row: ConversationRow, window: Window
) -> tuple[list[TurnRow], list[MessageEntry], bool]:
    """The turns that the active branch passes through, with their messages on it."""
    path, _ = read_window(reader, uid, row, Window(None, None, None, "active"))
    stamps = dict.fromkeys(
        Stamp(entry.turn_seq, entry.turn_writer) for entry in path if entry.turn_seq and entry.turn_writer
    )
    found = [turn for stamp in stamps if (turn := reader.find_turn_at(uid, stamp))]
    rows = sorted((turn for turn in found if window.holds(_place(turn))), key=_place)
    more = window.limit is not None and len(rows) > window.limit
    if more and window.limit is not None:
        rows = rows[-window.limit :] if window.backward else rows[: window.limit]
    entries = sorted(path, key=lambda entry: (entry.turn_seq or 0, entry.turn_writer or "", entry.place))
    return rows, entries, more


def read_turn(reader: Reader, target: Target, stamp: Stamp) -> Turn:
    """The turn that began at a stamp."""
    row = reader.find_turn_at(target.uid, stamp)
    if row is None:
        raise NotFoundError("turn", str(turn_address(target.id, stamp.seq, stamp.writer)))
    return _to_turn(reader, target, row)


def get_turn(reader: Reader, target: Target, seq: int | Address | str, writer: str) -> Turn:
    """
    One turn by its seq or address.

    Raises:
        NotFoundError, AmbiguousAddressError, AddressError.
    """
    seq, writer = _parse(target, seq, writer)
    if not 0 <= seq <= SEQ_MAX:
        raise NotFoundError("turn", str(turn_address(target.id, seq)))
    span = Span(Place(seq - 1, _LAST_WRITER, 0), Place(seq + 1, "", -1), limit=-1)
    rows = [row for row in reader.read_turns(target.uid, span) if row.writer.startswith(writer)]
    if not rows:
        raise NotFoundError("turn", str(turn_address(target.id, seq, writer)))
    if len(rows) > 1:
        full = [str(turn_address(target.id, row.seq, row.writer)) for row in rows]
        raise AmbiguousAddressError(address=str(turn_address(target.id, seq, writer)), matches=full)
    return _to_turn(reader, target, rows[0])


def _parse(target: Target, seq: int | Address | str, writer: str) -> tuple[int, str]:
    if isinstance(seq, int):
        return seq, writer
    address = parse_address(seq) if isinstance(seq, str) else seq
    if address.kind != "turn" or address.conversation_id != target.id:
        raise NotFoundError("turn", str(address), "It belongs to another conversation.")
    return int(address.ref), address.writer


def _to_turn(reader: Reader, target: Target, row: TurnRow) -> Turn:
    entries = reader.read_turn_messages(target.uid, row.stamp, row.stamp)
    present = [entry for entry in entries if entry.state == MessageState.PRESENT]
    return to_turns(reader, target, [row], present)[0]
