"""Reading by address: what a hit, a turn or a model names is read as such, and nothing beyond the fence."""

from __future__ import annotations

import pytest

from manent.errors import (
    AddressError,
    AmbiguousAddressError,
    AmbiguousPrefixError,
    NotFoundError,
)
from manent.history.store import Store
from manent.model.ids import Address, message_address, turn_address
from manent.model.memory import MEMORY_KINDS, MemoryAddress, parse_memory_address
from manent.model.records import Message, StoredMessage, Turn
from manent.storage.port import Backend
from manent.testing.builders import a_turn, sealed
from manent.testing.workbench import Workbench
from tests.unit.history.handles import handle

WRITERS = ("ab" * 8, "cd" * 8)


@pytest.fixture
def store(backend: Backend) -> Store:
    """A handle of the workspace `demo`."""
    return handle(backend)


def question_at(store: Store, address: Address | str) -> str:
    """The question of the turn at an address."""
    found = store.get(address)
    assert isinstance(found, Turn)
    return found.question


def test_a_turn_is_read_by_its_address_as_text_and_as_it_is(store: Store) -> None:
    turn = store.create_with_id("s1").append_turn("q", "a")

    assert store.get(turn.address) == store.get(str(turn.address)) == store.find(turn.address) == turn


def test_a_message_outside_of_turns_is_read_by_its_address(store: Store) -> None:
    said = store.create_with_id("s1").append_message(Message(role="assistant", parts="hello", id="m1"))

    assert str(said.address) == "message:s1#m1"
    assert store.get("message:s1#m1") == store.get(said.address) == said


@pytest.mark.parametrize("message_id", ["a#b", "#", "m@w", "m:1", "\u200b"])
def test_a_message_is_read_by_its_address_whatever_its_id_holds(store: Store, message_id: str) -> None:
    said = store.create_with_id("s1").append_message(Message(role="user", parts="hello", id=message_id))

    assert store.get(message_address("s1", message_id)) == said


def test_a_message_of_a_turn_is_read_by_its_own_id_too(store: Store) -> None:
    turn = store.create_with_id("s1").append_turn("q", "a")

    found = store.get(message_address("s1", turn.message_ids[1]))

    assert isinstance(found, StoredMessage)
    assert (found.text, str(found.address)) == ("a", str(turn.address))


def test_a_hit_leads_to_what_it_found(store: Store) -> None:
    store.create_with_id("s1").append_turn("where do zebras live?", "in Africa")

    (hit,) = store.search("zebras")

    assert question_at(store, hit.address) == "where do zebras live?"


@pytest.mark.parametrize("id", ["s#1", "turn:s#1", "s@w", "#", "s 1\n", "\U0001f993"])
def test_a_conversation_is_found_whatever_its_id_holds(store: Store, id: str) -> None:
    turn = store.create_with_id(id).append_turn("q", "a")

    assert store.get(str(turn.address)) == turn


def test_the_conversation_may_be_shortened(store: Store) -> None:
    turn = store.create_with_id("session-1").append_turn("q", "a")
    store.create_with_id("other")

    assert store.get(f"turn:sess#{turn.seq}") == turn
    with pytest.raises(NotFoundError):
        store.get(f"turn:SESS#{turn.seq}")


def test_a_conversation_that_is_shortened_too_much_lists_what_it_fits(store: Store) -> None:
    turn = store.create_with_id("s1").append_turn("q", "a")
    store.create_with_id("s2")

    with pytest.raises(AmbiguousPrefixError) as caught:
        store.get(f"turn:s#{turn.seq}")
    with pytest.raises(AmbiguousPrefixError):
        store.find(f"turn:s#{turn.seq}")

    assert caught.value.matches == ("s1", "s2")


def test_where_two_writers_share_a_seq_each_full_address_works(store: Store, backend: Backend) -> None:
    conversation = store.create_with_id("session-1")
    for writer in WRITERS:
        Workbench(backend).adopt(*sealed(conversation.uid, a_turn(writer, "a"), writer=writer, seq=100))

    with pytest.raises(AmbiguousAddressError) as caught:
        store.get("turn:session#100")

    assert caught.value.matches == tuple(f"turn:session-1#100@{writer}" for writer in WRITERS)
    assert [question_at(store, match) for match in caught.value.matches] == list(WRITERS)
    assert question_at(store, f"turn:session#100@{WRITERS[1][:2]}") == WRITERS[1]
    assert {str(turn.address) for turn in conversation.turns(branch="all")} == set(caught.value.matches)
    with pytest.raises(NotFoundError):
        store.get("turn:session#100@ef")


ABSENT = [
    "turn:s1#1",
    "turn:s1#99",
    "turn:s1#0",
    "turn:s#99",
    "turn:nobody#2",
    f"turn:s1#{(1 << 62) - 1}",
    "message:s1#nothing",
    "message:nobody#m1",
]


@pytest.mark.parametrize("address", ABSENT)
def test_where_nothing_stands_get_raises_and_find_gives_none(store: Store, address: str) -> None:
    store.create_with_id("s1").append_turn("q", "a")

    assert store.find(address) is None
    with pytest.raises(NotFoundError):
        store.get(address)


def test_another_workspace_is_absent_in_the_same_words(store: Store, backend: Backend) -> None:  # N-1
    theirs = handle(backend, "theirs").create_with_id("s1")
    addresses = [
        theirs.append_turn("q", "a").address,
        theirs.append_message(Message(role="assistant", parts="hello", id="m1")).address,
    ]
    store.create_with_id("mine")

    for address in addresses:
        nowhere = address._replace(conversation_id="xx")
        said = []
        for asked in (address, nowhere):
            with pytest.raises(NotFoundError) as caught:
                store.get(asked)
            said.append(str(caught.value).replace(asked.conversation_id, "…"))
        assert said[0] == said[1]
        assert handle(backend, None).find(address) is not None
        assert store.find(address) is None


def test_in_a_workspace_that_nobody_wrote_to_nothing_stands(backend: Backend) -> None:
    assert handle(backend, "nobody's").find("turn:s1#1") is None


def test_what_was_deleted_is_absent(store: Store) -> None:
    turn = store.create_with_id("s1").append_turn("q", "a")
    store.delete("s1")

    assert store.find(turn.address) is None


@pytest.mark.parametrize(
    "address",
    [
        "",
        "s1#1",
        "turn:",
        "turn:s1",
        "turn:s1#",
        "turn:#1",
        "turn:s1#x",
        "turn:s1#-1",
        "note:s1#1",
        "TURN:s1#1",
    ],
)
def test_text_that_is_no_address_is_refused(store: Store, address: str) -> None:
    with pytest.raises(AddressError):
        store.get(address)
    with pytest.raises(AddressError):
        store.find(address)


@pytest.mark.parametrize(
    "address", [Address("turn", "s1", "x"), Address("note", "s1", "1"), Address("turn", "s1", "-1")]
)
def test_an_address_that_was_put_together_wrongly_is_refused(store: Store, address: Address) -> None:
    store.create_with_id("s1").append_turn("q", "a")

    with pytest.raises(AddressError):
        store.get(address)


# --- memory addresses


@pytest.mark.parametrize("kind", sorted(MEMORY_KINDS - {"turn", "message"}))
@pytest.mark.parametrize("ref", ["1", "a:b#c", " x "])
def test_what_the_record_does_not_hold_has_a_ref_and_no_address(kind: str, ref: str) -> None:
    found = parse_memory_address(f"{kind}:{ref}")

    assert found == MemoryAddress(kind, ref, None)
    assert str(found) == f"{kind}:{ref}"


def test_a_turn_or_message_has_an_address_that_leads_to_it(store: Store) -> None:
    turn = store.create_with_id("s#1").append_turn("q", "a")

    found = parse_memory_address(str(turn.address))

    assert found == MemoryAddress("turn", f"s#1#{turn.seq}", turn_address("s#1", turn.seq))
    assert found.address is not None
    assert store.get(found.address) == turn
    assert str(found) == str(turn.address)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "note",
        "note:",
        "note: \n",
        ":x",
        "notes:1",
        "Note:1",
        "turn:1",
        "turn:s#x",
        "message:s",
        " note:1",
    ],
)
def test_text_of_another_shape_is_no_memory_address(text: str) -> None:
    with pytest.raises(AddressError):
        parse_memory_address(text)
