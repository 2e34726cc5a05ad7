"""Histories of every shape, for export and import; and stores that are read as a whole."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from hypothesis import strategies as st

from manent.codec.leaves import SKELETON
from manent.history.exporting import export_lines
from manent.history.restoring import Restored, restore
from manent.history.runtime import Scratch
from manent.history.verifying import Verifier
from manent.model.events import KINDS, ContentRedacted, ConversationDeleted, Event
from manent.model.log import StoredEvent
from manent.model.records import Finding
from manent.opening import make_scratch
from manent.storage.installation import Installation
from manent.storage.memory.backend import MemoryBackend
from manent.storage.port import Backend
from manent.storage.sqlite.backend import SqliteBackend
from manent.testing import strategies
from manent.testing.builders import answered, began, edited, head_moved, removed, said
from manent.testing.workbench import Workbench

DECLARATIONS = {ContentRedacted.KIND, ConversationDeleted.KIND}
"""Kinds that say what is gone: random ones would say it of what is there."""


class History(NamedTuple):
    """A conversation to be written: who it is, its events, and which leaves of them go."""

    workspace: str
    id: str
    registers: dict[str, Any]
    events: list[Event]
    erased: list[int]


class Everything(NamedTuple):
    """A store to be written."""

    conversations: list[History]
    blobs: list[tuple[str, bytes]]


def branches() -> st.SearchStrategy[list[Event]]:
    """A small tree with edits and removals."""
    ids, parents = st.sampled_from(["m1", "m2", "m3"]), st.none() | st.sampled_from(["m1", "m2", "m3"])
    words = strategies.any_text()
    return st.lists(
        st.one_of(
            st.builds(said, words, id=ids, under=parents),
            st.builds(answered, words, id=ids, under=parents),
            st.builds(edited, ids, words),
            st.builds(removed, ids),
            st.builds(head_moved, parents),
        ),
        min_size=1,
        max_size=6,
    )


@st.composite
def any_events(draw: st.DrawFn) -> list[Event]:
    """Events of any kind with anything in them."""
    kinds = st.sampled_from(sorted(KINDS.keys() - DECLARATIONS))
    return [draw(strategies.events(kind)) for kind in draw(st.lists(kinds, min_size=1, max_size=4))]


WORKSPACES = ["one", "two\ud83d", "drei \u2028 \x00"]


def histories() -> st.SearchStrategy[History]:
    """A conversation with anything in it."""
    texts = st.none() | strategies.any_text()
    return st.builds(
        History,
        workspace=st.sampled_from(WORKSPACES),
        id=strategies.names(),
        registers=st.fixed_dictionaries(
            {}, optional={"title": texts, "key": strategies.names(), "plan": strategies.json_values()}
        ),
        events=st.one_of(branches(), any_events()),
        erased=st.lists(st.integers(0, 40), max_size=2),
    )


def everything() -> st.SearchStrategy[Everything]:
    """A store with several workspaces, conversations and blobs; ids and keys are unique."""
    return st.builds(
        Everything,
        conversations=st.lists(
            histories(),
            min_size=1,
            max_size=4,
            unique_by=(lambda h: h.id, lambda h: h.registers.get("key", h.id)),
        ),
        blobs=st.lists(st.tuples(st.sampled_from(WORKSPACES), st.binary(max_size=40)), max_size=3),
    )


def write(backend: Backend, wanted: Everything) -> None:
    """Write a store."""
    bench = Workbench(backend)
    for history in wanted.conversations:
        uid = bench.conversation(history.id, workspace=history.workspace)
        for field, value in history.registers.items():
            bench.put_metadata(uid, field, value)
        stored = bench.record(uid, began(), *history.events)
        for number in history.erased:
            redact(bench, uid, stored, number)
    for name, data in wanted.blobs:
        backend.blobs.put(bench.workspace(name), [data[:7], data[7:]])


def redact(bench: Workbench, uid: str, stored: list[StoredEvent], number: int) -> None:
    """Take one leaf away and declare it; rows depend on a few leaves, which stay."""
    leaves = [
        (event.header.stamp, leaf.name)
        for event in stored
        for leaf in event.leaves
        if leaf.name not in (SKELETON, "idempotency_key")
    ]
    for stamp, name in leaves[number : number + 1]:
        declared = ContentRedacted(target_seq=stamp.seq, target_writer=stamp.writer, target_leaves=(name,))
        bench.record(uid, declared)
        bench.erase(uid, stamp, name)


@contextmanager
def sqlite_store() -> Iterator[Backend]:
    """An empty store in a file."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        backend = SqliteBackend(place / "s.db", installation=Installation(place), durability="process")
        yield backend
        backend.close()


def memory_store() -> MemoryBackend:
    """An empty store in memory."""
    return MemoryBackend()


def exported(backend: Backend) -> bytes:
    """A whole store as NDJSON."""
    return b"".join(export_lines(backend, None))


def imported(backend: Backend, export: bytes) -> Restored:
    """Take an export in."""
    return restore(backend, lines_of(export))


def lines_of(export: bytes) -> list[bytes]:
    """Its lines, which end at LF and nowhere else."""
    *lines, rest = export.split(b"\n")
    return [line + b"\n" for line in lines] + ([rest] if rest else [])


def findings(backend: Backend) -> tuple[Finding, ...]:
    """What `verify` finds."""
    with backend.reading() as reader:
        return Verifier(reader, Scratch(make_scratch), None, lambda _: None).run().findings
