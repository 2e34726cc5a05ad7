"""Whatever fails in a writing call of a façade, nothing was written; once it is, nothing can fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import manent
from manent.history.store import Store
from manent.model.plans import Plan, PlanSnapshot, Step, StepStatus, Subtask
from manent.parts import Citation
from manent.seeds import ConversationMessage, ConversationService, ConversationStore, SessionRepo
from manent.seeds.opened import _Shared
from manent.storage.port import Backend
from tests.unit.seeds.failing import FailingOnce, everything, failing_anywhere

PLAN = PlanSnapshot((Step("mend it", StepStatus.ACTIVE),))
TREE = Plan(goal="ship", subtasks=(Subtask("a", "build"),))


def prune_to_one(store: ConversationStore) -> ConversationStore:
    """The same store, in which a new conversation leaves no other one."""
    store._max = 1
    return store


STORE_CALLS: dict[str, Callable[[ConversationStore], object]] = {
    "create": lambda store: store.create("more", "coder"),
    "create, pruning": lambda store: prune_to_one(store).create("more"),
    "create_with_id": lambda store: store.create_with_id("s-3", "more"),
    "create_with_id, replacing": lambda store: store.create_with_id("s-2", "t", replace=True),
    "append_turn": lambda store: store.append_turn("s-", "more", "a"),
    "append_turn_full": lambda store: store.append_turn_full("s-1", "more", "a", tokens_in=7),
    "rename": lambda store: store.rename("s-1", "more"),
    "end_conversation": lambda store: store.end_conversation("s-1", "new"),
    "update_scratchpad": lambda store: store.update_scratchpad("s-1", {"a": "b"}),
    "update_plan_snapshot": lambda store: store.update_plan_snapshot("s-1", PLAN),
    "link_conversation_to_node": lambda store: store.link_conversation_to_node("s-1", "road", "node"),
    "link_conversation_to_node, before it is there": lambda store: store.link_conversation_to_node(
        "s-9", "road", "node"
    ),
    "claim": lambda store: store.claim("s-1"),
    "claim, before it is there": lambda store: store.claim("s-9"),
    "heartbeat": lambda store: store.heartbeat("s-8"),
    "release": lambda store: store.release("s-8"),
    "create_roadmap": lambda store: store.create_roadmap("r-2", "two", TREE),
    "update_roadmap": lambda store: store.update_roadmap("r-1", Plan(goal="less")),
    "delete": lambda store: store.delete("s-1"),
}

REPO_CALLS: dict[str, Callable[[SessionRepo], object]] = {
    "create_session": lambda repo: repo.create_session("new", first_question="q", config_snapshot={}),
    "create_session, unnamed": lambda repo: repo.create_session(first_question="q", config_snapshot={}),
    "append_turn": lambda repo: repo.append_turn("ask", "q", "a", [Citation(marker="1")], 7),
    "append_turn, with a branch": lambda repo: repo.append_turn("forked", "q", "a"),
    "delete_session": lambda repo: repo.delete_session("ask"),
}

SERVICE_CALLS: dict[str, Callable[[ConversationService], object]] = {
    "ensure_conversation_table": lambda service: service.ensure_conversation_table(5),
    "save_message, the first": lambda service: service.save_message(5, said("more")),
    "save_message, one more": lambda service: service.save_message(1, said("more")),
}


def said(content: str, **fields: Any) -> ConversationMessage:
    """A user's message."""
    return ConversationMessage(role="user", content=content, **fields)


def over(store: ConversationStore, backend: Backend) -> ConversationStore:
    """The same store over another backend."""
    other = store.clone()
    other._shared = _Shared(Store(store._runtime._replace(backend=backend)))
    return other


def handle_over(store: manent.Store, backend: Backend) -> manent.Store:
    """The same handle over another backend."""
    return Store(store._runtime._replace(backend=backend))


def fails_without_a_trace(backend: Backend, write: Callable[[Backend], object]) -> None:
    """Try it, statement by statement."""
    before, failed = everything(backend), 0
    for failed in failing_anywhere(backend, write):
        assert everything(backend) == before, f"statement {failed} failed, and something was written"

    assert failed > 2
    assert everything(backend) != before


@pytest.fixture
def handle(tmp_path: Path) -> Iterator[manent.Store]:
    """A store with two sessions and one user of a bot."""
    with manent.open(tmp_path / "store.db", workspace="demo") as store:
        repo = SessionRepo(store)
        for id in ("ask", "forked"):
            repo.create_session(id, config_snapshot={})
        for number in range(2):
            repo.append_turn("forked", f"q{number}", "a")
        first_answer = store.conversation(key="forked").turns()[0].message_ids[1]
        other_way = manent.Message(role="user", parts="other")
        store.conversation(key="forked").append_message(other_way, parent=first_answer)
        ConversationService(store).save_message(1, said("m"))
        yield store


@pytest.mark.parametrize("write", STORE_CALLS.values(), ids=STORE_CALLS)
def test_a_call_of_the_conversation_store_that_fails_leaves_no_trace(
    store: ConversationStore, write: Callable[[ConversationStore], object]
) -> None:  # D-2
    store.create_with_id("s-1", "")
    store.append_turn("s-1", "q", "a")
    if write is STORE_CALLS["create_with_id, replacing"]:
        store.create_with_id("s-2", "")
    store.create_roadmap("r-1", "one", TREE)
    store.claim("s-8")

    fails_without_a_trace(store._runtime.backend, lambda backend: write(over(store, backend)))


@pytest.mark.parametrize("write", REPO_CALLS.values(), ids=REPO_CALLS)
def test_a_call_of_the_session_repo_that_fails_leaves_no_trace(
    handle: manent.Store, write: Callable[[SessionRepo], object]
) -> None:  # D-2
    def call(backend: Backend) -> None:
        write(SessionRepo(handle_over(handle, backend)))

    fails_without_a_trace(handle._runtime.backend, call)


@pytest.mark.parametrize("write", SERVICE_CALLS.values(), ids=SERVICE_CALLS)
def test_a_call_of_the_conversation_service_that_fails_leaves_no_trace(
    handle: manent.Store, write: Callable[[ConversationService], object]
) -> None:  # D-2
    def call(backend: Backend) -> None:
        write(ConversationService(handle_over(handle, backend)))

    fails_without_a_trace(handle._runtime.backend, call)


def test_each_writing_call_is_tried() -> None:
    reading = {
        *("clone", "clone_from", "close", "exists", "is_owner_live", "latest_open", "legacy_report"),
        *("list", "list_roadmaps", "live_owner", "load", "load_roadmap", "load_turn", "new", "resolve_id"),
        *("search", "verify_chain", "wal_fallback_notice", "workspace_id_for_path", "writer_fingerprint"),
        *("get_session", "list_sessions", "list_turns"),
        *("get_recent_messages", "search_relevant_messages", "get_conversation_stats"),
        "get_smart_context",
    }
    for façade, calls in (
        (ConversationStore, STORE_CALLS),
        (SessionRepo, REPO_CALLS),
        (ConversationService, SERVICE_CALLS),
    ):
        public = {name for name in dir(façade) if not name.startswith("_")}

        assert public - reading == {name.partition(",")[0] for name in calls}


def test_a_fault_in_a_second_transaction_is_met(handle: manent.Store) -> None:
    def write_twice(backend: Backend) -> None:
        for title in ("one", "two"):
            handle_over(handle, backend).create(title)

    backend = handle._runtime.backend
    before, met = everything(backend), []
    for _ in failing_anywhere(backend, write_twice):
        met.append(everything(backend) != before)
        if met[-1]:
            break

    assert met[-1] and not any(met[:-1])


def test_what_has_failed_once_works_again(handle: manent.Store) -> None:
    failing = FailingOnce(handle._runtime.backend, 1)
    service = ConversationService(handle_over(handle, failing))

    with pytest.raises(manent.errors.InjectedFaultError):
        service.save_message(5, said("first"))
    assert [summary.key for summary in handle.list()] == ["telegram:1", "forked", "ask"]
    service.save_message(5, said("first"))

    assert [message.content for message in service.get_recent_messages(5, 10)] == ["first"]
