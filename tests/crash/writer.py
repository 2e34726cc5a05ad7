"""
A program that appends until it is killed, and tells its parent process of all that was acknowledged.

    python -m tests.crash.writer '{"path": …, "flags": …, "seed": 1, "name": "w1", "durability": "full"}'

Acknowledgements go line by line through the pipe of its standard output, which the parent owns: what
was written there before the kill is not lost with this process. Two bytes of a shared file say where it
is, and when it should stop.
"""

from __future__ import annotations

import mmap
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import Literal

import msgspec

from manent.history.runtime import Runtime, Scratch
from manent.history.store import Store
from manent.model.workspaces import DEFAULT, Workspace
from manent.opening import make_scratch
from manent.storage.port import Backend, Transaction
from manent.storage.sqlite.backend import SqliteBackend
from manent.storage.wrappers import Wrapper
from tests.crash.operations import operations, perform

PHASE, STOP = 0, 1
"""Places of the shared bytes."""

FLAGS_BYTES = 2


class Phase(IntEnum):
    """Where a writer is."""

    OUTSIDE = 0
    INSIDE = 1
    """Between BEGIN and COMMIT."""

    COMMITTING = 2
    """COMMIT has begun and has not come back."""


class Orders(msgspec.Struct, frozen=True):
    """What a writer is told."""

    path: str
    flags: str
    seed: int
    name: str
    durability: Literal["full", "process"]
    wait: float = 30.0


class FlaggedBackend(Wrapper):
    """A store that says in a shared byte where its transaction is."""

    def __init__(self, inner: Backend, flags: mmap.mmap) -> None:
        super().__init__(inner)
        self._flags = flags

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        try:
            with super().transaction() as tx:
                self._flags[PHASE] = Phase.INSIDE
                yield tx
                self._flags[PHASE] = Phase.COMMITTING
        finally:
            self._flags[PHASE] = Phase.OUTSIDE


@contextmanager
def shared_flags(path: str) -> Iterator[mmap.mmap]:
    """The bytes that a writer and its parent both see."""
    with Path(path).open("r+b") as file, mmap.mmap(file.fileno(), FLAGS_BYTES) as flags:
        yield flags


def write(orders: Orders) -> None:
    """Append until told to stop; acknowledge each append before the next one begins."""
    with shared_flags(orders.flags) as flags:
        inner = SqliteBackend(orders.path, durability=orders.durability, wait_s=orders.wait)
        runtime = Runtime(FlaggedBackend(inner, flags), Workspace.of(DEFAULT), Scratch(make_scratch))
        with Store(runtime) as store:
            for wanted in operations(orders.seed, orders.name):
                acknowledged = perform(store, wanted)
                os.write(1, msgspec.json.encode(acknowledged) + b"\n")
                if flags[STOP]:
                    return


if __name__ == "__main__":
    write(msgspec.json.decode(sys.argv[1], type=Orders))
