"""Following: events of the store in the order in which they arrived, after a position (L-5)."""

from __future__ import annotations

from typing import NamedTuple

from manent.errors import FollowResetError
from manent.history.recording import open_leniently
from manent.model.events import Event
from manent.model.ids import Position
from manent.storage.port import Reader, position_of


class Arrived(NamedTuple):
    """An event of one's own workspace, where it arrived, and what it says."""

    position: Position
    conversation_id: str
    seq: int
    writer: str
    claim_ns: int | None
    event: Event


class Arrivals(NamedTuple):
    """Some events, and the position to go on from; `caught_up` when nothing lies behind it yet."""

    events: tuple[Arrived, ...]
    position: Position
    caught_up: bool


def read_arrivals(
    reader: Reader, workspace: str | None, after: Position | None, limit: int, *, store: str
) -> Arrivals:
    """
    Read on from a position; events of other workspaces are passed over.

    Raises:
        FollowResetError: the position is of another generation of the store.
    """
    info = reader.info()
    if after is not None and after.generation != info.generation:
        raise FollowResetError(store=store, found=info.generation, expected=after.generation)
    start = after.value if after else 0
    entries = reader.read_log(start, limit)
    events = []
    for entry in entries:
        stream = reader.find_stream(entry.header.uid)
        if stream is not None and stream.id is not None and workspace in (None, stream.workspace):
            header = entry.header
            event = open_leniently(entry).event
            place = position_of(info, entry.position)
            events.append(Arrived(place, stream.id, header.seq, header.writer, header.claim_ns, event))
    last = entries[-1].position if entries else start
    return Arrivals(tuple(events), position_of(info, last), len(entries) < limit)
