"""Taking in one record of the old JSON tree: whole, in one transaction, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from manent.codec.leaves import check_storable
from manent.errors import AlreadyExistsError, InputError
from manent.formats.newt_json import NAME, NewtRecord, NewtTurn
from manent.history.masking import Masker
from manent.history.recording import record
from manent.history.removing import source_mark
from manent.history.runtime import Runtime
from manent.history.workspaces import ensure_workspace
from manent.model.events import ConversationCreated, Event, TurnAppended
from manent.model.ids import answer_id
from manent.model.log import KEY_FIELD, Pending, StreamInfo
from manent.model.metadata import RoadmapLink
from manent.model.parts import TextPart, Usage
from manent.model.workspaces import Workspace
from manent.storage.port import Reader, Transaction


class Taken(NamedTuple):
    """What became of a record: `imported` with so many turns, `known` or `deleted`; `note` says more."""

    state: str
    turns: int = 0
    note: str = ""


class TakingIn:
    """Takes records into a store, and masks the secrets in them."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._masker = Masker()
        with runtime.backend.reading() as reader:
            self._source_key = reader.info().source_key

    @property
    def secrets(self) -> dict[str, int]:
        """How many secrets were masked so far, by kind."""
        return dict(sorted(self._masker.counts.items()))

    def take(self, found: NewtRecord, names: tuple[Workspace, ...], path: Path) -> Taken:
        """
        Take in a record under its id, unless this workspace has the id or had it.

        Args:
            names: what its workspace is called, by the newest rule first.
            path: where it lies.

        Raises:
            InputError: something in it cannot be stored.
            StoreBusyError, StorageFullError, ReadOnlyError: nothing of it was written.
        """
        masked = self._masked(found)
        turns = [_to_event(turn) for turn in masked.turns]
        for turn in turns:
            check_storable(turn)
        runtime = self._runtime._replace(workspace=names[0], older_names=names[1:])
        try:
            with self._runtime.backend.transaction() as tx:
                workspace = ensure_workspace(runtime, tx)
                if (known := self._known(tx.read, workspace, found)) is not None:
                    return known
                self._write(tx, workspace, masked, turns, path)
        except AlreadyExistsError as error:
            raise InputError(str(error)) from error
        return Taken("imported", len(turns))

    def _masked(self, found: NewtRecord) -> NewtRecord:
        self._masker.learn((TextPart(turn.user), TextPart(turn.assistant)) for turn in found.turns)
        kept = {name: getattr(found, name) for name in ("id", "workspace", "workspace_id")}
        plain = self._masker.mask_json(msgspec.to_builtins(found))
        return msgspec.convert({**plain, **kept}, NewtRecord)

    def _known(self, reader: Reader, workspace: str, found: NewtRecord) -> Taken | None:
        for stream in reader.find_ids(workspace, found.id):
            if reader.find_row(stream.uid) is not None:
                here = sum(reader.measure(None, stream.uid).turns.values())
                more = len(found.turns) > here
                note = (
                    f"it has {len(found.turns)} turns and {here} are here; nothing was added" if more else ""
                )
                return Taken("known", note=note)
        mark = source_mark(_key(found), self._source_key)
        info = reader.find_workspace_info(workspace)
        registers = (each for uid in info.streams for each in reader.read_registers(uid)) if info else ()
        return Taken("deleted") if any(each.field == mark for each in registers) else None

    def _write(
        self, tx: Transaction, workspace: str, found: NewtRecord, turns: list[TurnAppended], path: Path
    ) -> None:
        uid = self._place(tx, workspace, found.id)
        origin = {"format": NAME, "id": found.id, "place": self._masker.mask_text(path.as_posix())}
        self._record(tx, uid, ConversationCreated(origin=origin), found.created_at_unix_nanos)
        above: str | None = None
        for turn in turns:
            chained = msgspec.structs.replace(turn, parent_id=above)
            above = self._record(tx, uid, chained, found.updated_at_unix_nanos)
        for field, value in _registers(found).items():
            tx.put_metadata(uid, field, value)
        tx.put_metadata(uid, KEY_FIELD, _key(found))

    def _place(self, tx: Transaction, workspace: str, id: str) -> str:
        """A stream for it: a new one, or that which something was said of before it began."""
        for stream in tx.read.find_ids(workspace, id):
            return stream.uid
        uid = self._runtime.new_id()
        tx.put_stream(StreamInfo(uid, workspace, id))
        return uid

    def _record(self, tx: Transaction, uid: str, event: Event, claim_ns: int) -> str:
        """Append an event; the id that the answer of a turn has got."""
        stored = record(tx, uid, [Pending(event, self._runtime.new_id(), claim_ns)])
        return answer_id(stored[0].header.stamp)


def _key(found: NewtRecord) -> str:
    return f"{NAME}:{found.id}"


def _to_event(turn: NewtTurn) -> TurnAppended:
    counted = turn.tokens_in is not None or turn.tokens_out is not None
    return TurnAppended(
        question=turn.user,
        answer=turn.assistant,
        tool_events=turn.events,
        phantom_reaches=turn.phantom_reaches,
        usage=Usage(input_tokens=turn.tokens_in, output_tokens=turn.tokens_out) if counted else None,
    )


def _registers(found: NewtRecord) -> Mapping[str, Any]:
    """What is kept of a record beside its turns; what is empty is not set."""
    plan = found.plan.to_json()
    linked = found.roadmap_id and found.node_id
    link = msgspec.to_builtins(RoadmapLink(found.roadmap_id or "", found.node_id or "")) if linked else None
    told = {
        "title": found.title.strip(),
        "persona": found.persona,
        "scratchpad": found.scratchpad,
        "plan": plan if plan["steps"] else None,
        "roadmap_link": link,
    }
    return {field: value for field, value in told.items() if value}
