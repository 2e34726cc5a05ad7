"""What has to hold of a store after a crash, whatever the crash was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import manent
from manent.history.store import Store
from tests.crash.operations import Acknowledgement, Operation, Piece, checksum, operation, perform, read_piece

CONVERSATIONS_MAX = 100_000
AFTERWARDS = "afterwards"
"""The writer that appends to a store once it was looked at."""


class Faults(NamedTuple):
    """What was found: nothing of it may be."""

    findings: tuple[str, ...]
    lost: tuple[Acknowledgement, ...]
    torn: tuple[str, ...]
    repeated: tuple[str, ...]

    @property
    def none(self) -> bool:
        """Whether the store is as it should be."""
        return not any(self)


Name = tuple[str, int]
"""Of an operation: its writer and number."""


class Look(NamedTuple):
    """A store after a crash: its faults, and which operations are there that nobody acknowledged."""

    faults: Faults
    unacknowledged: frozenset[Name]


def look_at(path: Path, seed: int, acknowledged: Sequence[Acknowledgement]) -> Look:
    """
    Open a store as anybody would after a crash, compare it with what was acknowledged, and write to it.

    Args:
        seed: what the writers' operations follow from.
        acknowledged: what was acknowledged before the crash, by all writers there ever were.
    """
    with manent.open(path, wait=0.0) as store:
        report = store.verify()
        pieces = read_pieces(store)
        faults = Faults(
            findings=tuple(f"{finding.kind} {finding.address}" for finding in report.findings),
            lost=tuple(each for each in acknowledged if not is_there(each, pieces)),
            torn=tuple(torn(pieces, seed)),
            repeated=tuple(repeated(pieces)),
        )
        afterwards = sum(writer == AFTERWARDS for writer, _ in pieces)
        perform(store, operation(seed, AFTERWARDS, afterwards + 1))  # D-2: no lock is held
    known = {(each.writer, each.number) for each in acknowledged}
    return Look(faults, frozenset(name for name in pieces if name not in known and name[0] != AFTERWARDS))


class Standing(NamedTuple):
    """A piece, and where it stands."""

    conversation: str
    seq: int
    piece: Piece


Pieces = Mapping[Name, list[Standing]]
"""What is stored, by the operation that stored it."""


def read_pieces(store: Store) -> Pieces:
    """Every text of a store."""
    found: dict[Name, list[Standing]] = defaultdict(list)
    for summary in store.list(limit=CONVERSATIONS_MAX):
        for message in store.conversation(summary.id).messages(branch="all"):
            piece = read_piece(message.text)
            found[piece.writer, piece.number].append(Standing(summary.id, message.seq, piece))
    return found


def is_there(acknowledged: Acknowledgement, pieces: Pieces) -> bool:
    """Whether an operation is there as it was acknowledged: its content, its conversation, its seqs."""
    standing = pieces.get((acknowledged.writer, acknowledged.number), [])
    texts = tuple(each.piece.text for each in standing)
    seqs = list(dict.fromkeys(each.seq for each in standing))
    return (
        checksum(texts) == acknowledged.checksum
        and {each.conversation for each in standing} == {acknowledged.conversation}
        and acknowledged.seqs in ([], seqs)
    )


def torn(pieces: Pieces, seed: int) -> Iterable[str]:
    """Operations of which not all is there, or not what was written, or not in its order (L-2)."""
    for (writer, number), standing in pieces.items():
        texts = tuple(each.piece.text for each in standing)
        if texts != operation(seed, writer, number).texts:
            yield f"{writer}/{number}: {[(each.seq, each.piece.place) for each in standing]}"


def repeated(pieces: Pieces) -> Iterable[str]:
    """Operations that stand in more than one place."""
    for (writer, number), standing in pieces.items():
        places = [each.piece.place for each in standing]
        if len(set(places)) < len(places):
            yield f"{writer}/{number}: {places}"


def repeat_imports(path: Path, wanted: Iterable[Operation]) -> list[str]:
    """Import again what was cut off; return what is not there exactly once afterwards (I-2)."""
    imports = [each for each in wanted if each.kind == "import"]
    with manent.open(path) as store:
        for each in imports:
            perform(store, each)
        pieces = read_pieces(store) if imports else {}
    return [
        f"{each.writer}/{each.number}"
        for each in imports
        if tuple(s.piece.text for s in pieces[each.writer, each.number]) != each.texts
    ]
