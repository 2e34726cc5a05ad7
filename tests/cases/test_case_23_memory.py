"""Case 23: many conversations and one large one, looked at with little memory."""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

import pytest

from manent.history.recording import record
from manent.model.ids import new_uid
from manent.model.log import StreamInfo
from manent.storage.installation import Installation
from manent.storage.port import Transaction
from manent.storage.sqlite.backend import SqliteBackend
from manent.testing.builders import a_turn, began, pending
from manent.testing.workbench import workspace_named
from tests.processes import run
from tests.programs import read_at_first

LARGE_MB = int(os.environ.get("MANENT_TEST_LARGE_MB", "60"))
"""Words in the large conversation; the case speaks of 200 MB."""

CONVERSATIONS = 3_000
TURNS = 4
LARGE_TURN_BYTES = 20_000
MEMORY_BYTES_MAX = 300_000_000
MORE_THAN_OPENING_BYTES_MAX = 16_000_000


class Large:
    """A large store, and the name of the large conversation in it."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "large.db"
        self.uid = new_uid()
        backend = SqliteBackend(self.path, durability="process", installation=Installation(folder / "state"))
        with backend.transaction() as tx:
            workspace = workspace_named(tx, "default")
            _append(tx, self.uid, workspace, LARGE_MB * 1_000_000 // LARGE_TURN_BYTES, LARGE_TURN_BYTES)
            for _ in range(CONVERSATIONS):
                _append(tx, new_uid(), workspace, TURNS, 200)
        backend.close()


def _append(tx: Transaction, uid: str, workspace: str, turns: int, size: int) -> None:
    """A conversation with that many turns of that many bytes."""
    luck = random.Random(size)
    tx.put_stream(StreamInfo(uid, workspace, uid))
    record(tx, uid, pending(began()))
    for _ in range(turns):
        row = tx.read.find_row(uid)
        answer = luck.randbytes(size // 2).hex()
        record(tx, uid, pending(a_turn("and then?", answer, parent_id=row.head if row else None)), row)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Large:
    """3,000 conversations and a large one."""
    return Large(tmp_path_factory.mktemp("large"))


@pytest.mark.skipif(sys.platform != "linux", reason="reads the greatest memory from /proc")
@pytest.mark.parametrize(
    ("what", "rows"), [("list 20", 20), ("first page", 50), ("newest page", 50), ("last 20 turns", 20)]
)
def test_case_23_what_is_looked_at_first_costs_by_what_is_shown(large: Large, what: str, rows: int) -> None:
    _, opened = run(read_at_first, large.path, large.uid, "nothing")  # P-3

    shown, used = run(read_at_first, large.path, large.uid, what)

    assert shown == rows
    assert used <= MEMORY_BYTES_MAX
    assert used - opened <= MORE_THAN_OPENING_BYTES_MAX
