"""A small store with something of everything in it, and what `verify` says of it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import apsw

import manent
from manent.codec.sealing import digest_of
from manent.model.events import Event
from manent.model.log import LogEntry
from manent.model.parts import TextPart, ToolCallPart, Usage
from manent.model.records import Receipt, Report
from manent.opening import open_backend
from manent.storage.sql import load_script
from manent.testing.builders import a_turn, answered, began, edited, ended, removed, said, started
from manent.testing.clocks import NOON_NS
from manent.testing.workbench import Workbench
from tests.tamper import tamper

A = "(SELECT stream FROM streams WHERE id = 'a')"
B = "(SELECT stream FROM streams WHERE id = 'b')"
FAR = 1_000_000
"""Where nothing stands: more than any number in the store."""

FIRST, MIDDLE, LAST = 0, 3, -1
"""Events of `a`; the middle one is the message `a1`, with two parts and a packed native record."""


class Victim(NamedTuple):
    """
    A closed store with the conversations `a` and `b`, whose events take turns.

    `events` are those of `a`. `receipt` was given at the end.
    """

    path: Path
    uid: str
    writer: str
    events: tuple[LogEntry, ...]
    receipt: Receipt

    def seq(self, number: int) -> int:
        """The seq of an event of `a`, counted from 0 or from the end."""
        return self.events[number].header.seq

    def address(self, number: int) -> str:
        """The address of an event of `a`, counted from 0 or from the end."""
        return f"event:a#{self.seq(number)}@{self.writer}"

    def where(self, number: int) -> str:
        """The row of an event of `a` in `events`."""
        return f"stream = {A} AND seq = {self.seq(number)}"

    def leaf(self, number: int, leaf: int) -> int:
        """The number in `leaves` of a leaf of an event of `a`; both counted from 0 or from the end."""
        entry = self.events[number]
        return entry.position << 16 | range(len(entry.leaves))[leaf]

    def leaves(self, number: int) -> str:
        """The rows of an event of `a` in `leaves`."""
        return f"leaf >> 16 = {self.events[number].position}"

    def digest(self, number: int, leaf: int) -> bytes:
        """The digest of a leaf of an event of `a`."""
        return digest_of(self.events[number].leaves[leaf])

    def tamper(self, sql: str) -> None:
        """Run statements behind the store's back."""
        tamper(self.path, sql)

    def verify(self, receipt: Receipt | None = None) -> Report:
        """What `verify` says."""
        with manent.open(self.path, workspace=None, read_only=True) as store:
            return store.verify(receipt=receipt)

    def found(self, receipt: Receipt | None = None) -> list[tuple[str, str]]:
        """Kind and address of each finding."""
        return [(finding.kind, finding.address) for finding in self.verify(receipt).findings]

    def places(self) -> set[str]:
        """The addresses of the findings."""
        return {address for _, address in self.found()}


class Column(NamedTuple):
    """A column of a table."""

    table: str
    name: str
    type: str
    is_nullable: bool

    @property
    def changed(self) -> str:
        """An expression for another value of the column."""
        if self.name == "stream":
            return f"stream + {FAR}"
        filler = {"INTEGER": "7", "TEXT": "'x'", "BLOB": "x'07'"}[self.type]
        return f"CASE WHEN {self.name} IS NULL THEN {filler} ELSE flipped({self.name}) END"

    def __str__(self) -> str:
        return f"{self.table}.{self.name}"


def columns_of(*tables: str) -> list[Column]:
    """The columns of tables, asked of the schema: a new one is among them by itself."""
    connection = apsw.Connection(":memory:")
    for _ in connection.execute(load_script("manent.storage.sqlite", "schema.sql")):
        pass
    return [
        Column(table, name, type, is_nullable=not not_null and not key)
        for table in tables
        for _, name, type, not_null, _, key in connection.execute(f"PRAGMA table_info({table})")
    ]


def make_victim(path: Path) -> Victim:
    """Write the store."""
    backend = open_backend(path, durability="process")
    bench = Workbench(backend)
    a, b = bench.conversation("a", key="telegram:1"), bench.conversation("b")
    bench.put_metadata(a, "title", "A title")
    for number, event in enumerate(_events()):
        bench.record(a, event, claim_ns=NOON_NS + number * 1_000_000_000)
        bench.record(b, said(f"beside {number}", id=f"b{number}"))
    events = tuple(bench.events(a))
    backend.close()
    with manent.open(path, workspace=None, read_only=True) as store:
        receipt = store.receipt()
    return Victim(path, a, events[0].header.writer, events, receipt)


def reread(victim: Victim) -> Victim:
    """The same store with the events that `a` has now."""
    backend = open_backend(victim.path, read_only=True)
    events = tuple(Workbench(backend).events(victim.uid))
    backend.close()
    return victim._replace(events=events)


def _events() -> list[Event]:
    return [
        began(origin={"format": "by hand"}),
        a_turn("how much?", "42", author="ann", usage=Usage(input_tokens=7), idempotency_key="once"),
        said("what is it?", id="q1"),
        answered(
            (TextPart("let me look"), ToolCallPart(name="look", arguments={"at": "it"})),
            id="a1",
            under="q1",
            native='{"raw": "' + "a record " * 60 + '"}',
        ),
        started("t1"),
        said("and that?", id="q2", under="a1", turn_id="t1"),
        answered("the same", id="a2", under="q2", turn_id="t1"),
        ended("t1", reason="done"),
        edited("q1", "what was it?"),
        said("another branch", id="q3", under="a1"),
        removed("q3"),
        a_turn("so much?", "no", idempotency_key="twice"),
    ]
