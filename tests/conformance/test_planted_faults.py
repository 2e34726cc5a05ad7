"""A suite is worth what it finds: faults are planted in backends, and each must make a test fail."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import pytest
from hypothesis import Phase, settings

from manent.storage.installation import Installation
from manent.storage.memory.backend import MemoryBackend
from manent.storage.sqlite.backend import SqliteBackend
from manent.storage.sqlite.reader import SQL
from manent.testing.conformance import CONTRACTS, Contract, OpenBackend, likeness
from manent.testing.conformance.adopting import AdoptContract
from manent.testing.conformance.appending import ChainContract
from manent.testing.conformance.deleting import DeletionContract
from manent.testing.conformance.erasing import ErasureContract
from manent.testing.conformance.fences import WorkspaceFenceContract
from manent.testing.conformance.identities import IdentityContract
from manent.testing.conformance.likeness import AgreementContract
from manent.testing.conformance.linking import LinkContract, ResumeContract
from manent.testing.conformance.listing import ListingContract
from manent.testing.conformance.measuring import MeasureContract
from manent.testing.conformance.metadata import KeyContract, MetadataContract
from manent.testing.conformance.moving import MoveContract
from manent.testing.conformance.owning import OwnerContract
from manent.testing.conformance.paging import PagingContract
from manent.testing.conformance.read_model import ReadModelContract
from manent.testing.conformance.tree import OpenTurnContract, RefoldContract, TreeContract
from tests.conformance.lifecycle_faults import FAULTS
from tests.conformance.memory_faults import Fault
from tests.conformance.suite_run import first_failure

_NUMBER = r"\(SELECT workspace FROM workspaces WHERE uid = :workspace\)"
FENCE = re.compile(rf"(?:\w+\.)?(?:uid|workspace) = (?::workspace|{_NUMBER})")


class Gap(NamedTuple):
    """A query with one of its fences taken out."""

    query: str
    number: int
    statement: str


class Change(NamedTuple):
    """A query in which something sound was replaced."""

    query: str
    sound: str
    broken: str
    found_by: type[Contract]


CHANGES = (
    Change("raise_clock", "SELECT seq FROM events ORDER BY position DESC LIMIT 1", "SELECT 0", AdoptContract),
    Change("put_tip", "hash = excluded.hash, ", "", ChainContract),
    Change("read_stream", "ORDER BY v.seq, v.writer", "ORDER BY v.position", PagingContract),
    Change("erase_leaf", "salt = NULL, ", "", ErasureContract),
    Change("erase_leaf", "digest = :digest", "digest = NULL", ErasureContract),
    Change("put_register", "(excluded.seq, excluded.writer) > (seq, writer)", "1", MetadataContract),
    Change("drop_key", "stream = :stream", "0", KeyContract),
    Change("find_prefix", "s.id < :beyond", "1", IdentityContract),
    Change("touch_conversation", "excluded.activity_seq, ", "1 << 62, ", ReadModelContract),
    Change("set_head", "(:seq, :writer) > (head_seq, head_writer)", "1", ReadModelContract),
    Change(
        "set_content", "(:seq, :writer) > (coalesce", "(:seq + 1000, :writer) > (coalesce", ReadModelContract
    ),
    Change("put_idempotency_key", "NOTHING", "UPDATE SET seq = excluded.seq", ReadModelContract),
    Change("clear_turns", "stream = :stream", "0", RefoldContract),
    Change("list_newest", "min(:as_of, :rank)", ":rank", ListingContract),
    Change("list_oldest", "e.seq <= :as_of", "1", ListingContract),
    Change("find_message_at", " AND m.message_id IS NULL", "", TreeContract),
    Change("read_branch", "b.named OR m.message_id IS NULL", "1", TreeContract),
    Change("list_newest", "e.seq <= :as_of", "1", AgreementContract),
    # owners
    Change("put_owner", "epoch = excluded.epoch, ", "", OwnerContract),
    Change("put_owner", "boot_id = excluded.boot_id,", "", OwnerContract),
    Change("put_owner", ", heartbeat_ns = excluded.heartbeat_ns", "", OwnerContract),
    Change("drop_owner", " AND id = :id", "", OwnerContract),
    Change("find_owner", " AND o.id = :id", "", OwnerContract),
    # links, and what may be resumed
    Change("put_link", "NOTHING", "UPDATE SET relation = excluded.relation", LinkContract),
    Change("read_links", "k.seq, k.writer", "k.writer DESC", LinkContract),
    Change("read_links_to", "k.seq, k.writer, s.uid", "k.relation", LinkContract),
    Change("read_links_to", "k.to_uid = :uid", "1", LinkContract),
    Change("clear_links", "stream = :stream", "0", LinkContract),
    Change("mark_spawned", "spawned = 1", "spawned = 0", ResumeContract),
    Change("touch_conversation", "coalesce(:imported, imported)", "coalesce(:imported, 0)", ResumeContract),
    Change("touch_conversation", "coalesce(:imported, imported)", "max(:imported, imported)", ResumeContract),
    Change("touch_conversation", "r.field = 'end_reason'", "0", ResumeContract),
    Change("touch_conversation", "r.value IS NOT NULL", "1", ResumeContract),
    Change("set_ended", "ended = :ended", "ended = 1", ResumeContract),
    Change("set_ended", "stream = :stream", "1", ResumeContract),
    Change(
        "list_newest", "c.resumable = :resumable AND c.activity_seq <=", "c.activity_seq <=", ResumeContract
    ),
    Change(
        "list_newest", "c.resumable = :resumable AND c.activity_seq >", "c.activity_seq >", ResumeContract
    ),
    Change(
        "list_oldest", "c.resumable = :resumable AND c.activity_seq >=", "c.activity_seq >=", ResumeContract
    ),
    Change(
        "list_oldest", "c.resumable = :resumable AND c.activity_seq > ", "c.activity_seq > ", ResumeContract
    ),
    # deleting
    Change("mark_deleted", "id = NULL, ", "", DeletionContract),
    Change("mark_deleted", ", deleted = 1", "", DeletionContract),
    Change("drop_registers", "stream = :stream", "0", DeletionContract),
    Change("drop_registers", "stream = :stream", "1", DeletionContract),
    Change("drop_key", "stream = :stream", "0", DeletionContract),
    Change("drop_owner_of_stream", "s.stream = :stream AND ", "", DeletionContract),
    Change("drop_owner_of_stream", "s.stream = :stream", "0", DeletionContract),
    Change("list_workspace_streams", " AND NOT s.deleted", "", DeletionContract),
    Change("find_stream_number", "stream, deleted", "stream, 0", DeletionContract),
    Change("put_stream", ":deleted", "0", DeletionContract),
    Change("touch_conversation", " AND id IS NOT NULL", "", DeletionContract),
    Change("drop_drafts", "uid = :uid", "0", DeletionContract),
    Change("drop_drafts", "uid = :uid", "1", DeletionContract),
    # moving
    Change("move_stream", "id = :id", "id = id", MoveContract),
    Change("move_stream", "deleted = :deleted", "deleted = 0", MoveContract),
    Change("move_stream", "stream = :stream", "id = :id", MoveContract),
    Change("move_conversation", "stream = :stream", "0", MoveContract),
    Change("move_conversation", "stream = :stream", "1", MoveContract),
    Change("move_key", "stream = :stream", "0", MoveContract),
    Change("move_alias", "UPDATE SET workspace = excluded.workspace", "NOTHING", MoveContract),
    Change("drop_alias", "kind = :kind AND ", "", MoveContract),
    Change("drop_alias", " AND value = :value", "", MoveContract),
    Change("drop_workspace", "FROM streams s WHERE s.workspace", "FROM streams s WHERE 0", MoveContract),
    Change("drop_workspace", "a.workspace = workspaces.workspace", "0", MoveContract),
    # measures and open turns
    Change("measure", "DISTINCT ", "", MeasureContract),
    Change("measure", "m.state = 0", "1", MeasureContract),
    Change("measure", "min(c.claim_first_ns)", "max(c.claim_first_ns)", MeasureContract),
    Change("measure", "max(c.claim_max_ns)", "min(c.claim_max_ns)", MeasureContract),
    Change("measure", "u.value >> 32", "0", MeasureContract),
    Change("measure", "u.value & 4294967295", "u.value & 2147483647", MeasureContract),
    Change("measure", "s.uid = :uid", "1", MeasureContract),
    Change("measure", ":workspace IS NULL OR ", "", MeasureContract),
    Change("measure", "l.name = 'usage'", "1", MeasureContract),
    Change("find_open_turn", "t.seq, t.writer", "t.seq DESC", OpenTurnContract),
    Change("find_open_turn", " AND NOT t.implicit", "", OpenTurnContract),
    Change("find_open_turn", "t.state = 'open'", "1", OpenTurnContract),
)

FENCED = (WorkspaceFenceContract, IdentityContract, OwnerContract, MoveContract, MeasureContract)
"""The contracts that must notice when a query looks beyond its workspace."""


def gaps() -> Iterator[Gap]:
    """Every fence of every query of the SQLite backend, each taken out alone."""
    for query, statement in SQL.items():
        for number, found in enumerate(FENCE.finditer(statement), start=1):
            yield Gap(query, number, f"{statement[: found.start()]}1{statement[found.end() :]}")


GAPS = list(gaps())


def memory_in(_: Path) -> OpenBackend:
    return lambda name="store": MemoryBackend(name=name, wait_s=1)


def sqlite_in(folder: Path) -> OpenBackend:
    here = Installation(folder / "state")
    return lambda name="store": SqliteBackend(folder / f"{name}.db", installation=here, durability="process")


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.what for fault in FAULTS])
def test_a_fault_that_is_planted_in_memory_is_found(fault: Fault) -> None:
    with fault.planted():
        assert first_failure(memory_in, [fault.found_by])


@pytest.mark.parametrize("change", CHANGES, ids=[f"{change.query}: {change.broken}" for change in CHANGES])
def test_a_changed_query_is_found(change: Change) -> None:
    statement = SQL[change.query].replace(change.sound, change.broken)
    assert statement != SQL[change.query], "the query reads otherwise now: change it here as well"

    unshrunk = settings(likeness.STORIES, phases=[Phase.generate])
    with patch.dict(SQL, {change.query: statement}), patch.object(likeness, "STORIES", unshrunk):
        assert first_failure(sqlite_in, [change.found_by])


def test_sound_backends_pass() -> None:
    contracts = [contract for contract in CONTRACTS if contract is not AgreementContract]

    assert first_failure(memory_in, contracts) is None
    assert first_failure(sqlite_in, FENCED) is None


def test_every_fence_of_the_queries_is_known() -> None:
    fenced = {query for query, statement in SQL.items() if ":workspace" in statement}

    assert fenced - {gap.query for gap in GAPS} == {"put_workspace", "put_blob"}  # they only write it


@pytest.mark.parametrize("gap", GAPS, ids=[f"{gap.query}-{gap.number}" for gap in GAPS])
def test_a_query_without_its_fence_is_found(gap: Gap) -> None:  # N-1
    with patch.dict(SQL, {gap.query: gap.statement}):
        assert first_failure(sqlite_in, FENCED)
