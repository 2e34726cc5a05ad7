"""One write transaction, on a copy of the committed state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from manent.codec import chain
from manent.codec.canonical import dumps
from manent.codec.sealing import NewSalts, digest_of, hash_of, seal
from manent.errors import AlreadyExistsError, NotFoundError
from manent.model.changes import Change
from manent.model.ids import Stamp
from manent.model.log import KEY_FIELD, Leaf, LogEntry, Pending, SealedEvent, StreamInfo, Tip, WorkspaceInfo
from manent.model.owners import Owner
from manent.storage.memory.blobs import Inside, MemoryBlobs
from manent.storage.memory.changes import make_change
from manent.storage.memory.reader import MemoryReader
from manent.storage.memory.state import State, Stream, copied


class MemoryTransaction:
    """
    The port's `Transaction`. Changes `state`, and of its streams only copies of its own.

    Drafts stand outside of the state: the backend removes those of what was `deleted` with the commit.
    """

    def __init__(self, state: State, *, writer: str, new_salts: NewSalts) -> None:
        self.read = MemoryReader(state)
        self.blobs = MemoryBlobs(Inside(state))
        self._state = state
        self._writer = writer
        self._new_salts = new_salts
        self._own: set[str] = set()
        self.deleted: list[str] = []

    def _stream(self, uid: str) -> Stream:
        """A stream that may be changed: copied when it is first asked for."""
        found = self._state.streams.get(uid)
        if found is None:
            raise NotFoundError("stream", uid)
        if uid not in self._own:
            found = self._state.streams[uid] = copied(found)
            self._own.add(uid)
        return found

    def _living(self, uid: str) -> Stream:
        """A stream that still takes events and metadata."""
        found = self._stream(uid)
        if found.info.deleted:
            raise NotFoundError("stream", uid)
        return found

    # --- the log

    def append(self, uid: str, pending: Sequence[Pending]) -> Sequence[LogEntry]:
        if not pending:
            return []
        stream = self._living(uid)
        tip = stream.tips.get(self._writer)
        sealed, last_hash = seal(
            pending,
            uid=uid,
            writer=self._writer,
            first_seq=self._state.clock + 1,
            prev_hash=tip.hash if tip else chain.genesis(uid, self._writer),
            new_salts=self._new_salts,
        )
        self._state.clock += len(sealed)
        entries = [self._insert(stream, event) for event in sealed]
        count = (tip.total if tip else 0) + len(sealed)
        stream.tips[self._writer] = Tip(uid, self._writer, self._state.clock, last_hash, count)
        return entries

    def _insert(self, stream: Stream, event: SealedEvent) -> LogEntry:
        stamp = event.header.stamp
        self._state.log.append((stream.info.uid, stamp))
        entry = LogEntry(len(self._state.log), event.header, tuple(event.leaves))
        stream.entries[stamp] = entry
        return entry

    def adopt(self, events: Sequence[SealedEvent]) -> Sequence[LogEntry]:
        return [self._adopt_one(event) for event in events]

    def _adopt_one(self, event: SealedEvent) -> LogEntry:
        uid, writer, seq = event.header.uid, event.header.writer, event.header.seq
        stream = self._stream(uid)
        tip = stream.tips.get(writer)
        if tip is not None and tip.seq >= seq:
            raise AlreadyExistsError("event", f"{seq}@{writer}")
        self._raise_clock(seq)
        stream.tips[writer] = Tip(uid, writer, seq, hash_of(event), (tip.total if tip else 0) + 1)
        return self._insert(stream, event)

    def _raise_clock(self, seq: int) -> None:
        self._state.clock = max(self._state.clock, seq)

    def erase_leaves(self, uid: str, stamp: Stamp, names: Sequence[str]) -> int:
        stream = self._stream(uid)
        entry = stream.entries.get(stamp)
        if entry is None:
            return 0
        doomed = [leaf for leaf in entry.leaves if leaf.name in names and leaf.data is not None]
        leaves = tuple(_erased(leaf) if leaf in doomed else leaf for leaf in entry.leaves)
        stream.entries[stamp] = entry._replace(leaves=leaves)
        return len(doomed)

    # --- identities and metadata

    def put_workspace(self, workspace: WorkspaceInfo) -> None:
        self._state.workspaces.add(workspace.uid)
        for alias in workspace.aliases:
            self._state.aliases.setdefault(alias, workspace.uid)
        for uid in workspace.streams:
            if uid not in self._state.streams:
                self.put_stream(StreamInfo(uid, workspace.uid, None))

    def put_stream(self, stream: StreamInfo) -> None:
        if stream.workspace not in self._state.workspaces:
            raise NotFoundError("workspace", stream.workspace)
        if stream.uid in self._state.streams:
            raise AlreadyExistsError("stream", stream.uid)
        if stream.id is not None:
            if (stream.workspace, stream.id) in self._state.ids:
                raise AlreadyExistsError("id", stream.id)
            self._state.ids[stream.workspace, stream.id] = stream.uid
        self._state.streams[stream.uid] = Stream(stream)
        self._own.add(stream.uid)

    def put_metadata(self, uid: str, field: str, value: Any, stamp: Stamp | None = None) -> Stamp:
        stream = self._living(uid)
        stamp = stamp or self.tick()
        self._raise_clock(stamp.seq)
        known = stream.registers.get(field)
        if known is not None and known[1] >= stamp:
            return stamp
        if field == KEY_FIELD:
            self._move_key(stream.info, value)
        stream.registers[field] = (None if value is None else dumps(value), stamp)
        return stamp

    def _move_key(self, info: StreamInfo, key: str | None) -> None:
        """A conversation has one key, and a key one conversation in its workspace."""
        keys = self._state.keys
        if key is not None and keys.get((info.workspace, key), info.uid) != info.uid:
            raise AlreadyExistsError("key", key)
        for place in [place for place, uid in keys.items() if uid == info.uid]:
            del keys[place]
        if key is not None:
            keys[info.workspace, key] = info.uid

    def tick(self) -> Stamp:
        self._state.clock += 1
        return Stamp(self._state.clock, self._writer)

    def put_owner(self, workspace: str, id: str, owner: Owner | None) -> None:
        if owner is None:
            self._state.owners.pop((workspace, id), None)
        elif workspace not in self._state.workspaces:
            raise NotFoundError("workspace", workspace)
        else:
            self._state.owners[workspace, id] = owner

    def delete_stream(self, uid: str) -> None:
        stream, info = self._stream(uid), self._stream(uid).info
        self._move_key(info, None)
        if info.id is not None:
            del self._state.ids[info.workspace, info.id]
            self.put_owner(info.workspace, info.id, None)
        stream.registers.clear()
        self.clear(uid)
        stream.info = StreamInfo(uid, info.workspace, None, deleted=True)
        self.deleted.append(uid)

    def move_stream(self, stream: StreamInfo) -> None:
        own, ids = self._stream(stream.uid), self._state.ids
        if stream.workspace not in self._state.workspaces:
            raise NotFoundError("workspace", stream.workspace)
        if stream.id is not None and ids.get((stream.workspace, stream.id), stream.uid) != stream.uid:
            raise AlreadyExistsError("id", stream.id)
        key = next((name for (_, name), uid in self._state.keys.items() if uid == stream.uid), None)
        self._move_key(stream, key)
        if own.info.id is not None:
            del ids[own.info.workspace, own.info.id]
        if stream.id is not None:
            ids[stream.workspace, stream.id] = stream.uid
        own.info = stream
        own.row = own.row and own.row._replace(workspace=stream.workspace)

    def move_alias(self, alias: tuple[str, str], workspace: str | None) -> None:
        if workspace is None:
            self._state.aliases.pop(alias, None)
        elif workspace not in self._state.workspaces:
            raise NotFoundError("workspace", workspace)
        else:
            self._state.aliases[alias] = workspace

    def drop_workspace(self, workspace: str) -> None:
        used = {stream.info.workspace for stream in self._state.streams.values()}
        if workspace not in used and workspace not in self._state.aliases.values():
            self._state.workspaces.discard(workspace)
            for place in [place for place in self._state.owners if place[0] == workspace]:
                del self._state.owners[place]

    def adopt_source_key(self, source_key: bytes) -> None:
        self._state.source_key = source_key

    # --- the read model

    def clear(self, uid: str) -> None:
        stream = self._stream(uid)
        stream.row = None
        stream.messages.clear()
        stream.turns.clear()
        stream.links.clear()
        stream.keys.clear()

    def apply(self, uid: str, changes: Iterable[Change]) -> None:
        stream = self._stream(uid)
        for change in changes:
            make_change(stream, change)


def _erased(leaf: Leaf) -> Leaf:
    return Leaf(leaf.name, None, None, digest_of(leaf))
