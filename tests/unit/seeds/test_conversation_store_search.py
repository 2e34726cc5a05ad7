"""Full-text recall under its old name: whole turns, operators, marked snippets."""

from __future__ import annotations

import pytest

from manent.errors import EmptyQueryError, InputError
from manent.model.records import Message
from manent.seeds import ConversationStore, tool_event_from_call


def found(store: ConversationStore, query: str) -> list[str]:
    """The conversations that a query finds, sorted."""
    return sorted(hit.conversation_id for hit in store.search(query))


def plant(store: ConversationStore, **turns: tuple[str, str]) -> None:
    """A conversation of one turn each."""
    for id, (user, assistant) in turns.items():
        store.create_with_id(id, f"about {id}")
        store.append_turn(id, user, assistant)


def test_a_hit_tells_its_turn_and_marks_the_match(store: ConversationStore) -> None:
    store.create_with_id("s-1", "title")
    seq = int(store.append_turn("s-1", "where is the needle now?", "in the hay").ref)

    (hit,) = store.search("needle")

    assert (hit.conversation_id, hit.title, hit.seq) == ("s-1", "title", seq)
    assert hit.snippet == "where is the >>>needle<<< now?"
    assert hit.rank < 0
    turn = store.load_turn(hit.conversation_id, hit.seq, hit.writer)
    assert turn is not None and turn.user == "where is the needle now?"


def test_a_long_text_is_cut_at_both_edges(store: ConversationStore) -> None:
    plant(store, a=("many words " * 100 + "needle" + " many words" * 100, "a"))

    (hit,) = store.search("needle")

    assert hit.snippet.startswith("…") and hit.snippet.endswith("…")
    assert ">>>needle<<<" in hit.snippet and len(hit.snippet) < 200


def test_a_text_that_holds_marks_itself_is_told_apart_by_the_offsets(store: ConversationStore) -> None:
    """The original could not tell them."""
    plant(store, a=("a >>>fake<<< mark and a needle", "a"))

    (hit,) = store.search("needle")

    assert [hit.excerpt[start:end] for start, end in hit.highlights] == ["needle"]
    assert hit.excerpt == "a >>>fake<<< mark and a needle"


def test_terms_may_stand_in_question_and_answer_of_one_turn(store: ConversationStore) -> None:
    plant(store, both=("left word", "right word"), left=("left word", "x"), right=("x", "right word"))

    assert found(store, "left right") == found(store, "left AND right") == ["both"]


def test_operators_join_turns_and_the_implicit_one_binds_tightest(store: ConversationStore) -> None:
    plant(store, a=("apple", "x"), ab=("apple", "berry"), b=("berry", "x"), c=("cherry", "x"))

    assert found(store, "apple OR cherry") == ["a", "ab", "c"]
    assert found(store, "apple NOT berry") == ["a"]
    assert found(store, "cherry OR apple berry") == ["ab", "c"]
    assert found(store, "apple OR berry NOT apple") == ["a", "ab", "b"]
    assert found(store, "berry NOT apple berry") == ["b"]
    assert found(store, "apple AND berry OR cherry") == ["ab", "c"]


def test_tools_and_the_names_of_their_arguments_are_found(store: ConversationStore) -> None:
    store.create_with_id("s-1", "")
    event = tool_event_from_call("read_file", {"path": "hidden value"})
    store.append_turn_full("s-1", "look", "done", [event])

    assert found(store, "read_file") == found(store, "path look") == ["s-1"]
    assert found(store, '"hidden value"') == []
    (hit,) = store.search("read_file")
    assert hit.snippet.startswith(">>>read_file<<< path b3:")


def test_phrases_identifiers_and_any_script_are_found(store: ConversationStore) -> None:
    """A tokenizer that goes by runs of letters finds no part of a Korean or Chinese word."""
    plant(
        store,
        a=("검색이 느려요", "src/store.rs at P2.2"),
        b=("修改youer服务端", "exact words here"),
    )

    assert found(store, "검색") == found(store, "src/store.rs") == found(store, "P2.2") == ["a"]
    assert found(store, "youer") == found(store, "服务") == found(store, '"exact words"') == ["b"]
    assert found(store, '"words exact"') == []


def test_a_turn_is_one_hit_and_the_best_come_first(store: ConversationStore) -> None:
    plant(store, once=("needle " + "straw " * 50, "x"), often=("needle needle", "needle"))

    assert [hit.conversation_id for hit in store.search("needle")] == ["often", "once"]


def test_equal_hits_are_ordered_by_conversation_and_seq(store: ConversationStore) -> None:
    plant(store, b=("needle", "x"), a=("needle", "x"))
    store.append_turn("b", "needle", "x")

    hits = store.search("needle")

    assert [hit.conversation_id for hit in hits] == ["a", "b", "b"]
    assert hits[1].seq < hits[2].seq
    assert [hit.conversation_id for hit in store.search("needle", limit=1)] == ["a"]


def test_a_search_stays_in_its_workspace(store: ConversationStore, elsewhere: ConversationStore) -> None:
    plant(store, a=("needle", "x"))

    assert elsewhere.search("needle") == []
    elsewhere.create_with_id("a", "")
    assert elsewhere.search("needle") == []


def test_messages_outside_turns_are_no_turns(store: ConversationStore) -> None:
    native = store._store.create_with_id("s-1")
    native.append_message(Message(role="system", parts="needle"))

    assert store.search("needle") == []


@pytest.mark.parametrize("query", ["", "***", "AND", '""'])
def test_nothing_to_search_is_an_error(store: ConversationStore, query: str) -> None:
    with pytest.raises(EmptyQueryError):
        store.search(query)


def test_a_limit_is_at_least_1(store: ConversationStore) -> None:
    with pytest.raises(InputError):
        store.search("needle", 0)
