"""Workspaces as a whole, awaited."""

from __future__ import annotations

from manent.aio.twins import Twin, long_write, read, write
from manent.history.relinking import Workspaces


class AsyncWorkspaces(Twin[Workspaces]):
    """`Workspaces` for an event loop: the same calls, awaited. Get one from `AsyncStore.workspaces`."""

    list = read(Workspaces.list)
    find_lost = read(Workspaces.find_lost)
    relink = write(Workspaces.relink)
    merge = long_write(Workspaces.merge)
    moves = read(Workspaces.moves)
    undo = long_write(Workspaces.undo)
