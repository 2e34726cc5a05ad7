"""`verify` needs no more memory for ten times as many events (C-3)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from manent import opening
from manent.history.recording import record
from manent.model.ids import new_uid
from manent.model.log import StreamInfo
from manent.opening import make_scratch, open_backend
from manent.storage.memory.backend import MemoryBackend
from manent.testing.builders import began, pending, said
from manent.testing.workbench import Workbench
from tests.unit.verify.victim import Victim

FEW, MANY = 3_000, 30_000
GROWTH_BYTES_MAX = 40 << 20
BATCH = 3_000

VERIFY = """
import resource, sys
from manent import opening
with opening.open(sys.argv[1], workspace=None, read_only=True) as store:
    report = store.verify()
print(report.ok, report.events, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


class Peak(NamedTuple):
    """What a process of its own needed to verify a store."""

    ok: bool
    events: int
    memory_bytes: int


def a_store(path: Path, events: int) -> Path:
    """A store with that many events: nine tenths in one conversation, each of the rest in one of its own."""
    backend = open_backend(path, durability="process")
    bench = Workbench(backend)
    large, workspace = bench.conversation("large"), bench.workspace()
    for start in range(0, events * 9 // 10, BATCH):
        numbers = range(start, min(start + BATCH, events * 9 // 10))
        bench.record(large, *(said(f"message {n}", id=f"m{n}", under=f"m{n - 1}") for n in numbers))
    with backend.transaction() as tx:
        for uid in (new_uid() for _ in range(events // 10)):
            tx.put_stream(StreamInfo(uid, workspace, uid))
            record(tx, uid, pending(began()))
    backend.close()
    return path


def peak_of_verify(path: Path) -> Peak:
    """Verify a store in a process of its own."""
    command = [sys.executable, "-c", VERIFY, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    ok, events, memory_bytes = done.stdout.split()
    return Peak(ok == "True", int(events), int(memory_bytes))


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not tell a peak of memory")
def test_ten_times_as_many_events_need_no_more_memory(tmp_path: Path) -> None:  # C-3
    few = peak_of_verify(a_store(tmp_path / "few.db", FEW))
    many = peak_of_verify(a_store(tmp_path / "many.db", MANY))

    assert [few[:2], many[:2]] == [(True, FEW), (True, MANY)]
    assert many.memory_bytes - few.memory_bytes < GROWTH_BYTES_MAX


def test_a_large_conversation_is_folded_in_a_file_and_nothing_stays(
    victim: Victim, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:  # C-3
    monkeypatch.setattr(opening, "SCRATCH_EVENTS_MAX", 5)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    assert victim.found() == []
    assert list(tmp_path.glob("manent-verify-*")) == []


@pytest.mark.parametrize(("events", "in_memory"), [(5, True), (6, False)])
def test_where_a_conversation_is_folded_depends_on_its_events(
    monkeypatch: pytest.MonkeyPatch, events: int, in_memory: bool
) -> None:
    monkeypatch.setattr(opening, "SCRATCH_EVENTS_MAX", 5)

    scratch = make_scratch(events)
    scratch.close()

    assert isinstance(scratch, MemoryBackend) == in_memory


def test_a_change_in_a_large_conversation_is_found(
    victim: Victim, monkeypatch: pytest.MonkeyPatch
) -> None:  # C-3
    monkeypatch.setattr(opening, "SCRATCH_EVENTS_MAX", 5)
    victim.tamper("UPDATE messages SET role = 'assistant' WHERE message_id = 'q1'")

    assert victim.found() == [("read_model", "message:a#q1")]
