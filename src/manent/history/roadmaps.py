"""Roadmaps: plans that a workspace keeps, as registers on the workspace's own stream."""

from __future__ import annotations

import builtins
from typing import Any

import msgspec

from manent.codec.canonical import escape_name, unescape_name
from manent.errors import InputError, MetadataError, NotFoundError, WorkspaceRequiredError
from manent.history.runtime import Runtime
from manent.history.workspaces import ensure_workspace, find_workspace_info, own_stream
from manent.model.ids import check_name
from manent.model.log import Register, WorkspaceInfo
from manent.model.metadata import decode_register
from manent.model.paging import check_limit
from manent.model.parts import plain_str
from manent.model.plans import Plan, Roadmap, RoadmapSummary
from manent.storage.port import Reader, Transaction

_PREFIX = "roadmap:"


class _Kept(msgspec.Struct, frozen=True):
    """The value of a roadmap's register; `tree` is TOML."""

    title: str
    tree: str
    created_ns: int
    updated_ns: int


class Roadmaps:
    """
    The roadmaps of one workspace; those of another one are absent, and may have the same ids.

    No call moves any activity (L-8). Each raises `WorkspaceRequiredError` on the owner's handle, and
    `InputError` for an id that is blank or longer than 512 bytes. Those that write raise `StoreBusyError`,
    `StorageFullError` or `ReadOnlyError` when nothing could be written.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __repr__(self) -> str:
        return f"<Roadmaps of {self._runtime.backend.url}>"

    def create(self, id: str, title: str, tree: Plan | str) -> Roadmap:
        """
        Keep a plan under an id; a roadmap that has this id in the workspace is replaced.

        Args:
            id: any text.
            title: for people; white space around it falls away.
            tree: the plan, or its TOML, which is kept as it was written.

        Raises:
            InputError: the tree cannot be kept; see `Plan.from_toml` and `Plan.to_toml`.
        """
        check_name(id, "roadmap id")
        if not isinstance(title, str):
            raise InputError(f"A title is text, not {type(title).__name__}.")
        now = self._runtime.clock()
        kept = _Kept(plain_str(title).strip(), _to_text(tree), now, now)
        roadmap = _to_roadmap(id, kept)
        with self._runtime.backend.transaction() as tx:
            workspace = ensure_workspace(self._runtime, tx)
            _put(tx, own_stream(self._runtime, tx, workspace), id, msgspec.to_builtins(kept))
        return roadmap

    def load(self, id: str) -> Roadmap | None:
        """
        A roadmap, or None when this workspace has none with the id.

        Raises:
            MetadataError: what is stored cannot be read; no half of a tree is handed out.
        """
        with self._runtime.backend.reading() as reader:
            found = _read(reader, self._find_info(reader)).get(check_name(id, "roadmap id"))
        return None if found is None else _to_roadmap(id, _decode(id, found[1]))

    def get(self, id: str) -> Roadmap:
        """
        As `load`, but an absent roadmap is an error.

        Raises:
            NotFoundError: this workspace has no such roadmap.
        """
        found = self.load(id)
        if found is None:
            raise NotFoundError("roadmap", id)
        return found

    def update(self, id: str, tree: Plan | str) -> bool:
        """
        Replace the plan of a roadmap; its title and its beginning stay.

        Returns:
            False when there is none with that id; nothing is written then.

        Raises:
            InputError: the tree cannot be kept.
            MetadataError: what is stored cannot be read; `create` replaces it.
        """
        check_name(id, "roadmap id")
        text = _to_text(tree)
        with self._runtime.backend.transaction() as tx:
            found = _read(tx.read, self._find_info(tx.read)).get(id)
            if found is None:
                return False
            stream, register = found
            kept = _decode(id, register)
            changed = msgspec.structs.replace(kept, tree=text, updated_ns=self._runtime.clock())
            _put(tx, stream, id, msgspec.to_builtins(changed))
        return True

    def delete(self, id: str) -> bool:
        """Remove a roadmap, readable or not; return whether it was there."""
        check_name(id, "roadmap id")
        with self._runtime.backend.transaction() as tx:
            found = _read(tx.read, self._find_info(tx.read)).get(id)
            if found is None:
                return False
            _put(tx, found[0], id, None)
        return True

    def list(self, *, limit: int | None = None) -> builtins.list[RoadmapSummary]:
        """
        The roadmaps of the workspace, the last written first, by the store's order and never by a clock.

        Args:
            limit: at most this many; None for all.

        Raises:
            InputError: a limit below 1.
            MetadataError: a register is no roadmap. A tree that cannot be read is no error here: its `nodes`
                are None.
        """
        end = None if limit is None else check_limit(limit)
        with self._runtime.backend.reading() as reader:
            found = _read(reader, self._find_info(reader))
        newest_first = sorted(found.items(), key=lambda item: item[1][1].stamp, reverse=True)
        return [_summarise(id, _decode(id, register)) for id, (_, register) in newest_first[:end]]

    def _find_info(self, reader: Reader) -> WorkspaceInfo | None:
        """This handle's workspace with its streams; None before the workspace's first write."""
        if self._runtime.workspace is None:
            raise WorkspaceRequiredError
        return find_workspace_info(self._runtime, reader)


def _read(reader: Reader, info: WorkspaceInfo | None) -> dict[str, tuple[str, Register]]:
    """
    Roadmaps by id, each with the stream that keeps it.

    Streams that a merge brought together may share ids: the greater stamp wins.
    """
    greatest: dict[str, tuple[str, Register]] = {}
    for uid in info.streams if info else ():
        for register in reader.read_registers(uid):
            known = greatest.get(register.field)
            if register.field.startswith(_PREFIX) and (known is None or known[1].stamp < register.stamp):
                greatest[register.field] = (uid, register)
    return {
        unescape_name(field.removeprefix(_PREFIX)): found
        for field, found in greatest.items()
        if found[1].value is not None
    }


def _put(tx: Transaction, stream: str, id: str, value: Any) -> None:
    tx.put_metadata(stream, _PREFIX + escape_name(id), value)


def _decode(id: str, register: Register) -> _Kept:
    kept: _Kept = decode_register(register, _Kept, of=f"roadmap {id!r}")
    return kept


def _to_text(tree: Plan | str) -> str:
    if isinstance(tree, Plan):
        return tree.to_toml()
    Plan.from_toml(tree)
    return plain_str(tree)


def _to_roadmap(id: str, kept: _Kept) -> Roadmap:
    try:
        tree = Plan.from_toml(kept.tree)
    except InputError as error:
        raise MetadataError(str(error), field=_PREFIX + escape_name(id), of=f"roadmap {id!r}") from None
    return Roadmap(id, kept.title, tree, kept.created_ns, kept.updated_ns)


def _summarise(id: str, kept: _Kept) -> RoadmapSummary:
    return RoadmapSummary(id, kept.title, _count_nodes(kept.tree), kept.created_ns, kept.updated_ns)


def _count_nodes(tree: str) -> int | None:
    try:
        return len(Plan.from_toml(tree).subtasks)
    except InputError:
        return None
