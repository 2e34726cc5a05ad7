"""Programs over façades that tests run in child processes. No test tools are imported here."""

from __future__ import annotations

import os
import signal

from manent.seeds import ConversationStore
from manent.seeds.legacy import migrate_legacy
from tests.processes import ready


def open_and_append(root: str, workspace: str, id: str, name: str, turns: int) -> list[int]:
    """Append turns to a conversation through a store of one's own; their seqs."""
    with ConversationStore(root, workspace, wait=30.0) as store:
        ready()
        return [int(store.append_turn(id, f"{name} {number}", "so it is").ref) for number in range(turns)]


def open_at_once(root: str, workspace: str) -> int:
    """Open a store at the same moment as others; how many conversations are there."""
    ready()
    with ConversationStore(root, workspace, wait=60.0) as store:
        return len(store.list())


def migrate_and_die(root: str, after: int) -> None:
    """Take in an old tree, and be killed when so many records are done."""

    def count(done: int) -> None:
        if done == after:
            os.kill(os.getpid(), signal.SIGKILL)

    migrate_legacy(root, progress=count)
