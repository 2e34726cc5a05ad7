"""Conversations begin, are reserved, found, deleted and pruned: whole or not at all."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3

import manent
from manent.errors import (
    AlreadyExistsError,
    AmbiguousPrefixError,
    FormatError,
    InjectedFaultError,
    InputError,
    MergeNeededError,
    NotFoundError,
    SparedError,
    StoreBusyError,
    WorkspaceRequiredError,
)
from manent.history.conversation import Conversation
from manent.history.store import Store
from manent.model.events import ConversationDeleted, TurnState
from manent.model.imported import ImportedConversation, ImportedMessage
from manent.model.owners import Claimed
from manent.model.parts import TextPart
from manent.model.records import Message
from manent.storage.port import Backend, Reader
from manent.storage.wrappers import FaultPlan, Wrapper, faulty
from manent.testing.builders import began, ended
from manent.testing.clocks import SettableClock
from manent.testing.faults import failing_at_each_statement
from manent.testing.machines import Machines
from manent.testing.workbench import Workbench
from tests.unit.history.handles import (
    attach,
    blobs_of,
    deletions,
    handle,
    listed,
    open_turn,
    own_events,
    said,
    stream_of,
    whole,
)
from tests.unit.ndjson.histories import exported, findings, imported, lines_of, memory_store


@pytest.fixture
def store(backend: Backend) -> Iterator[Store]:
    """A handle of the workspace `demo`; whatever a test did, `verify` finds nothing afterwards."""
    yield handle(backend)
    assert findings(backend) == ()


# --- create_with_id


def test_a_conversation_begins_under_the_id_of_the_callers_choice(store: Store) -> None:
    conversation = store.create_with_id("s/../1", "On ids", persona="coder", key="k", project="/srv")

    found = store.list()[0]

    assert (conversation.id, found.id) == ("s/../1", "s/../1")
    assert (found.title, found.persona, found.key, found.project) == ("On ids", "coder", "k", "/srv")


def test_an_id_that_is_taken_is_refused_and_nothing_is_written(backend: Backend, store: Store) -> None:
    store.create_with_id("s1", "first")
    before = whole(backend)

    with pytest.raises(AlreadyExistsError, match="'s1' is taken"):
        store.create_with_id("s1", "second")

    assert whole(backend) == before


def test_a_taken_key_is_refused_and_nothing_is_written(backend: Backend, store: Store) -> None:
    store.create_with_id("s1", key="k")
    before = whole(backend)

    with pytest.raises(AlreadyExistsError, match="'k' is taken"):
        store.create_with_id("s2", key="k")

    assert whole(backend) == before


@pytest.mark.parametrize("id", ["", " \n", "x" * 513])
@pytest.mark.parametrize("replace", [False, True])
def test_a_blank_or_endless_id_is_refused(backend: Backend, store: Store, id: str, replace: bool) -> None:
    with pytest.raises(InputError):
        store.create_with_id(id, replace=replace)

    assert listed(store) == []
    assert own_events(backend) == []


def test_an_id_of_another_workspace_is_free_here(backend: Backend, store: Store) -> None:  # N-1
    theirs = handle(backend, "theirs").create_with_id("s1", "theirs")

    mine = store.create_with_id("s1", "mine", replace=True)

    assert (theirs.title, mine.title) == ("theirs", "mine")
    assert theirs.uid != mine.uid
    assert deletions(backend) == deletions(backend, "theirs") == []


def test_the_owners_handle_chooses_no_workspace(backend: Backend, store: Store) -> None:
    store.create_with_id("s1")
    owner = handle(backend, None)

    with pytest.raises(WorkspaceRequiredError):
        owner.create_with_id("s2")
    with pytest.raises(WorkspaceRequiredError):
        owner.create_with_id("s1", replace=True)
    with pytest.raises(WorkspaceRequiredError):
        owner.reserve("s2")

    assert listed(owner) == ["s1"]


def test_a_replaced_conversation_is_gone_and_the_new_one_is_empty(store: Store) -> None:
    old = store.create_with_id("s1", "old", key="k", persona="coder")
    old.append_turn("old words", "so it is")

    new = store.create_with_id("s1", replace=True, key="k")

    assert (new.metadata().title, new.metadata().persona, said(new)) == ("", None, [])
    assert store.search("old") == []
    assert store.conversation(key="k").uid == new.uid == store.conversation("s1").uid
    with pytest.raises(NotFoundError):
        said(old)
    with pytest.raises(NotFoundError):
        old.append_turn("q", "a")


def test_replacing_what_is_not_there_just_begins(store: Store, backend: Backend) -> None:
    store.create_with_id("s1", replace=True)

    assert listed(store) == ["s1"]
    assert deletions(backend) == []


def test_who_owned_a_replaced_conversation_owns_the_new_one(store: Store) -> None:
    old = store.create_with_id("s1")
    claimed = old.claim()
    assert isinstance(claimed, Claimed)

    new = store.create_with_id("s1", replace=True)

    assert new.append_turn("q", "a", epoch=claimed.epoch).answer == "a"
    assert new.claim() == claimed


def test_what_is_spared_is_not_replaced_and_nothing_is_written(store: Store, backend: Backend) -> None:
    store.create_with_id("s1").pin()
    before = whole(backend)

    with pytest.raises(SparedError) as caught:
        store.create_with_id("s1", replace=True)

    assert (caught.value.conversation_id, caught.value.reasons) == ("s1", ("pinned",))
    assert whole(backend) == before


# --- reserve


def test_reserving_writes_nothing(store: Store, backend: Backend) -> None:
    before = exported(backend)

    conversation = store.reserve()

    assert exported(backend) == before
    assert len(conversation.id) == 32
    assert conversation.uid == conversation.id


def test_a_reserved_conversation_is_not_there(store: Store) -> None:
    conversation = store.reserve("s1")

    assert not store.exists("s1")
    assert (listed(store), store.latest_open()) == ([], None)
    assert (said(conversation), list(conversation.turns()), conversation.head) == ([], [], None)
    assert (conversation.links(), conversation.linked_from(), conversation.live_owner()) == ([], [], None)
    assert (conversation.stats().conversations, conversation.activity_seq) == (0, 0)
    with pytest.raises(NotFoundError):
        store.conversation("s1")
    with pytest.raises(NotFoundError):
        store.resolve("s")
    with pytest.raises(NotFoundError):
        store.delete("s1")


BEGIN: dict[str, Callable[[Conversation], object]] = {
    "a turn": lambda conversation: conversation.append_turn("q", "a"),
    "messages": lambda conversation: conversation.append_messages(
        [Message(role="user", parts="q"), Message(role="assistant", parts="a")]
    ),
}


@pytest.mark.parametrize("begin", BEGIN.values(), ids=BEGIN)
def test_a_reserved_conversation_begins_with_what_is_said_first(
    store: Store, begin: Callable[[Conversation], object]
) -> None:
    conversation = store.reserve("s1")

    begin(conversation)

    assert listed(store) == ["s1"]
    assert said(store.conversation("s1")) == said(conversation) == ["q", "a"]


@pytest.mark.parametrize("begin", BEGIN.values(), ids=BEGIN)
def test_a_first_append_that_fails_leaves_nothing_of_a_reserved_conversation(
    backend: Backend, begin: Callable[[Conversation], object]
) -> None:  # D-2, L-2
    before = whole(backend)

    failed = 0
    for failed in failing_at_each_statement(backend, lambda b: begin(handle(b).reserve("s1"))):  # noqa: B007
        assert whole(backend) == before

    assert failed > 4
    assert said(handle(backend).conversation("s1")) == ["q", "a"]


def test_a_handle_whose_first_append_failed_begins_with_the_next(backend: Backend) -> None:
    conversation = handle(faulty(backend, FaultPlan(8))).reserve("s1")
    with pytest.raises(InjectedFaultError):
        conversation.append_turn("q", "a")

    conversation.append_turn("q", "a")

    assert said(handle(backend).conversation("s1")) == ["q", "a"]


def test_two_handles_that_reserve_one_id_are_one_conversation(store: Store, backend: Backend) -> None:
    one, other = store.reserve("s1"), store.reserve("s1")

    one.append_turn("one", "1")
    other.append_turn("other", "2")

    assert said(one) == said(other) == ["one", "1", "other", "2"]
    assert one.uid == other.uid
    assert findings(backend) == ()


def test_equal_reserved_ids_of_two_workspaces_are_two_conversations(backend: Backend) -> None:  # N-1
    mine, theirs = handle(backend).reserve("s1"), handle(backend, "theirs").reserve("s1")

    mine.rename("mine")
    theirs.append_turn("theirs", "2")
    mine.append_turn("mine", "1")

    assert (said(mine), said(theirs)) == (["mine", "1"], ["theirs", "2"])
    assert theirs.title == ""


def test_reserving_an_id_that_is_there_leads_to_that_conversation(store: Store) -> None:
    there = store.create_with_id("s1", "there")

    found = store.reserve("s1")

    assert (found.uid, found.title) == (there.uid, "there")
    found.append_turn("q", "a")
    assert said(there) == ["q", "a"]


def test_a_reserved_conversation_is_claimed_linked_and_described_before_it_is_there(store: Store) -> None:
    parent = store.create_with_id("parent")
    conversation = store.reserve("s1")

    claimed = conversation.claim()
    conversation.rename("early")
    conversation.link_to(parent, "continues")

    assert isinstance(claimed, Claimed)
    assert (store.exists("s1"), listed(store)) == (False, ["parent"])
    assert conversation.append_turn("q", "a", epoch=claimed.epoch).answer == "a"
    assert (conversation.title, conversation.claim()) == ("early", claimed)
    assert [link.conversation_id for link in conversation.links()] == ["parent"]
    assert store.verify().ok


def test_what_was_said_of_a_reserved_id_is_kept_when_it_is_created(store: Store) -> None:
    reserved = store.reserve("s1")
    reserved.rename("early")

    store.create_with_id("s1", persona="coder")

    assert (reserved.title, reserved.metadata().persona) == ("early", "coder")
    with pytest.raises(AlreadyExistsError):
        store.create_with_id("s1")


# --- exists and resolve


def test_exists_knows_exact_ids_of_this_workspace_only(store: Store, backend: Backend) -> None:  # N-1
    store.create_with_id("s1")
    handle(backend, "theirs").create_with_id("s2")

    found = [store.exists(id) for id in ("s1", "s", "S1", "s2", "", "s1\x00")]

    assert found == [True, False, False, False, False, False]
    assert handle(backend, None).exists("s2")
    assert not handle(backend, "nobody's").exists("s1")


class _Busy(Wrapper):
    """A store that nobody gets a look at."""

    def reading(self) -> AbstractContextManager[Reader]:
        raise StoreBusyError(store=self.url, waited_s=0.1)


def test_a_store_that_is_busy_is_never_read_as_absent(store: Store, backend: Backend) -> None:
    store.create_with_id("s1")
    busy = handle(_Busy(backend))

    with pytest.raises(StoreBusyError):
        busy.exists("s1")
    with pytest.raises(StoreBusyError):
        busy.find("turn:s1#1")
    with pytest.raises(StoreBusyError):
        busy.latest_open()


def test_an_exact_id_wins_over_those_that_begin_so(store: Store) -> None:
    for id in ("s", "s1", "s10", "S2"):
        store.create_with_id(id)

    assert [store.resolve(id) for id in ("s", "s1", "s10", "S")] == ["s", "s1", "s10", "S2"]


def test_a_beginning_that_fits_several_lists_all_of_them_in_order(store: Store) -> None:
    ids = [f"s{number:03}" for number in range(120)]
    for id in reversed(ids):
        store.create_with_id(id)

    with pytest.raises(AmbiguousPrefixError) as caught:
        store.resolve("s")

    assert list(caught.value.matches) == ids


def test_reserved_ids_hide_no_conversation(store: Store) -> None:
    store.create_with_id("s-z")
    for number in range(110):
        store.reserve(f"s-{number}").rename("reserved")

    assert store.resolve("s-") == "s-z"


@pytest.mark.parametrize("prefix", ["S", "s2", "", "s1x", "%", "s_"])
def test_what_no_id_begins_with_is_not_found(store: Store, prefix: str) -> None:
    store.create_with_id("s1")

    with pytest.raises(NotFoundError):
        store.resolve(prefix)


def test_a_beginning_never_leads_into_another_workspace(store: Store, backend: Backend) -> None:  # N-1
    handle(backend, "theirs").create_with_id("s12")
    store.create_with_id("s1")

    assert store.resolve("s") == "s1"
    with pytest.raises(NotFoundError):
        store.resolve("s12")
    with pytest.raises(NotFoundError):
        store.delete("s12")


# --- delete


def test_a_deleted_conversation_has_left_no_trace(store: Store, backend: Backend) -> None:
    conversation = store.create_with_id("s1", "title", key="k", persona="coder", project="/srv")
    turn = conversation.append_turn("zebra", "yak", idempotency_key="once")
    conversation.pin()
    conversation.claim()
    conversation.set_scratchpad({"a": "zebra"})
    backend.drafts.put(conversation.uid, "d1", b"draft")
    digest, uid = attach(backend, conversation, b"picture"), conversation.uid

    assert store.delete("s1", force=True) == "s1"

    assert (listed(store), store.search("zebra"), store.latest_open()) == ([], [], None)
    assert not store.exists("s1")
    assert store.stats().conversations == 0
    assert store.find(turn.address) is None
    assert backend.drafts.list_ids(uid) == []
    assert digest not in blobs_of(backend, "demo")
    assert whole(backend, "s1").owners == ()
    rest = next(
        stream for stream in whole(backend).snapshot.streams if stream.info == stream_of(backend, uid)
    )
    assert (rest.registers, rest.rows, rest.messages) == ((), (), ())
    assert all(leaf.data is None and leaf.salt is None for event in rest.events for leaf in event.leaves)
    assert (stream_of(backend, uid).id, stream_of(backend, uid).deleted) == (None, True)
    with pytest.raises(NotFoundError):
        store.conversation(key="k")


def test_the_chain_of_the_workspace_says_what_was_deleted_and_why(store: Store, backend: Backend) -> None:
    conversation = store.create_with_id("s1")
    conversation.append_turn("q", "a")
    uid = conversation.uid
    with backend.reading() as reader:
        tips = tuple((tip.writer, tip.seq, tip.hash.hex()) for tip in reader.read_tips(uid))

    store.delete("s1", reason="asked for")

    (said_so,) = deletions(backend)
    assert (said_so.uid, said_so.tips, said_so.reason) == (uid, tips, "asked for")


def test_verify_and_an_earlier_receipt_hold_after_a_deletion(store: Store) -> None:  # C-4, E-2
    store.create_with_id("s1").append_turn("q", "a")
    store.create_with_id("s2").append_turn("q", "a")
    receipt = store.receipt()

    store.delete("s1")

    assert store.verify(receipt=receipt).findings == ()
    assert store.verify(receipt=store.receipt()).findings == ()


def test_id_and_key_of_a_deleted_conversation_are_free_again(store: Store) -> None:
    store.create_with_id("s1", "old", key="k").append_turn("old", "1")
    store.delete("s1")

    again = store.create_with_id("s1", key="k")

    assert (again.title, said(again), store.conversation(key="k").uid) == ("", [], again.uid)


def test_a_deleted_conversation_that_was_reserved_again_begins_anew(store: Store) -> None:
    store.create_with_id("s1").append_turn("old", "1")
    store.delete("s1")

    again = store.reserve("s1")
    again.append_turn("new", "2")

    assert said(again) == ["new", "2"]


def test_a_blob_that_another_conversation_refers_to_stays(store: Store, backend: Backend) -> None:
    one, other = store.create_with_id("s1"), store.create_with_id("s2")
    shared = attach(backend, one, b"shared")
    own = attach(backend, one, b"own")
    assert attach(backend, other, b"shared") == shared
    theirs = attach(backend, handle(backend, "theirs").create(), b"own")

    store.delete("s1")

    assert (blobs_of(backend, "demo"), blobs_of(backend, "theirs")) == ([shared], [theirs])
    assert b"".join(backend.blobs.get(stream_of(backend, other.uid).workspace, shared)) == b"shared"
    assert own == theirs


def test_an_export_with_a_deleted_conversation_comes_back_to_the_last_byte(
    store: Store, backend: Backend
) -> None:  # I-4
    store.create_with_id("s1", "title", key="k").append_turn("q", "a")
    store.create_with_id("s2").append_turn("q", "a")
    store.delete("s1", reason="asked for")
    export = exported(backend)

    other = memory_store()
    imported(other, export)

    assert exported(other) == export
    assert findings(other) == ()
    assert listed(handle(other)) == ["s2"]


def test_an_export_of_one_workspace_with_a_deleted_conversation_can_be_taken_in(
    store: Store, backend: Backend
) -> None:
    store.create_with_id("s1").append_turn("q", "a")
    store.create_with_id("s2").append_turn("q", "a")
    handle(backend, "theirs").create_with_id("s3")
    store.delete("s1")

    other = handle(memory_store(), "elsewhere")
    other.import_lines(store.export_lines())

    assert (listed(other), other.verify().findings) == (["s2"], ())


def test_the_owners_handle_deletes_in_any_workspace(store: Store, backend: Backend) -> None:
    store.create_with_id("s1")
    handle(backend, "theirs").create_with_id("s2")
    handle(backend, "theirs").create_with_id("s1")
    owner = handle(backend, None)

    assert owner.delete("s2") == "s2"
    with pytest.raises(AmbiguousPrefixError) as caught:
        owner.delete("s1")

    assert len(caught.value.matches) == 2
    assert (listed(store), listed(handle(backend, "theirs"))) == (["s1"], ["s1"])
    assert (len(deletions(backend)), len(deletions(backend, "theirs"))) == (0, 1)


USES: dict[str, Callable[[Conversation], object]] = {
    "append_turn": lambda c: c.append_turn("q", "a"),
    "append_messages": lambda c: c.append_messages([Message(role="user", parts="q")]),
    "an append as owner": lambda c: c.append_turn("q", "a", epoch=1),
    "rename": lambda c: c.rename("t"),
    "pin": lambda c: c.pin(),
    "link_to": lambda c: c.link_to("s2", "continues"),
    "claim": lambda c: c.claim(),
    "claim by force": lambda c: c.claim(force=True),
    "messages": lambda c: c.messages(),
    "turns": lambda c: c.turns(),
    "get_message": lambda c: c.get_message("m1"),
    "get_turn": lambda c: c.get_turn(1),
    "siblings": lambda c: c.siblings("m1"),
    "head": lambda c: c.head,
    "activity_seq": lambda c: c.activity_seq,
    "stats": lambda c: c.stats(),
    "metadata": lambda c: c.metadata(),
    "title": lambda c: c.title,
    "links": lambda c: c.links(),
    "linked_from": lambda c: c.linked_from(),
}


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_handle_of_a_deleted_conversation_finds_nothing(
    store: Store, backend: Backend, use: Callable[[Conversation], object]
) -> None:
    conversation = store.create_with_id("s1")
    conversation.append_message(Message(role="user", parts="q", id="m1"))
    store.create_with_id("s2").link_to("s1", "continues")
    store.delete("s1")
    before = whole(backend, "s1")

    with pytest.raises(NotFoundError):
        use(conversation)

    assert whole(backend, "s1") == before


def test_an_owner_of_a_deleted_conversation_is_told_that_it_is_none(store: Store) -> None:
    conversation = store.create_with_id("s1")
    conversation.claim()
    store.delete("s1")
    again = store.create_with_id("s1")
    again.claim()

    assert (conversation.heartbeat(), conversation.release(), conversation.live_owner()) == (
        False,
        False,
        None,
    )
    assert again.live_owner() is not None


def test_a_handle_that_was_reserved_brings_nothing_back_either(store: Store) -> None:
    conversation = store.reserve("s1")
    conversation.append_turn("q", "a")
    store.delete("s1")

    with pytest.raises(NotFoundError):
        conversation.append_turn("again", "a")

    assert listed(store) == []


def test_appends_that_race_with_a_deletion_never_bring_it_back(store: Store, backend: Backend) -> None:
    conversation = store.create_with_id("s1")
    outcomes: list[str] = []

    def append_until_gone() -> None:
        try:
            while True:
                store.conversation("s1").append_turn("zebra", "a")
        except NotFoundError:
            outcomes.append("gone")

    threads = [threading.Thread(target=append_until_gone) for _ in range(3)]
    for thread in threads:
        thread.start()
    store.delete("s1")
    for thread in threads:
        thread.join()

    assert outcomes == ["gone"] * 3
    assert (listed(store), store.search("zebra")) == ([], [])
    assert findings(backend) == ()
    with pytest.raises(NotFoundError):
        conversation.append_turn("q", "a")


SEEK = """
import pathlib, sys
files = sorted(pathlib.Path(sys.argv[1]).iterdir())
print([file.name for file in files if any(word.encode() in file.read_bytes() for word in sys.argv[2:])])
"""


def test_no_word_of_a_deleted_conversation_is_left_in_any_file(tmp_path: Path) -> None:
    words = ["quokkaquestion", "wombatanswer", "numbattitle", "bilbynote", "dunnartdraft", "possumpicture"]
    folder = tmp_path / "store"
    folder.mkdir()
    with manent.open(folder / "s.db", workspace="demo") as store:
        backend = store._runtime.backend
        store.create_with_id("kept").append_turn("something else", "so it is")
        conversation = store.create_with_id("s1", words[2])
        conversation.append_turn(words[0], words[1])
        conversation.set_scratchpad({"note": words[3]})
        backend.drafts.put(conversation.uid, "d1", words[4].encode())
        attach(backend, conversation, words[5].encode())
        store.delete("s1")

    command = [sys.executable, "-c", SEEK, str(folder), *words]
    found = subprocess.run(command, capture_output=True, check=True, encoding="utf-8")

    assert found.stdout.strip() == "[]"


# --- what is spared


@pytest.fixture
def machines(clock: SettableClock) -> Machines:
    """Two processes of one host are wanted."""
    return Machines(clock)


def test_each_reason_spares_a_conversation_and_all_are_told(
    backend: Backend, machines: Machines, clock: SettableClock
) -> None:
    host = machines.host("a")
    here = handle(backend, process=host.start(), clock=clock)
    there = handle(backend, process=host.start(), clock=clock)
    conversation = here.create_with_id("s1")
    conversation.pin()
    assert isinstance(there.conversation("s1").claim(), Claimed)
    open_turn(backend, conversation)
    before = whole(backend)

    with pytest.raises(SparedError) as caught:
        here.delete("s1")

    assert caught.value.reasons == ("pinned", "owned", "open_turn")
    assert whole(backend) == before


def test_what_is_spared_goes_by_force(backend: Backend, machines: Machines, clock: SettableClock) -> None:
    host = machines.host("a")
    here = handle(backend, process=host.start(), clock=clock)
    there = handle(backend, process=host.start(), clock=clock)
    conversation = here.create_with_id("s1")
    conversation.pin()
    there.conversation("s1").claim()
    open_turn(backend, conversation)

    here.delete("s1", force=True)

    assert listed(here) == []


def test_nothing_spares_a_conversation_any_more_once_its_reason_has_gone(
    backend: Backend, machines: Machines, clock: SettableClock
) -> None:
    host = machines.host("a")
    here = handle(backend, process=host.start(), clock=clock)
    elsewhere = host.start()
    conversation = here.create_with_id("s1")
    conversation.pin()
    handle(backend, process=elsewhere, clock=clock).conversation("s1").claim()
    open_turn(backend, conversation)

    conversation.unpin()
    elsewhere.crash()
    Workbench(backend).record(conversation.uid, ended("t1", TurnState.INTERRUPTED))

    assert here.delete("s1") == "s1"


def test_ones_own_claim_does_not_hinder_a_deletion(store: Store) -> None:
    store.create_with_id("s1").claim()

    assert store.delete("s1") == "s1"


def test_an_implicit_turn_without_an_answer_spares_nothing(store: Store) -> None:
    store.create_with_id("s1").append_message(Message(role="user", parts="hello?"))

    assert store.delete("s1") == "s1"


# --- pruning


def test_a_creation_prunes_the_least_recently_active_ones_and_never_the_new_one(store: Store) -> None:
    for id in ("a", "b", "c", "d"):
        store.create_with_id(id)
    store.conversation("a").append_turn("q", "a")

    store.create_with_id("e", max_conversations=3)

    assert listed(store) == ["e", "a", "d"]
    assert store.verify().ok


def test_a_cap_of_one_leaves_the_new_one(store: Store, backend: Backend) -> None:
    for _ in range(3):
        store.create()

    new = store.create(max_conversations=1)

    assert listed(store) == [new.id]
    assert [event.reason for event in deletions(backend)] == ["pruned to 1"] * 3


def test_appends_never_prune_and_without_a_cap_nothing_does(store: Store) -> None:
    store.create(max_conversations=1)

    for number in range(3):
        store.create()
        store.reserve(f"s{number}").append_turn("q", "a")

    assert len(store.list()) == 7


def test_spared_conversations_stay_even_if_more_than_the_cap_is_left(
    backend: Backend, machines: Machines, clock: SettableClock
) -> None:
    host = machines.host("a")
    here = handle(backend, process=host.start(), clock=clock)
    there = handle(backend, process=host.start(), clock=clock)
    for id in ("plain", "pinned", "mine", "theirs", "open"):
        here.create_with_id(id)
    here.conversation("pinned").pin()
    assert isinstance(here.conversation("mine").claim(), Claimed)
    assert isinstance(there.conversation("theirs").claim(), Claimed)
    open_turn(backend, here.conversation("open"))

    here.create_with_id("new", max_conversations=2)

    assert sorted(listed(here)) == ["mine", "new", "open", "pinned", "theirs"]


def test_pruning_stays_in_its_workspace(store: Store, backend: Backend) -> None:  # N-1
    theirs = handle(backend, "theirs")
    theirs.create_with_id("s1")
    store.create_with_id("s2")

    store.create_with_id("s3", max_conversations=1)

    assert (listed(store), listed(theirs)) == (["s3"], ["s1"])


def test_a_reserved_conversation_is_neither_counted_nor_pruned(store: Store) -> None:
    reserved = store.reserve("r")
    reserved.rename("early")
    store.create_with_id("s1")

    store.create_with_id("s2", max_conversations=2)

    assert sorted(listed(store)) == ["s1", "s2"]
    assert reserved.title == "early"


@pytest.mark.parametrize("cap", [-1, 1.5, "1", None])
def test_a_cap_is_a_whole_number_from_zero_on(store: Store, cap: Any) -> None:
    with pytest.raises(InputError):
        store.create(max_conversations=cap)

    assert listed(store) == []


# --- what was imported and deleted


def a_source(id: str | None, *texts: str) -> ImportedConversation:
    """A conversation of another tool."""
    messages = [
        ImportedMessage(
            role="user",
            parts=(TextPart(text),),
            native=text.encode(),
            native_id=None if id is None else f"{id}-{number}",
            place=f"line {number}",
            follows=True,
        )
        for number, text in enumerate(texts)
    ]
    return ImportedConversation(format="test", messages=tuple(messages), place="a file", native_id=id)


@pytest.mark.parametrize("id", ["c1", None])
def test_an_imported_conversation_that_was_deleted_is_not_brought_back(
    store: Store, backend: Backend, id: str | None
) -> None:  # I-1, I-2
    sources = [a_source(id, "one", "two"), a_source("other", "three")]
    store.import_items(sources, format="test")
    store.delete(next(s.id for s in store.list() if s.key != "test:other"))

    for grown in (sources, [a_source(id, "one", "two", "more"), sources[1]]):
        report = store.import_items(grown, format="test")

        assert len(store.list()) == 1
        assert (report.deleted_conversations, report.unchanged_conversations) == (1, 1)
        assert (report.conversations, report.new_conversations, report.grown_conversations) == (2, 0, 0)
        assert report.records == report.messages + report.merged_records
        assert report.messages == report.added_messages + report.known_messages
    assert findings(backend) == ()


def test_a_deletion_in_one_workspace_hinders_no_import_into_another(store: Store, backend: Backend) -> None:
    store.import_items([a_source("c1", "one")], format="test")
    store.delete(store.list()[0].id)
    theirs = handle(backend, "theirs")

    report = theirs.import_items([a_source("c1", "one")], format="test")

    assert (report.new_conversations, len(theirs.list())) == (1, 1)


class _DeletesFirst(Wrapper):
    """Somebody deletes a conversation just before the first write of whoever has this handle."""

    doomed: str | None = None

    def transaction(self) -> Any:
        if self.doomed is not None:
            doomed, self.doomed = self.doomed, None
            handle(self.inner).delete(doomed)
        return self.inner.transaction()


def test_an_import_that_races_with_a_deletion_does_not_bring_it_back(store: Store, backend: Backend) -> None:
    store.import_items([a_source("c1", "one")], format="test")
    racing = _DeletesFirst(backend)
    racing.doomed = store.list()[0].id

    report = handle(racing).import_items([a_source("c1", "one", "zebra")], format="test")

    assert (report.deleted_conversations, report.grown_conversations, report.added_messages) == (1, 0, 0)
    assert (listed(store), store.search("zebra")) == ([], [])
    assert findings(backend) == ()


# --- hostile exports


def resealed(records: list[Any]) -> bytes:
    """Records as lines, with an end that says that they are whole, as a forger would write it."""
    lines = [json.dumps(record, separators=(",", ":")).encode() + b"\n" for record in records[:-1]]
    end = {"manent": "end", "digest": blake3(b"".join(lines)).hexdigest()}
    return b"".join(lines) + json.dumps(end, separators=(",", ":")).encode() + b"\n"


@pytest.fixture
def records() -> list[Any]:
    """What the lines of an export say, in which `s1` was deleted and `s2` was not."""
    backend = memory_store()
    store = handle(backend)
    store.create_with_id("s1", "title").append_turn("q", "a")
    store.create_with_id("s2", "title").append_turn("q", "a")
    store.delete("s1")
    return [json.loads(line) for line in lines_of(exported(backend))]


def streams(records: list[Any]) -> dict[str | None, Any]:
    """The stream records by id; None is the one that was deleted."""
    own = next(record for record in records if record.get("manent") == "workspace")["streams"]
    found = [r for r in records if r.get("manent") == "stream" and r["uid"] not in own]
    return {record["id"]: record for record in found}


def refused(records: list[Any], why: str) -> None:
    """Taking it in fails and leaves nothing."""
    backend = memory_store()
    before = exported(backend)
    with pytest.raises((FormatError, MergeNeededError), match=why):
        imported(backend, resealed(records))
    assert exported(backend) == before


def test_the_export_of_the_following_is_taken_in_as_it_is(records: list[Any]) -> None:
    backend = memory_store()

    imported(backend, resealed(records))

    assert findings(backend) == ()


def test_a_deleted_conversation_that_nothing_declares_is_refused(records: list[Any]) -> None:  # C-3
    streams(records)["s2"]["id"] = None
    streams(records)[None]["registers"] = []

    refused(records, "metadata|words")


def test_a_stream_whose_deletion_was_taken_out_is_refused(records: list[Any]) -> None:  # C-3
    own = next(record for record in records if record.get("manent") == "workspace")["streams"][0]
    rest = [record for record in records if record.get("sessionId") != own]
    next(record for record in rest if record.get("uid") == own and "tips" in record)["tips"] = []

    refused(rest, "does not name")


def test_a_deleted_conversation_with_metadata_is_refused(records: list[Any]) -> None:  # C-3
    streams(records)[None]["registers"] = streams(records)["s2"]["registers"]

    refused(records, "metadata")


def test_a_deleted_conversation_with_words_is_refused() -> None:  # C-3
    backend = memory_store()
    store = handle(backend)
    conversation = store.create_with_id("s1")
    conversation.append_turn("q", "a")
    with_words = [json.loads(line) for line in lines_of(exported(backend))]
    uid = conversation.uid
    store.delete("s1")
    deleted = [json.loads(line) for line in lines_of(exported(backend))]
    words = {r["eventId"]: r for r in with_words if r.get("sessionId") == uid}

    refused([words.get(record.get("eventId"), record) for record in deleted], "words")


@pytest.mark.parametrize("forged", ["theirs", "another"])
def test_an_export_that_calls_deleted_what_is_here_deletes_nothing(forged: str) -> None:  # C-3, N-1
    backend = memory_store()
    store = handle(backend, "theirs")
    conversation = store.create_with_id("s9")
    conversation.append_turn("q", "a")
    forger = memory_store()
    forging = Workbench(forger)
    own = forging.conversation("other", workspace=forged)
    with forger.reading() as reader:
        (info,) = reader.list_workspaces()
    forging.record(own, began())
    forging.record(info.streams[0], ConversationDeleted(uid=conversation.uid))
    before = exported(backend)

    if forged == "theirs":
        with pytest.raises(MergeNeededError, match="calls deleted"):
            imported(backend, exported(forger))
        assert exported(backend) == before
    else:  # what a workspace says of another one's conversations counts for nothing
        imported(backend, exported(forger))
        assert said(conversation) == ["q", "a"]

    assert findings(backend) == ()
