"""Ownership: one live process owns a conversation, and its epoch fences what it appends."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from manent.errors import InjectedFaultError, NotFoundError, OwnershipLostError
from manent.history.conversation import Conversation
from manent.history.processes import STALE_AFTER_NS
from manent.history.store import Store
from manent.model.owners import Claimed, HeldBy, Owner
from manent.model.records import Message
from manent.storage.port import Backend
from manent.storage.wrappers import FaultPlan, faulty
from manent.testing.clocks import NOON_NS, SettableClock
from manent.testing.machines import Machines, Running
from tests.unit.history.handles import handle, said, whole
from tests.unit.ndjson.histories import exported, findings

MINUTE_NS = 60 * 10**9

Append = Callable[[Conversation, int | None], object]
APPENDS: dict[str, Append] = {
    "a turn": lambda conversation, epoch: conversation.append_turn("q", "a", epoch=epoch),
    "a message": lambda conversation, epoch: conversation.append_message(
        Message(role="user", parts="q"), epoch=epoch
    ),
    "messages": lambda conversation, epoch: conversation.append_messages(
        [Message(role="user", parts="q"), Message(role="assistant", parts="a")], epoch=epoch
    ),
}


class World:
    """A store, two processes of host a, one of host b, and a clock."""

    def __init__(self, backend: Backend, clock: SettableClock) -> None:
        self.backend = backend
        self.clock = clock
        self.machines = Machines(clock)
        host = self.machines.host("a")
        self.one, self.two = host.start(), host.start()
        self.far = self.machines.host("b").start()

    def store(self, process: Running, workspace: str | None = "demo") -> Store:
        """A handle of a process."""
        return handle(self.backend, workspace, process=process, clock=self.clock)

    def conversation(self, process: Running, id: str = "s1", workspace: str = "demo") -> Conversation:
        """The conversation `s1`, there or not, as a process has it."""
        return self.store(process, workspace).reserve(id)


class Begun(NamedTuple):
    """The conversation `s1`, which process one owns, as each of the three has it."""

    mine: Conversation
    theirs: Conversation
    far: Conversation
    epoch: int


@pytest.fixture
def world(backend: Backend, clock: SettableClock) -> World:
    return World(backend, clock)


@pytest.fixture
def begun(world: World) -> Begun:
    mine = world.store(world.one).create_with_id("s1")
    theirs, far = world.conversation(world.two), world.conversation(world.far)
    return Begun(mine, theirs, far, epoch_of(mine.claim()))


def epoch_of(answer: Claimed | HeldBy) -> int:
    """The epoch of a claim that was had."""
    assert isinstance(answer, Claimed)
    return answer.epoch


def holder(answer: Claimed | HeldBy) -> Owner:
    """Whom a claim that was not had told of."""
    assert isinstance(answer, HeldBy)
    return answer.owner


# --- claiming


def test_a_claim_is_recorded_with_who_made_it_and_when(world: World, begun: Begun) -> None:  # O-1
    owner = begun.theirs.live_owner()

    assert owner == Owner(
        process=world.one.here(),
        epoch=begun.epoch,
        writer=world.backend.writer or "",
        claimed_ns=NOON_NS,
        heartbeat_ns=NOON_NS,
    )


def test_nobody_owns_what_nobody_claimed(world: World) -> None:
    assert world.store(world.one).create_with_id("s1").live_owner() is None


def test_a_second_process_is_told_host_pid_and_since_when(world: World, begun: Begun) -> None:  # O-1
    world.clock.advance(MINUTE_NS)
    before = whole(world.backend)

    owner = holder(begun.theirs.claim())

    assert (owner.host, owner.pid, owner.claimed_ns) == ("a", world.one.here().pid, NOON_NS)
    assert begun.theirs.is_owner_live(owner)
    assert whole(world.backend) == before


def test_claiming_again_gives_the_same_epoch_and_counts_as_a_heartbeat(world: World, begun: Begun) -> None:
    world.clock.advance(MINUTE_NS)

    again = [begun.mine.claim(), world.conversation(world.one).claim(), begun.mine.claim(force=True)]

    assert [epoch_of(answer) for answer in again] == [begun.epoch] * 3
    owner = begun.mine.live_owner()
    assert owner is not None
    assert (owner.claimed_ns, owner.heartbeat_ns) == (NOON_NS, NOON_NS + MINUTE_NS)


def test_every_claim_of_a_store_has_an_epoch_of_its_own_and_they_rise(world: World) -> None:  # O-1
    epochs = []
    for process in (world.one, world.two, world.one):
        for id in ("s1", "s2"):
            epochs.append(epoch_of(world.conversation(process, id).claim(force=True)))

    assert epochs == sorted(set(epochs))


def test_an_epoch_is_not_given_out_again_after_a_release(begun: Begun) -> None:
    begun.mine.release()

    assert epoch_of(begun.mine.claim()) > begun.epoch


def test_a_dead_owner_is_stale_at_once(world: World, begun: Begun) -> None:  # O-1
    owner = begun.mine.live_owner()
    world.one.crash()

    assert owner is not None
    assert not begun.theirs.is_owner_live(owner)
    assert epoch_of(begun.theirs.claim()) > begun.epoch


def test_an_owner_that_is_a_zombie_is_stale_at_once(world: World, begun: Begun) -> None:  # O-1
    world.one.crash(reaped=False)

    assert epoch_of(begun.theirs.claim()) > begun.epoch


def test_an_owner_before_a_reboot_is_stale_at_once(world: World, begun: Begun) -> None:  # O-1
    world.machines.host("a").reboot()
    after = world.machines.host("a").start()

    assert after.here().pid == world.one.here().pid
    assert epoch_of(world.conversation(after).claim()) > begun.epoch


def test_a_reused_pid_is_not_the_owner(world: World, begun: Begun) -> None:  # O-1
    world.one.crash()
    reused = world.machines.host("a").reuse(world.one.here().pid)
    itself = world.conversation(reused)

    assert (itself.heartbeat(), itself.release()) == (False, False)
    assert epoch_of(begun.theirs.claim()) > begun.epoch


@pytest.mark.parametrize("later_ns", [0, STALE_AFTER_NS - 1, 1 - STALE_AFTER_NS])
def test_an_owner_on_another_host_is_live_while_its_heartbeat_is_near(
    world: World, begun: Begun, later_ns: int
) -> None:  # O-1
    world.one.crash()
    world.clock.advance(later_ns)

    assert holder(begun.far.claim()).process == world.one.here()


@pytest.mark.parametrize("later_ns", [STALE_AFTER_NS, -STALE_AFTER_NS, 100 * STALE_AFTER_NS])
def test_an_owner_on_another_host_is_stale_when_its_heartbeat_is_far(
    world: World, begun: Begun, later_ns: int
) -> None:  # O-1
    world.clock.advance(later_ns)

    assert epoch_of(begun.far.claim()) > begun.epoch


def test_a_claim_by_force_takes_it_from_a_live_owner(world: World, begun: Begun) -> None:
    taken = epoch_of(begun.theirs.claim(force=True))

    assert taken > begun.epoch
    assert holder(begun.mine.claim()).process == world.two.here()
    with pytest.raises(OwnershipLostError):
        begun.mine.append_turn("q", "a", epoch=begun.epoch)


# --- heartbeats and releases


def test_a_heartbeat_keeps_a_claim_alive_for_other_hosts(world: World, begun: Begun) -> None:  # O-3
    for _ in range(3):
        world.clock.advance(STALE_AFTER_NS - 1)
        assert begun.mine.heartbeat()

    assert holder(begun.far.claim()).epoch == begun.epoch


def test_heartbeat_and_release_leave_another_ones_claim_alone(world: World, begun: Begun) -> None:  # O-3
    world.clock.advance(MINUTE_NS)
    before = whole(world.backend)

    found = [
        (other.heartbeat(epoch=epoch), other.release(epoch=epoch))
        for other in (begun.theirs, begun.far)
        for epoch in (None, begun.epoch)
    ]

    assert found == [(False, False)] * 4
    assert whole(world.backend) == before


def test_heartbeat_and_release_with_an_epoch_that_is_over_do_nothing(
    world: World, begun: Begun
) -> None:  # O-3
    world.clock.advance(MINUTE_NS)
    before = whole(world.backend)

    assert (begun.mine.heartbeat(epoch=begun.epoch - 1), begun.mine.release(epoch=begun.epoch + 1)) == (
        False,
        False,
    )
    assert whole(world.backend) == before
    assert (begun.mine.heartbeat(epoch=begun.epoch), begun.mine.release(epoch=begun.epoch)) == (True, True)


def test_a_released_conversation_is_anybodys(begun: Begun) -> None:  # O-3
    assert begun.mine.release()

    assert begun.mine.live_owner() is None
    assert not begun.mine.release()
    assert not begun.mine.heartbeat()
    assert epoch_of(begun.theirs.claim()) > begun.epoch


def test_where_processes_cannot_be_told_apart_the_epoch_tells_them(world: World) -> None:  # O-3
    host = world.machines.host("c", procfs=False)
    before, after = host.container().start(), host.container().start()
    assert before.here() == after.here()
    first = epoch_of(world.conversation(before).claim())
    world.conversation(world.one).claim(force=True)
    second = epoch_of(world.conversation(after).claim(force=True))

    assert not world.conversation(before).release(epoch=first)
    assert world.conversation(after).heartbeat(epoch=second)


# --- before the conversation, and inside the fence


def test_a_claim_may_come_before_its_conversation(world: World) -> None:  # O-1
    mine, theirs = world.conversation(world.one), world.conversation(world.two)

    epoch = epoch_of(mine.claim())

    assert holder(theirs.claim()).epoch == epoch
    assert not world.store(world.one).exists("s1")
    with pytest.raises(OwnershipLostError):
        theirs.append_turn("q", "a", epoch=epoch - 1)
    assert mine.append_turn("q", "a", epoch=epoch).answer == "a"
    assert epoch_of(mine.claim()) == epoch
    assert findings(world.backend) == ()


def test_equal_ids_of_two_workspaces_have_two_owners(world: World) -> None:  # N-1
    mine, theirs = world.conversation(world.one), world.conversation(world.two, workspace="theirs")

    epochs = [epoch_of(mine.claim()), epoch_of(theirs.claim())]

    assert [owner.process for c in (mine, theirs) if (owner := c.live_owner())] == [
        world.one.here(),
        world.two.here(),
    ]
    assert not world.conversation(world.one, workspace="theirs").release()
    with pytest.raises(OwnershipLostError):
        theirs.append_turn("q", "a", epoch=epochs[0])
    assert theirs.append_turn("q", "a", epoch=epochs[1]).answer == "a"


def test_the_owners_handle_claims_in_the_workspace_of_the_conversation(world: World, begun: Begun) -> None:
    everywhere = world.store(world.two, None).conversation("s1")

    assert holder(everywhere.claim()).epoch == begun.epoch
    taken = epoch_of(everywhere.claim(force=True))

    assert everywhere.append_turn("q", "a", epoch=taken).answer == "a"
    assert begun.theirs.live_owner() == everywhere.live_owner()


# --- fenced appends


@pytest.mark.parametrize("append", APPENDS.values(), ids=APPENDS)
def test_an_append_with_the_present_epoch_is_written_and_counts_as_a_heartbeat(
    world: World, begun: Begun, append: Append
) -> None:  # O-2
    world.clock.advance(MINUTE_NS)

    append(begun.mine, begun.epoch)

    owner = begun.mine.live_owner()
    assert owner is not None
    assert (owner.claimed_ns, owner.heartbeat_ns) == (NOON_NS, NOON_NS + MINUTE_NS)
    assert said(begun.mine)[0] == "q"


@pytest.mark.parametrize("append", APPENDS.values(), ids=APPENDS)
def test_an_append_with_an_epoch_that_is_over_writes_nothing(
    world: World, begun: Begun, append: Append
) -> None:  # O-2
    begun.theirs.claim(force=True)
    world.clock.advance(MINUTE_NS)
    before = whole(world.backend)

    with pytest.raises(OwnershipLostError) as caught:
        append(begun.mine, begun.epoch)

    error = caught.value
    assert (error.conversation_id, error.epoch) == ("s1", begun.epoch)
    assert error.holder == f"process {world.two.here().pid} on a"
    assert whole(world.backend) == before


@pytest.mark.parametrize("append", APPENDS.values(), ids=APPENDS)
def test_an_append_with_an_epoch_that_nobody_has_writes_nothing(
    world: World, begun: Begun, append: Append
) -> None:  # O-2
    begun.mine.release()
    before = whole(world.backend)

    for epoch in (begun.epoch, begun.epoch + 1, 0, -1):
        with pytest.raises(OwnershipLostError) as caught:
            append(begun.mine, epoch)
        assert caught.value.holder is None

    assert whole(world.backend) == before


@pytest.mark.parametrize("append", APPENDS.values(), ids=APPENDS)
def test_a_refused_first_append_does_not_begin_a_reserved_conversation(
    world: World, append: Append
) -> None:  # O-2
    world.store(world.one).create_with_id("other")
    before = whole(world.backend)

    with pytest.raises(OwnershipLostError):
        append(world.conversation(world.one), 1)

    assert whole(world.backend) == before


def test_an_append_without_an_epoch_asks_nobody(begun: Begun) -> None:
    begun.theirs.append_turn("q", "a")

    assert said(begun.mine) == ["q", "a"]


def test_a_turn_that_was_acknowledged_is_given_back_even_to_an_owner_that_is_none_any_more(
    world: World, begun: Begun
) -> None:  # L-7
    first = begun.mine.append_turn("q", "a", idempotency_key="once", epoch=begun.epoch)
    begun.theirs.claim(force=True)
    before = whole(world.backend)

    again = begun.mine.append_turn("q", "a", idempotency_key="once", epoch=begun.epoch)

    assert again == first
    assert whole(world.backend) == before


def test_an_append_that_fails_leaves_no_heartbeat(world: World, begun: Begun) -> None:  # D-2
    world.clock.advance(MINUTE_NS)
    before = whole(world.backend)
    failing = handle(faulty(world.backend, FaultPlan(9)), process=world.one, clock=world.clock)

    with pytest.raises(InjectedFaultError):
        failing.reserve("s1").append_turn("q", "a", epoch=begun.epoch)

    assert whole(world.backend) == before


# --- beside the record


def test_nothing_of_ownership_moves_activity_or_is_exported(world: World, begun: Begun) -> None:  # L-8
    listed = list(world.store(world.one).list())
    export, receipt = exported(world.backend), world.store(world.one).receipt()

    world.clock.advance(MINUTE_NS)
    begun.mine.heartbeat()
    begun.theirs.claim(force=True)
    begun.theirs.release()
    world.conversation(world.one, "only claimed").claim()

    assert list(world.store(world.one).list()) == listed
    assert exported(world.backend) == export
    assert world.store(world.one).receipt().root == receipt.root
    assert findings(world.backend) == ()


def test_a_deleted_conversation_is_owned_by_nobody_and_cannot_be_claimed(world: World, begun: Begun) -> None:
    world.store(world.one).delete("s1")

    assert begun.mine.live_owner() is None
    assert not begun.mine.heartbeat(epoch=begun.epoch)
    with pytest.raises(NotFoundError):
        begun.mine.claim(force=True)
    assert begun.theirs.live_owner() is None
    assert epoch_of(begun.theirs.claim()) > begun.epoch


# --- workspaces that became one


def test_after_a_merge_each_owner_owns_what_it_owned(world: World, begun: Begun) -> None:
    mine_there = world.store(world.one, "theirs").create_with_id("s1")
    lone = world.store(world.two, "theirs").create_with_id("s2")
    epochs = [epoch_of(mine_there.claim()), epoch_of(lone.claim())]

    world.store(world.one, None).workspaces.merge("theirs", "demo")

    assert mine_there.append_turn("q", "1", epoch=epochs[0]).answer == "1"
    assert lone.append_turn("q", "2", epoch=epochs[1]).answer == "2"
    assert begun.mine.append_turn("q", "3", epoch=begun.epoch).answer == "3"
    owners = [world.store(world.one).conversation(id).live_owner() for id in ("s1", "s2", mine_there.uid)]
    assert [owner.epoch for owner in owners if owner] == [begun.epoch, epochs[1], epochs[0]]


def test_a_claim_that_waits_for_its_conversation_is_not_given_to_a_merged_namesake(world: World) -> None:
    waiting = world.conversation(world.one, "s2")
    epoch = epoch_of(waiting.claim())
    namesake = world.store(world.two, "theirs").create_with_id("s2")
    other = epoch_of(namesake.claim())

    world.store(world.one, None).workspaces.merge("theirs", "demo")

    assert waiting.append_turn("waited", "a", epoch=epoch).answer == "a"
    assert namesake.append_turn("q", "a", epoch=other).answer == "a"
    assert (said(waiting), said(namesake)) == (["waited", "a"], ["q", "a"])
