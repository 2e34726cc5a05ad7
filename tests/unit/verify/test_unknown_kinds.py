"""Events of a newer release are kept, skipped, counted and reported (L-9)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from manent.codec.sealing import hash_of
from manent.history.runtime import Scratch
from manent.history.verifying import Verifier
from manent.model.events import MessageAdded
from manent.model.log import Leaf, SealedEvent
from manent.model.records import FindingKind, Report
from manent.opening import make_scratch, open_backend
from manent.testing.builders import began, said, sealed
from manent.testing.workbench import Workbench


@pytest.fixture(params=["memory:", "conversations.db"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workbench]:
    url = request.param if request.param == "memory:" else tmp_path / request.param
    backend = open_backend(url)
    yield Workbench(backend)
    backend.close()


def verified(bench: Workbench) -> Report:
    """What `verify` says of a store."""
    with bench.backend.reading() as reader:
        return Verifier(reader, Scratch(make_scratch), None, lambda _: None).run()


def a_chain(uid: str, kind: str, schema_version: int, leaves: tuple[Leaf, ...] = ()) -> list[SealedEvent]:
    """Three events, of which the second one has the kind, version and leaves given."""
    first, second = sealed(uid, began(), said("?", id="m1"))
    header = second.header._replace(kind=kind, schema_version=schema_version)
    strange = SealedEvent(header, leaves or second.leaves)
    return [first, strange, *sealed(uid, said("after", id="m2"), seq=3, prev_hash=hash_of(strange))]


NEWER = pytest.mark.parametrize(
    ("kind", "schema_version"),
    [("from_the_future", 7), (MessageAdded.KIND, MessageAdded.SCHEMA_VERSION + 1)],
)


@NEWER
def test_an_event_of_a_newer_release_is_counted_and_no_finding(
    bench: Workbench, kind: str, schema_version: int
) -> None:  # L-9
    uid = bench.conversation()

    bench.adopt(*a_chain(uid, kind, schema_version))

    assert verified(bench) == Report(findings=(), streams=2, events=3, erased_leaves=0, unknown_kinds=1)


@NEWER
def test_an_event_of_a_newer_release_is_skipped_in_the_read_model(
    bench: Workbench, kind: str, schema_version: int
) -> None:  # L-9
    uid = bench.conversation()

    bench.adopt(*a_chain(uid, kind, schema_version))

    assert bench.texts(uid) == ["after"]


@NEWER
def test_an_event_of_a_newer_release_is_kept_as_it_came(
    bench: Workbench, kind: str, schema_version: int
) -> None:  # L-9
    uid = bench.conversation()
    events = a_chain(uid, kind, schema_version)

    bench.adopt(*events)

    assert [SealedEvent(entry.header, entry.leaves) for entry in bench.events(uid)] == events


@pytest.mark.parametrize(
    "data",
    [b"no JSON", b"\xff", b"[1]", b'{"message_id": 7}', b"[" * 100_000],
    ids=["no JSON", "no UTF-8", "no object", "wrong type", "deep"],
)
def test_a_known_kind_that_cannot_be_read_is_found_and_skipped(bench: Workbench, data: bytes) -> None:  # C-3
    uid = bench.conversation("c1")
    leaves = (Leaf("skeleton", data, bytes(16)),)

    bench.adopt(*a_chain(uid, MessageAdded.KIND, 1, leaves))

    (finding,) = verified(bench).findings
    assert (finding.kind, finding.address) == (FindingKind.UNREADABLE, f"event:c1#2@{'ab' * 8}")
    assert bench.texts(uid) == ["after"]


def test_deeply_nested_words_are_found_and_skipped(bench: Workbench) -> None:  # I-3
    uid = bench.conversation("c1")
    (event,) = sealed(uid, said("?"))
    leaves = (event.leaves[0], Leaf("metadata", b'{"a":' * 100_000, bytes(16)))

    bench.adopt(*a_chain(uid, MessageAdded.KIND, 1, leaves))

    assert [finding.kind for finding in verified(bench).findings] == [FindingKind.UNREADABLE]
