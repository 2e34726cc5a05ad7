"""
What was moved among workspaces, kept so that it can be undone: registers of a workspace's own stream.

They belong to one store alone and are in no export, since an undo believes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, NamedTuple

import msgspec

from manent.model.ids import Stamp
from manent.model.log import Register
from manent.model.workspaces import Workspace, WorkspaceMove
from manent.storage.port import Reader, Transaction

MOVE_FIELD = "move:"
"""Before the id of a relink or merge."""

Alias = tuple[str, str]
Uid = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{32})?$")]


class Moved(NamedTuple):
    """A stream that moved: its uid, its id before and after, and the key that it had to give up, or ""."""

    uid: Uid
    old_id: str | None
    new_id: str | None
    lost_key: str = ""


class Move(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """
    A relink or merge.

    Args:
        aliases: each name before and after.
        present: the names after that led there before as well, and that an undo leaves.
        claim_ns: when, by the clock's claim.
        source, into: the uids of the two workspaces of a merge.
        streams: what a merge moved.
        claimed: the ids that somebody owned before there was a conversation, and that came along.
    """

    kind: Literal["relink", "merge"]
    aliases: tuple[tuple[Alias, Alias], ...]
    claim_ns: int
    present: tuple[Alias, ...] = ()
    source: Uid = ""
    into: Uid = ""
    streams: tuple[Moved, ...] = ()
    claimed: tuple[str, ...] = ()


class KeptMove(NamedTuple):
    """A move that was not undone: its id, when it was kept, and the stream that keeps it."""

    stream: str
    id: str
    stamp: Stamp
    move: Move

    def told(self) -> WorkspaceMove:
        """What callers are told of it."""
        moved = self.move.streams
        return WorkspaceMove(
            id=self.id,
            kind=self.move.kind,
            aliases=tuple((Workspace(*old), Workspace(*new)) for old, new in self.move.aliases),
            renamed=tuple((each.old_id, each.new_id) for each in moved if each.old_id != each.new_id),
            lost_keys=tuple(each.lost_key for each in moved if each.lost_key),
            claim_ns=self.move.claim_ns,
        )


def keep_move(tx: Transaction, stream: str, id: str, move: Move) -> KeptMove:
    """Keep what is needed to undo a move."""
    stamp = tx.put_metadata(stream, MOVE_FIELD + id, msgspec.to_builtins(move))
    return KeptMove(stream, id, stamp, move)


def forget_move(tx: Transaction, kept: KeptMove) -> None:
    """It was undone."""
    tx.put_metadata(kept.stream, MOVE_FIELD + kept.id, None)


def is_move(register: Register) -> bool:
    """Whether a register keeps a move that was not undone."""
    return register.field.startswith(MOVE_FIELD) and register.value is not None


def to_move(register: Register) -> Move | None:
    """The move that a register keeps; None of a damaged one, which `verify` reports and nobody can undo."""
    try:
        return msgspec.convert(register.value, Move)
    except msgspec.ValidationError:
        return None


def moves_in(reader: Reader, stream: str) -> Iterator[KeptMove]:
    """The moves that a stream keeps."""
    for register in filter(is_move, reader.read_registers(stream)):
        if (move := to_move(register)) is not None:
            yield KeptMove(stream, register.field.removeprefix(MOVE_FIELD), register.stamp, move)
