"""What every use case needs: a backend, a clock, new ids, and the fence."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from manent.history.processes import Processes, local_processes
from manent.model.ids import new_uid
from manent.model.workspaces import Workspace
from manent.storage.port import Backend

Clock = Callable[[], int]
"""Says what time it claims to be: nanoseconds since 1970 UTC. Shown and hashed, never ordered by."""


class Scratch(NamedTuple):
    """Where `verify` folds a conversation again: a fresh backend, for that many events."""

    make: Callable[[int], Backend]


class Runtime(NamedTuple):
    """
    The parts that a store handle and its conversations share.

    `workspace` None is the owner's handle over all of them. `older_names` are what releases before would have
    called it: a workspace that has one of these is it. `processes` says who this process is and whether
    another one still runs; `new_id` gives 32 random hexadecimal characters. `allow_secrets` are kinds of
    secrets that are not masked on the way in.
    """

    backend: Backend
    workspace: Workspace | None
    scratch: Scratch
    clock: Clock = time.time_ns
    new_id: Callable[[], str] = new_uid
    processes: Processes = local_processes()
    older_names: tuple[Workspace, ...] = ()
    allow_secrets: frozenset[str] = frozenset()


class Target(NamedTuple):
    """
    A conversation that a call is about: its inner and its visible identity.

    `reserved`: it has an id and is not in the store yet; `uid` is the one that it would get.
    `workspace`: where it stood when somebody last looked; "" when nobody has.
    """

    uid: str
    id: str
    reserved: bool = False
    workspace: str = ""
