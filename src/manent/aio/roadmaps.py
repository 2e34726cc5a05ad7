"""Roadmaps, awaited."""

from __future__ import annotations

from manent.aio.twins import Twin, read, write
from manent.history.roadmaps import Roadmaps


class AsyncRoadmaps(Twin[Roadmaps]):
    """`Roadmaps` for an event loop: the same calls, awaited. Get one from `AsyncStore.roadmaps`."""

    create = write(Roadmaps.create)
    load = read(Roadmaps.load)
    get = read(Roadmaps.get)
    update = write(Roadmaps.update)
    delete = write(Roadmaps.delete)
    list = read(Roadmaps.list)
