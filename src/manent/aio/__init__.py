"""
Awaited stores: the calls of the synchronous core on worker threads, for programs with an event loop.

    async with manent.aopen("conversations.db", workspace="demo") as store:
        conv = await store.create("Fix the login bug")
        await conv.append_turn("Why is it slow?", "Because it asks the database once for each row.")

`import_path` and `restore_path` take in files of other tools and exports of our own; `export_path` writes
such files.
"""

from __future__ import annotations

from manent.aio.conversation import AsyncConversation
from manent.aio.imports import AsyncImports, AsyncSecrets
from manent.aio.opening import aopen, export_path, import_path, restore_path
from manent.aio.roadmaps import AsyncRoadmaps
from manent.aio.store import AsyncResumption, AsyncStore
from manent.aio.workspaces import AsyncWorkspaces

__all__ = [
    "AsyncConversation",
    "AsyncImports",
    "AsyncResumption",
    "AsyncRoadmaps",
    "AsyncSecrets",
    "AsyncStore",
    "AsyncWorkspaces",
    "aopen",
    "export_path",
    "import_path",
    "restore_path",
]
