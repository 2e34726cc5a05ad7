"""The checks of the crash tests find the faults that are planted for them."""

from __future__ import annotations

from pathlib import Path

import pytest

import manent
from tests.crash.checks import Look, look_at, repeat_imports
from tests.crash.operations import Acknowledgement, Kind, Operation, operations, perform

SEED = 7


def first(kind: Kind) -> Operation:
    """The first operation of this kind."""
    return next(each for each in operations(SEED, "w") if each.kind == kind)


def performed(path: Path, *wanted: Operation) -> list[Acknowledgement]:
    """Perform operations; what was acknowledged."""
    with manent.open(path) as store:
        return [perform(store, each) for each in wanted]


def named(look: Look) -> list[str]:
    """The kinds of fault that were found."""
    return [name for name, found in look.faults._asdict().items() if found]


@pytest.mark.parametrize("kind", ["turn", "batch", "import"])
def test_what_was_acknowledged_and_is_there_is_no_fault(tmp_path: Path, kind: Kind) -> None:
    acknowledged = performed(tmp_path / "x.db", first(kind))

    look = look_at(tmp_path / "x.db", SEED, acknowledged)

    assert (named(look), look.unacknowledged) == ([], frozenset())


@pytest.mark.parametrize("kind", ["turn", "batch", "import"])
def test_what_was_acknowledged_and_is_not_there_is_lost(tmp_path: Path, kind: Kind) -> None:
    acknowledged = performed(tmp_path / "elsewhere.db", first(kind))

    look = look_at(tmp_path / "x.db", SEED, acknowledged)

    assert look.faults.lost == tuple(acknowledged)


def test_what_stands_at_another_seq_is_lost(tmp_path: Path) -> None:
    (acknowledged,) = performed(tmp_path / "x.db", first("turn"))
    moved = Acknowledgement(
        acknowledged.writer, acknowledged.number, acknowledged.conversation, [99], acknowledged.checksum
    )

    assert look_at(tmp_path / "x.db", SEED, [moved]).faults.lost == (moved,)


@pytest.mark.parametrize("kind", ["batch", "import"])
def test_half_a_batch_is_torn(tmp_path: Path, kind: Kind) -> None:
    whole = first(kind)
    performed(tmp_path / "x.db", whole._replace(texts=whole.texts[:-1]))

    assert named(look_at(tmp_path / "x.db", SEED, [])) == ["torn"]


def test_a_batch_that_is_there_twice_is_repeated(tmp_path: Path) -> None:
    performed(tmp_path / "x.db", first("batch"), first("batch"))

    assert named(look_at(tmp_path / "x.db", SEED, [])) == ["torn", "repeated"]


def test_what_is_whole_but_not_acknowledged_is_counted_and_no_fault(tmp_path: Path) -> None:
    wanted = first("turn")
    performed(tmp_path / "x.db", wanted)

    look = look_at(tmp_path / "x.db", SEED, [])

    assert (named(look), look.unacknowledged) == ([], frozenset({(wanted.writer, wanted.number)}))


def test_an_import_that_was_cut_off_is_there_once_when_it_is_repeated(tmp_path: Path) -> None:  # I-2
    whole = first("import")
    performed(tmp_path / "x.db", whole._replace(texts=whole.texts[:-1]))

    assert repeat_imports(tmp_path / "x.db", [whole, whole]) == []
