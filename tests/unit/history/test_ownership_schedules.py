"""
Ownership under whatever befalls processes: a thousand random schedules, judged by a model that knows all.

A schedule that fails names its seed: `run_schedule(memory_store(), seed)` runs it again.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pytest

from manent.errors import OwnershipLostError
from manent.history.conversation import Conversation
from manent.history.processes import STALE_AFTER_NS
from manent.model.owners import Claimed, HeldBy, Owner
from manent.model.records import Message
from manent.storage.port import Backend
from manent.testing.clocks import fixed
from manent.testing.machines import Machines, Pids, Running
from tests.unit.history.handles import handle
from tests.unit.ndjson.histories import findings, memory_store, sqlite_store

SCHEDULES = 1_000
BLOCK = 100
STEPS = 60
CONVERSATIONS = ("s1", "s2", "s3")
MINUTE_NS = 60 * 10**9
JUMPS_NS = (1, MINUTE_NS, 10 * MINUTE_NS, STALE_AFTER_NS - 1, STALE_AFTER_NS, 24 * STALE_AFTER_NS)
SKEWS_NS = (0, 0, MINUTE_NS, -20 * MINUTE_NS)


class Tenure(NamedTuple):
    """Who truly owns a conversation, by which epoch, and what its last heartbeat claimed."""

    actor: Actor
    epoch: int
    beaten_ns: int


class Actor:
    """A process: where it stands, what its clock says, and the epochs that it was given."""

    def __init__(self, backend: Backend, running: Running, place: int, clock: Callable[[], int]) -> None:
        self.running = running
        self.place = place
        self.clock = clock
        store = handle(backend, process=running, clock=clock)
        self.conversations: dict[str, Conversation] = {id: store.reserve(id) for id in CONVERSATIONS}
        self.epochs: dict[str, int] = {}


class Schedule:
    """Two hosts with a container each, and what one seed makes of them."""

    def __init__(self, backend: Backend, seed: int) -> None:
        self.random = random.Random(seed)
        self.backend = backend
        self.clock = fixed()
        machines = Machines(self.clock)
        self.hosts = [machines.host("a"), machines.host("b")]
        self.places: list[Pids] = [*self.hosts, *(host.container() for host in self.hosts)]
        self.skews_ns = [self.random.choice(SKEWS_NS) for _ in self.hosts]
        self.actors: list[Actor] = []
        self.present: dict[str, Tenure] = {}
        self.given: list[int] = []
        self.refused = 0
        self.acknowledged: list[tuple[str, int, int]] = []

    def run(self) -> None:
        """Do one thing after another, look after each, and see that nobody is shut out for good."""
        steps = {self.claim: 9, self.append: 8, self.heartbeat: 3, self.release: 2}
        events = {self.start: 3, self.crash: 3, self.jump: 2, self.reuse: 1, self.reboot: 1}
        weighted = {**steps, **events}
        for place in range(len(self.places)):
            self.begin(place, self.places[place].start())
        for _ in range(STEPS):
            (step,) = self.random.choices(list(weighted), list(weighted.values()))
            step()
            self.look()
        self.see_that_nobody_is_shut_out()

    def begin(self, place: int, running: Running) -> None:
        """A process is there."""
        clock = partial(self.claimed_ns, self.skews_ns[place % 2])
        self.actors.append(Actor(self.backend, running, place, clock))

    def claimed_ns(self, skew_ns: int) -> int:
        """What the clock of a host says."""
        return self.clock() + skew_ns

    def pick(self) -> tuple[Actor, str]:
        """A process that runs, and a conversation."""
        alive = [actor for actor in self.actors if actor.running.is_running]
        if not alive:
            self.start()
            alive = self.actors[-1:]
        return self.random.choice(alive), self.random.choice(CONVERSATIONS)

    # --- what processes do

    def claim(self) -> None:
        actor, id = self.pick()
        self.claim_as(actor, id, force=self.random.random() < 0.1)

    def claim_as(self, actor: Actor, id: str, *, force: bool = False) -> bool:
        """Claim; the answer must be the one that the model gives."""
        before = self.present.get(id)
        answer = actor.conversations[id].claim(force=force)
        if isinstance(answer, HeldBy):
            assert before is not None, "held by nobody"
            assert (answer.owner.process, answer.owner.epoch) == (before.actor.running.here(), before.epoch)
            assert self.may_hold(before, actor) and not force, "held by one that is known to be gone"
            return False
        assert isinstance(answer, Claimed)
        if before is not None and before.actor is actor:
            assert answer.epoch == before.epoch, "an owner got another epoch"
        else:
            assert force or before is None or not self.may_hold(before, actor), "taken from a live owner"
            assert answer.epoch > max(self.given, default=0), "an epoch was given out twice"
            self.given.append(answer.epoch)
        actor.epochs[id] = answer.epoch
        self.present[id] = Tenure(actor, answer.epoch, actor.clock())
        return True

    def may_hold(self, tenure: Tenure, asking: Actor) -> bool:
        """Whether one who asks must take an owner for alive: it is, or it was heard and nobody can tell."""
        holder, here = tenure.actor.running, asking.running.here()
        there = holder.here()
        if there.host == here.host and (there.boot_id != here.boot_id or tenure.actor.place == asking.place):
            return holder.is_running
        return abs(asking.clock() - tenure.beaten_ns) < STALE_AFTER_NS

    def append(self) -> None:
        """Append with whatever epoch this process believes to have."""
        believers = [(a, id) for a in self.actors if a.running.is_running for id in a.epochs]
        if not believers:
            return
        actor, id = self.random.choice(believers)
        epoch, tenure = actor.epochs[id], self.present.get(id)
        is_present = tenure is not None and tenure.epoch == epoch
        try:
            if self.random.random() < 0.5:
                seq = actor.conversations[id].append_turn("q", "a", epoch=epoch).seq
            else:
                message = Message(role="user", parts="q")
                seq = actor.conversations[id].append_message(message, epoch=epoch).seq
        except OwnershipLostError as error:
            self.refused += 1
            assert not is_present, "the present owner was refused"
            assert (error.conversation_id, error.epoch) == (id, epoch)
            return
        assert is_present and tenure is not None, "an owner that is none any more appended"
        self.acknowledged.append((id, epoch, seq))
        self.present[id] = tenure._replace(beaten_ns=actor.clock())

    def heartbeat(self) -> None:
        actor, id = self.pick()
        tenure = self.present.get(id)
        epoch = self.random.choice((None, actor.epochs.get(id)))
        is_own = tenure is not None and tenure.actor is actor and epoch in (None, tenure.epoch)

        assert actor.conversations[id].heartbeat(epoch=epoch) == is_own

        if tenure is not None and is_own:
            self.present[id] = tenure._replace(beaten_ns=actor.clock())

    def release(self) -> None:
        actor, id = self.pick()
        tenure = self.present.get(id)
        is_own = tenure is not None and tenure.actor is actor

        assert actor.conversations[id].release() == is_own

        if is_own:
            del self.present[id]

    # --- what befalls them

    def start(self) -> None:
        place = self.random.randrange(len(self.places))
        self.begin(place, self.places[place].start())

    def crash(self) -> None:
        actor, _ = self.pick()
        actor.running.crash(reaped=self.random.random() < 0.7)

    def reuse(self) -> None:
        """A pid of one that is gone is given out again."""
        taken = {
            (a.place, a.running.here().pid) for a in self.actors if a.running.is_running or self.is_zombie(a)
        }
        gone = [a for a in self.actors if (a.place, a.running.here().pid) not in taken]
        if gone:
            actor = self.random.choice(gone)
            self.begin(actor.place, self.places[actor.place].reuse(actor.running.here().pid))

    def is_zombie(self, actor: Actor) -> bool:
        return actor.running.sighting.ended

    def reboot(self) -> None:
        self.random.choice(self.hosts).reboot()

    def jump(self) -> None:
        """Somebody sets the clock, or nobody does anything for some time."""
        self.clock.advance(self.random.choice(JUMPS_NS) * self.random.choice((1, 1, -1)))

    # --- what must hold

    def look(self) -> None:
        """Who is recorded is who truly owns, and of all that run at most one has the present epoch."""
        for id in CONVERSATIONS:
            owner, tenure = self.recorded(id), self.present.get(id)
            assert (owner is None) == (tenure is None)
            if owner is None or tenure is None:
                continue
            assert (owner.process, owner.epoch) == (tenure.actor.running.here(), tenure.epoch)
            assert owner.heartbeat_ns == tenure.beaten_ns
            holders = [
                actor
                for actor in self.actors
                if actor.running.is_running and actor.epochs.get(id) == owner.epoch
            ]
            assert holders in ([], [tenure.actor]), "two live owners"

    def recorded(self, id: str) -> Owner | None:
        return self.actors[0].conversations[id].live_owner()

    def see_that_nobody_is_shut_out(self) -> None:
        """Once an owner was silent so long, only one that truly runs next door keeps others out."""
        for id in CONVERSATIONS:
            actor, _ = self.pick()
            tenure = self.present.get(id)
            if tenure is not None:
                self.clock.advance(tenure.beaten_ns + STALE_AFTER_NS - actor.clock())
                is_next_door = tenure.actor.place == actor.place and tenure.actor.running.is_running
                assert self.claim_as(actor, id) != (is_next_door and tenure.actor is not actor)
            else:
                assert self.claim_as(actor, id)
        with self.backend.reading() as reader:
            for id, _, seq in self.acknowledged:
                (stream,) = reader.find_ids(None, id)
                assert any(tip.seq >= seq for tip in reader.read_tips(stream.uid)), "an append was lost"
        assert findings(self.backend) == ()


def run_schedule(backend: Backend, seed: int) -> Schedule:
    """Run the schedule of a seed."""
    schedule = Schedule(backend, seed)
    try:
        schedule.run()
    except Exception as error:
        error.add_note(f"The seed of this schedule is {seed}.")
        raise
    return schedule


@pytest.mark.parametrize("first", range(0, SCHEDULES, BLOCK))
def test_no_schedule_gives_a_conversation_two_owners_or_shuts_everybody_out(
    first: int,
) -> None:  # O-1, O-2, O-3
    for seed in range(first, first + BLOCK):
        run_schedule(memory_store(), seed)


def test_schedules_hold_on_a_store_in_a_file_too() -> None:  # O-1, O-2, O-3
    for seed in range(10):
        with sqlite_store() as backend:
            run_schedule(backend, seed)


def test_the_schedules_are_no_idle_ones() -> None:
    schedules = [run_schedule(memory_store(), seed) for seed in range(50)]

    given = sum(len(schedule.given) for schedule in schedules)
    acknowledged = sum(len(schedule.acknowledged) for schedule in schedules)
    refused = sum(schedule.refused for schedule in schedules)

    assert min(given, acknowledged, refused) > 50


def test_a_planted_fault_is_found_by_the_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manent.history.ownership.is_live", lambda *_: False)

    with pytest.raises(AssertionError, match="taken from a live owner"):
        for seed in range(50):
            run_schedule(memory_store(), seed)


def test_a_fence_that_lets_old_epochs_pass_is_found_by_the_schedules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("manent.history.appending.check_epoch", lambda *_: None)

    with pytest.raises(AssertionError):
        for seed in range(50):
            run_schedule(memory_store(), seed)
