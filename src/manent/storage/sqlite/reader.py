"""The named reads over one connection that stands in one snapshot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import Any

import apsw

from manent.codec.canonical import dumps, escape_name, unescape_name
from manent.model.events import CONTENT_KINDS
from manent.model.ids import ID_BYTES_MAX, Stamp, made_place
from manent.model.log import LogEntry, Register, StoreInfo, StreamInfo, Tip, WorkspaceInfo
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
    Place,
    TurnRow,
)
from manent.storage.port import Listing, ReadModelRow, Span
from manent.storage.sql import load_queries
from manent.storage.sqlite import rows
from manent.storage.sqlite.engine import FORMAT

SQL = load_queries("manent.storage.sqlite")
SEQ_MAX = (1 << 63) - 1
_FIRST = Place(-1, "", -1)
_LAST = Place(SEQ_MAX, "ff" * 16, SEQ_MAX)
_KINDS = dumps(sorted(CONTENT_KINDS)).decode()
_MEASURED = dumps(Usage.__struct_fields__).decode()


class SqliteReader:
    """The port's `Reader`."""

    def __init__(self, connection: apsw.Connection) -> None:
        self.connection = connection

    def _rows(self, name: str, /, **values: Any) -> Any:
        """A cursor; its columns are whatever the schema says."""
        return self.connection.execute(SQL[name], values)

    def _row(self, name: str, /, **values: Any) -> Any:
        return self.connection.execute(SQL[name], values).fetchone()

    # --- the store, workspaces, streams

    def info(self) -> StoreInfo:
        store_id, generation, source_key, clock, position = self._row("read_info")
        return StoreInfo(store_id.hex(), generation.hex(), clock, position, source_key, FORMAT)

    def find_incarnation(self, fingerprint: str) -> str | None:
        """An installation's incarnation in this file."""
        row = self._row("find_incarnation", fingerprint=fingerprint)
        return str(row[0]) if row else None

    def find_workspace(self, kind: str, value: str) -> str | None:
        row = self._row("find_workspace", kind=kind, value=escape_name(value))
        return row[0].hex() if row else None

    def list_workspaces(self) -> Sequence[WorkspaceInfo]:
        return [self._workspace(row[0]) for row in self._rows("list_workspaces").fetchall()]

    def find_workspace_info(self, workspace: str) -> WorkspaceInfo | None:
        row = self._row("find_workspace_uid", workspace=bytes.fromhex(workspace))
        return self._workspace(row[0]) if row else None

    def _workspace(self, uid: bytes) -> WorkspaceInfo:
        streams = self._rows("list_workspace_streams", workspace=uid).fetchall()
        aliases = self._rows("list_aliases", workspace=uid).fetchall()
        named = sorted((kind, unescape_name(value)) for kind, value in aliases)
        return WorkspaceInfo(uid.hex(), tuple(row[0].hex() for row in streams), tuple(named))

    def find_stream(self, uid: str) -> StreamInfo | None:
        row = self._row("find_stream", uid=bytes.fromhex(uid))
        return rows.to_stream(row) if row else None

    def _fenced(self, name: str, workspace: str | None, **values: Any) -> list[StreamInfo]:
        if workspace is None:
            return [rows.to_stream(row) for row in self._rows(f"{name}_of_all", **values)]
        return [rows.to_stream(r) for r in self._rows(name, workspace=bytes.fromhex(workspace), **values)]

    def find_ids(self, workspace: str | None, id: str) -> Sequence[StreamInfo]:
        return self._fenced("find_ids", workspace, id=escape_name(id))

    def find_prefix(self, workspace: str | None, prefix: str, limit: int) -> Sequence[StreamInfo]:
        escaped = escape_name(prefix)
        beyond = escaped + "\U0010ffff" * ID_BYTES_MAX
        return self._fenced("find_prefix", workspace, prefix=escaped, beyond=beyond, limit=limit)

    def find_by_key(self, workspace: str | None, key: str) -> Sequence[StreamInfo]:
        return self._fenced("find_by_key", workspace, key=escape_name(key))

    def read_uids(self, after: str, limit: int) -> Sequence[str]:
        found = self._rows("read_uids", after=bytes.fromhex(after), limit=limit)
        return [row[0].hex() for row in found]

    # --- metadata and lists

    def read_registers(self, uid: str) -> Sequence[Register]:
        return list(rows.to_registers(uid, self._rows("read_registers", uid=bytes.fromhex(uid))))

    def find_owner(self, workspace: str, id: str) -> Owner | None:
        row = self._row("find_owner", workspace=bytes.fromhex(workspace), id=escape_name(id))
        return rows.to_owner(row) if row else None

    def list_owners(self, workspace: str) -> Sequence[tuple[str, Owner]]:
        found = self._rows("list_owners", workspace=bytes.fromhex(workspace)).fetchall()
        return sorted((unescape_name(row[0]), rows.to_owner(row[1:])) for row in found)

    def count_conversations(self, workspace: str) -> int:
        return int(self._row("count_conversations", workspace=bytes.fromhex(workspace))[0])

    def list_conversations(self, listing: Listing) -> Sequence[ConversationEntry]:
        name = "list_newest" if listing.newest_first else "list_oldest"
        rank, uid = listing.after or ((SEQ_MAX, "ff" * 17) if listing.newest_first else (-1, ""))
        values = {
            "as_of": SEQ_MAX if listing.as_of is None else listing.as_of,
            "rank": rank,
            "uid": bytes.fromhex(uid),
            "limit": listing.limit,
            "content_kinds": _KINDS,
        }
        fences = [listing.workspace] if listing.workspace else [w.uid for w in self.list_workspaces()]
        halves = (1,) if listing.resumable else (0, 1)
        found = [
            row
            for workspace in map(bytes.fromhex, fences)
            for half in halves
            for row in self._rows(name, workspace=workspace, resumable=half, **values)
        ]
        found.sort(key=itemgetter(3, 0), reverse=listing.newest_first)
        return [self._conversation(row) for row in found[: listing.limit]]

    def _conversation(self, row: rows.Row) -> ConversationEntry:
        uid = row[0].hex()
        return ConversationEntry(
            uid=uid,
            id=unescape_name(row[1]),
            workspace=row[2].hex(),
            row=rows.to_conversation_row((row[0], *row[4:], row[2])),
            rank=row[3],
            registers=tuple(self.read_registers(uid)),
        )

    # --- the log

    def find_entry(self, uid: str, stamp: Stamp) -> LogEntry | None:
        writer = bytes.fromhex(stamp.writer)
        found = rows.to_entries(
            self._rows("find_entry", uid=bytes.fromhex(uid), seq=stamp.seq, writer=writer)
        )
        return found[0] if found else None

    def read_stream(self, uid: str, after: Stamp, limit: int) -> Sequence[LogEntry]:
        writer = bytes.fromhex(after.writer)
        return rows.to_entries(
            self._rows("read_stream", uid=bytes.fromhex(uid), seq=after.seq, writer=writer, limit=limit)
        )

    def read_log(self, after: int, limit: int) -> Sequence[LogEntry]:
        return rows.to_entries(self._rows("read_log", after=after, limit=limit))

    def read_tips(self, uid: str) -> Sequence[Tip]:
        found = self._rows("read_tips", uid=bytes.fromhex(uid))
        return [Tip(uid, writer.hex(), seq, hash, count) for writer, seq, hash, count in found]

    def read_strays(self) -> Sequence[str]:
        events = [f"event {seq}@{writer.hex()}" for _, seq, writer in self._rows("find_orphan_events")]
        leaves = [f"leaves of position {row[0]}" for row in self._rows("find_orphan_leaves")]
        torn = [
            f"event:{unescape_name(name)}#{seq}@{writer.hex()}"
            for name, seq, writer in self._rows("find_torn_leaves")
        ]
        keys = [f"conversation:{unescape_name(row[0])}" for row in self._rows("find_forged_keys")]
        return [*events, *leaves, *torn, *keys]

    # --- the read model

    def find_row(self, uid: str) -> ConversationRow | None:
        row = self._row("find_row", uid=bytes.fromhex(uid))
        return rows.to_conversation_row(row) if row else None

    def find_message(self, uid: str, message_id: str) -> MessageRow | None:
        if place := made_place(message_id):
            row = self._row("find_message_at", uid=bytes.fromhex(uid), **_at(Place(*place)))
        else:
            row = self._row("find_message", uid=bytes.fromhex(uid), message_id=escape_name(message_id))
        return rows.to_message_row(row) if row else None

    def read_rows_after(self, uid: str, place: Place) -> Iterator[MessageRow]:
        found = self._rows("read_message_rows", uid=bytes.fromhex(uid), **_at(place))
        return map(rows.to_message_row, found)

    def find_turn(self, uid: str, turn_id: str) -> TurnRow | None:
        if place := made_place(turn_id):
            turn = self.find_turn_at(uid, Stamp(*place[:2]))
            return turn if turn and turn.turn_id == turn_id else None
        row = self._row("find_turn", uid=bytes.fromhex(uid), turn_id=escape_name(turn_id))
        return rows.to_turn_row(row) if row else None

    def find_turn_at(self, uid: str, stamp: Stamp) -> TurnRow | None:
        writer = bytes.fromhex(stamp.writer)
        row = self._row("find_turn_at", uid=bytes.fromhex(uid), seq=stamp.seq, writer=writer)
        return rows.to_turn_row(row) if row else None

    def find_open_turn(self, uid: str) -> TurnRow | None:
        row = self._row("find_open_turn", uid=bytes.fromhex(uid))
        return rows.to_turn_row(row) if row else None

    def read_links(self, uid: str) -> Sequence[LinkRow]:
        return [rows.to_link_row(row) for row in self._rows("read_links", uid=bytes.fromhex(uid))]

    def read_links_to(self, uid: str) -> Sequence[tuple[str, LinkRow]]:
        found = self._rows("read_links_to", uid=escape_name(uid))
        return [(row[5].hex(), rows.to_link_row(row)) for row in found]

    def measure(self, workspace: str | None, uid: str | None = None) -> Measures:
        scope = {"workspace": workspace, "uid": uid}
        named = {name: None if value is None else bytes.fromhex(value) for name, value in scope.items()}
        return rows.to_measures(self._rows("measure", **named, fields=_MEASURED))

    def find_key(self, uid: str, key_digest: bytes) -> Stamp | None:
        row = self._row("find_key", uid=bytes.fromhex(uid), key_digest=key_digest)
        return Stamp(row[0], row[1].hex()) if row else None

    def read_messages(self, uid: str, span: Span) -> Sequence[MessageEntry]:
        name = "read_messages_backward" if span.newest_first else "read_messages_forward"
        return rows.to_messages(self._rows(name, uid=bytes.fromhex(uid), limit=span.limit, **_bounds(span)))

    def read_branch(self, uid: str, message_id: str, limit: int) -> Sequence[MessageEntry]:
        row = self.find_message(uid, message_id)
        if row is None:
            return []
        place = Place(row.seq, row.writer, row.ordinal)
        found = self._rows("read_branch", uid=bytes.fromhex(uid), limit=limit, **_at(place))
        return rows.to_messages(found)

    def read_turns(self, uid: str, span: Span) -> Sequence[TurnRow]:
        name = "read_turns_backward" if span.newest_first else "read_turns_forward"
        bounds = _bounds(span)
        del bounds["after_ordinal"], bounds["before_ordinal"]
        found = self._rows(name, uid=bytes.fromhex(uid), limit=span.limit, **bounds)
        return [rows.to_turn_row(row) for row in found]

    def read_turn_messages(self, uid: str, first: Stamp, last: Stamp) -> Sequence[MessageEntry]:
        bounds = {
            "uid": bytes.fromhex(uid),
            "first_seq": first.seq,
            "first_writer": bytes.fromhex(first.writer),
            "last_seq": last.seq,
            "last_writer": bytes.fromhex(last.writer),
        }
        own = rows.to_messages(self._rows("read_own_messages", **bounds))
        joined = rows.to_messages(self._rows("read_joined_messages", **bounds))
        return sorted(own + joined, key=_by_turn) if joined else own

    def read_rows(self, uid: str) -> Iterator[ReadModelRow]:
        named = {"uid": bytes.fromhex(uid)}
        if (row := self._row("find_checked_row", **named)) is not None:
            yield rows.to_conversation_row(row)
        yield from map(rows.to_message_row, self._rows("read_checked_message_rows", **named))
        yield from map(rows.to_turn_row, self._rows("read_checked_turns", **named))
        yield from map(rows.to_link_row, self._rows("read_links", **named))
        for digest, seq, writer in self._rows("read_keys", **named):
            yield KeyRow(digest, seq, writer.hex())


def _by_turn(entry: MessageEntry) -> tuple[int | None, str | None, Place]:
    return entry.turn_seq, entry.turn_writer, entry.place


def _at(place: Place) -> dict[str, Any]:
    return {"seq": place.seq, "writer": bytes.fromhex(place.writer), "ordinal": place.ordinal}


def _bounds(span: Span) -> dict[str, Any]:
    after, before = span.after or _FIRST, span.before or _LAST
    return {
        "after_seq": after.seq,
        "after_writer": bytes.fromhex(after.writer),
        "after_ordinal": after.ordinal,
        "before_seq": before.seq,
        "before_writer": bytes.fromhex(before.writer),
        "before_ordinal": before.ordinal,
    }
