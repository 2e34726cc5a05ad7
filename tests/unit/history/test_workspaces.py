"""Workspaces as a whole: relinked, merged, and all of it back again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import manent
from manent.errors import AlreadyExistsError, FormatError, InputError, NotFoundError, OwnerRequiredError
from manent.history.moves import MOVE_FIELD
from manent.history.relinking import Workspaces
from manent.history.store import Store
from manent.model.owners import Claimed
from manent.model.plans import Plan, Subtask
from manent.model.records import FindingKind
from manent.model.workspaces import Workspace
from manent.storage.port import Backend
from manent.storage.wrappers import Wrapper
from manent.testing.builders import answered, began, said
from manent.testing.workbench import Workbench
from tests.unit.history.handles import attach, blobs_of, deletions, handle, listed, stream_of, whole
from tests.unit.history.handles import said as words
from tests.unit.ndjson.histories import exported, findings, imported, memory_store

KEPT, GONE = "kept", "gone"
A_MOVE = {"kind": "relink", "aliases": [[["key", "a"], ["key", "b"]]], "claim_ns": 1}


@pytest.fixture
def kept(backend: Backend) -> Store:
    """A handle of the workspace into which others are merged."""
    return handle(backend, KEPT)


@pytest.fixture
def gone(backend: Backend) -> Store:
    """A handle of the workspace that is merged into the other one."""
    return handle(backend, GONE)


@pytest.fixture
def workspaces(backend: Backend) -> Iterator[Workspaces]:
    """All workspaces, as the owner sees them; whatever a test did, `verify` finds nothing afterwards."""
    yield handle(backend, None).workspaces
    assert findings(backend) == ()


def counts(workspaces: Workspaces) -> dict[str, int]:
    """How many conversations each name leads to."""
    return {alias.value: found.conversations for found in workspaces.list() for alias in found.aliases}


def seen(backend: Backend, *names: str) -> dict[str, Any]:
    """What each of these workspaces shows of itself to whoever opens it by its name."""
    found: dict[str, Any] = {}
    for name in names:
        store = handle(backend, name)
        conversations = [store.conversation(id) for id in sorted(listed(store))]
        found[name] = {
            "said": {c.id: words(c) for c in conversations},
            "metadata": {c.id: c.metadata() for c in conversations},
            "links": {c.id: c.links() for c in conversations},
            "owners": {c.id: c.live_owner() for c in conversations},
            "uids": {c.id: c.uid for c in conversations},
            "drafts": {c.id: list(backend.drafts.list_ids(c.uid)) for c in conversations},
            "roadmaps": [roadmap.id for roadmap in store.roadmaps.list()],
            "blobs": blobs_of(backend, name),
            "stats": store.stats(),
        }
    return found


# --- the list


def test_the_list_shows_each_workspace_with_what_leads_to_it(kept: Store, workspaces: Workspaces) -> None:
    kept.create()
    kept.reserve("r").rename("reserved")
    (found,) = workspaces.list()

    assert (found.aliases, found.conversations) == ((Workspace("key", KEPT),), 1)


def test_a_store_without_workspaces_lists_none_and_has_lost_none(workspaces: Workspaces) -> None:
    assert (list(workspaces.list()), list(workspaces.find_lost()), list(workspaces.moves())) == ([], [], [])


CALLS: dict[str, Callable[[Workspaces], object]] = {
    "list": lambda w: w.list(),
    "find_lost": lambda w: w.find_lost(),
    "find_lost near": lambda w: w.find_lost(near="\0"),
    "relink": lambda w: w.relink(KEPT, "new"),
    "relink to a name that is taken": lambda w: w.relink(KEPT, GONE),
    "relink what is not there": lambda w: w.relink("nobody's", "new"),
    "relink nonsense": lambda w: w.relink("", ""),
    "merge": lambda w: w.merge(GONE, KEPT),
    "merge with itself": lambda w: w.merge(KEPT, KEPT),
    "merge what is not there": lambda w: w.merge("nobody's", KEPT),
    "moves": lambda w: w.moves(),
    "undo": lambda w: w.undo("x"),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("name", [KEPT, GONE, "nobody's"])
def test_a_handle_of_one_workspace_moves_none_and_learns_nothing(
    backend: Backend, kept: Store, gone: Store, name: str, call: Callable[[Workspaces], object]
) -> None:  # N-1
    kept.create()
    gone.create()
    before = whole(backend)

    with pytest.raises(OwnerRequiredError) as caught:
        call(handle(backend, name).workspaces)

    assert str(caught.value) == str(OwnerRequiredError())
    assert whole(backend) == before


def test_a_handle_of_one_workspace_does_not_even_look(
    kept: Store,
) -> None:  # N-1
    kept.create()

    for call in CALLS.values():
        with pytest.raises(OwnerRequiredError):
            call(handle(_Unseen(kept._runtime.backend), KEPT).workspaces)


class _Unseen(Wrapper):
    """A store that must not be looked at."""

    def reading(self) -> Any:
        raise AssertionError("it was read")

    def transaction(self) -> Any:
        raise AssertionError("it was written")


# --- relinking


def test_a_key_is_renamed_and_taken_back(backend: Backend, kept: Store, workspaces: Workspaces) -> None:
    kept.create_with_id("s1")

    move = workspaces.relink(KEPT, "new")

    assert (listed(handle(backend, "new")), listed(kept)) == (["s1"], [])
    assert (move.kind, move.aliases) == ("relink", ((Workspace.key(KEPT), Workspace.key("new")),))
    assert workspaces.undo(move.id) == move
    assert (listed(handle(backend, "new")), listed(kept)) == ([], ["s1"])


def test_a_key_has_no_keys_under_it(backend: Backend, workspaces: Workspaces) -> None:
    for name in ("a", "a/b", "ab"):
        handle(backend, name).create()

    workspaces.relink("a", "c")

    assert counts(workspaces) == {"c": 1, "a/b": 1, "ab": 1}


def test_a_folder_takes_what_is_under_it_along_and_no_key_of_that_name(
    backend: Backend, workspaces: Workspaces
) -> None:
    folders = [Workspace("folder", path) for path in ("/p", "/p/a", "/p/a/b", "/pq", "/q")]
    for fence in (*folders, Workspace("key", "/p")):
        handle(backend, fence).create()

    workspaces.relink(Workspace("folder", "/p"), Workspace("folder", "/r"))

    found = sorted(tuple(alias) for summary in workspaces.list() for alias in summary.aliases)
    assert found == sorted(
        [("folder", path) for path in ("/r", "/r/a", "/r/a/b", "/pq", "/q")] + [("key", "/p")]
    )


def test_a_folder_moves_into_itself_and_back(backend: Backend, workspaces: Workspaces) -> None:
    for path in ("/p", "/p/a"):
        handle(backend, Workspace("folder", path)).create()
    before = workspaces.list()

    move = workspaces.relink(Workspace("folder", "/p"), Workspace("folder", "/p/a"))

    assert counts(workspaces) == {"/p/a": 1, "/p/a/a": 1}
    workspaces.undo(move.id)
    assert workspaces.list() == before


def test_the_root_of_all_folders_can_be_relinked(backend: Backend, workspaces: Workspaces) -> None:
    handle(backend, Workspace("folder", "/p")).create()

    workspaces.relink(Workspace("folder", "/"), Workspace("folder", "/mnt"))

    assert counts(workspaces) == {"/mnt/p": 1}


REFUSED: dict[str, tuple[tuple[str | Workspace, str | Workspace], type[Exception]]] = {
    "a name that is taken": ((KEPT, GONE), AlreadyExistsError),
    "a folder under which one is taken": (
        (Workspace("folder", "/p"), Workspace("folder", "/q")),
        AlreadyExistsError,
    ),
    "what is not there": (("nobody's", "new"), NotFoundError),
    "twice the same": ((KEPT, KEPT), InputError),
    "two kinds": ((KEPT, Workspace("folder", "/x")), InputError),
    "a blank name": ((KEPT, " "), InputError),
}


@pytest.mark.parametrize(("names", "error"), REFUSED.values(), ids=REFUSED)
def test_a_relink_that_cannot_be_is_refused_and_nothing_is_written(
    backend: Backend,
    kept: Store,
    gone: Store,
    workspaces: Workspaces,
    names: tuple[str | Workspace, str | Workspace],
    error: type[Exception],
) -> None:
    for store in (kept, gone, *(handle(backend, Workspace("folder", p)) for p in ("/p", "/p/a", "/q/a"))):
        store.create()
    before = whole(backend)

    with pytest.raises(error):
        workspaces.relink(*names)

    assert whole(backend) == before


def test_moves_are_told_the_latest_first_and_undone_in_any_order_that_can_be(
    kept: Store, gone: Store, workspaces: Workspaces
) -> None:
    kept.create()
    gone.create()
    moves = [workspaces.relink(KEPT, "k2"), workspaces.relink(GONE, "g2"), workspaces.relink("k2", "k3")]
    assert workspaces.moves() == moves[::-1]

    with pytest.raises(NotFoundError):
        workspaces.undo(moves[0].id)
    for move in (moves[2], moves[0], moves[1]):
        workspaces.undo(move.id)

    assert counts(workspaces) == {KEPT: 1, GONE: 1}
    with pytest.raises(NotFoundError):
        workspaces.undo(moves[0].id)


def test_an_undo_whose_name_is_taken_by_now_is_refused(
    backend: Backend, kept: Store, workspaces: Workspaces
) -> None:
    kept.create_with_id("s1")
    move = workspaces.relink(KEPT, "new")
    kept.create_with_id("s2")
    before = whole(backend)

    with pytest.raises(AlreadyExistsError):
        workspaces.undo(move.id)

    assert whole(backend) == before
    assert workspaces.moves() == [move]


# --- merging


@pytest.fixture
def two(backend: Backend, kept: Store, gone: Store) -> tuple[Store, Store]:
    """
    Two workspaces with something of everything, `kept` and `gone`.

    Both have the id `both`, the key `k`, the roadmap `r` and the picture; each has a deleted conversation.
    """
    for name, store in ((KEPT, kept), (GONE, gone)):
        both = store.create_with_id("both", f"both of {name}", key="k")
        both.append_turn(f"asked in {name}", "so it is")
        attach(backend, both, b"picture")
        attach(backend, both, name.encode())
        backend.drafts.put(both.uid, f"draft of {name}", b"draft")
        own = store.create_with_id(f"of {name}", key=f"key of {name}")
        own.link_to("both", "continues")
        own.append_turn(f"only in {name}", "so it is")
        assert isinstance(both.claim(), Claimed)
        assert isinstance(own.claim(), Claimed)
        store.create_with_id("doomed").append_turn("doomed", "gone")
        store.delete("doomed", reason=name)
        store.reserve("reserved").rename(f"reserved of {name}")
        store.roadmaps.create(f"of {name}", name, Plan("g", subtasks=(Subtask("a", "b"),)))
    return kept, gone


def test_after_a_merge_everything_is_in_one_workspace_under_both_names(
    backend: Backend, two: tuple[Store, Store], workspaces: Workspaces
) -> None:
    kept, gone = two
    before = seen(backend, KEPT, GONE)
    other = gone.conversation("both").uid

    move = workspaces.merge(GONE, KEPT)

    after = seen(backend, KEPT, GONE)
    assert after[KEPT] == after[GONE]
    assert listed(kept) == listed(gone)
    assert sorted(listed(kept)) == sorted(["both", other, f"of {KEPT}", f"of {GONE}"])
    assert after[KEPT]["said"]["both"] == before[KEPT]["said"]["both"]
    assert after[KEPT]["said"][other] == before[GONE]["said"]["both"]
    assert after[KEPT]["owners"][other] == before[GONE]["owners"]["both"]
    assert after[KEPT]["drafts"][other] == ["draft of gone"]
    assert after[KEPT]["roadmaps"] == [f"of {GONE}", f"of {KEPT}"]
    assert after[KEPT]["blobs"] == sorted({*before[KEPT]["blobs"], *before[GONE]["blobs"]})
    assert move.kind == "merge"
    assert move.aliases == ((Workspace.key(GONE), Workspace.key(GONE)),)
    assert ("both", other) in move.renamed
    assert move.lost_keys == ("k",)
    assert counts(workspaces) == {KEPT: 4, GONE: 4}


def test_a_key_that_both_have_stays_with_the_workspace_that_is_kept(
    two: tuple[Store, Store], workspaces: Workspaces
) -> None:
    kept, gone = two
    mine, other = kept.conversation(key="k").uid, gone.conversation("both").uid

    workspaces.merge(GONE, KEPT)

    assert kept.conversation(key="k").uid == gone.conversation(key="k").uid == mine
    assert gone.conversation(key=f"key of {GONE}").id == f"of {GONE}"
    assert gone.conversation(other).metadata().key is None


def test_a_link_still_leads_to_the_conversation_that_gave_its_id_away(
    two: tuple[Store, Store], workspaces: Workspaces
) -> None:
    kept, gone = two
    other = gone.conversation("both").uid

    workspaces.merge(GONE, KEPT)

    assert [link.conversation_id for link in kept.conversation(f"of {GONE}").links()] == [other]
    assert kept.resume(other).continued_by == (f"of {GONE}",)
    assert kept.resume("both").continued_by == (f"of {KEPT}",)


def test_what_was_deleted_in_either_stays_deleted_and_declared(
    backend: Backend, two: tuple[Store, Store], workspaces: Workspaces
) -> None:
    workspaces.merge(GONE, KEPT)

    assert sorted(str(event.reason) for event in deletions(backend, KEPT)) == [GONE, KEPT]
    assert not two[0].exists("doomed")
    other = memory_store()
    handle(other, "elsewhere").import_lines(two[0].export_lines())
    assert findings(other) == ()


def test_an_undone_merge_gives_everything_back(
    backend: Backend, two: tuple[Store, Store], workspaces: Workspaces
) -> None:
    before, receipt = seen(backend, KEPT, GONE), two[0].receipt()
    move = workspaces.merge(GONE, KEPT)

    assert workspaces.undo(move.id) == move

    assert seen(backend, KEPT, GONE) == before
    assert workspaces.moves() == []
    assert handle(backend, None).verify(receipt=receipt).findings == ()
    assert [len(deletions(backend, name)) for name in (KEPT, GONE)] == [1, 1]


def test_an_undone_merge_gives_a_reserved_conversation_back(
    two: tuple[Store, Store], workspaces: Workspaces
) -> None:
    kept, gone = two

    move = workspaces.merge(GONE, KEPT)
    assert gone.reserve("reserved").title == f"reserved of {KEPT}"
    workspaces.undo(move.id)

    assert gone.reserve("reserved").title == f"reserved of {GONE}"
    assert kept.reserve("reserved").title == f"reserved of {KEPT}"


@pytest.mark.usefixtures("two")
def test_a_merge_can_be_done_undone_and_done_again(backend: Backend, workspaces: Workspaces) -> None:
    before = seen(backend, KEPT, GONE)

    for _ in range(3):
        workspaces.undo(workspaces.merge(GONE, KEPT).id)

    assert seen(backend, KEPT, GONE) == before


def test_what_was_begun_since_stays_where_it_was_begun(
    two: tuple[Store, Store], workspaces: Workspaces
) -> None:
    kept, gone = two
    move = workspaces.merge(GONE, KEPT)
    gone.create_with_id("since").append_turn("q", "a")
    gone.conversation(f"of {GONE}").append_turn("since then", "so it is")

    workspaces.undo(move.id)

    assert (kept.exists("since"), gone.exists("since")) == (True, False)
    assert words(gone.conversation(f"of {GONE}"))[-2:] == ["since then", "so it is"]


def test_a_conversation_that_was_deleted_since_stays_deleted_and_declared_in_both(
    two: tuple[Store, Store], workspaces: Workspaces
) -> None:
    kept, gone = two
    move = workspaces.merge(GONE, KEPT)
    for id in (f"of {GONE}", f"of {KEPT}"):
        kept.delete(id)

    workspaces.undo(move.id)

    assert (listed(kept), listed(gone)) == (["both"], ["both"])
    for store in (kept, gone):
        other = memory_store()
        handle(other, "elsewhere").import_lines(store.export_lines())
        assert findings(other) == ()


def test_a_blob_that_only_what_moved_back_refers_to_moves_back(
    backend: Backend, two: tuple[Store, Store], workspaces: Workspaces
) -> None:
    before = {name: blobs_of(backend, name) for name in (KEPT, GONE)}
    move = workspaces.merge(GONE, KEPT)
    since = attach(backend, two[1].create_with_id("since"), b"since")

    workspaces.undo(move.id)

    assert blobs_of(backend, GONE) == before[GONE]
    assert blobs_of(backend, KEPT) == sorted([*before[KEPT], since])


@pytest.mark.usefixtures("two")
@pytest.mark.parametrize("names", [(KEPT, KEPT), ("nobody's", KEPT), (GONE, "nobody's")])
def test_a_merge_that_cannot_be_is_refused_and_nothing_is_written(
    backend: Backend, workspaces: Workspaces, names: tuple[str, str]
) -> None:
    before = whole(backend)

    with pytest.raises((InputError, NotFoundError)):
        workspaces.merge(*names)

    assert whole(backend) == before


@pytest.mark.usefixtures("two")
def test_merging_what_is_one_already_is_refused(workspaces: Workspaces) -> None:
    workspaces.merge(GONE, KEPT)

    with pytest.raises(InputError, match="one workspace already"):
        workspaces.merge(GONE, KEPT)


@pytest.mark.usefixtures("two")
def test_merges_of_three_are_undone_one_after_the_other(backend: Backend, workspaces: Workspaces) -> None:
    handle(backend, "third").create_with_id("both", key="k").append_turn("third", "so it is")
    before = seen(backend, KEPT, GONE, "third")
    first = workspaces.merge(GONE, KEPT)
    second = workspaces.merge(KEPT, "third")
    merged = whole(backend)
    with pytest.raises((AlreadyExistsError, NotFoundError)):
        workspaces.undo(first.id)
    assert whole(backend) == merged

    workspaces.undo(second.id)
    workspaces.undo(first.id)

    assert seen(backend, KEPT, GONE, "third") == before


@pytest.mark.usefixtures("two")
def test_an_export_is_whole_before_a_merge_after_it_and_after_its_undoing(
    backend: Backend, workspaces: Workspaces
) -> None:  # I-4
    exports = [exported(backend)]
    move = workspaces.merge(GONE, KEPT)
    exports.append(exported(backend))
    workspaces.undo(move.id)
    exports.append(exported(backend))

    for export in exports:
        other = memory_store()
        imported(other, export)
        assert exported(other) == export
        assert findings(other) == ()


@pytest.mark.usefixtures("two")
def test_what_was_merged_comes_as_one_in_an_export_and_is_not_parted_by_it(
    backend: Backend, workspaces: Workspaces
) -> None:
    workspaces.merge(GONE, KEPT)
    other = memory_store()
    imported(other, exported(backend))

    same = ("said", "metadata", "links", "uids", "roadmaps", "blobs", "stats")
    there, here = seen(other, KEPT)[KEPT], seen(backend, KEPT)[KEPT]
    assert {what: there[what] for what in same} == {what: here[what] for what in same}
    assert list(handle(other, None).workspaces.moves()) == []


def test_a_move_in_an_export_is_refused(backend: Backend, kept: Store, workspaces: Workspaces) -> None:
    forged = memory_store()
    stranger = handle(forged, "stranger")
    stranger.create_with_id("s1")
    with forged.transaction() as tx:
        (info,) = tx.read.list_workspaces()
        tx.put_metadata(info.streams[0], "mark:x", A_MOVE)
    lines = exported(forged).replace(b"mark:x", b"move:x")
    kept.create_with_id("s1")
    before = whole(backend)

    with pytest.raises(FormatError, match="belongs to one store alone"):
        imported(backend, lines)

    assert whole(backend) == before
    assert list(workspaces.moves()) == []


@pytest.mark.parametrize(
    "damaged",
    [
        "text",
        7,
        [],
        {},
        {**A_MOVE, "kind": "burn"},
        {**A_MOVE, "kind": "merge", "source": "no uid"},
        {**A_MOVE, "aliases": [["key"]]},
        {**A_MOVE, "streams": [["00" * 16, 1, None]]},
    ],
)
def test_a_damaged_move_hinders_nothing_and_is_told_by_verify(
    backend: Backend, kept: Store, damaged: object
) -> None:
    workspaces = handle(backend, None).workspaces
    kept.create_with_id("s1")
    workspaces.relink(KEPT, "new")
    with backend.transaction() as tx:
        (info,) = tx.read.list_workspaces()
        tx.put_metadata(info.streams[0], f"{MOVE_FIELD}bad", damaged)

    assert [move.aliases[0][1].value for move in workspaces.moves()] == ["new"]
    with pytest.raises(NotFoundError):
        workspaces.undo("bad")
    handle(backend, "new").roadmaps.create("ship", "Ship it", Plan("g", subtasks=(Subtask("a", "b"),)))
    assert [(f.kind, f.detail) for f in findings(backend)] == [
        (FindingKind.UNREADABLE, "its register 'move:bad' is no move")
    ]


def test_two_names_that_became_one_are_two_again(backend: Backend, workspaces: Workspaces) -> None:
    old, new = handle(backend, "old"), handle(backend, "new")
    old.create_with_id("s1")
    new.create_with_id("s2")
    merge = workspaces.merge("old", "new")
    relink = workspaces.relink("old", "new")
    assert counts(workspaces) == {"new": 2}

    workspaces.undo(relink.id)
    assert counts(workspaces) == {"new": 2, "old": 2}
    workspaces.undo(merge.id)

    assert (listed(old), listed(new)) == (["s1"], ["s2"])


def test_a_handle_sees_nothing_of_what_moved_out_of_its_workspace(
    two: tuple[Store, Store], workspaces: Workspaces
) -> None:  # N-1
    kept, gone = two
    move = workspaces.merge(GONE, KEPT)
    conversation = kept.conversation(f"of {GONE}")
    conversation.append_turn("still", "here")

    workspaces.undo(move.id)

    calls: list[Callable[[], object]] = [
        lambda: conversation.append_turn("q", "a"),
        conversation.messages,
        conversation.claim,
        lambda: conversation.rename("mine"),
        conversation.metadata,
    ]
    for call in calls:
        with pytest.raises(NotFoundError):
            call()
    assert words(gone.conversation(f"of {GONE}"))[-2:] == ["still", "here"]


def test_a_handle_goes_on_with_what_a_merge_renamed(two: tuple[Store, Store], workspaces: Workspaces) -> None:
    kept, gone = two
    before = gone.conversation("both")
    workspaces.merge(GONE, KEPT)

    before.append_turn("after", "the merge")

    assert words(kept.conversation(before.uid))[-2:] == ["after", "the merge"]
    assert "after" not in words(kept.conversation("both"))


def test_a_claim_on_what_is_not_there_yet_comes_along_and_goes_back(
    two: tuple[Store, Store], workspaces: Workspaces
) -> None:  # O-1
    kept, gone = two
    soon, taken = gone.reserve("soon"), gone.reserve(f"of {KEPT}")
    claim, theirs = soon.claim(), kept.conversation(f"of {KEPT}").live_owner()
    assert isinstance(claim, Claimed) and isinstance(taken.claim(), Claimed)

    move = workspaces.merge(GONE, KEPT)

    owner = kept.reserve("soon").live_owner()
    assert owner is not None and owner.epoch == claim.epoch
    assert kept.conversation(f"of {KEPT}").live_owner() == theirs

    workspaces.undo(move.id)

    assert soon.append_turn("q", "a", epoch=claim.epoch).answer == "a"
    assert listed(gone)[0] == "soon"


@pytest.mark.usefixtures("two")
def test_a_blob_that_nothing_refers_to_yet_comes_along(backend: Backend, workspaces: Workspaces) -> None:
    with backend.reading() as reader:
        uid = reader.find_workspace("key", GONE)
    assert uid is not None
    digest = backend.blobs.put(uid, [b"put before what refers to it"])

    workspaces.merge(GONE, KEPT)

    assert digest in blobs_of(backend, KEPT)
    assert list(backend.blobs.list_digests(uid)) == []


def test_an_imported_conversation_that_was_deleted_is_not_brought_back_after_a_merge(
    kept: Store, gone: Store, workspaces: Workspaces
) -> None:
    from tests.unit.history.test_lifecycle import a_source

    gone.import_items([a_source("c1", "one")], format="test")
    kept.create_with_id("s1")
    gone.delete(gone.list()[0].id)

    move = workspaces.merge(GONE, KEPT)
    assert kept.import_items([a_source("c1", "one")], format="test").deleted_conversations == 1
    workspaces.undo(move.id)

    assert gone.import_items([a_source("c1", "one")], format="test").deleted_conversations == 1
    assert kept.import_items([a_source("c1", "one")], format="test").new_conversations == 1


def test_a_merge_keeps_branches_and_the_activity_of_every_conversation(
    backend: Backend, kept: Store, gone: Store, workspaces: Workspaces
) -> None:  # L-8
    kept.create_with_id("s1").append_turn("q", "a")
    conversation = gone.create_with_id("s2")
    Workbench(backend).record(
        conversation.uid,
        began(),
        said("q", id="q"),
        answered("a", id="a", under="q"),
        answered("b", under="q"),
    )
    kept.conversation("s1").append_turn("q", "a")
    before = [*kept.list(), *gone.list()]

    workspaces.merge(GONE, KEPT)

    uid = stream_of(backend, kept.conversation("s1").uid).workspace
    after = {summary.id: summary for summary in kept.list()}
    assert [summary.activity_seq for summary in kept.list()] == [summary.activity_seq for summary in before]
    assert {summary.workspace for summary in after.values()} == {uid}
    assert words(kept.conversation("s2")) == ["q", "b"]


# --- older spellings


def test_a_store_of_the_release_before_opens_its_own_workspace(backend: Backend) -> None:
    older, newer = Workspace("folder", "/repo-branch"), Workspace("folder", "/repo")
    handle(backend, older).create_with_id("s1")

    store = handle(backend, newer, older_names=(older,))
    store.create_with_id("s2")

    assert sorted(listed(store)) == sorted(listed(handle(backend, older))) == ["s1", "s2"]
    assert listed(handle(backend, newer)) == []


def test_what_no_release_before_knew_gets_the_newest_name(backend: Backend) -> None:
    older, newer = Workspace("folder", "/repo-branch"), Workspace("folder", "/repo")

    handle(backend, newer, older_names=(older,)).create_with_id("s1")

    assert listed(handle(backend, newer)) == ["s1"]
    assert listed(handle(backend, older)) == []


def test_a_worktree_of_a_store_of_release_0_1_still_has_what_was_said_there(tmp_path: Path) -> None:
    main, linked = tmp_path / "repo", tmp_path / "repo-branch"
    (main / ".git" / "worktrees" / "branch").mkdir(parents=True)
    (main / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {main}/.git/worktrees/branch\n", encoding="utf-8")
    for name, value in (
        ("commondir", "../..\n"),
        ("gitdir", f"{linked}/.git\n"),
        ("HEAD", "ref: refs/heads/b\n"),
    ):
        (main / ".git" / "worktrees" / "branch" / name).write_text(value, encoding="utf-8")
    assert Workspace.folder(linked) == Workspace.folder(main)
    with manent.open(tmp_path / "s.db", workspace=Workspace("folder", str(linked))) as store:
        store.create_with_id("s1")

    with manent.open(tmp_path / "s.db", workspace=str(linked)) as store:
        assert listed(store) == ["s1"]
    with manent.open(tmp_path / "s.db", workspace=str(main)) as store:
        assert listed(store) == []
