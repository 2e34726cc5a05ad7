"""
The same operations on a backend and on memory, and after each one the same reads from both.

Memory is the simplest code that is plainly right, so where the two differ it is most often the other one
that is wrong. Hypothesis chooses the operations, and shrinks a disagreement to the shortest story.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import methodcaller
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from manent.codec.sealing import hash_of
from manent.errors import ManentError
from manent.history import recording
from manent.model.events import Event
from manent.model.ids import Stamp
from manent.model.log import Pending, StreamInfo, WorkspaceInfo
from manent.model.owners import Owner
from manent.storage.memory.backend import MemoryBackend
from manent.storage.port import Backend, Transaction
from manent.testing.builders import an_owner, sealed
from manent.testing.observations import Names, broken_links, observe
from manent.testing.strategies import tree_events

WORKSPACES = ("00" * 16, "ff" * 16)
OTHER_WRITERS = ("0a" * 8, "f0" * 8)
IDS = ("c1", "c10", "C1", "c\x00", "c\ud800", "\\")
KEYS = ("k1", "k\U0010ffff", "\ud83d\ude00")
MESSAGES = ("m1", "m2", "m3", "m\x00", "2.0a0a0a0a0a0a0a0a.q", "3.f0f0f0f0f0f0f0f0.a")
TURNS = ("t1", "t2", "2.0a0a0a0a0a0a0a0a")
IDEMPOTENCY_KEYS = ("i1", "i2")
FIELDS = ("title", "end_reason", "key")
OWNERS = (an_owner(), an_owner(epoch=2, host="\ud83d\x00\\", namespace="", started=None))
ALIASES = (("key", "w0\x00"), ("folder", "/\ud83d"))
CLAIMS = (None, -5, 10, 1_750_000_000_000_000_000)


class AbandonedError(Exception):
    """Ends a transaction that must leave nothing behind."""


def made_up_uid(number: int) -> str:
    """The identity with a number: the same in every story, so that events can name it."""
    return f"{number * 0x9E3779B97F4A7C15 % (1 << 128):032x}"


OTHERS = (made_up_uid(3), made_up_uid(4), "no hex", "\x00\ud83d\\")
"""What links lead to: the first conversation, perhaps another one, and what is no uid."""

EVENTS = st.lists(
    st.tuples(tree_events(MESSAGES, TURNS, IDEMPOTENCY_KEYS, OTHERS), st.sampled_from(CLAIMS)),
    min_size=1,
    max_size=4,
)
PICK = st.integers(0, 50)
"""Chooses one of whatever there is."""


class Agreement(RuleBasedStateMachine):
    """
    Runs operations on the store that `open_backend` opens, again and again the same one, and on memory.

    Both must give the same outcome, and then the same reads.
    """

    def __init__(self, open_backend: Callable[[], Backend]) -> None:
        super().__init__()
        self._open = open_backend
        self._ids = 0
        self._conversations: list[str] = []
        self._chains: dict[tuple[str, str], tuple[int, bytes]] = {}
        self.tested = open_backend()
        with self.tested.transaction():
            pass  # from now on it knows its writer
        self.memory = MemoryBackend(writer=self.tested.writer)

    def teardown(self) -> None:
        """Close both."""
        self.tested.close()
        self.memory.close()

    # --- both at once

    def _new_id(self) -> str:
        self._ids += 1
        return made_up_uid(self._ids)

    def _both(self, work: Callable[[Transaction], Any]) -> object:
        """Do something in a transaction of each; what came of it, the same in both."""
        tested, expected = (_outcome(backend, work) for backend in (self.tested, self.memory))
        assert tested == expected
        return expected

    def _conversation(self, pick: int) -> str:
        return self._conversations[pick % len(self._conversations)]

    def _pending(self, events: Sequence[tuple[Event, int | None]]) -> list[Pending]:
        return [Pending(event, self._new_id(), claim_ns) for event, claim_ns in events]

    # --- operations

    @initialize()
    def begin(self) -> None:
        """Two workspaces, and a conversation in the first one."""
        for number, uid in enumerate(WORKSPACES):
            info = WorkspaceInfo(uid, (self._new_id(),), (("key", f"w{number}\x00"),))
            self._both(methodcaller("put_workspace", info))
        self.create(0, "c1")

    @rule(number=st.integers(0, 1), id=st.sampled_from(IDS))
    def create(self, number: int, id: str) -> None:
        """Give a stream an identity; the id may be taken."""
        uid = self._new_id()
        if self._both(lambda tx: tx.put_stream(StreamInfo(uid, WORKSPACES[number], id))) == "done: None":
            self._conversations.append(uid)

    @rule(pick=PICK, events=EVENTS)
    def record(self, pick: int, events: list[tuple[Event, int | None]]) -> None:
        """Append events and fold them."""
        uid, pending = self._conversation(pick), self._pending(events)
        self._both(lambda tx: [event.header.stamp for event in recording.record(tx, uid, pending)])

    @rule(pick=PICK, events=EVENTS, number=st.integers(0, 1), gap=st.integers(-1, 6))
    def adopt(self, pick: int, events: list[tuple[Event, int | None]], number: int, gap: int) -> None:
        """Store events of another writer, perhaps late, perhaps such as are there already."""
        uid, writer = self._conversation(pick), OTHER_WRITERS[number]
        last_seq, prev_hash = self._chains.get((uid, writer), (0, None))
        seq = max(last_seq + 1 + gap, 1)
        theirs = sealed(uid, *[event for event, _ in events], writer=writer, seq=seq, prev_hash=prev_hash)
        if self._both(lambda tx: recording.adopt(tx, theirs)) == "done: None":
            self._chains[uid, writer] = (theirs[-1].header.seq, hash_of(theirs[-1]))

    @rule(
        pick=PICK,
        field=st.sampled_from(FIELDS),
        value=st.none() | st.sampled_from(KEYS),
        stamp=st.none() | st.builds(Stamp, st.integers(1, 40), st.sampled_from(OTHER_WRITERS)),
    )
    def put_metadata(self, pick: int, field: str, value: str | None, stamp: Stamp | None) -> None:
        """Set a register; the key may be taken, the stamp may be too low."""
        uid = self._conversation(pick)
        self._both(lambda tx: tx.put_metadata(uid, field, value, stamp))

    @rule()
    def tick(self) -> None:
        """Take a tick for nothing."""
        self._both(lambda tx: tx.tick())

    @rule(number=st.integers(0, 1), id=st.sampled_from(IDS), owner=st.none() | st.sampled_from(OWNERS))
    def put_owner(self, number: int, id: str, owner: Owner | None) -> None:
        """Say who owns an id, whether a conversation has it or not."""
        self._both(lambda tx: tx.put_owner(WORKSPACES[number], id, owner))

    @rule(pick=PICK)
    def delete(self, pick: int) -> None:
        """Delete a conversation; what is left of it goes on taking part."""
        uid = self._conversation(pick)
        self._both(lambda tx: tx.delete_stream(uid))

    @rule(pick=PICK, number=st.integers(0, 1), id=st.none() | st.sampled_from(IDS))
    def move(self, pick: int, number: int, id: str | None) -> None:
        """Bring any stream into a workspace, perhaps under another id."""
        with self.memory.reading() as reader:
            uids = reader.read_uids("", 1000)
            found = reader.find_stream(uids[pick % len(uids)])
        assert found is not None
        named = found.id if id is None or found.id is None else id
        moved = found._replace(workspace=WORKSPACES[number], id=named)
        self._both(lambda tx: tx.move_stream(moved))

    @rule(number=st.integers(0, 1))
    def empty(self, number: int) -> None:
        """Bring all of a workspace into the other one, which may refuse a name, and drop it."""
        with self.memory.reading() as reader:
            found = [reader.find_stream(uid) for uid in reader.read_uids("", 1000)]
            info = reader.find_workspace_info(WORKSPACES[number])
        other = WORKSPACES[1 - number]

        def bring_all(tx: Transaction) -> None:
            for stream in found:
                if stream is not None and stream.workspace != other:
                    tx.move_stream(stream._replace(workspace=other))
            for alias in info.aliases if info else ():
                tx.move_alias(alias, other)
            tx.drop_workspace(WORKSPACES[number])

        self._both(bring_all)

    @rule(alias=st.sampled_from(ALIASES), number=st.none() | st.integers(0, 1))
    def move_alias(self, alias: tuple[str, str], number: int | None) -> None:
        """Let an alias lead elsewhere, or nowhere."""
        self._both(lambda tx: tx.move_alias(alias, None if number is None else WORKSPACES[number]))

    @rule(number=st.integers(0, 1))
    def drop_workspace(self, number: int) -> None:
        """Drop a workspace, if nothing is in it."""
        self._both(lambda tx: tx.drop_workspace(WORKSPACES[number]))

    @rule(
        pick=PICK,
        which=PICK,
        names=st.sets(st.sampled_from(("content", "part.0", "question", "author", "usage"))),
    )
    def erase(self, pick: int, which: int, names: set[str]) -> None:
        """Erase some leaves of some event."""
        uid = self._conversation(pick)
        with self.memory.reading() as reader:
            stamps = [entry.header.stamp for entry in reader.read_stream(uid, Stamp(-1, ""), 1000)]
        if stamps:
            self._both(lambda tx: tx.erase_leaves(uid, stamps[which % len(stamps)], sorted(names)))

    @rule(pick=PICK)
    def refold(self, pick: int) -> None:
        """Drop the rows of a conversation and build them again."""
        uid = self._conversation(pick)
        self._both(lambda tx: recording.refold(tx, uid))

    @rule(pick=PICK)
    def clear(self, pick: int) -> None:
        """Drop the rows of a conversation; what is appended next is folded onto nothing."""
        uid = self._conversation(pick)
        self._both(lambda tx: tx.clear(uid))

    @rule(pick=PICK, events=EVENTS)
    def abandon(self, pick: int, events: list[tuple[Event, int | None]]) -> None:
        """Write a good deal, and take all of it back."""
        uid, pending = self._conversation(pick), self._pending(events)

        def write_and_fail(tx: Transaction) -> None:
            tx.put_stream(StreamInfo(self._new_id(), WORKSPACES[0], "gone"))
            recording.record(tx, uid, pending)
            tx.put_metadata(uid, "title", "gone")
            tx.put_owner(WORKSPACES[0], "c1", OWNERS[0])
            tx.delete_stream(uid)
            tx.drop_workspace(WORKSPACES[1])
            raise AbandonedError

        self._both(write_and_fail)

    @precondition(lambda self: self.tested.capabilities.durable)
    @rule()
    def reopen(self) -> None:
        """Close the tested store and open it again."""
        self.tested.close()
        self.tested = self._open()

    # --- agreement

    @invariant()
    def both_give_the_same_reads(self) -> None:
        """Compare everything that can be read."""
        names = Names(
            workspaces=(*WORKSPACES, None),
            conversations=self._conversations,
            ids=IDS,
            keys=KEYS,
            messages=MESSAGES,
            turns=TURNS,
            idempotency_keys=IDEMPOTENCY_KEYS,
            others=OTHERS,
        )
        with self.tested.reading() as tested, self.memory.reading() as memory:
            assert observe(tested, names) == observe(memory, names)
            assert [broken_links(tested, uid) for uid in self._conversations] == [
                [] for _ in self._conversations
            ]


def _outcome(backend: Backend, work: Callable[[Transaction], Any]) -> str:
    try:
        with backend.transaction() as tx:
            result = work(tx)
    except (ManentError, AbandonedError) as error:
        return type(error).__name__
    return f"done: {result}"
