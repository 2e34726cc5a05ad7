"""More faults for the memory backend: owners, links, deletions, moves and measures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from manent.model.changes import Change, ConversationSpawned, ConversationTouched, LinkPut
from manent.model.ids import Stamp
from manent.model.log import END_FIELD, StreamInfo, WorkspaceInfo
from manent.model.owners import Owner
from manent.model.rows import ConversationRow, LinkRow, Measures, MessageState, TurnRow
from manent.storage.memory import changes as changing
from manent.storage.memory import reader as reading
from manent.storage.memory import transaction as writing
from manent.storage.memory.reader import MemoryReader
from manent.storage.memory.state import Stream
from manent.storage.memory.transaction import MemoryTransaction
from manent.storage.port import Span
from manent.testing.conformance.deleting import DeletionContract
from manent.testing.conformance.identities import IdentityContract
from manent.testing.conformance.linking import LinkContract, ResumeContract
from manent.testing.conformance.measuring import MeasureContract
from manent.testing.conformance.metadata import MetadataContract
from manent.testing.conformance.moving import MoveContract
from manent.testing.conformance.owning import OwnerContract
from manent.testing.conformance.tree import OpenTurnContract
from tests.conformance.memory_faults import FAULTS, Method, fault

__all__ = ["FAULTS"]

# --- the clock and workspaces


@fault("a tick is given twice", MetadataContract, MemoryTransaction, "tick")
def tick_stands_still(_: Method) -> Method:
    return lambda self: Stamp(self.read._state.clock + 1, self._writer)


@fault("any workspace is the one asked for", IdentityContract, MemoryReader, "find_workspace_info")
def any_workspace(_: Method) -> Method:
    def broken(self: MemoryReader, _: str) -> WorkspaceInfo | None:
        return next(iter(self.list_workspaces()), None)

    return broken


# --- owners


@fault("an owner is found in every workspace", OwnerContract, MemoryReader, "find_owner")
def owners_unfenced(_: Method) -> Method:
    def broken(self: MemoryReader, _: str, id: str) -> Owner | None:
        return next((owner for (_, owned), owner in self._state.owners.items() if owned == id), None)

    return broken


@fault("the first owner stays", OwnerContract, MemoryTransaction, "put_owner")
def first_owner_stays(put: Method) -> Method:
    def broken(self: MemoryTransaction, workspace: str, id: str, owner: Owner | None) -> None:
        put(self, workspace, id, owner and self.read._state.owners.get((workspace, id), owner))

    return broken


@fault("letting go of one lets go of all", OwnerContract, MemoryTransaction, "put_owner")
def all_let_go(put: Method) -> Method:
    def broken(self: MemoryTransaction, workspace: str, id: str, owner: Owner | None) -> None:
        put(self, workspace, id, owner)
        if owner is None:
            self.read._state.owners.clear()

    return broken


@fault("an owner takes a tick of the clock", OwnerContract, MemoryTransaction, "put_owner")
def owner_ticks(put: Method) -> Method:
    def broken(self: MemoryTransaction, workspace: str, id: str, owner: Owner | None) -> None:
        self.tick()
        put(self, workspace, id, owner)

    return broken


@fault("a host's odd letters are lost", OwnerContract, MemoryTransaction, "put_owner")
def host_is_cleaned(put: Method) -> Method:
    def broken(self: MemoryTransaction, workspace: str, id: str, owner: Owner | None) -> None:
        if owner is not None:
            process = owner.process._replace(host=owner.process.host.replace("\x00", ""))
            owner = Owner(
                process=process,
                epoch=owner.epoch,
                writer=owner.writer,
                claimed_ns=owner.claimed_ns,
                heartbeat_ns=owner.heartbeat_ns,
            )
        put(self, workspace, id, owner)

    return broken


# --- links


@fault("the last telling of a link wins", LinkContract, writing, "make_change")
def last_link_wins(make_change: Method) -> Method:
    def broken(stream: Stream, change: Change) -> None:
        if isinstance(change, LinkPut):
            stream.links.pop(Stamp(change.row.seq, change.row.writer), None)
        make_change(stream, change)

    return broken


@fault("links come as they were told", LinkContract, MemoryReader, "read_links")
def links_unsorted(_: Method) -> Method:
    return lambda self, uid: list(self._stream(uid).links.values())


@fault("links to others are taken for links to this one", LinkContract, MemoryReader, "read_links_to")
def links_to_anything(read: Method) -> Method:
    def broken(self: MemoryReader, uid: str) -> Sequence[tuple[str, LinkRow]]:
        targets = {link.to_uid for other in self._state.streams for link in self.read_links(other)}
        return [pair for target in sorted({uid, *targets}) for pair in read(self, target)]

    return broken


@fault("links to one come by the letters of the relation", LinkContract, MemoryReader, "read_links_to")
def links_to_by_relation(read: Method) -> Method:
    return lambda self, uid: sorted(read(self, uid), key=lambda pair: pair[1].relation)


@fault("clearing leaves the links", LinkContract, MemoryTransaction, "clear")
def links_not_cleared(clear: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str) -> None:
        links = dict(self._stream(uid).links)
        clear(self, uid)
        self._stream(uid).links.update(links)

    return broken


# --- what may be resumed


def forgetting(mark: str) -> Method:
    """An `_is_resumable` that does not look at one mark of the row."""

    def broken(stream: Stream) -> bool:
        if stream.row is None:
            return False
        value, _ = stream.registers.get(END_FIELD, (None, None))
        marks = {"imported": stream.row.imported, "spawned": stream.row.spawned, mark: False}
        return value is None and not any(marks.values())

    return broken


@fault("what came from elsewhere is resumed", ResumeContract, reading, "_is_resumable")
def imported_resumed(_: Method) -> Method:
    return forgetting("imported")


@fault("what another conversation runs is resumed", ResumeContract, reading, "_is_resumable")
def spawned_resumed(_: Method) -> Method:
    return forgetting("spawned")


@fault("what was ended is resumed", ResumeContract, reading, "_is_resumable")
def ended_resumed(_: Method) -> Method:
    return lambda stream: stream.row is not None and not (stream.row.imported or stream.row.spawned)


@fault("what was opened again stays ended", ResumeContract, reading, "_is_resumable")
def never_reopened(is_resumable: Method) -> Method:
    return lambda stream: is_resumable(stream) and END_FIELD not in stream.registers


def touching(rule: Any) -> Method:
    """A `make_change` where `rule(row before, change)` gives what a touch says about its origin."""

    def broken(stream: Stream, change: Change) -> None:
        if isinstance(change, ConversationTouched):
            change = change._replace(imported=rule(stream.row, change))
        changing.make_change(stream, change)

    return broken


@fault("what came from elsewhere stays so", ResumeContract, writing, "make_change")
def imported_for_ever(_: Method) -> Method:
    def rule(row: ConversationRow | None, change: ConversationTouched) -> bool | None:
        return change.imported or (row is not None and row.imported)

    return touching(rule)


@fault("what says nothing of its origin is taken for our own", ResumeContract, writing, "make_change")
def silence_unmarks(_: Method) -> Method:
    return touching(lambda _, change: bool(change.imported))


@fault("what another conversation runs is not marked", ResumeContract, writing, "make_change")
def never_spawned(make_change: Method) -> Method:
    def broken(stream: Stream, change: Change) -> None:
        if not isinstance(change, ConversationSpawned):
            make_change(stream, change)

    return broken


# --- deleting


def deleting(*kept: str) -> Method:
    """A `delete_stream` that leaves some attributes of the stream as they were."""
    sound = MemoryTransaction.delete_stream

    def broken(self: MemoryTransaction, uid: str) -> None:
        before = {name: getattr(self._stream(uid), name) for name in kept}
        copies = {name: value.copy() if isinstance(value, dict) else value for name, value in before.items()}
        sound(self, uid)
        for name, value in copies.items():
            setattr(self._stream(uid), name, value)

    return broken


@fault("metadata of a deleted conversation stay", DeletionContract, MemoryTransaction, "delete_stream")
def registers_kept(_: Method) -> Method:
    return deleting("registers")


@fault("links of a deleted conversation stay", DeletionContract, MemoryTransaction, "delete_stream")
def links_kept(_: Method) -> Method:
    return deleting("links")


@fault("a deleted conversation keeps its id", DeletionContract, MemoryTransaction, "delete_stream")
def id_kept(_: Method) -> Method:
    return deleting("info")


@fault("deleting takes the log as well", DeletionContract, MemoryTransaction, "delete_stream")
def log_deleted(delete: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str) -> None:
        delete(self, uid)
        self._stream(uid).entries.clear()

    return broken


@fault("deleting takes the tips as well", DeletionContract, MemoryTransaction, "delete_stream")
def tips_deleted(delete: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str) -> None:
        delete(self, uid)
        self._stream(uid).tips.clear()

    return broken


@fault("the key of a deleted conversation stays taken", DeletionContract, MemoryTransaction, "delete_stream")
def key_kept(delete: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str) -> None:
        keys = {place: held for place, held in self.read._state.keys.items() if held == uid}
        delete(self, uid)
        self.read._state.keys.update(keys)

    return broken


@fault("the owner of a deleted conversation stays", DeletionContract, MemoryTransaction, "delete_stream")
def owner_kept(delete: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str) -> None:
        owners = dict(self.read._state.owners)
        delete(self, uid)
        self.read._state.owners.update(owners)

    return broken


@fault("deleting lets go of every owner", DeletionContract, MemoryTransaction, "delete_stream")
def all_owners_deleted(delete: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str) -> None:
        delete(self, uid)
        self.read._state.owners.clear()

    return broken


@fault(
    "what is left of a conversation is a workspace's stream",
    DeletionContract,
    MemoryTransaction,
    "delete_stream",
)
def taken_for_an_own_stream(delete: Method) -> Method:
    def broken(self: MemoryTransaction, uid: str) -> None:
        delete(self, uid)
        self._stream(uid).info = self._stream(uid).info._replace(deleted=False)

    return broken


@fault("a deleted conversation takes events", DeletionContract, MemoryTransaction, "_living")
def still_living(_: Method) -> Method:
    return lambda self, uid: self._stream(uid)


@fault("events of others bring a conversation back", DeletionContract, changing, "_begun")
def brought_back(begun: Method) -> Method:
    def broken(stream: Stream, change: ConversationTouched) -> ConversationRow | None:
        named = Stream(stream.info._replace(id=stream.info.id or "back"), links=stream.links)
        row: ConversationRow | None = begun(named, change)
        return row

    return broken


@fault("the uid of a deleted conversation is given again", DeletionContract, MemoryTransaction, "put_stream")
def uid_given_again(put: Method) -> Method:
    def broken(self: MemoryTransaction, stream: StreamInfo) -> None:
        known = self.read._state.streams.get(stream.uid)
        if known is not None and known.info.deleted:
            del self.read._state.streams[stream.uid]
        put(self, stream)

    return broken


# --- moving


@fault("a conversation that moved leaves its key behind", MoveContract, MemoryTransaction, "move_stream")
def key_left_behind(move: Method) -> Method:
    def broken(self: MemoryTransaction, stream: StreamInfo) -> None:
        keys = dict(self.read._state.keys)
        move(self, stream)
        self.read._state.keys = keys

    return broken


@fault("the id before leads to it still", MoveContract, MemoryTransaction, "move_stream")
def old_id_leads(move: Method) -> Method:
    def broken(self: MemoryTransaction, stream: StreamInfo) -> None:
        ids = dict(self.read._state.ids)
        move(self, stream)
        self.read._state.ids = {**ids, **self.read._state.ids}

    return broken


@fault("a taken id goes to whoever moves in", MoveContract, MemoryTransaction, "move_stream")
def id_taken_over(move: Method) -> Method:
    def broken(self: MemoryTransaction, stream: StreamInfo) -> None:
        if self.read._state.ids.get((stream.workspace, stream.id or "")) != stream.uid:
            self.read._state.ids.pop((stream.workspace, stream.id or ""), None)
        move(self, stream)

    return broken


@fault("a taken key goes to whoever moves in", MoveContract, MemoryTransaction, "move_stream")
def key_taken_over(move: Method) -> Method:
    def broken(self: MemoryTransaction, stream: StreamInfo) -> None:
        own = [key for (_, key), uid in self.read._state.keys.items() if uid == stream.uid]
        for key in own:
            if self.read._state.keys.get((stream.workspace, key), stream.uid) != stream.uid:
                del self.read._state.keys[stream.workspace, key]
        move(self, stream)

    return broken


@fault("its owner comes along", MoveContract, MemoryTransaction, "move_stream")
def owner_comes_along(move: Method) -> Method:
    def broken(self: MemoryTransaction, stream: StreamInfo) -> None:
        before = self._stream(stream.uid).info
        move(self, stream)
        owner = self.read._state.owners.pop((before.workspace, before.id or ""), None)
        if owner is not None and stream.id is not None:
            self.read._state.owners[stream.workspace, stream.id] = owner

    return broken


@fault("a move goes into a workspace that is not there", MoveContract, MemoryTransaction, "move_stream")
def moved_nowhere(move: Method) -> Method:
    def broken(self: MemoryTransaction, stream: StreamInfo) -> None:
        self.read._state.workspaces.add(stream.workspace)
        move(self, stream)

    return broken


@fault("an alias that moves stays where it was", MoveContract, MemoryTransaction, "move_alias")
def alias_stays(move: Method) -> Method:
    def broken(self: MemoryTransaction, alias: tuple[str, str], workspace: str | None) -> None:
        move(self, alias, workspace and self.read._state.aliases.get(alias, workspace))

    return broken


@fault("aliases of every kind move", MoveContract, MemoryTransaction, "move_alias")
def aliases_of_every_kind(move: Method) -> Method:
    def broken(self: MemoryTransaction, alias: tuple[str, str], workspace: str | None) -> None:
        for kind in ("key", "folder"):
            move(self, (kind, alias[1]), workspace)

    return broken


@fault("a workspace that holds something is dropped", MoveContract, MemoryTransaction, "drop_workspace")
def dropped_whatever_it_holds(_: Method) -> Method:
    return lambda self, workspace: self.read._state.workspaces.discard(workspace)


@fault("every empty workspace is dropped", MoveContract, MemoryTransaction, "drop_workspace")
def all_dropped(drop: Method) -> Method:
    def broken(self: MemoryTransaction, _: str) -> None:
        for workspace in sorted(self.read._state.workspaces):
            drop(self, workspace)

    return broken


@fault("a dropped workspace leaves its owners", MoveContract, MemoryTransaction, "drop_workspace")
def owners_left(drop: Method) -> Method:
    def broken(self: MemoryTransaction, workspace: str) -> None:
        owners = dict(self.read._state.owners)
        drop(self, workspace)
        self.read._state.owners = owners

    return broken


# --- measures and open turns


@fault("everything is measured whatever the workspace", MeasureContract, MemoryReader, "measure")
def measure_unfenced(measure: Method) -> Method:
    return lambda self, _, uid=None: measure(self, None, uid)


@fault("what was removed is counted", MeasureContract, reading, "MessageState")
def removed_counted(_: Method) -> Method:
    class Broken(MessageState):
        PRESENT = MessageState.REMOVED

    return Broken


@fault("usage counts once for each message", MeasureContract, reading, "_usage_leaves")
def usage_of_each_message(_: Method) -> Method:
    def broken(streams: Iterable[Stream]) -> Iterator[bytes]:
        for stream in streams:
            for row in stream.messages.values():
                entry = stream.entries.get(Stamp(row.seq, row.writer))
                for leaf in entry.leaves if entry else ():
                    if leaf.name == "usage" and leaf.data is not None:
                        yield leaf.data

    return broken


@fault("usage of what was removed is forgotten", MeasureContract, reading, "_usage_leaves")
def removed_usage_forgotten(usage_leaves: Method) -> Method:
    def broken(streams: Iterable[Stream]) -> Iterator[bytes]:
        for stream in streams:
            there = {id: row for id, row in stream.messages.items() if row.state == MessageState.PRESENT}
            left = Stream(stream.info, entries=stream.entries, messages=there)
            yield from usage_leaves([left])

    return broken


@fault("what nobody reported is zero", MeasureContract, MemoryReader, "measure")
def absent_is_zero(measure: Method) -> Method:
    def broken(self: MemoryReader, *scope: Any) -> Measures:
        found: Measures = measure(self, *scope)
        return found._replace(tokens={"input_tokens": (0, 0), **found.tokens})

    return broken


@fault("sums are those of floating point", MeasureContract, reading, "_reported")
def sums_in_floating_point(reported: Method) -> Method:
    return lambda leaf: {name: float(value) for name, value in reported(leaf).items()}


@fault("where nobody states a time there is 1970", MeasureContract, MemoryReader, "measure")
def no_claim_is_zero(measure: Method) -> Method:
    def broken(self: MemoryReader, *scope: Any) -> Measures:
        found: Measures = measure(self, *scope)
        return found._replace(claim_first_ns=found.claim_first_ns or 0)

    return broken


@fault("the last open turn is found", OpenTurnContract, MemoryReader, "find_open_turn")
def last_open_turn(_: Method) -> Method:
    def broken(self: MemoryReader, uid: str) -> TurnRow | None:
        turns = self.read_turns(uid, Span(newest_first=True, limit=-1))
        return next((turn for turn in turns if turn.state == "open" and not turn.implicit), None)

    return broken


@fault("a question alone is an open turn", OpenTurnContract, MemoryReader, "find_open_turn")
def implicit_turns_too(_: Method) -> Method:
    def broken(self: MemoryReader, uid: str) -> TurnRow | None:
        turns = self.read_turns(uid, Span(limit=-1))
        return next((turn for turn in turns if turn.state == "open"), None)

    return broken
