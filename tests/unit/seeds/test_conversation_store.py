"""Every call of `ConversationStore`, under its old name."""

from __future__ import annotations

import copy
import pydoc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import manent
import manent.seeds
from manent.errors import (
    AlreadyExistsError,
    AmbiguousPrefixError,
    EncodingError,
    InputError,
    NotFoundError,
    OwnershipLostError,
    SparedError,
    StoreClosedError,
)
from manent.history import recording
from manent.history.processes import STALE_AFTER_NS
from manent.history.store import Store
from manent.model.owners import Claimed
from manent.model.plans import PlanSnapshot, Step, StepStatus
from manent.parts import PhantomReach, ToolEvent
from manent.seeds import ConversationStore, tool_event_from_call
from manent.seeds.conversation_records import (
    ConversationRecord,
    ConversationSummary,
    ConversationTurn,
    HeldBy,
    Plan,
    Subtask,
)
from manent.seeds.inside import runtime_of
from manent.storage.sqlite.place import PLACE_VARIABLE
from manent.testing.builders import pending, said, started
from manent.testing.clocks import NOON_NS, SettableClock, fixed, going_back
from manent.testing.machines import Machines
from tests.unit.seeds.trees import old_key

PLAN = PlanSnapshot((Step("read the log", StepStatus.DONE), Step("mend it", StepStatus.ACTIVE)))
TREE = Plan(goal="ship", subtasks=(Subtask("a", "build"), Subtask("b", "test", deps=("a",))))
BAD_IDS = ("", " ", "../../x", "/etc/passwd", "a/b", "a.b", "세션", "a\0b", "x" * 513, "a_b", "a\n")


def ids(store: ConversationStore) -> list[str]:
    """The ids that a store lists, in its order."""
    return [summary.id for summary in store.list()]


def put_register(store: ConversationStore, id: str, field: str, value: Any) -> None:
    """What somebody else wrote."""
    uid = store._store.conversation(id).uid
    with store._runtime.backend.transaction() as tx:
        tx.put_metadata(uid, field, value)


# --- opening


def test_names_load_when_they_are_first_used() -> None:
    assert set(manent.seeds.__all__) <= set(dir(manent.seeds))
    assert all(getattr(manent.seeds, name) is not None for name in manent.seeds.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = manent.seeds.Nothing


def test_the_store_is_a_file_in_the_root_and_an_ordinary_one(root: Path, workspace: Path) -> None:
    with ConversationStore.new(root, workspace) as store:
        id = store.create("from the façade")

    with manent.open(root / "conversations.db", workspace=str(workspace)) as ours:
        assert ours.conversation(id).title == "from the façade"


def test_a_workspace_folder_that_is_not_there_is_an_error(root: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="workspace folder"):
        ConversationStore(root, tmp_path / "nowhere")

    assert not root.exists()


@pytest.mark.parametrize("cap", [-1, True, 1.5, None])
def test_a_cap_is_a_whole_number_from_0_on(root: Path, workspace: Path, cap: Any) -> None:
    with pytest.raises(InputError, match="max_per_workspace"):
        ConversationStore(root, workspace, cap)


@pytest.mark.parametrize("folder", ["", ".", "..", "../x", "/abs", "a/../../x", "a\0b"])
def test_a_plan_folder_stays_below_the_workspace(root: Path, workspace: Path, folder: str) -> None:
    with pytest.raises(InputError, match="plan_folder"):
        ConversationStore(root, workspace, plan_folder=folder)


def test_the_retired_key_is_given_with_a_warning(workspace: Path) -> None:
    with pytest.warns(DeprecationWarning):
        assert ConversationStore.workspace_id_for_path(workspace) == old_key(workspace)

    with warnings.catch_warnings(), pytest.raises(NotFoundError):
        warnings.simplefilter("ignore")
        ConversationStore.workspace_id_for_path(workspace / "nowhere")


def test_nobody_is_told_of_a_fallback_where_none_was_needed(store: ConversationStore) -> None:
    assert store.wal_fallback_notice is None


def test_a_place_that_cannot_carry_a_log_is_told_of_once(
    root: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # D-8
    monkeypatch.setenv(PLACE_VARIABLE, "remote")

    with ConversationStore(root, workspace) as store:
        notice = store.wal_fallback_notice
        id = store.create("without a log")

    assert notice is not None and str(root / "conversations.db") in notice
    with ConversationStore(root, workspace) as again:
        assert again.wal_fallback_notice == notice
        assert again.exists(id)


def test_what_deleting_also_removes_stands_at_the_top_of_the_help() -> None:
    top = str(ConversationStore.__doc__).partition("Ids that a caller gives")[0]

    assert "<workspace>/.scratch/sessions/<id>" in top and "plan_folder=None" in top


def test_the_help_shows_the_report_of_the_old_tree(store: ConversationStore) -> None:
    shown = pydoc.plain(pydoc.render_doc(ConversationStore))

    assert "legacy_report" in shown and "What became of the old JSON tree" in shown
    assert store.legacy_report is store.clone().legacy_report is None


def test_the_writer_is_known_before_anything_is_written_and_stays(root: Path, workspace: Path) -> None:
    with ConversationStore(root, workspace) as store:
        first = store.writer_fingerprint
        address = store.append_turn(store.create("t"), "q", "a")
        turn = store.load_turn(address.conversation_id, int(address.ref))
    with ConversationStore(root, workspace) as again:
        assert again.writer_fingerprint == first

    assert turn is not None and turn.writer_fingerprint == first


def test_a_repr_tells_the_place_and_no_words(store: ConversationStore, root: Path) -> None:
    store.append_turn(store.create("secret title"), "secret question", "secret answer")

    assert repr(store).startswith(f"<ConversationStore {root / 'conversations.db'}")
    assert "secret" not in repr(store)


@pytest.mark.parametrize("make", [copy.copy, copy.deepcopy, ConversationStore.clone])
def test_clones_share_one_store_until_the_last_one_is_closed(store: ConversationStore, make: Any) -> None:
    id = store.create("shared")
    clone = make(store)

    store.close()
    store.close()

    assert clone.exists(id)
    with pytest.raises(StoreClosedError):
        store.exists(id)
    inner = clone._store
    clone.close()
    with pytest.raises(StoreClosedError):
        inner.exists(id)
    assert "closed" in repr(clone)


def test_clone_from_lets_go_of_what_was_open_before(
    store: ConversationStore, elsewhere: ConversationStore
) -> None:
    id = store.create("here")
    before = elsewhere._store

    elsewhere.clone_from(store)

    assert elsewhere.exists(id)
    with pytest.raises(StoreClosedError):
        before.list()
    store.close()
    with pytest.raises(StoreClosedError):
        elsewhere.clone_from(store)


# --- beginning


def test_create_mints_an_id_of_the_time_and_a_uuid_and_trims_the_title(root: Path, workspace: Path) -> None:
    with ConversationStore(root, workspace, clock=fixed()) as store:
        first, second = store.create("  Fix it \n", "coder"), store.create("more")

        assert first != second
        nanoseconds, _, rest = first.partition("-")
        assert int(nanoseconds) >= NOON_NS and len(rest) == 36
        assert int(second.partition("-")[0]) > int(nanoseconds)
        assert store.load(first).title == "Fix it"
        assert store.load(first).persona == "coder"


def test_an_id_that_is_taken_is_refused_and_what_is_there_stays(store: ConversationStore) -> None:
    store.create_with_id("s-1", "first")
    store.append_turn("s-1", "q", "a")

    with pytest.raises(AlreadyExistsError):
        store.create_with_id("s-1", "second")

    assert (store.load("s-1").title, len(store.load("s-1").turns)) == ("first", 1)


def test_replace_begins_anew_under_the_same_id(store: ConversationStore) -> None:
    store.create_with_id("s-1", "first")
    store.append_turn("s-1", "q", "a")

    store.create_with_id("s-1", "second", "coder", replace=True)

    assert (store.load("s-1").title, store.load("s-1").turns) == ("second", ())


def test_an_id_of_another_workspace_is_free_and_stays_theirs(
    store: ConversationStore, elsewhere: ConversationStore
) -> None:
    store.create_with_id("s-1", "here")

    elsewhere.create_with_id("s-1", "there", replace=True)

    assert (store.load("s-1").title, elsewhere.load("s-1").title) == ("here", "there")


def test_exists_asks_for_exactly_this_id(store: ConversationStore, elsewhere: ConversationStore) -> None:
    store.create_with_id("s-12", "")

    assert store.exists("s-12")
    assert not store.exists("s-1")
    assert not elsewhere.exists("s-12")


def test_resolving_takes_an_exact_id_first_then_the_beginning_of_one(store: ConversationStore) -> None:
    for id in ("s-1", "s-12", "s-13", "S-2"):
        store.create_with_id(id, "")

    assert store.resolve_id("s-1") == "s-1"
    assert store.resolve_id("s-12") == "s-12"
    assert store.resolve_id("S") == "S-2"
    with pytest.raises(NotFoundError):
        store.resolve_id("s-2")
    with pytest.raises(AmbiguousPrefixError) as caught:
        store.resolve_id("s")
    assert caught.value.matches == ("s-1", "s-12", "s-13")


@pytest.mark.parametrize("id", BAD_IDS)
def test_an_id_outside_the_alphabet_is_refused_by_every_call(store: ConversationStore, id: str) -> None:
    calls: list[Any] = [
        lambda: store.create_with_id(id, ""),
        lambda: store.exists(id),
        lambda: store.append_turn(id, "q", "a"),
        lambda: store.append_turn_full(id, "q", "a"),
        lambda: store.load(id),
        lambda: store.load_turn(id, 1),
        lambda: store.end_conversation(id, "new"),
        lambda: store.link_conversation_to_node(id, "r", "n"),
        lambda: store.claim(id),
        lambda: store.release(id),
        lambda: store.heartbeat(id),
        lambda: store.live_owner(id),
        lambda: store.rename(id, "t"),
        lambda: store.update_scratchpad(id, {}),
        lambda: store.update_plan_snapshot(id, PLAN),
        lambda: store.delete(id),
        lambda: store.resolve_id(id),
        lambda: store.verify_chain(id),
    ]
    for call in calls:
        with pytest.raises(InputError, match="invalid conversation id"):
            call()


# --- turns


def test_a_whole_turn_comes_back_as_it_was_appended(store: ConversationStore, clock: SettableClock) -> None:
    event = ToolEvent("grep", "path pattern b3:0011223344556677", ok=False, duration_ms=12)
    reach = PhantomReach("search_files", "rewrite", "grep", ("tools",))
    store.create_with_id("s-1", "title")
    now_ns = clock.now_ns

    address = store.append_turn_full("s-", "why?", "so.", [event], [reach], 812, 0)

    turn = ConversationTurn(
        user="why?",
        assistant="so.",
        events=(event,),
        phantom_reaches=(reach,),
        tokens_in=812,
        tokens_out=0,
        seq=int(address.ref),
        writer_fingerprint=store.writer_fingerprint,
        ts_claim=now_ns,
    )
    assert str(address) == f"turn:s-1#{turn.seq}"
    assert store.load_turn("s-1", turn.seq) == turn
    assert store.load("s-1").turns == (turn,)


def test_the_short_form_leaves_the_same_bytes_as_the_full_one_with_nothing_extra(
    store: ConversationStore,
) -> None:
    store.create_with_id("s-1", "")
    store.append_turn("s-1", "q", "a")
    store.append_turn_full("s-1", "q", "a", [], [], None, None)

    with store._runtime.backend.reading() as reader:
        entries = reader.read_log(0, 10)[-2:]
    leaves = [
        [(leaf.name, leaf.data) for leaf in entry.leaves if leaf.name != "skeleton"] for entry in entries
    ]
    assert leaves[0] == leaves[1] == [("question", b'"q"'), ("answer", b'"a"')]


def test_tokens_that_nobody_reported_stay_unknown(store: ConversationStore) -> None:
    store.create_with_id("s-1", "")
    store.append_turn_full("s-1", "q", "a", tokens_in=7)

    (turn,) = store.load("s-1").turns

    assert (turn.tokens_in, turn.tokens_out) == (7, None)


@pytest.mark.parametrize("count", [-1, 1.5, "7", True, 1 << 63])
def test_a_count_that_is_no_measurement_is_refused(store: ConversationStore, count: Any) -> None:
    store.create_with_id("s-1", "")

    with pytest.raises(InputError, match="tokens_out"):
        store.append_turn_full("s-1", "q", "a", tokens_out=count)

    assert store.load("s-1").turns == ()


def test_appending_to_what_is_not_there_is_an_error(
    store: ConversationStore, elsewhere: ConversationStore
) -> None:
    elsewhere.create_with_id("theirs", "")

    for id in ("nothing", "theirs"):
        with pytest.raises(NotFoundError):
            store.append_turn(id, "q", "a")

    assert elsewhere.load("theirs").turns == ()


def test_a_record_holds_everything_about_a_conversation(
    store: ConversationStore, workspace: Path, clock: SettableClock
) -> None:
    created_ns = clock.now_ns
    store.create_with_id("s-1", "title", "coder")
    address = store.append_turn("s-1", "q", "a")
    store.update_scratchpad("s-1", {"todo": "nothing"})
    store.update_plan_snapshot("s-1", PLAN)
    store.link_conversation_to_node("s-1", "road", "node")

    record = store.load("s-1")

    assert record == ConversationRecord(
        id="s-1",
        title="title",
        workspace=str(workspace),
        workspace_id=record.workspace_id,
        persona="coder",
        turns=(
            ConversationTurn(
                user="q",
                assistant="a",
                seq=int(address.ref),
                writer_fingerprint=store.writer_fingerprint,
                ts_claim=created_ns + 1_000_000_000,
            ),
        ),
        scratchpad={"todo": "nothing"},
        plan=PLAN,
        roadmap_id="road",
        node_id="node",
        created_at_unix_nanos=created_ns,
        updated_at_unix_nanos=created_ns + 1_000_000_000,
    )


@pytest.mark.parametrize(("field", "value"), [("scratchpad", [1]), ("plan", {"steps": 3}), ("title", 7)])
def test_a_record_that_cannot_be_read_is_an_error_and_no_half_of_it(
    store: ConversationStore, field: str, value: Any
) -> None:
    store.create_with_id("s-1", "")
    put_register(store, "s-1", field, value)

    with pytest.raises(EncodingError):
        store.load("s-1")


def test_a_turn_that_is_not_here_is_none(store: ConversationStore, elsewhere: ConversationStore) -> None:
    store.create_with_id("s-1", "")
    seq = int(store.append_turn("s-1", "q", "a").ref)

    assert store.load_turn("s-1", seq + 1) is None
    assert store.load_turn("s-1", -1) is None
    assert store.load_turn("nothing", seq) is None
    assert elsewhere.load_turn("s-1", seq) is None
    assert store.load_turn("s-1", seq, "ff" * 8) is None


def test_an_ambiguous_prefix_is_never_taken_for_an_absent_turn(store: ConversationStore) -> None:
    """The original answered None, and so to a busy database."""
    store.create_with_id("s-1", "")
    store.create_with_id("s-2", "")

    with pytest.raises(AmbiguousPrefixError):
        store.load_turn("s", 1)


# --- lists


def test_a_list_has_everything_the_least_recently_active_first(
    store: ConversationStore, elsewhere: ConversationStore
) -> None:
    for number in range(250):
        store.create_with_id(f"s-{number}", "")
    store.append_turn("s-0", "q", "a")
    elsewhere.create_with_id("theirs", "")

    assert ids(store) == [*(f"s-{number}" for number in range(1, 250)), "s-0"]


def test_a_summary_counts_turns_and_tells_the_time_of_display(
    store: ConversationStore, clock: SettableClock
) -> None:
    store.create_with_id("s-1", "title", "coder")
    now_ns = clock.now_ns
    store.append_turn("s-1", "q", "a")

    assert store.list() == [
        ConversationSummary(
            id="s-1",
            title="title",
            persona="coder",
            turn_count=1,
            updated_at_unix_nanos=now_ns,
            end_reason=None,
        )
    ]


def test_the_latest_open_one_is_the_last_active_that_was_not_ended(store: ConversationStore) -> None:
    assert store.latest_open() is None
    for id in ("s-1", "s-2", "s-3"):
        store.create_with_id(id, "")
    store.end_conversation("s-3", "wq")

    found = store.latest_open()

    assert found is not None and found.id == "s-2"
    store.end_conversation("s-2", "new")
    store.end_conversation("s-1", "new")
    assert store.latest_open() is None


def test_what_another_one_runs_and_what_was_said_elsewhere_is_not_offered(store: ConversationStore) -> None:
    store.create_with_id("s-1", "")
    store._store.create_with_id("s-2", spawned_by="s-1")
    uid = store._store.create_with_id("s-3").uid
    with store._runtime.backend.transaction() as tx:
        recording.record(tx, uid, pending(said("from another program", source={"format": "by hand"})))

    latest = store.latest_open()

    assert latest is not None and latest.id == "s-1"
    assert ids(store) == ["s-1", "s-2", "s-3"]
    store.append_turn("s-3", "q", "a")
    latest = store.latest_open()
    assert latest is not None and latest.id == "s-3"


# --- describing


def test_a_rename_trims_moves_no_list_and_refreshes_the_time_of_display(
    store: ConversationStore, clock: SettableClock
) -> None:
    store.create_with_id("s-1", "")
    store.create_with_id("s-2", "")
    clock.advance(10**12)
    now_ns = clock.now_ns

    store.rename("s-1", "  new name ")

    first, second = store.list()
    assert (first.id, first.title, first.updated_at_unix_nanos) == ("s-1", "new name", now_ns)
    assert second.id == "s-2"
    assert store.load("s-1").updated_at_unix_nanos == now_ns
    with pytest.raises(NotFoundError):
        store.rename("nothing", "x")


def test_an_end_keeps_turns_and_search_and_the_next_reason_replaces_it(store: ConversationStore) -> None:
    store.create_with_id("s-1", "")
    store.append_turn("s-1", "needle", "a")

    assert store.end_conversation("s-1", " new ") and store.end_conversation("s-1", "restart")

    assert store.list()[0].end_reason == "restart"
    assert len(store.load("s-1").turns) == len(store.search("needle")) == 1


@pytest.mark.parametrize("reason", ["", "  ", "\n", 7, None])
def test_an_end_has_a_reason(store: ConversationStore, reason: Any) -> None:
    store.create_with_id("s-1", "")

    with pytest.raises(InputError):
        store.end_conversation("s-1", reason)

    assert store.list()[0].end_reason is None


def test_what_is_said_of_an_absent_conversation_matches_nothing(
    store: ConversationStore, elsewhere: ConversationStore
) -> None:
    """The document promises that it matches nothing; the original raised."""
    elsewhere.create_with_id("theirs", "title")

    for id in ("theirs", "nothing"):
        assert not store.end_conversation(id, "new")
        assert not store.update_scratchpad(id, {"a": "b"})
        assert not store.update_plan_snapshot(id, PLAN)

    record = elsewhere.load("theirs")
    assert (record.scratchpad, record.plan) == ({}, PlanSnapshot())
    assert elsewhere.list()[0].end_reason is None
    assert not store.exists("nothing")


def test_scratchpad_plan_and_link_move_no_activity_and_can_be_cleared(store: ConversationStore) -> None:
    store.create_with_id("s-1", "")
    store.create_with_id("s-2", "")
    before = store.list()

    store.update_scratchpad("s-1", {"a": "b"})
    store.update_plan_snapshot("s-1", PLAN)
    store.link_conversation_to_node("s-1", "road", "node")

    assert store.list() == before
    store.update_scratchpad("s-1", {})
    store.update_plan_snapshot("s-1", PlanSnapshot())
    store.link_conversation_to_node("s-1", None, None)
    record = store.load("s-1")
    assert (record.scratchpad, record.plan, record.roadmap_id, record.node_id) == (
        {},
        PlanSnapshot(),
        None,
        None,
    )


def test_a_conversation_is_linked_before_it_is_there(
    store: ConversationStore, elsewhere: ConversationStore
) -> None:
    store.link_conversation_to_node("s-1", "road", "node")
    assert not store.exists("s-1") and store.list() == []

    store.create_with_id("s-1", "")
    elsewhere.create_with_id("s-1", "")

    assert (store.load("s-1").roadmap_id, store.load("s-1").node_id) == ("road", "node")
    assert elsewhere.load("s-1").roadmap_id is None
    with pytest.raises(InputError, match="both"):
        store.link_conversation_to_node("s-1", "road", None)


# --- owners


def test_one_live_process_owns_a_conversation_also_before_it_is_there(root: Path, workspace: Path) -> None:
    host = Machines().host("a")
    one, other = host.start(), host.start()
    with (
        ConversationStore(root, workspace, processes=one) as mine,
        ConversationStore(root, workspace, processes=other) as theirs,
    ):
        assert isinstance(mine.claim("s-1"), Claimed)
        assert theirs.claim("s-1") == HeldBy(host="a", pid=one.here().pid)
        assert not theirs.heartbeat("s-1") and not theirs.release("s-1")
        owner = theirs.live_owner("s-1")
        assert owner is not None and owner.process == one.here() and theirs.is_owner_live(owner)
        assert mine.heartbeat("s-1")

        one.crash()

        assert not theirs.is_owner_live(owner)
        assert isinstance(theirs.claim("s-1"), Claimed)
        assert theirs.release("s-1")
        assert theirs.live_owner("s-1") is None


def test_a_claim_carries_the_epoch_that_fences_appends(root: Path, workspace: Path) -> None:  # O-2
    host = Machines().host("a")
    one, other = host.start(), host.start()
    with (
        ConversationStore(root, workspace, processes=one) as mine,
        ConversationStore(root, workspace, processes=other) as theirs,
    ):
        mine.create_with_id("s-1", "")
        first = mine.claim("s-1")
        assert isinstance(first, manent.Claimed)
        ours = mine._store.conversation("s-1")
        ours.append_turn("as the owner", "a", epoch=first.epoch)
        one.crash()
        second = theirs.claim("s-1")

        with pytest.raises(OwnershipLostError):
            ours.append_turn("too late", "a", epoch=first.epoch)

        assert isinstance(second, manent.Claimed) and second.epoch > first.epoch
        assert [turn.user for turn in theirs.load("s-1").turns] == ["as the owner"]


def test_after_a_reboot_an_owner_is_stale_at_once(root: Path, workspace: Path) -> None:
    """The original kept the conversation for up to an hour."""
    host = Machines().host("a")
    with ConversationStore(root, workspace, processes=host.start()) as before:
        before.claim("s-1")
    host.reboot()

    with ConversationStore(root, workspace, processes=host.start()) as after:
        assert isinstance(after.claim("s-1"), Claimed)


def test_an_owner_on_another_machine_is_live_while_its_heartbeat_is_young(
    root: Path, workspace: Path
) -> None:
    clock = fixed()
    machines = Machines(clock)
    here, there = machines.host("a").start(), machines.host("b").start()
    with (
        ConversationStore(root, workspace, processes=here, clock=clock) as mine,
        ConversationStore(root, workspace, processes=there, clock=clock) as theirs,
    ):
        mine.claim("s-1")
        clock.advance(STALE_AFTER_NS - 1)
        assert isinstance(theirs.claim("s-1"), HeldBy)

        clock.advance(1)

        assert isinstance(theirs.claim("s-1"), Claimed)


# --- roadmaps


def test_roadmaps_are_kept_replaced_and_listed_newest_first(
    store: ConversationStore, elsewhere: ConversationStore
) -> None:
    store.create_roadmap("r-1", "one", TREE)
    store.create_roadmap("r-2", "two", TREE)
    elsewhere.create_roadmap("r-1", "theirs", Plan())

    store.create_roadmap("r-1", "one again", TREE)
    assert not store.update_roadmap("nothing", TREE)
    assert store.update_roadmap("r-2", Plan(goal="less"))

    first = store.load_roadmap("r-1")
    assert first is not None and (first.title, first.tree) == ("one again", TREE)
    assert store.load_roadmap("nothing") is None
    assert [(each.id, each.title, each.nodes) for each in store.list_roadmaps()] == [
        ("r-2", "two", 0),
        ("r-1", "one again", 2),
    ]


def test_a_tree_that_cannot_be_read_is_an_error(store: ConversationStore) -> None:
    store.create_roadmap("r-1", "one", TREE)
    with store._runtime.backend.transaction() as tx:
        (info,) = tx.read.list_workspaces()
        (register,) = (r for r in tx.read.read_registers(info.streams[0]) if r.field.startswith("roadmap:"))
        tx.put_metadata(info.streams[0], register.field, {**register.value, "tree": "[[subtask]]\nodd = 1"})

    with pytest.raises(EncodingError):
        store.load_roadmap("r-1")
    assert [(each.id, each.nodes) for each in store.list_roadmaps()] == [("r-1", None)]


@pytest.mark.parametrize("toml", ["secret = [", "[[subtask]]\nodd = 1", "[[subtask]]\nid = 7"])
def test_a_tree_that_is_no_plan_is_refused_and_not_kept(store: ConversationStore, toml: str) -> None:
    with pytest.raises(InputError) as caught:
        store.create_roadmap("r-1", "one", Plan.from_toml(toml))

    assert "secret" not in str(caught.value)
    assert store.list_roadmaps() == []


def test_roadmaps_are_listed_by_the_last_write_and_no_clock(root: Path, workspace: Path) -> None:
    with ConversationStore(root, workspace, clock=going_back(step_ns=3_600 * 10**9)) as store:
        for id in ("r-1", "r-2", "r-3"):
            store.create_roadmap(id, "", TREE)
        store.update_roadmap("r-1", Plan())

        assert [each.id for each in store.list_roadmaps()] == ["r-1", "r-3", "r-2"]


# --- deleting


def test_a_deleted_conversation_is_gone_with_everything_and_its_id_is_free(store: ConversationStore) -> None:
    store.create_with_id("s-1", "")
    store.append_turn("s-1", "needle", "a")
    store.claim("s-1")

    assert store.delete("s") == "s-1"

    assert (store.list(), store.search("needle"), store.live_owner("s-1")) == ([], [], None)
    store.create_with_id("s-1", "again")
    assert store.load("s-1").turns == ()
    with pytest.raises(NotFoundError):
        store.delete("nothing")


def pin(store: ConversationStore) -> None:
    """Somebody does not want it to be deleted."""
    put_register(store, "s-1", "pin", True)


def leave_a_turn_open(store: ConversationStore) -> None:
    """A program is in the midst of answering."""
    uid = store._store.conversation("s-1").uid
    with store._runtime.backend.transaction() as tx:
        recording.record(tx, uid, pending(started()))


def let_another_process_own_it(store: ConversationStore) -> None:
    """Another machine has it open, and was heard of just now."""
    other = Machines().host("b").start()
    Store(store._runtime._replace(processes=other)).conversation("s-1").claim()


@pytest.mark.parametrize("spare", [pin, leave_a_turn_open, let_another_process_own_it])
def test_what_is_spared_is_deleted_by_force_only(
    root: Path, workspace: Path, spare: Callable[[ConversationStore], None]
) -> None:
    with ConversationStore(root, workspace, 1, processes=Machines().host("a").start()) as store:
        store.create_with_id("s-1", "")
        spare(store)

        with pytest.raises(SparedError):
            store.delete("s-1")
        store.create_with_id("s-2", "")
        assert ids(store) == ["s-1", "s-2"]

        store.delete("s-1", force=True)
        assert not store.exists("s-1")


def test_the_plan_folder_of_the_session_goes_too(store: ConversationStore, workspace: Path) -> None:
    sessions = workspace / ".scratch" / "sessions"
    for id in ("s-1", "s-2"):
        store.create_with_id(id, "")
        (sessions / id).mkdir(parents=True)
        (sessions / id / "plan.md").write_text("a plan", encoding="utf-8")

    store.delete("s-1")

    assert sorted(place.name for place in sessions.iterdir()) == ["s-2"]


def test_a_plan_folder_can_be_elsewhere_or_nowhere(root: Path, workspace: Path) -> None:
    for folder in ("plans", ".scratch/sessions"):
        (workspace / folder / "s-1").mkdir(parents=True)

    with ConversationStore(root, workspace, plan_folder="plans") as store:
        store.create_with_id("s-1", "")
        store.delete("s-1")
    with ConversationStore(root, workspace, plan_folder=None) as store:
        store.create_with_id("s-1", "")
        store.delete("s-1")

    assert not (workspace / "plans" / "s-1").exists()
    assert (workspace / ".scratch" / "sessions" / "s-1").exists()


@pytest.mark.parametrize("linked", [".scratch", ".scratch/sessions", ".scratch/sessions/s-1"])
def test_a_link_out_of_the_workspace_is_not_followed(
    store: ConversationStore, workspace: Path, tmp_path: Path, linked: str, caplog: pytest.LogCaptureFixture
) -> None:
    outside = tmp_path / "outside"
    for place in (outside / "s-1", outside / "sessions" / "s-1"):
        place.mkdir(parents=True)
    (outside / "keep.txt").write_text("keep", encoding="utf-8")
    (workspace / linked).parent.mkdir(parents=True, exist_ok=True)
    (workspace / linked).symlink_to(outside)
    store.create_with_id("s-1", "")

    store.delete("s-1")

    assert (outside / "s-1").is_dir() and (outside / "sessions" / "s-1").is_dir()
    assert (outside / "keep.txt").exists()
    assert "s-1" in caplog.text
    assert not store.exists("s-1")


def test_a_native_id_outside_the_alphabet_names_no_folder(store: ConversationStore, workspace: Path) -> None:
    keep = workspace / ".scratch" / "keep"
    keep.mkdir(parents=True)
    (workspace / ".scratch" / "sessions" / "s").mkdir(parents=True)  # so that the path below leads somewhere
    store._store.create_with_id("s/../../keep")

    assert store.delete("s") == "s/../../keep"

    assert keep.is_dir()


# --- tool events


def test_a_digest_tells_the_names_of_arguments_and_hides_their_values() -> None:
    event = tool_event_from_call("write", {"path": "a.txt", "content": "secret words"}, False, 7)

    names, _, digest = event.args_digest.rpartition(" ")
    assert (event.tool, event.ok, event.duration_ms, names) == ("write", False, 7, "content path")
    assert digest.startswith("b3:") and len(digest) == 19
    assert "secret" not in event.args_digest
    assert tool_event_from_call("write", {"content": "secret words", "path": "a.txt"}, False, 7) == event
    assert tool_event_from_call("write", {"path": "a.txt", "content": "others"}, False, 7) != event
    assert tool_event_from_call("now", {}).args_digest.startswith("b3:")
    with pytest.raises(InputError):
        tool_event_from_call("write", {"path": {1, 2}})


def test_the_façade_reaches_the_parts_behind_a_store(store: ConversationStore) -> None:
    assert runtime_of(store._store).workspace is not None
