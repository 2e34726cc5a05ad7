"""Case 44, second half: an event of a newer release is carried along."""

from __future__ import annotations

from pathlib import Path

import manent
from manent.codec.sealing import hash_of
from manent.history.recording import adopt
from manent.model.log import SealedEvent
from manent.testing.builders import said, sealed
from tests.stores import backend_of

KIND = "from_the_future"


def test_case_44_an_event_of_an_unknown_kind_survives_export_and_import(
    path: Path, tmp_path: Path
) -> None:  # L-9
    with manent.open(path, workspace="mine") as store:
        conversation = store.create("Beans")
        add_an_event_of_tomorrow(store, conversation.uid)
        conversation.append_turn("When?", "In May.")
        report = store.verify()
        assert (report.ok, report.unknown_kinds) == (True, 1)
        questions = [turn.question for turn in conversation.turns(branch="all")]
        assert questions == ["before", "after", "When?"]

    with manent.open(path, workspace=None) as store:
        export = list(store.export_lines())

    with manent.open(tmp_path / "copy.db", workspace=None) as copy:
        copy.import_lines(export)

        report = copy.verify()
        assert (report.ok, report.unknown_kinds) == (True, 1)
        assert list(copy.export_lines()) == export
    assert sum(KIND.encode() in line for line in export) == 1


def add_an_event_of_tomorrow(store: manent.Store, uid: str) -> None:
    """Take in three events of another writer, the second of a kind that this release does not know."""
    before, strange = sealed(uid, said("before"), said("?"), writer="ab" * 8, seq=50)
    strange = SealedEvent(strange.header._replace(kind=KIND, schema_version=7), strange.leaves)
    after = sealed(uid, said("after"), writer="ab" * 8, seq=52, prev_hash=hash_of(strange))
    with backend_of(store).transaction() as tx:
        adopt(tx, [before, strange, *after])
