"""What `ConversationStore` promises about order, chains, pruning and failures."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import manent
from manent.errors import AmbiguousAddressError, ChainError, NotFoundError
from manent.history import recording
from manent.model.owners import Claimed
from manent.seeds import ConversationStore
from manent.testing.builders import a_turn, sealed
from manent.testing.clocks import NOON_NS, fixed, going_back
from manent.testing.machines import Machines
from tests.processes import run_together, start
from tests.tamper import tamper
from tests.unit.seeds.programs import open_and_append, open_at_once

GOLDEN = Path(__file__).parents[2] / "golden" / "format-1" / "conversations.db.gz"


def ids(store: ConversationStore) -> list[str]:
    """The ids that a store lists, in its order."""
    return [summary.id for summary in store.list()]


def asked(store: ConversationStore, id: str) -> list[str]:
    """The questions of a conversation, in order."""
    return [turn.user for turn in store.load(id).turns]


# --- order


def test_a_clock_that_is_set_back_in_mid_conversation_changes_no_order(root: Path, workspace: Path) -> None:
    with ConversationStore(root, workspace, clock=going_back(step_ns=3_600 * 10**9)) as store:  # L-1
        for id in ("s-1", "s-2"):
            store.create_with_id(id, "")
        for number in range(5):
            store.append_turn("s-1", f"question {number}", "a")

        assert asked(store, "s-1") == [f"question {number}" for number in range(5)]
        assert ids(store) == ["s-2", "s-1"]
        claims = [turn.ts_claim or 0 for turn in store.load("s-1").turns]
        assert claims == sorted(claims, reverse=True)
        store.verify_chain("s-1")


def test_forged_times_move_neither_the_list_nor_the_victim_of_a_prune(root: Path, workspace: Path) -> None:
    ages = {"s-1": NOON_NS * 2, "s-2": NOON_NS, "s-3": 0}  # L-8
    for id, claim_ns in ages.items():
        with ConversationStore(root, workspace, clock=fixed(claim_ns)) as store:
            store.create_with_id(id, "")
            store.append_turn(id, "q", "a")

    with ConversationStore(root, workspace, 3) as store:
        assert ids(store) == ["s-1", "s-2", "s-3"]
        store.create_with_id("s-4", "")

        assert ids(store) == ["s-2", "s-3", "s-4"]


def test_a_second_writer_appends_after_everything_that_it_could_read(
    root: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The original caught up with others only once, so that later words could stand before earlier ones."""
    here, other = (str(tmp_path / name) for name in ("here", "another installation"))  # L-1
    monkeypatch.setenv("MANENT_STATE", here)
    with ConversationStore(root, workspace) as first:
        first.create_with_id("s-1", "")
        first.append_turn("s-1", "first 0", "a")
    monkeypatch.setenv("MANENT_STATE", other)
    with ConversationStore(root, workspace) as second:
        second.append_turn("s-1", "second 0", "a")
    monkeypatch.setenv("MANENT_STATE", here)
    with ConversationStore(root, workspace) as first:
        for number in range(1, 5):
            first.append_turn("s-1", f"first {number}", "a")
    monkeypatch.setenv("MANENT_STATE", other)
    with ConversationStore(root, workspace) as second:
        second.append_turn("s-1", "second 1", "a")
        turns = second.load("s-1").turns

        assert [turn.user for turn in turns] == [
            "first 0",
            "second 0",
            *(f"first {number}" for number in range(1, 5)),
            "second 1",
        ]
        assert len({turn.writer_fingerprint for turn in turns}) == 2
        assert len({turn.seq for turn in turns}) == len(turns)
        second.verify_chain("s-1")


def test_turns_of_two_writers_with_one_seq_are_each_addressable(store: ConversationStore) -> None:
    """The original gave either of them."""
    store.create_with_id("s-1", "")
    seq = int(store.append_turn("s-1", "ours", "a").ref)
    uid = store._store.conversation("s-1").uid
    with store._runtime.backend.transaction() as tx:
        recording.adopt(tx, sealed(uid, a_turn("theirs", "a"), writer="ab" * 8, seq=seq))

    with pytest.raises(AmbiguousAddressError) as caught:
        store.load_turn("s-1", seq)

    assert len(caught.value.matches) == 2
    theirs, ours = (
        store.load_turn("s-1", seq, "ab" * 8),
        store.load_turn("s-1", seq, store.writer_fingerprint),
    )
    assert theirs is not None and theirs.user == "theirs"
    assert ours is not None and ours.user == "ours"


def test_a_rename_keeps_the_order(store: ConversationStore) -> None:
    for id in ("s-1", "s-2", "s-3"):
        store.create_with_id(id, "")

    store.rename("s-1", "renamed")
    store.end_conversation("s-2", "new")

    assert ids(store) == ["s-1", "s-2", "s-3"]


# --- chains


WORDS = "UPDATE leaves SET data = flipped(data) WHERE leaf >> 16 = {place} AND name = '{name}'"


@pytest.mark.parametrize(
    ("change", "row"),
    [
        pytest.param(WORDS.replace("{name}", "answer"), 2, id="a middle row"),
        pytest.param(WORDS.replace("{name}", "answer"), -1, id="the last row"),
        pytest.param(
            "UPDATE events SET claim_ns = claim_ns + 1 WHERE position = {place}", 2, id="a timestamp"
        ),
        pytest.param(WORDS.replace("{name}", "tool_events"), 2, id="a tool event"),
        pytest.param(WORDS.replace("{name}", "phantom_reaches"), 2, id="a phantom reach"),
    ],
)
def test_a_tampered_row_breaks_the_chain_of_its_conversation_only(
    root: Path, workspace: Path, change: str, row: int
) -> None:  # C-3
    with ConversationStore(root, workspace) as store:
        for id in ("s-1", "s-2"):
            store.create_with_id(id, "")
            for number in range(3):
                store.append_turn_full(
                    id,
                    f"question {number}",
                    "an answer",
                    [manent.ToolEvent("grep", "path")],
                    [manent.PhantomReach("find", "unknown")],
                )
        uid = store._store.conversation("s-1").uid
        with store._runtime.backend.reading() as reader:
            places = [each.position for each in reader.read_log(0, 100) if each.header.uid == uid]
        store.verify_chain("s-1")

    tamper(root / "conversations.db", change.format(place=places[row]))

    with ConversationStore(root, workspace) as store:
        with pytest.raises(ChainError) as caught:
            store.verify_chain("s-1")
        assert caught.value.conversation_id == "s-1"
        assert {finding.address.partition("#")[0] for finding in caught.value.findings} <= {
            "event:s-1",
            "conversation:s-1",
            "message:s-1",
            "turn:s-1",
        }
        assert "answer" not in str(caught.value)
        store.verify_chain("s-2")
        with pytest.raises(NotFoundError):
            store.verify_chain("nothing")


# --- several at once


def test_two_processes_append_25_turns_each_and_none_is_busy(root: Path, workspace: Path) -> None:
    with ConversationStore(root, workspace) as store:  # L-4, D-5
        store.create_with_id("s-1", "")

        seqs = run_together(
            [start(open_and_append, root, workspace, "s-1", name, 25) for name in ("one", "other")]
        )

        turns = store.load("s-1").turns
        assert len({*seqs[0], *seqs[1]}) == len(turns) == 50
        assert [turn.seq for turn in turns] == sorted([*seqs[0], *seqs[1]])
        for name in ("one", "other"):
            said = [turn.user for turn in turns if turn.user.startswith(name)]
            assert said == [f"{name} {number}" for number in range(25)]
        store.verify_chain("s-1")


def test_eight_first_openers_all_succeed(root: Path, workspace: Path) -> None:  # D-6
    assert run_together([start(open_at_once, root, workspace) for _ in range(8)]) == [0] * 8


# --- pruning


def test_an_append_never_prunes_and_the_next_create_does(root: Path, workspace: Path) -> None:
    with ConversationStore(root, workspace) as store:
        for number in range(5):
            store.create_with_id(f"s-{number}", "")
    with ConversationStore(root, workspace, 3) as store:
        store.append_turn("s-0", "q", "a")
        assert len(store.list()) == 5

        store.create_with_id("s-5", "")

        assert ids(store) == ["s-4", "s-0", "s-5"]


def test_what_a_live_process_owns_is_spared_and_what_a_dead_one_owned_is_not(
    root: Path, workspace: Path
) -> None:
    host = Machines().host("a")
    here, living, dead = host.start(), host.start(), host.start()
    for id, process in (("s-1", living), ("s-2", dead), ("s-3", here)):
        with ConversationStore(root, workspace, processes=process) as store:
            store.create_with_id(id, "")
            assert isinstance(store.claim(id), Claimed)
    dead.crash()

    with ConversationStore(root, workspace, 1, processes=here) as store:
        store.create_with_id("s-4", "")

        assert ids(store) == ["s-1", "s-3", "s-4"]
        assert store.live_owner("s-2") is None


# --- failures


def test_an_older_store_opens_and_ticks_go_on_past_it(root: Path, workspace: Path) -> None:  # M-1
    root.mkdir()
    (root / "conversations.db").write_bytes(gzip.decompress(GOLDEN.read_bytes()))

    with ConversationStore(root, workspace) as store:
        with store._runtime.backend.reading() as reader:
            clock = reader.info().clock
        id = store.create("beside the old ones")
        address = store.append_turn(id, "q", "a")

        assert int(address.ref) > clock
        assert ids(store) == [id]
        store.verify_chain(id)
    with manent.open(root / "conversations.db", workspace="garden") as garden:
        assert garden.list()
        assert garden.verify().ok
