"""One write transaction: the log, metadata and the read model, over one connection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, assert_never

import apsw

from manent.codec import chain
from manent.codec.canonical import dumps, escape_name
from manent.codec.sealing import NewSalts, digest_of, hash_of, seal
from manent.errors import AlreadyExistsError, NotFoundError
from manent.model.changes import (
    Change,
    ConversationSpawned,
    ConversationTouched,
    HeadSet,
    KeyClaimed,
    LinkPut,
    MessageContentSet,
    MessagePut,
    MessageStateSet,
    TurnPut,
    TurnStateSet,
)
from manent.model.ids import Stamp, made_place, turn_id_of
from manent.model.log import (
    END_FIELD,
    KEY_FIELD,
    Leaf,
    LogEntry,
    Pending,
    SealedEvent,
    StreamInfo,
    WorkspaceInfo,
    find_text,
)
from manent.model.owners import Owner
from manent.model.rows import MessageRow, TurnRow
from manent.storage.sqlite import rows
from manent.storage.sqlite.blobs import Inside, SqliteBlobs
from manent.storage.sqlite.reader import SQL, SqliteReader


class SqliteTransaction:
    """The port's `Transaction`."""

    def __init__(self, connection: apsw.Connection, *, writer: str, new_salts: NewSalts) -> None:
        self.read = SqliteReader(connection)
        self._connection = connection
        self._writer = writer
        self._new_salts = new_salts
        self._found: dict[str, tuple[int, int]] = {}

    @property
    def blobs(self) -> SqliteBlobs:
        return SqliteBlobs(Inside(self.read))

    def _run(self, name: str, /, **values: Any) -> Any:
        return self._connection.execute(SQL[name], values)

    def _number(self, uid: str) -> int:
        """The stream's number in this file."""
        return self._find(uid)[0]

    def _living(self, uid: str) -> int:
        """The number of a stream that still takes events and metadata."""
        number, deleted = self._find(uid)
        if deleted:
            raise NotFoundError("stream", uid)
        return number

    def _find(self, uid: str) -> tuple[int, int]:
        found = self._found.get(uid)
        if found is None:
            found = self._run("find_stream_number", uid=bytes.fromhex(uid)).fetchone()
            if found is None:
                raise NotFoundError("stream", uid)
            self._found[uid] = found
        return found

    # --- the log

    def append(self, uid: str, pending: Sequence[Pending]) -> Sequence[LogEntry]:
        if not pending:
            return []
        stream, writer = self._living(uid), bytes.fromhex(self._writer)
        last_seq = self._clock() + len(pending)
        tip = self._run("find_tip", stream=stream, writer=writer).fetchone()
        _, prev_hash, count = tip or (0, chain.genesis(uid, self._writer), 0)
        sealed, last_hash = seal(
            pending,
            uid=uid,
            writer=self._writer,
            first_seq=last_seq - len(pending) + 1,
            prev_hash=prev_hash,
            new_salts=self._new_salts,
        )
        entries = [self._insert(stream, event) for event in sealed]
        self._run(
            "put_tip", stream=stream, writer=writer, seq=last_seq, hash=last_hash, count=count + len(sealed)
        )
        return entries

    def _clock(self) -> int:
        return int(self._run("read_clock").fetchone()[0])

    def _insert(self, stream: int, event: SealedEvent) -> LogEntry:
        header = event.header
        self._run(
            "insert_event",
            stream=stream,
            seq=header.seq,
            writer=bytes.fromhex(header.writer),
            kind=header.kind,
            schema_version=header.schema_version,
            encoding=header.encoding,
            claim_ns=header.claim_ns,
            event_id=bytes.fromhex(header.event_id),
            prev_hash=header.prev_hash,
        )
        position = self._connection.last_insert_rowid()
        for number, leaf in enumerate(event.leaves):
            self._insert_leaf(position << rows.LEAF_BITS | number, leaf)
        return LogEntry(position, header, event.leaves)

    def _insert_leaf(self, number: int, leaf: Leaf) -> None:
        packed, data = rows.pack(leaf)
        self._run(
            "insert_leaf",
            leaf=number,
            name=leaf.name,
            packed=packed,
            salt=leaf.salt,
            data=data,
            digest=leaf.digest,
        )

    def adopt(self, events: Sequence[SealedEvent]) -> Sequence[LogEntry]:
        return [self._adopt_one(event) for event in events]

    def _adopt_one(self, event: SealedEvent) -> LogEntry:
        header = event.header
        stream, writer = self._number(header.uid), bytes.fromhex(header.writer)
        self._run("raise_clock", seq=header.seq)
        tip = self._run("find_tip", stream=stream, writer=writer).fetchone()
        if tip is not None and tip[0] >= header.seq:
            raise AlreadyExistsError("event", f"{header.seq}@{header.writer}")
        entry = self._insert(stream, event)
        count = tip[2] + 1 if tip else 1
        self._run("put_tip", stream=stream, writer=writer, seq=header.seq, hash=hash_of(event), count=count)
        return entry

    def erase_leaves(self, uid: str, stamp: Stamp, names: Sequence[str]) -> int:
        found = self._run(
            "find_leaves_to_erase",
            stream=self._number(uid),
            seq=stamp.seq,
            writer=bytes.fromhex(stamp.writer),
        ).fetchall()
        doomed = [row for row in found if row[1] in names]
        for leaf, name, packed, salt, data in doomed:
            digest = digest_of(Leaf(name, rows.unpack(data, packed), salt))
            self._run("erase_leaf", leaf=leaf, digest=digest)
        return len(doomed)

    # --- identities and metadata

    def put_workspace(self, workspace: WorkspaceInfo) -> None:
        uid = bytes.fromhex(workspace.uid)
        self._run("put_workspace", workspace=uid)
        for kind, value in workspace.aliases:
            self._run("put_alias", kind=kind, value=escape_name(value), workspace=uid)
        for stream in workspace.streams:
            if self.read.find_stream(stream) is None:
                self.put_stream(StreamInfo(stream, workspace.uid, None))

    def put_stream(self, stream: StreamInfo) -> None:
        if self.read.find_stream(stream.uid) is not None:
            raise AlreadyExistsError("stream", stream.uid)
        if stream.id is not None and self.read.find_ids(stream.workspace, stream.id):
            raise AlreadyExistsError("id", stream.id)
        self._run(
            "put_stream",
            uid=bytes.fromhex(stream.uid),
            workspace=bytes.fromhex(stream.workspace),
            id=None if stream.id is None else escape_name(stream.id),
            deleted=stream.deleted,
        )
        if not self._connection.changes():
            raise NotFoundError("workspace", stream.workspace)

    def put_metadata(self, uid: str, field: str, value: Any, stamp: Stamp | None = None) -> Stamp:
        stream = self._living(uid)
        if stamp is None:
            stamp = self.tick()
        else:
            self._run("raise_clock", seq=stamp.seq)
        self._run(
            "put_register",
            stream=stream,
            field=field,
            value=None if value is None else dumps(value),
            seq=stamp.seq,
            writer=bytes.fromhex(stamp.writer),
        )
        if not self._connection.changes():
            return stamp
        if field == KEY_FIELD:
            self._put_key(stream, value)
        elif field == END_FIELD:
            self._run("set_ended", stream=stream, ended=value is not None)
        return stamp

    def tick(self) -> Stamp:
        stamp = Stamp(self._clock() + 1, self._writer)
        self._run("raise_clock", seq=stamp.seq)
        return stamp

    def _put_key(self, stream: int, key: str | None) -> None:
        self._run("drop_key", stream=stream)
        if key is None:
            return
        try:
            self._run("put_key", stream=stream, key=escape_name(key))
        except apsw.ConstraintError:
            raise AlreadyExistsError("key", key) from None

    def put_owner(self, workspace: str, id: str, owner: Owner | None) -> None:
        named = {"workspace": bytes.fromhex(workspace), "id": escape_name(id)}
        if owner is None:
            self._run("drop_owner", **named)
            return
        self._run("put_owner", **named, **rows.from_owner(owner))
        if not self._connection.changes():
            raise NotFoundError("workspace", workspace)

    def delete_stream(self, uid: str) -> None:
        stream = self._number(uid)
        for step in ("drop_owner_of_stream", "drop_key", "drop_registers", "mark_deleted"):
            self._run(step, stream=stream)
        self._run("drop_drafts", uid=bytes.fromhex(uid))
        self.clear(uid)
        del self._found[uid]

    def move_stream(self, stream: StreamInfo) -> None:
        number, workspace = self._number(stream.uid), bytes.fromhex(stream.workspace)
        del self._found[stream.uid]
        if self.read.find_workspace_info(stream.workspace) is None:
            raise NotFoundError("workspace", stream.workspace)
        holders = self.read.find_ids(stream.workspace, stream.id) if stream.id is not None else ()
        if any(holder.uid != stream.uid for holder in holders):
            raise AlreadyExistsError("id", str(stream.id))
        id = None if stream.id is None else escape_name(stream.id)
        self._run("move_stream", stream=number, workspace=workspace, id=id, deleted=stream.deleted)
        self._run("move_conversation", stream=number, workspace=workspace)
        try:
            self._run("move_key", stream=number, workspace=workspace)
        except apsw.ConstraintError:
            key = find_text(self.read.read_registers(stream.uid), KEY_FIELD)
            raise AlreadyExistsError("key", key) from None

    def move_alias(self, alias: tuple[str, str], workspace: str | None) -> None:
        named = {"kind": alias[0], "value": escape_name(alias[1])}
        if workspace is None:
            self._run("drop_alias", **named)
            return
        self._run("move_alias", workspace=bytes.fromhex(workspace), **named)
        if not self._connection.changes():
            raise NotFoundError("workspace", workspace)

    def drop_workspace(self, workspace: str) -> None:
        self._run("drop_workspace", workspace=bytes.fromhex(workspace))

    def adopt_source_key(self, source_key: bytes) -> None:
        """An empty store takes over the source key of what it imports."""
        self._run("set_source_key", source_key=source_key)

    # --- the read model

    def clear(self, uid: str) -> None:
        stream = self._number(uid)
        for table in ("conversation", "messages", "turns", "links", "idempotency_keys"):
            self._run(f"clear_{table}", stream=stream)

    def apply(self, uid: str, changes: Iterable[Change]) -> None:
        stream = self._number(uid)
        for change in changes:
            self._apply(stream, change)

    def _apply(self, stream: int, change: Change) -> None:
        match change:
            case MessagePut(row):
                self._put_message(stream, row)
            case TurnPut(row):
                self._put_turn(stream, row)
            case ConversationTouched(stamp, claim_ns, imported):
                self._stamped("touch_conversation", stream, stamp, claim_ns=claim_ns, imported=imported)
            case LinkPut(link):
                self._run("put_link", stream=stream, **rows.from_link(link))
            case ConversationSpawned():
                self._run("mark_spawned", stream=stream)
            case HeadSet(head, linear, stamp):
                name = None if head is None else escape_name(head)
                self._stamped("set_head", stream, stamp, head=name, linear=linear)
            case MessageContentSet(message_id, content, stamp):
                self._stamped(
                    "set_content",
                    stream,
                    stamp,
                    **self._message_at(stream, message_id),
                    position=content.position,
                    first_leaf=content.first,
                    leaf_count=content.leaves,
                )
            case MessageStateSet(message_id, state, _):
                number = rows.STATE_NUMBERS[state]
                at = self._message_at(stream, message_id)
                self._run("set_message_state", stream=stream, state=number, **at)
            case TurnStateSet(turn_id, state, stamp):
                self._stamped("set_turn_state", stream, stamp, state=state, **self._turn_at(stream, turn_id))
            case KeyClaimed(key_digest, stamp):
                self._stamped("put_idempotency_key", stream, stamp, key_digest=key_digest)
            case _:
                assert_never(change)

    def _stamped(self, name: str, stream: int, stamp: Stamp, **values: Any) -> None:
        self._run(name, stream=stream, seq=stamp.seq, writer=bytes.fromhex(stamp.writer), **values)

    def _message_at(self, stream: int, message_id: str) -> dict[str, Any]:
        """A message's place, as parameters; of one that is not there, a place where nothing stands."""
        if place := made_place(message_id):
            found: Any = (place[0], bytes.fromhex(place[1]), place[2])
        else:
            name = escape_name(message_id)
            found = self._run("find_place", stream=stream, message_id=name).fetchone() or (None, None, None)
        return dict(zip(("at_seq", "at_writer", "at_ordinal"), found, strict=True))

    def _turn_at(self, stream: int, turn_id: str) -> dict[str, Any]:
        if place := made_place(turn_id):
            return {"at_seq": place[0], "at_writer": bytes.fromhex(place[1])}
        found = self._run("find_turn_place", stream=stream, turn_id=escape_name(turn_id)).fetchone()
        seq, writer = found or (None, None)
        return {"at_seq": seq, "at_writer": writer}

    def _parent(self, stream: int, parent_id: str | None) -> dict[str, Any]:
        """Where the parent stands, and its id where its place does not tell it."""
        if parent_id is None:
            return {"parent_seq": None, "parent_writer": None, "parent_ordinal": None, "parent_id": None}
        at = self._message_at(stream, parent_id)
        place = {f"parent_{name[3:]}": value for name, value in at.items()}
        return {**place, "parent_id": None if made_place(parent_id) else escape_name(parent_id)}

    def _put_message(self, stream: int, row: MessageRow) -> None:
        own = (row.turn_seq, row.turn_writer) == (row.seq, row.writer)
        joined = row.turn_seq is not None and not own
        made = made_place(row.message_id) == (row.seq, row.writer, row.ordinal)
        self._run(
            "put_message",
            stream=stream,
            seq=row.seq,
            writer=bytes.fromhex(row.writer),
            ordinal=row.ordinal,
            message_id=None if made else escape_name(row.message_id),
            role=escape_name(row.role),
            turn=rows.BEGAN_TURN if own else rows.JOINED_TURN if joined else rows.IN_NO_TURN,
            turn_seq=row.turn_seq if joined else None,
            turn_writer=bytes.fromhex(row.turn_writer or "") if joined else None,
            position=row.content.position,
            first_leaf=row.content.first,
            leaf_count=row.content.leaves,
            state=rows.STATE_NUMBERS[row.state],
            hidden=row.hidden,
            has_details=row.has_details,
            claim_ns=row.claim_ns,
            **self._parent(stream, row.parent_id),
        )

    def _put_turn(self, stream: int, row: TurnRow) -> None:
        self._run(
            "put_turn",
            stream=stream,
            seq=row.seq,
            writer=bytes.fromhex(row.writer),
            turn_id=None if row.turn_id == turn_id_of(row.stamp) else escape_name(row.turn_id),
            position=row.position,
            state=row.state,
            implicit=row.implicit,
            has_details=row.has_details,
        )
