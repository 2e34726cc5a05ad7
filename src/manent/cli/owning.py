"""
How commands own a conversation.

A command's process ends at once, so it can hold nothing. `manent claim ID -- COMMAND` holds a claim as long
as COMMAND runs; what COMMAND starts knows the epoch, and `--epoch` lets it act as the owner that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from manent.cli import options

if TYPE_CHECKING:
    from manent.history.conversation import Conversation
    from manent.history.processes import Life
    from manent.history.store import Store
    from manent.model.owners import Owner, Process

EPOCH_VARIABLE = "MANENT_EPOCH"
CONVERSATION_VARIABLE = "MANENT_CONVERSATION"


class Acting:
    """The processes of this system, of which this one may act for another: for whoever claimed for it."""

    def __init__(self) -> None:
        from manent.history.processes import local_processes

        self._local = local_processes()
        self._other: Process | None = None

    def here(self) -> Process:
        return self._other or self._local.here()

    def judge(self, process: Process) -> Life:
        return self._local.judge(process)

    def act_for(self, conversation: Conversation, epoch: int) -> bool:
        """Act for the owner of a conversation, if it has this epoch; return whether it has."""
        owner = conversation.live_owner()
        if owner is None or owner.epoch != epoch:
            return False
        self._other = owner.process
        return True


@contextmanager
def open_for_owner(
    settings: options.Settings, epoch: int | None
) -> Iterator[tuple[Store, Callable[[Conversation], bool]]]:
    """
    Open the store for what may be done as the owner with an epoch only.

    Yields:
        The store; and what makes this process act for the owner of a conversation and says whether it does.
        Without an epoch that changes nothing. Whether the epoch still counts is seen in the write itself.
    """
    import manent

    options.check(settings)
    acting = Acting()
    with manent.open(
        settings.url,
        workspace=settings.workspace,
        wait=settings.wait,
        durability=settings.durability,
        processes=acting,
    ) as store:
        yield store, lambda found: epoch is not None and acting.act_for(found, epoch)


def told(owner: Owner) -> str:
    """Who an owner is, for people."""
    return f"process {owner.pid} on {owner.host}"


def as_json(owner: Owner) -> dict[str, Any]:
    """Who an owner is, for programs."""
    return {
        "host": owner.host,
        "pid": owner.pid,
        "epoch": owner.epoch,
        "claimed_ns": owner.claimed_ns,
        "heartbeat_ns": owner.heartbeat_ns,
    }
