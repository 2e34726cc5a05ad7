"""A fault at any statement of a writing call leaves the store as it was before, and no lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest

from manent.errors import InjectedFaultError
from manent.history.store import Store
from manent.model.owners import Claimed
from manent.storage.port import Backend
from manent.storage.wrappers import FaultPlan, faulty
from manent.testing.faults import failing_at_each_statement
from tests.unit.history.handles import attach, blobs_of, handle, said, whole
from tests.unit.ndjson.histories import findings

Write = Callable[[Backend], object]


def demo(backend: Backend) -> Store:
    """A handle of the workspace that most calls write to."""
    return handle(backend, "demo")


def owner(backend: Backend) -> Store:
    """The owner's handle."""
    return handle(backend, None)


WRITES: dict[str, Write] = {
    "create": lambda b: demo(b).create("new", key="new", persona="p", continues="s1", spawned_by="s2"),
    "create_with_id": lambda b: demo(b).create_with_id("new", "new", key="new"),
    "create_with_id that replaces": lambda b: demo(b).create_with_id("s1", "new", replace=True),
    "create that prunes": lambda b: demo(b).create("new", max_conversations=1),
    "a replacement that prunes": lambda b: demo(b).create_with_id("s1", replace=True, max_conversations=1),
    "the first turn of a reserved one": lambda b: demo(b).reserve("new").append_turn("q", "a"),
    "delete": lambda b: demo(b).delete("s1", reason="asked for"),
    "delete by the owner": lambda b: owner(b).delete("lone"),
    "link_to": lambda b: demo(b).conversation("s2").link_to("s1", "continues"),
    "link_to of a reserved one": lambda b: demo(b).reserve("new").link_to("s1", "spawned_by"),
    "claim": lambda b: demo(b).conversation("s2").claim(),
    "claim before the conversation": lambda b: demo(b).reserve("new").claim(),
    "claim in a new workspace": lambda b: handle(b, "new").reserve("new").claim(),
    "claim once more": lambda b: demo(b).conversation("s1").claim(),
    "heartbeat": lambda b: demo(b).conversation("s1").heartbeat(),
    "release": lambda b: demo(b).conversation("s1").release(),
    "relink": lambda b: owner(b).workspaces.relink("demo", "new"),
    "merge": lambda b: owner(b).workspaces.merge("other", "demo"),
    "undo of a relink": lambda b: owner(b).workspaces.undo(owner(b).workspaces.moves()[0].id),
    "undo of a merge": lambda b: owner(b).workspaces.undo(owner(b).workspaces.moves()[1].id),
}


@pytest.fixture
def full(backend: Backend) -> Backend:
    """A store with something of everything that these calls change."""
    for workspace in ("demo", "other"):
        store = handle(backend, workspace)
        for id in ("s1", "s2"):
            store.create_with_id(id, id, key=f"key of {id}").append_turn("q", "a")
        assert isinstance(store.conversation("s1").claim(), Claimed)
        store.reserve("r").rename("reserved")
        backend.drafts.put(store.conversation("s1").uid, "d1", b"draft")
    handle(backend, "third").create_with_id("s1", key="key of s1").append_turn("q", "a")
    handle(backend, "fourth").create_with_id("s1", key="key of s1").append_turn("q", "a")
    owner(backend).workspaces.merge("third", "fourth")
    handle(backend, "moved").create_with_id("lone")
    owner(backend).workspaces.relink("moved", "moved since")
    return backend


class Seen(NamedTuple):
    """What a store holds, and the drafts beside it."""

    whole: object
    drafts: list[list[str]]


def seen(backend: Backend) -> Seen:
    """All that these calls could leave half done."""
    found = whole(backend, "new", "s1", "s2", "r")
    uids = [stream.info.uid for stream in found.snapshot.streams if stream.info]
    return Seen(found, [list(backend.drafts.list_ids(uid)) for uid in uids])


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_call_that_fails_at_any_statement_leaves_the_store_as_it_was(full: Backend, write: Write) -> None:
    before = seen(full)  # D-2, L-2

    failed = 0
    for failed in failing_at_each_statement(full, write):  # noqa: B007
        assert seen(full) == before

    assert failed > 2
    assert seen(full) != before
    assert findings(full) == ()


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), MemoryError()], ids=repr)
@pytest.mark.parametrize("name", ["delete", "merge", "undo of a merge", "create that prunes"])
def test_an_interruption_in_the_midst_leaves_the_store_as_it_was(
    full: Backend, name: str, error: BaseException
) -> None:  # D-2
    before = seen(full)

    with pytest.raises(type(error)):
        WRITES[name](faulty(full, FaultPlan(15, error)))

    assert seen(full) == before
    demo(full).conversation("s2").append_turn("at once", "so it is")
    assert findings(full) == ()


def test_a_merge_that_fails_keeps_every_attachment_where_it_is_referred_to(backend: Backend) -> None:  # D-2
    demo(backend).create_with_id("s1").append_turn("q", "a")
    other = handle(backend, "other")
    digest = attach(backend, other.create_with_id("s1"), b"picture")
    before = whole(backend)

    failed = 0
    for failed in failing_at_each_statement(  # noqa: B007
        backend, lambda b: owner(b).workspaces.merge("other", "demo")
    ):
        assert whole(backend)[:2] == before[:2]
        assert blobs_of(backend, "other") == [digest]

    assert failed > 10
    assert blobs_of(backend, "demo") == blobs_of(backend, "other") == [digest]
    assert findings(backend) == ()


def test_an_undo_that_fails_keeps_every_attachment_where_it_is_referred_to(backend: Backend) -> None:  # D-2
    demo(backend).create_with_id("s1").append_turn("q", "a")
    other = handle(backend, "other")
    digest = attach(backend, other.create_with_id("s2"), b"picture")
    move = owner(backend).workspaces.merge("other", "demo")
    before = whole(backend)

    failed = 0
    for failed in failing_at_each_statement(backend, lambda b: owner(b).workspaces.undo(move.id)):  # noqa: B007
        assert whole(backend) == before

    assert failed > 10
    assert (blobs_of(backend, "demo"), blobs_of(backend, "other")) == ([], [digest])
    assert said(other.conversation("s2")) == ["see the file"]
    assert findings(backend) == ()


def test_a_deletion_that_fails_keeps_the_attachments(backend: Backend) -> None:  # D-2
    digest = attach(backend, demo(backend).create_with_id("s1"), b"picture")
    before = whole(backend)

    for _ in failing_at_each_statement(backend, lambda b: demo(b).delete("s1")):
        assert whole(backend) == before
        assert blobs_of(backend, "demo") == [digest]

    assert blobs_of(backend, "demo") == []


def test_a_fault_while_attachments_are_copied_moves_nothing(backend: Backend) -> None:  # D-2
    demo(backend).create_with_id("s1")
    attach(backend, handle(backend, "other").create_with_id("s1"), b"picture")
    before = whole(backend)

    with pytest.raises(InjectedFaultError):
        owner(faulty(backend, FaultPlan(1))).workspaces.merge("other", "demo")

    assert whole(backend) == before
