"""Case 19: resuming a conversation lands in exactly that one, and nothing changes by it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import manent
from manent.errors import InputError, NotFoundError
from manent.history.store import Store
from manent.model.events import RELATIONS
from manent.model.imported import ImportedConversation, ImportedMessage
from manent.model.owners import Claimed
from manent.model.parts import TextPart
from manent.model.records import Link, Message
from manent.storage.port import Backend
from manent.testing.clocks import SettableClock
from manent.testing.machines import Machines
from tests.stores import digest
from tests.unit.history.conftest import backend, clock
from tests.unit.history.handles import handle, whole

__all__ = ["backend", "clock"]


@pytest.fixture
def store(backend: Backend) -> Store:
    """
    A handle of the workspace of the case.

    B was begun anew after A was reset, A runs D, which was active last, and E goes on from A.
    """
    store = handle(backend)
    for id in ("A", "B", "D", "E"):
        store.create_with_id(id).append_turn(f"asked in {id}", "so it is")
    store.conversation("D").link_to("A", "spawned_by")
    store.conversation("E").link_to("A", "continues")
    store.conversation("D").append_turn("the newest", "so it is")
    return store


def test_case_19_a_resumed_conversation_is_the_one_that_was_named(store: Store) -> None:
    found = store.resume("A")

    assert (found.conversation.id, found.continued_by, found.end_reason, found.owner) == (
        "A",
        ("E",),
        None,
        None,
    )
    assert [turn.question for turn in found.conversation.turns()] == ["asked in A"]


def test_case_19_each_other_one_is_resumed_as_itself(store: Store) -> None:
    found = {id: store.resume(id) for id in ("B", "D", "E")}

    assert {id: resumed.conversation.id for id, resumed in found.items()} == {"B": "B", "D": "D", "E": "E"}
    assert {resumed.continued_by for resumed in found.values()} == {()}


def test_case_19_the_latest_is_never_one_that_another_one_runs(store: Store) -> None:
    latest = store.latest_open()

    assert store.list()[0].id == "D"
    assert latest is not None
    assert latest.id == "E"


def test_case_19_what_was_ended_is_not_offered_and_is_resumed_by_its_name(store: Store) -> None:
    for id in ("E", "B"):
        store.conversation(id).end("restart")
    assert _latest(store) == "A"

    store.conversation("A").end("new")

    found = store.resume("A")
    assert (_latest(store), found.conversation.id, found.end_reason) == (None, "A", "new")
    assert found.continued_by == ("E",)


def test_case_19_a_conversation_that_is_opened_again_is_offered_again(store: Store) -> None:
    store.conversation("E").end("restart")
    assert _latest(store) == "B"

    store.conversation("E").reopen()

    assert (_latest(store), store.resume("E").end_reason) == ("E", None)


def test_case_19_saying_twice_that_one_goes_on_names_it_once(store: Store) -> None:
    store.conversation("E").link_to("A", "continues")

    assert store.resume("A").continued_by == ("E",)


@pytest.mark.parametrize("name", ["nobody", "a", "", "AA"])
def test_case_19_a_name_that_fits_nothing_never_lands_elsewhere(store: Store, name: str) -> None:
    with pytest.raises(NotFoundError):
        store.resume(name)


@pytest.mark.usefixtures("store")
def test_case_19_in_another_workspace_nothing_is_offered_or_resumed(backend: Backend) -> None:
    theirs = handle(backend, "theirs")  # N-1

    assert theirs.latest_open() is None
    with pytest.raises(NotFoundError):
        theirs.resume("A")


def test_case_19_the_latest_of_a_project_is_of_that_project(store: Store) -> None:
    store.create("here", project="/here").append_turn("q", "a")
    for number in range(30):
        store.create(f"there {number}", project="/there").append_turn("q", "a")

    found = {project: store.latest_open(project=project) for project in ("/here", "/there", "/nowhere")}

    titles = {project: summary.title if summary else None for project, summary in found.items()}
    assert titles == {"/here": "here", "/there": "there 29", "/nowhere": None}


def test_case_19_what_another_one_runs_is_not_offered_even_if_that_was_said_first(store: Store) -> None:
    spawned = store.reserve("F")
    spawned.link_to("A", "spawned_by")

    spawned.append_turn("the newest", "so it is")

    assert (store.list()[0].id, _latest(store)) == ("F", "E")
    assert store.verify().ok


def test_case_19_what_is_begun_as_run_by_another_one_is_not_offered(store: Store) -> None:
    begun = store.create("F", spawned_by=store.conversation("A"))
    begun.append_turn("the newest", "so it is")
    gone_on = store.create("G", continues="A")

    assert begun.links() == [Link(relation="spawned_by", conversation_id="A")]
    assert _latest(store) == gone_on.id
    assert store.resume("A").continued_by == ("E", gone_on.id)


def test_case_19_imported_conversations_are_not_offered_until_somebody_speaks_there(store: Store) -> None:
    said = ImportedMessage(
        role="user", parts=(TextPart("from elsewhere"),), native=b"{}", native_id="m1", place="line 1"
    )
    source = ImportedConversation(format="test", messages=(said,), place="a file", native_id="c1")
    store.import_items([source], format="test")
    imported = store.list()[0]
    assert (imported.key, _latest(store)) == ("test:c1", "E")

    store.conversation(imported.id).append_turn("here", "so it is")

    assert _latest(store) == imported.id


# --- nothing changes by it


VISITS: dict[str, Callable[[Store], object]] = {
    "resuming": lambda store: store.resume("A"),
    "asking for the latest": lambda store: store.latest_open(),
    "opening": lambda store: store.conversation("A").metadata(),
    "reserving": lambda store: store.reserve("Z").links(),
    "asking who owns it": lambda store: store.conversation("A").live_owner(),
    "reading": lambda store: [*store.conversation("A").messages(), *store.conversation("A").turns()],
    "listing": lambda store: [*store.list(), store.stats(), store.exists("A"), store.resolve("A")],
    "verifying": lambda store: store.verify(receipt=store.receipt()),
    "releasing what is not one's own": lambda store: store.conversation("A").release(),
    "a heartbeat of nobody's": lambda store: store.conversation("A").heartbeat(),
}


@pytest.mark.parametrize("visit", VISITS.values(), ids=VISITS)
def test_case_19_opening_resuming_and_leaving_change_nothing(
    store: Store, backend: Backend, visit: Callable[[Store], object]
) -> None:  # O-4
    before, export = whole(backend), list(store.export_lines())

    visit(handle(backend))

    assert whole(backend) == before
    assert list(handle(backend).export_lines()) == export


@pytest.mark.parametrize("visit", VISITS.values(), ids=VISITS)
def test_case_19_a_visit_changes_no_byte_of_the_file(
    path: Path, visit: Callable[[Store], object]
) -> None:  # O-4
    with manent.open(path, workspace="demo") as store:
        store.create_with_id("A").append_turn("q", "a")
    before = digest(path)

    with manent.open(path, workspace="demo") as store:
        visit(store)

    assert digest(path) == before


def test_case_19_a_live_owner_is_told_and_a_dead_one_is_not(backend: Backend, clock: SettableClock) -> None:
    host = Machines(clock).host("a")
    owner, here = host.start(), handle(backend, process=host.start(), clock=clock)
    claimed = handle(backend, process=owner, clock=clock).create_with_id("s1").claim()
    assert isinstance(claimed, Claimed)

    while_it_ran = here.resume("s1").owner
    owner.crash()

    assert while_it_ran is not None
    assert (while_it_ran.process, while_it_ran.epoch) == (owner.here(), claimed.epoch)
    assert here.resume("s1").owner is None


# --- links


def test_case_19_links_are_seen_from_both_ends(store: Store) -> None:
    a, d, e = (store.conversation(id) for id in ("A", "D", "E"))

    assert d.links() == [Link(relation="spawned_by", conversation_id="A")]
    assert e.links() == [Link(relation="continues", conversation_id="A")]
    assert a.linked_from() == [
        Link(relation="spawned_by", conversation_id="D"),
        Link(relation="continues", conversation_id="E"),
    ]
    assert (a.links(), d.linked_from(), e.linked_from()) == ([], [], [])


def test_case_19_a_link_may_be_about_a_message(store: Store) -> None:
    a, b = store.conversation("A"), store.conversation("B")
    a.append_message(Message(role="user", parts="q", id="m1"))

    b.link_to(a, "copied_from", message_id="m1")

    assert b.links() == [Link(relation="copied_from", conversation_id="A", message_id="m1")]


def test_case_19_a_link_moves_no_activity(store: Store) -> None:  # L-8
    before = [(summary.id, summary.activity_seq, summary.last_ns) for summary in store.list()]

    for relation in sorted(RELATIONS):
        store.conversation("B").link_to("A", relation)

    assert [(summary.id, summary.activity_seq, summary.last_ns) for summary in store.list()] == before


REFUSED: dict[str, tuple[Callable[[Store], object], type[Exception]]] = {
    "an unknown relation": (lambda s: s.conversation("A").link_to("B", "follows"), InputError),
    "a fork, which is no mere link": (lambda s: s.conversation("A").link_to("B", "forked_from"), InputError),
    "itself": (lambda s: s.conversation("A").link_to("A", "continues"), InputError),
    "itself as a handle": (
        lambda s: s.conversation("A").link_to(s.conversation("A"), "continues"),
        InputError,
    ),
    "one that is not there": (lambda s: s.conversation("A").link_to("nobody", "continues"), NotFoundError),
    "one that is only reserved": (
        lambda s: s.conversation("A").link_to(s.reserve("R"), "continues"),
        NotFoundError,
    ),
    "a message that is not there": (
        lambda s: s.conversation("A").link_to("B", "continues", message_id="m1"),
        NotFoundError,
    ),
    "a beginning that goes on from nobody": (lambda s: s.create(continues="nobody"), NotFoundError),
    "a beginning that nobody runs": (lambda s: s.create(spawned_by="nobody"), NotFoundError),
}


@pytest.mark.parametrize(("link", "error"), REFUSED.values(), ids=REFUSED)
def test_case_19_a_link_that_cannot_be_is_refused_and_nothing_is_written(
    store: Store, backend: Backend, link: Callable[[Store], object], error: type[Exception]
) -> None:
    before = whole(backend)

    with pytest.raises(error):
        link(store)

    assert whole(backend) == before


def test_case_19_no_link_leads_into_another_workspace(store: Store, backend: Backend) -> None:  # N-1
    theirs = handle(backend, "theirs")
    for id in ("A", "T"):
        theirs.create_with_id(id)
    before = whole(backend)

    for other in ("T", theirs.conversation("T"), theirs.conversation("A")):
        with pytest.raises(NotFoundError):
            store.conversation("B").link_to(other, "continues")
        with pytest.raises(NotFoundError):
            store.create(continues=other)
        with pytest.raises(NotFoundError):
            handle(backend, None).conversation("B").link_to(other, "continues")

    assert whole(backend) == before


def test_case_19_a_handle_of_what_was_deleted_leads_to_no_namesake(store: Store, backend: Backend) -> None:
    gone = store.conversation("B")
    store.create_with_id("B", replace=True)
    before = whole(backend)

    with pytest.raises(NotFoundError):
        store.conversation("A").link_to(gone, "continues")
    with pytest.raises(NotFoundError):
        store.create(spawned_by=gone)

    assert whole(backend) == before


def test_case_19_links_to_what_was_deleted_are_not_shown(store: Store) -> None:
    store.delete("A")
    assert (store.conversation("E").links(), store.conversation("D").links()) == ([], [])

    store.create_with_id("A")

    assert store.conversation("A").linked_from() == []
    assert store.resume("A").continued_by == ()
    assert _latest(store) == "A"


def test_case_19_links_of_what_was_deleted_are_not_shown(store: Store) -> None:
    store.delete("E")

    assert store.conversation("A").linked_from() == [Link(relation="spawned_by", conversation_id="D")]
    assert store.resume("A").continued_by == ()


def _latest(store: Store) -> str | None:
    latest = store.latest_open()
    return latest.id if latest else None
