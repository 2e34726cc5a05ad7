"""Stores of tests: with a clock, a place and an engine of the test's own, and looked at from beside."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from manent.history.runtime import Clock, Runtime, Scratch
from manent.history.store import Store
from manent.model.workspaces import DEFAULT, Workspace
from manent.opening import make_scratch
from manent.storage.port import Backend
from manent.storage.sqlite.backend import SqliteBackend


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store of the test is, or will be."""
    return tmp_path / "conversations.db"


def store_over(backend: Backend, *, clock: Clock = time.time_ns, workspace: str = DEFAULT) -> Store:
    """A handle over a backend of the test's own."""
    return Store(Runtime(backend, Workspace.of(workspace), Scratch(make_scratch), clock))


def backend_of(store: Store) -> SqliteBackend:
    """The backend under a store that `manent.open` gave."""
    backend = store._runtime.backend
    assert isinstance(backend, SqliteBackend)
    return backend


class TunedBackend(SqliteBackend):
    """A store whose connections each pass through `tune` when they are opened."""

    def __init__(self, path: Path, tune: Callable[[apsw.Connection], object], **arguments: Any) -> None:
        self._tune = tune
        super().__init__(path, **arguments)

    def _connect(self) -> apsw.Connection:
        connection = super()._connect()
        self._tune(connection)
        return connection


def questions(store: Store, conversation_id: str) -> list[str]:
    """The questions of a conversation, in order."""
    return [turn.question for turn in store.conversation(conversation_id).turns()]


def digest(path: Path) -> str:
    """What a file holds, in short. Only for files that this process has not open: see D-7."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def mode(path: Path) -> int:
    """The rights of a file or folder."""
    return path.stat().st_mode & 0o777
