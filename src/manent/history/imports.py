"""What was imported: which imports there were, and how one is undone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from manent.errors import ContinuedError, NotFoundError
from manent.history.attachments import drop_unused
from manent.history.import_records import KeptImport, Touched, forget, imports_in
from manent.history.runtime import Runtime
from manent.history.undoing import CONTINUED, Plan, carry_out, plan
from manent.history.workspaces import find_workspace_info, is_there
from manent.model.imports import Import, SparedConversation, Undone
from manent.model.log import WorkspaceInfo
from manent.storage.port import Reader, Transaction

UNDO_BATCH = 20
"""Conversations that are taken back in one transaction, at most."""

UNDO_EVENTS = 2_000
"""About so many events of an import are taken back in one transaction; a conversation goes as a whole."""

Progress = Callable[[int], None]
"""Called now and then with the number of conversations looked at."""


class _Found(NamedTuple):
    """A record and the workspace that it is in."""

    workspace: str
    kept: KeptImport


class Imports:
    """The imports of a workspace; on the owner's handle of all the store. Get it from `Store.imports`."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __repr__(self) -> str:
        return f"<Imports of {self._runtime.backend.url}>"

    def list(self) -> Sequence[Import]:
        """
        Imports that wrote something and were not undone, the newest first.

        Records belong to one store: one that was restored from an export has none. The paths are told on the
        owner's handle only.
        """
        with self._runtime.backend.reading() as reader:
            found = sorted(self._find_all(reader), key=_began_ns, reverse=True)
        with_paths = self._runtime.workspace is None
        return [one.kept.told(one.workspace, with_paths=with_paths) for one in found]

    def undo(
        self,
        import_id: str,
        *,
        force: bool = False,
        dry_run: bool = False,
        progress: Progress = lambda _: None,
    ) -> Undone:
        """
        Take back what an import did, so that a later one of the same source may bring it again.

        Conversations that it created are deleted; messages that it added to others leave the tree; what it
        edited says again what it said, unless it was edited since. It is done in several transactions, each
        whole. When it is interrupted, what is done stays; repeated, it comes to the same end.

        Args:
            import_id: as `list` gives it.
            force: also what somebody continued, and what is spared.
            dry_run: say what would be done, and do nothing.
            progress: called with the number of conversations looked at.

        Returns:
            What was taken back by this call, and what was spared: while anything is, the record stays.

        Raises:
            NotFoundError: no such import here, or it was undone.
            ContinuedError: somebody said something under what would go; lists where. Nothing was changed.
        """
        with self._runtime.backend.reading() as reader:
            found = self._find(reader, import_id)
            by_uid = _by_conversation(found.kept)
            plans = [plan(self._runtime, reader, found.workspace, touched) for touched in by_uid.values()]
        continued = [said.address for one in plans if one for said in one.said if not _is_spared(one, force)]
        if continued and not force and not dry_run:
            raise ContinuedError(import_id=import_id, addresses=tuple(dict.fromkeys(continued)))
        done = _Done(import_id, force)
        if dry_run:
            for one in filter(None, plans):
                done.count(one)
            return done.told(continued)
        run = _Undo(self._runtime, found, done)
        looked_at = 0
        for uids in _batches(by_uid):
            run.take_back({uid: by_uid[uid] for uid in uids})
            looked_at += len(uids)
            progress(looked_at)
        run.end()
        return done.told(())

    def _find_all(self, reader: Reader) -> Iterator[_Found]:
        for info in self._workspaces(reader):
            for stream in info.streams:
                for kept in imports_in(reader, stream):
                    yield _Found(info.uid, kept)

    def _workspaces(self, reader: Reader) -> Sequence[WorkspaceInfo]:
        if self._runtime.workspace is None:
            return reader.list_workspaces()
        info = find_workspace_info(self._runtime, reader) if is_there(self._runtime, reader) else None
        return [info] if info is not None else []

    def _find(self, reader: Reader, import_id: str) -> _Found:
        for found in self._find_all(reader):
            if found.kept.id == import_id:
                return found
        raise NotFoundError("import", import_id, "`imports.list` shows those that can be undone.")


def _began_ns(found: _Found) -> tuple[int, str]:
    return found.kept.record.claim_ns, found.kept.id


def _by_conversation(kept: KeptImport) -> dict[str, tuple[Touched, ...]]:
    """All that an import wrote to each conversation, in order."""
    by_uid: dict[str, tuple[Touched, ...]] = {}
    for field in sorted(kept.touched, key=lambda field: int(field.rpartition("/")[2])):
        for touched in kept.touched[field]:
            by_uid[touched.uid] = (*by_uid.get(touched.uid, ()), touched)
    return by_uid


def _batches(by_uid: dict[str, tuple[Touched, ...]]) -> Iterator[Sequence[str]]:
    """The conversations of one transaction after the other."""
    batch: list[str] = []
    events = 0
    for uid, touched in by_uid.items():
        own = sum(span.last - span.first + 1 for span in touched)
        if batch and (len(batch) >= UNDO_BATCH or events + own > UNDO_EVENTS):
            yield batch
            batch, events = [], 0
        batch.append(uid)
        events += own
    if batch:
        yield batch


def _is_spared(one: Plan, force: bool) -> bool:
    return bool(one.reasons) and (not force or "moved" in one.reasons)


class _Done:
    """What an undo came to so far."""

    def __init__(self, import_id: str, force: bool) -> None:
        self._id = import_id
        self._force = force
        self._deleted: list[str] = []
        self._changed: list[str] = []
        self._spared: list[SparedConversation] = []
        self._removed = self._restored = 0

    def count(self, one: Plan, *, also: tuple[str, ...] = ()) -> bool:
        """Count what a plan says; return whether it is carried out. `also`: further reasons to spare it."""
        name = one.info.id or one.info.uid
        if _is_spared(one, self._force) or also:
            self._spared.append(SparedConversation(conversation_id=name, reasons=(*one.reasons, *also)))
            return False
        if one.created:
            self._deleted.append(name)
        elif one.changes:
            self._changed.append(name)
            self._removed += len(one.doomed)
            self._restored += len(one.edits)
        return one.changes

    @property
    def force(self) -> bool:
        """Whether nothing is asked for."""
        return self._force

    @property
    def spared(self) -> bool:
        """Whether anything was."""
        return bool(self._spared)

    def told(self, continued: Sequence[str]) -> Undone:
        """What callers are told."""
        return Undone(
            id=self._id,
            deleted=tuple(self._deleted),
            changed=tuple(self._changed),
            removed_messages=self._removed,
            restored_messages=self._restored,
            spared=tuple(self._spared),
            continued=tuple(dict.fromkeys(continued)),
        )


class _Undo:
    """An undo under way: each transaction takes some conversations back, and says so in the record."""

    def __init__(self, runtime: Runtime, found: _Found, done: _Done) -> None:
        self._runtime = runtime
        self._found = found
        self._done = done

    def take_back(self, some: dict[str, tuple[Touched, ...]]) -> None:
        """Take the import back in these conversations."""
        plans: list[Plan] = []
        with self._runtime.backend.transaction() as tx:
            workspace = self._found.workspace
            digests: set[str] = set()
            spared: set[str] = set()
            for uid, touched in some.items():
                one = plan(self._runtime, tx.read, workspace, touched)
                if one is None:
                    continue
                plans.append(one)
                if _is_spared(one, self._done.force) or (one.said and not self._done.force):
                    spared.add(uid)
                elif one.changes:
                    digests |= carry_out(self._runtime, tx, one)
            drop_unused(tx, workspace, digests)
            self._strike_out(tx, set(some) - spared)
        for one in plans:
            is_continued = bool(one.said) and not self._done.force
            self._done.count(one, also=(CONTINUED,) if is_continued else ())

    def _strike_out(self, tx: Transaction, uids: set[str]) -> None:
        """The record does not tell of these conversations any more."""
        registers = {r.field: r.value for r in tx.read.read_registers(self._found.kept.stream)}
        for field, touched in self._found.kept.touched.items():
            if not any(one.uid in uids for one in touched) or registers.get(field) is None:
                continue
            there = msgspec.convert(registers[field], tuple[Touched, ...])
            left = [one for one in there if one.uid not in uids]
            tx.put_metadata(self._found.kept.stream, field, msgspec.to_builtins(left) or None)

    def end(self) -> None:
        """Forget the record, unless something was spared."""
        if not self._done.spared:
            with self._runtime.backend.transaction() as tx:
                forget(tx, self._found.kept)
