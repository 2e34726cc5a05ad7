"""Contexts: what a model is told before it answers."""

from __future__ import annotations

from typing import Any

import pytest

from manent.errors import InputError, NotFoundError
from manent.history.conversation import Conversation
from manent.model.contexts import Context
from manent.model.parts import AnyPart, OpaquePart, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from manent.model.records import Message
from manent.storage.port import Backend
from manent.testing.snapshots import take_snapshot
from tests.unit.history.handles import handle


@pytest.fixture
def conversation(backend: Backend) -> Conversation:
    """An empty conversation."""
    return handle(backend).create_with_id("s1")


def say(conversation: Conversation, *texts: str) -> None:
    """Messages of the user and the assistant in turns."""
    for number, text in enumerate(texts):
        role = "assistant" if number % 2 else "user"
        conversation.append_message(Message(role=role, parts=[TextPart(text)]))


def put(conversation: Conversation, role: str, *parts: AnyPart, hidden: bool = False) -> str:
    """One message; returns its id."""
    return conversation.append_message(Message(role=role, parts=parts, hidden=hidden)).id


def texts(context: Context) -> list[str]:
    """The words of each message."""
    return [message.text for message in context.messages]


def related(context: Context) -> list[str]:
    """The words of those that stand there for what they say."""
    return [message.text for message in context.messages if message.id in context.related]


# --- what is recent, and what is related


def test_an_empty_conversation_has_an_empty_context(backend: Backend, conversation: Conversation) -> None:
    empty = Context(messages=(), related=frozenset(), keywords=(), size=0, left_out=0)

    assert conversation.context("anything") == empty
    assert handle(backend).reserve("soon").context() == empty


def test_by_default_twenty_messages_are_recent_and_ten_related(conversation: Conversation) -> None:
    for number in range(40):
        conversation.append_turn(f"question {number} on gardens", f"answer {number}")

    context = conversation.context("what about gardens?")

    newest = [text for n in range(30, 40) for text in (f"question {n} on gardens", f"answer {n}")]
    assert texts(context) == [f"question {n} on gardens" for n in range(20, 30)] + newest
    assert related(context) == [f"question {n} on gardens" for n in range(20, 30)]
    assert (context.keywords, context.left_out) == (("gardens",), 0)


def test_rare_words_find_better_than_common_ones(conversation: Conversation) -> None:
    say(conversation, "the index is slow", "the cat sat", "the dog sat", "the the the", "newest", "so")

    context = conversation.context("the slow index", recent=2, related=2)

    assert context.keywords == ("index", "slow", "the")
    assert related(context) == ["the index is slow", "the the the"]


def test_of_many_keywords_the_five_rarest_count(conversation: Conversation) -> None:
    say(conversation, "aa bb cc dd ee ff", "aa", "aa bb", "cc", "now", "yes")

    context = conversation.context("aa bb cc dd ee ff", recent=2)

    assert len(context.keywords) == 5
    assert "aa" not in context.keywords


@pytest.mark.parametrize(
    ("old", "asked"),
    [
        ("프로젝트 계획을 세웠다", "프로젝트를 보여 줘"),
        ("数据库的索引很慢", "数据库怎么样"),
        ("the Straße is closed", "STRASSE?"),
    ],
)
def test_related_messages_are_found_in_every_script(
    conversation: Conversation, old: str, asked: str
) -> None:  # X-1, T-1
    say(conversation, old, "I see", "zz", "yy")

    assert related(conversation.context(asked, recent=2)) == [old]


def test_without_a_message_the_newest_question_says_what_is_related(conversation: Conversation) -> None:
    say(conversation, "old gardens", "I see", "something", "else", "gardens?", "yes")

    assert related(conversation.context(recent=2)) == ["old gardens"]


def test_no_message_comes_twice_and_the_order_is_that_of_the_conversation(
    conversation: Conversation,
) -> None:
    say(conversation, *(f"gardens {number}" for number in range(12)))

    context = conversation.context("gardens", recent=4, related=100)

    assert texts(context) == [f"gardens {number}" for number in range(12)]


def test_only_the_active_branch_is_told_and_nothing_that_was_injected(conversation: Conversation) -> None:
    say(conversation, "q1", "a1")
    head = conversation.head
    say(conversation, "q2", "a2")
    put(conversation, "user", TextPart("<reminder>"), hidden=True)
    conversation.append_message(Message(role="user", parts=[TextPart("q3")]), parent=head)

    assert texts(conversation.context()) == ["q1", "a1", "q3"]


def test_the_same_context_comes_again_and_nothing_is_written(
    backend: Backend, conversation: Conversation
) -> None:
    say(conversation, *(f"gardens {number}" for number in range(60)))
    with backend.reading() as reader:
        before = take_snapshot(reader)

    first, second = (conversation.context("gardens", budget=100) for _ in range(2))

    assert first == second
    with backend.reading() as reader:
        assert take_snapshot(reader) == before


# --- calls and results


def a_case_38(conversation: Conversation) -> None:
    """A question, two calls at once with their results, an answer; and once more with one call."""
    put(conversation, "user", TextPart("question one"))
    put(conversation, "assistant", ToolCallPart("f", {}, "A"), ToolCallPart("f", {}, "B"))
    put(conversation, "tool", ToolResultPart("result A", "A"))
    put(conversation, "tool", ToolResultPart("result B", "B"))
    put(conversation, "assistant", TextPart("answer one"))
    put(conversation, "user", TextPart("question two"))
    put(conversation, "assistant", ToolCallPart("f", {}, "C"))
    put(conversation, "tool", ToolResultPart("result C", "C"))
    put(conversation, "assistant", TextPart("answer two"))


def calls_and_results(context: Context) -> tuple[list[Any], list[Any]]:
    """The ids of both, in order."""
    parts = [part for message in context.messages for part in message.parts]
    return (
        [part.call_id for part in parts if isinstance(part, ToolCallPart)],
        [part.call_id for part in parts if isinstance(part, ToolResultPart)],
    )


def count_words(text: str) -> int:
    """A counter of the caller's own: ten for each word."""
    return 10 * len(text.split())


@pytest.mark.parametrize("recent", range(1, 10))
@pytest.mark.parametrize("budget", [None, *range(10, 510, 20)])
def test_calls_and_results_are_never_parted_and_the_newest_question_is_there(
    conversation: Conversation, recent: int, budget: int | None
) -> None:  # case 38
    a_case_38(conversation)

    context = conversation.context(recent=recent, related=0, budget=budget, count=count_words)

    calls, results = calls_and_results(context)
    assert calls == results
    assert context.size <= (budget or context.size)
    if budget is None or budget >= count_words("question two"):
        assert "question two" in texts(context)


def test_a_call_that_got_no_result_falls_away_and_what_was_said_with_it_stays(
    conversation: Conversation,
) -> None:
    put(conversation, "user", TextPart("q"))
    put(conversation, "assistant", TextPart("let me look"), ToolCallPart("f", {}, "A"))
    put(conversation, "assistant", ToolCallPart("f", {}, "B"))
    put(conversation, "tool", ToolResultPart("of nobody", "Z"))

    context = conversation.context()

    assert texts(context) == ["q", "let me look"]
    assert calls_and_results(context) == ([], [])


def test_an_id_that_comes_again_belongs_to_the_latest_call(conversation: Conversation) -> None:
    for number in range(3):
        put(conversation, "user", TextPart(f"q{number}"))
        put(conversation, "assistant", ToolCallPart("f", number, "call_1"))
        put(conversation, "tool", ToolResultPart(f"r{number}", "call_1"))

    context = conversation.context(recent=3, related=0)

    assert [message.role for message in context.messages] == ["user", "assistant", "tool"]
    assert calls_and_results(context) == (["call_1"], ["call_1"])


def test_calls_without_ids_are_answered_in_their_order(conversation: Conversation) -> None:
    put(conversation, "user", TextPart("q"))
    put(conversation, "assistant", ToolCallPart("g", 1), ToolCallPart("f", 2))
    put(conversation, "tool", ToolResultPart("of f", name="f"))
    put(conversation, "tool", ToolResultPart("of g"))
    put(conversation, "tool", ToolResultPart("of nobody", name="g"))

    context = conversation.context()

    assert [
        part.content for m in context.messages for part in m.parts if isinstance(part, ToolResultPart)
    ] == [
        "of f",
        "of g",
    ]


def test_a_message_that_says_nothing_is_not_told(conversation: Conversation) -> None:
    for parts in ([], [TextPart(" \n")], [TextPart("something")], [OpaquePart(None)]):
        put(conversation, "user", *parts)

    assert texts(conversation.context()) == ["something"]


# --- the budget


@pytest.mark.parametrize("text", ["plain words", "확인했습니다", "数据库", "👩‍👩‍👧 emoji", "\ud800 lone"])
def test_without_a_counter_bytes_of_utf8_are_the_bound(conversation: Conversation, text: str) -> None:
    say(conversation, *[text] * 9)
    size = len(text.encode("utf-8", "surrogatepass"))

    for budget in range(0, 10 * size, 7):
        context = conversation.context("nothing", budget=budget)
        assert context.size == size * len(context.messages) <= budget
        assert len(context.messages) == min(9, budget // size)
        assert len(context.messages) + context.left_out == 9


def test_reasoning_and_its_signature_count(conversation: Conversation) -> None:
    put(conversation, "user", TextPart("q"))
    put(conversation, "assistant", ReasoningPart("thinking", signature="x" * 100), TextPart("a"))

    assert conversation.context().size == len("q") + len("thinking\na\n" + "x" * 100)


def test_the_newest_messages_win_and_then_the_best_related_ones(conversation: Conversation) -> None:
    say(conversation, "gardens and more gardens of old", "no", "gardens", "no", "q", "a")

    context = conversation.context("gardens", recent=2, budget=10)

    assert texts(context) == ["gardens", "q", "a"]
    assert context.left_out == 1


def test_what_does_not_fit_ends_what_is_recent(conversation: Conversation) -> None:
    say(conversation, "short", "a long answer, too long for what is left", "q", "a")

    assert texts(conversation.context("x", budget=12)) == ["q", "a"]


# --- arguments


@pytest.mark.parametrize(
    "wrong",
    [
        {"recent": -1},
        {"related": "ten"},
        {"budget": 1.5},
        {"budget": True},
        {"recent": None},
        {"message": 7},
    ],
)
def test_a_wrong_argument_is_told(conversation: Conversation, wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        conversation.context(**wrong)


def test_a_deleted_conversation_has_no_context(backend: Backend, conversation: Conversation) -> None:
    handle(backend).delete("s1")

    with pytest.raises(NotFoundError):
        conversation.context()


def test_nothing_recent_is_nothing_recent(conversation: Conversation) -> None:
    say(conversation, "gardens", "yes")

    assert texts(conversation.context("other", recent=0)) == []
    assert texts(conversation.context("gardens", recent=0)) == ["gardens"]
