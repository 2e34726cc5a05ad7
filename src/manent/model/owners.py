"""Owners: which process a conversation belongs to, and what asking for it gives."""

from __future__ import annotations

from typing import NamedTuple

import msgspec


class Process(NamedTuple):
    """
    One process, told apart from every other one that ever ran.

    Args:
        host: the machine's name, as it was when the process first told who it is.
        boot_id: which boot of that machine; "" where the system does not say.
        namespace: the space in which `pid` counts (a container has its own); "" where there is one only, or
            where the system does not say.
        pid: the system's number for it, from 1.
        started: when the process began, in the unit of its host: clock ticks since the boot on Linux,
            milliseconds since 1970 UTC elsewhere. None where that cannot be read.
    """

    host: str
    boot_id: str
    namespace: str
    pid: int
    started: int | None


class Owner(msgspec.Struct, frozen=True, kw_only=True):
    """
    Who owns a conversation, as recorded; whether that process still runs is another question.

    `epoch` rises with every change of owner in a store and is never given out twice. `claimed_ns` and
    `heartbeat_ns` are claims of time. `writer` tells whose events the owner's would be, for display.
    """

    process: Process
    epoch: int
    writer: str
    claimed_ns: int
    heartbeat_ns: int

    @property
    def host(self) -> str:
        """The owner's machine."""
        return self.process.host

    @property
    def pid(self) -> int:
        """The owner's process number on its machine."""
        return self.process.pid


class Claimed(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation is this process's; `epoch` fences its appends."""

    epoch: int


class HeldBy(msgspec.Struct, frozen=True, kw_only=True):
    """The conversation belongs to another process that lives; nothing was written."""

    owner: Owner
