"""The named reads over one state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from manent.codec.canonical import escape_name, loads
from manent.model.events import CONTENT_KINDS
from manent.model.ids import BEFORE_ALL, Stamp, turn_id_of
from manent.model.log import END_FIELD, LogEntry, Register, StoreInfo, StreamInfo, Tip, WorkspaceInfo
from manent.model.owners import Owner
from manent.model.parts import Usage
from manent.model.rows import (
    ConversationEntry,
    ConversationRow,
    KeyRow,
    LinkRow,
    Measures,
    MessageEntry,
    MessageRow,
    MessageState,
    Place,
    TurnRow,
)
from manent.storage.memory.state import State, Stream
from manent.storage.port import Listing, ReadModelRow, Span

FORMAT = 1
"""There are no files that could be newer; the number is that of the first format."""

_MEASURED = frozenset(Usage.__struct_fields__)
_NO_STREAM = Stream(StreamInfo("", "", None))
T = TypeVar("T")


class MemoryReader:
    """The port's `Reader`."""

    def __init__(self, state: State) -> None:
        self._state = state

    def _stream(self, uid: str) -> Stream:
        return self._state.streams.get(uid, _NO_STREAM)

    # --- the store, workspaces, streams

    def info(self) -> StoreInfo:
        s = self._state
        return StoreInfo(s.store_id, s.generation, s.clock, len(s.log), s.source_key, FORMAT)

    def find_workspace(self, kind: str, value: str) -> str | None:
        return self._state.aliases.get((kind, value))

    def list_workspaces(self) -> Sequence[WorkspaceInfo]:
        return [self._workspace(uid) for uid in sorted(self._state.workspaces)]

    def find_workspace_info(self, workspace: str) -> WorkspaceInfo | None:
        return self._workspace(workspace) if workspace in self._state.workspaces else None

    def _workspace(self, workspace: str) -> WorkspaceInfo:
        infos = [stream.info for stream in self._state.streams.values()]
        own = sorted(i.uid for i in infos if i.workspace == workspace and i.id is None and not i.deleted)
        aliases = sorted(alias for alias, uid in self._state.aliases.items() if uid == workspace)
        return WorkspaceInfo(workspace, tuple(own), tuple(aliases))

    def find_stream(self, uid: str) -> StreamInfo | None:
        stream = self._state.streams.get(uid)
        return stream.info if stream else None

    def find_ids(self, workspace: str | None, id: str) -> Sequence[StreamInfo]:
        return self._find_named(self._state.ids, workspace, id)

    def find_by_key(self, workspace: str | None, key: str) -> Sequence[StreamInfo]:
        return self._find_named(self._state.keys, workspace, key)

    def _find_named(
        self, index: dict[tuple[str, str], str], workspace: str | None, name: str
    ) -> list[StreamInfo]:
        workspaces = sorted(self._state.workspaces) if workspace is None else [workspace]
        return [
            self._state.streams[index[place, name]].info for place in workspaces if (place, name) in index
        ]

    def find_prefix(self, workspace: str | None, prefix: str, limit: int) -> Sequence[StreamInfo]:
        found = [
            self._state.streams[uid].info
            for (place, id), uid in self._state.ids.items()
            if id.startswith(prefix) and workspace in (None, place)
        ]
        # By the escaped id, since that is what other backends can store and sort by.
        return _first(sorted(found, key=lambda info: (escape_name(info.id or ""), info.workspace)), limit)

    def read_uids(self, after: str, limit: int) -> Sequence[str]:
        return _first(sorted(uid for uid in self._state.streams if uid > after), limit)

    def read_strays(self) -> Sequence[str]:
        return []

    # --- metadata and lists

    def read_registers(self, uid: str) -> Sequence[Register]:
        registers = self._stream(uid).registers
        return [
            Register(field, None if value is None else loads(value), stamp)
            for field, (value, stamp) in sorted(registers.items())
        ]

    def find_owner(self, workspace: str, id: str) -> Owner | None:
        return self._state.owners.get((workspace, id))

    def list_owners(self, workspace: str) -> Sequence[tuple[str, Owner]]:
        return sorted((id, owner) for (place, id), owner in self._state.owners.items() if place == workspace)

    def count_conversations(self, workspace: str) -> int:
        streams = self._state.streams.values()
        return sum(stream.info.workspace == workspace and stream.row is not None for stream in streams)

    def list_conversations(self, listing: Listing) -> Sequence[ConversationEntry]:
        ranked = [
            (rank, uid)
            for uid, stream in self._state.streams.items()
            if listing.workspace in (None, stream.info.workspace)
            and (_is_resumable(stream) or not listing.resumable)
            and (rank := _rank(stream, listing.as_of)) is not None
        ]
        ranked.sort(reverse=listing.newest_first)
        if (shown := listing.after) is not None:
            ranked = [place for place in ranked if (place < shown if listing.newest_first else place > shown)]
        return [self._listed(rank, uid) for rank, uid in _first(ranked, listing.limit)]

    def _listed(self, rank: int, uid: str) -> ConversationEntry:
        stream = self._stream(uid)
        assert stream.row is not None and stream.info.id is not None, "only conversations have a rank"
        registers = tuple(self.read_registers(uid))
        return ConversationEntry(uid, stream.info.id, stream.info.workspace, stream.row, rank, registers)

    # --- the log

    def find_entry(self, uid: str, stamp: Stamp) -> LogEntry | None:
        return self._stream(uid).entries.get(stamp)

    def read_stream(self, uid: str, after: Stamp, limit: int) -> Sequence[LogEntry]:
        entries = self._stream(uid).entries
        return [entries[stamp] for stamp in _first(sorted(s for s in entries if s > after), limit)]

    def read_log(self, after: int, limit: int) -> Sequence[LogEntry]:
        places = _first(self._state.log[max(after, 0) :], limit)
        return [self._stream(uid).entries[stamp] for uid, stamp in places]

    def read_tips(self, uid: str) -> Sequence[Tip]:
        return [tip for _, tip in sorted(self._stream(uid).tips.items())]

    # --- the read model

    def find_row(self, uid: str) -> ConversationRow | None:
        return self._stream(uid).row

    def find_message(self, uid: str, message_id: str) -> MessageRow | None:
        return self._stream(uid).messages.get(message_id)

    def read_rows_after(self, uid: str, place: Place) -> Iterator[MessageRow]:
        return iter([row for row in self._messages(uid) if _place(row) > place])

    def find_turn(self, uid: str, turn_id: str) -> TurnRow | None:
        return self._stream(uid).turns.get(turn_id)

    def find_turn_at(self, uid: str, stamp: Stamp) -> TurnRow | None:
        turns = self._stream(uid).turns
        found = turns.get(turn_id_of(stamp))
        if found is not None and found.stamp == stamp:
            return found
        return next((turn for turn in turns.values() if turn.stamp == stamp), None)

    def find_open_turn(self, uid: str) -> TurnRow | None:
        turns = self.read_turns(uid, Span(limit=-1))
        return next((turn for turn in turns if turn.state == "open" and not turn.implicit), None)

    def read_links(self, uid: str) -> Sequence[LinkRow]:
        return [link for _, link in sorted(self._stream(uid).links.items())]

    def read_links_to(self, uid: str) -> Sequence[tuple[str, LinkRow]]:
        found = [
            (other, link)
            for other in self._state.streams
            for link in self.read_links(other)
            if link.to_uid == uid
        ]
        return sorted(found, key=lambda pair: (pair[1].seq, pair[1].writer, pair[0]))

    def measure(self, workspace: str | None, uid: str | None = None) -> Measures:
        streams = [
            stream
            for each, stream in self._state.streams.items()
            if stream.row and uid in (None, each) and workspace in (None, stream.info.workspace)
        ]
        messages = [row for stream in streams for row in stream.messages.values()]
        turns = [turn for stream in streams for turn in stream.turns.values()]
        rows = [stream.row for stream in streams if stream.row]
        return Measures(
            len(streams),
            dict(Counter(row.role for row in messages if row.state == MessageState.PRESENT)),
            dict(Counter(turn.state for turn in turns)),
            _tokens(_usage_leaves(streams)),
            min((row.claim_first_ns for row in rows if row.claim_first_ns is not None), default=None),
            max((row.claim_max_ns for row in rows if row.claim_max_ns is not None), default=None),
        )

    def find_key(self, uid: str, key_digest: bytes) -> Stamp | None:
        return self._stream(uid).keys.get(key_digest)

    def read_messages(self, uid: str, span: Span) -> Sequence[MessageEntry]:
        inside = [row for row in self._messages(uid) if _is_inside(_place(row), span.after, span.before)]
        return [self._with_words(row) for row in _first(_from_the_end(inside, span), span.limit)]

    def read_branch(self, uid: str, message_id: str, limit: int) -> Sequence[MessageEntry]:
        messages = self._stream(uid).messages
        branch: list[MessageRow] = []
        row = messages.get(message_id)
        while row is not None and len(branch) < limit:
            branch.append(row)
            above = messages.get(row.parent_id) if row.parent_id is not None else None
            # A parent that stands later was not there when its child came: nothing hangs under it.
            row = above if above is not None and _place(above) < _place(row) else None
        return [self._with_words(row) for row in branch]

    def read_turns(self, uid: str, span: Span) -> Sequence[TurnRow]:
        after, before = (None if place is None else Stamp(*place[:2]) for place in (span.after, span.before))
        turns = sorted(self._stream(uid).turns.values(), key=lambda turn: turn.stamp)
        inside = [turn for turn in turns if _is_inside(turn.stamp, after, before)]
        return _first(_from_the_end(inside, span), span.limit)

    def read_turn_messages(self, uid: str, first: Stamp, last: Stamp) -> Sequence[MessageEntry]:
        found = [
            row for row in self._messages(uid) if row.turn_seq is not None and first <= _turn(row) <= last
        ]
        return [self._with_words(row) for row in sorted(found, key=_turn)]

    def read_rows(self, uid: str) -> Iterator[ReadModelRow]:
        stream = self._stream(uid)
        if stream.row is not None:
            yield stream.row
        yield from self._messages(uid)
        yield from self.read_turns(uid, Span(limit=-1))
        yield from self.read_links(uid)
        for digest, (seq, writer) in sorted(stream.keys.items()):
            yield KeyRow(digest, seq, writer)

    def _messages(self, uid: str) -> list[MessageRow]:
        return sorted(self._stream(uid).messages.values(), key=_place)

    def _with_words(self, row: MessageRow) -> MessageEntry:
        position, first, count = row.content
        uid, stamp = self._state.log[position - 1]
        leaves = self._stream(uid).entries[stamp].leaves[first : first + count]
        return MessageEntry(
            row.seq,
            row.writer,
            row.ordinal,
            row.message_id,
            row.parent_id,
            row.role,
            row.turn_seq,
            row.turn_writer,
            row.state,
            row.hidden,
            row.has_details,
            row.claim_ns,
            tuple((leaf.name, leaf.data) for leaf in leaves),
        )


def _is_resumable(stream: Stream) -> bool:
    """What `latest_open` may offer: not ended, not spawned, and last spoken to here."""
    value, _ = stream.registers.get(END_FIELD, (None, None))
    return stream.row is not None and not (stream.row.imported or stream.row.spawned) and value is None


def _usage_leaves(streams: Iterable[Stream]) -> Iterator[bytes]:
    """What was measured, once for each event that put a message."""
    for stream in streams:
        for stamp in {Stamp(row.seq, row.writer) for row in stream.messages.values()}:
            entry = stream.entries.get(stamp)
            for leaf in entry.leaves if entry else ():
                if leaf.name == "usage" and leaf.data is not None:
                    yield leaf.data


def _tokens(leaves: Iterable[bytes]) -> dict[str, tuple[int, float]]:
    found: dict[str, tuple[int, float]] = {}
    for leaf in leaves:
        for field, value in _reported(leaf).items():
            count, total = found.get(field, (0, 0))
            found[field] = count + 1, total + value
    return found


def _reported(leaf: bytes) -> dict[str, float]:
    """The numbers in a leaf of usage; what cannot be read says nothing."""
    try:
        usage = loads(leaf)
    except ValueError:
        return {}
    fields = usage.items() if isinstance(usage, dict) else ()
    return {name: value for name, value in fields if name in _MEASURED and type(value) in (int, float)}


def _first(items: list[T], limit: int) -> list[T]:
    """At most `limit` items; a negative limit is none, as in SQL."""
    return items if limit < 0 else items[:limit]


def _from_the_end(items: list[T], span: Span) -> list[T]:
    return items[::-1] if span.newest_first else items


P = TypeVar("P", Place, Stamp)


def _is_inside(place: P, after: P | None, before: P | None) -> bool:
    return (after is None or place > after) and (before is None or place < before)


def _place(row: MessageRow) -> Place:
    return Place(row.seq, row.writer, row.ordinal)


def _turn(row: MessageRow) -> Stamp:
    if row.turn_seq is None or row.turn_writer is None:
        return BEFORE_ALL
    return Stamp(row.turn_seq, row.turn_writer)


def _rank(stream: Stream, as_of: int | None) -> int | None:
    """The conversation's activity as of a clock; None when it had not begun."""
    if stream.row is None:
        return None
    if as_of is None or stream.row.activity.seq <= as_of:
        return stream.row.activity.seq
    before = (
        stamp.seq
        for stamp, entry in stream.entries.items()
        if stamp.seq <= as_of and entry.header.kind in CONTENT_KINDS
    )
    return max(before, default=None)
