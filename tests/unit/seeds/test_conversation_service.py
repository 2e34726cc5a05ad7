"""The messages of a bot's users, under their old names."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import manent
from manent.errors import InputError, WorkspaceRequiredError
from manent.history.store import Store
from manent.seeds import ConversationMessage, ConversationService, ConversationStats
from manent.storage.port import Backend, Reader
from manent.storage.wrappers.wrapper import Between, Wrapper, stepped_into
from manent.testing.clocks import fixed

GROUP = -1001234567890


@pytest.fixture
def store(tmp_path: Path) -> Iterator[manent.Store]:
    """A store whose clock stands still: all messages have one time."""
    with manent.open(tmp_path / "bot.db", workspace="bot", clock=fixed()) as store:
        yield store


@pytest.fixture
def service(store: manent.Store) -> ConversationService:
    """The bot's service."""
    return ConversationService(store)


class Noting(Wrapper):
    """A backend whose reads are noted."""

    def __init__(self, inner: Backend, between: Between) -> None:
        super().__init__(inner)
        self._between = between

    @contextmanager
    def reading(self) -> Iterator[Reader]:
        with self.inner.reading() as reader:
            yield stepped_into("read", reader, self._between)


def said(content: str, role: Any = "user", **fields: Any) -> ConversationMessage:
    """A message."""
    return ConversationMessage(role=role, content=content, **fields)


def contents(messages: list[ConversationMessage]) -> list[str]:
    """What messages say."""
    return [message.content for message in messages]


def test_a_smart_context_is_what_was_said_last_and_what_fits(service: ConversationService) -> None:
    service.save_message(1, said("프로젝트 계획은 금요일까지"))
    for number in range(30):
        service.save_message(1, said(f"잡담 {number}", "assistant" if number % 2 else "user"))

    found = service.get_smart_context(1, "그 프로젝트를 언제까지 하죠?")

    assert contents(found) == ["프로젝트 계획은 금요일까지", *(f"잡담 {number}" for number in range(10, 30))]
    assert service.get_smart_context(2, "프로젝트") == []
    with pytest.raises(InputError):
        service.get_smart_context(1, 7)  # type: ignore[arg-type]


def test_a_users_table_is_a_conversation_with_a_key(
    service: ConversationService, store: manent.Store
) -> None:
    assert service.ensure_conversation_table(42) == service.ensure_conversation_table("42") == "telegram:42"
    assert [summary.key for summary in store.list()] == ["telegram:42"]


def test_messages_come_back_oldest_first_though_they_have_one_time(service: ConversationService) -> None:
    """In the original the times of one second tied."""
    for number in range(450):
        service.save_message(GROUP, said(f"m{number}", "user" if number % 2 else "assistant"))

    recent = service.get_recent_messages(GROUP, 300)

    assert contents(recent) == [f"m{number}" for number in range(150, 450)]
    assert {message.role for message in recent} == {"user", "assistant"}
    numbers = [message.id or 0 for message in recent]
    assert numbers == sorted(set(numbers))
    assert contents(service.get_recent_messages(GROUP, 1)) == ["m449"]


def test_tools_come_back_as_json_and_are_found_by_others(
    service: ConversationService, store: manent.Store
) -> None:
    calls = [{"name": "weather", "arguments": {"city": "서울"}, "id": "c1"}]
    results = [{"tool_call_id": "c1", "result": "맑음"}]
    service.save_message(
        42,
        said("", "assistant", tool_calls=json.dumps(calls), tool_results=json.dumps(results)),
    )

    (message,) = service.get_recent_messages(42, 10)

    assert json.loads(message.tool_calls or "") == calls
    assert json.loads(message.tool_results or "") == results
    assert len(store.search("서울")) == len(store.search("맑음")) == 1


def test_a_time_is_kept_and_orders_nothing(service: ConversationService) -> None:
    service.save_message(42, said("later", created_at="2026-01-05 12:32:10"))
    service.save_message(42, said("earlier", created_at="2024-02-29T00:00:00Z"))

    recent = service.get_recent_messages(42, 10)

    assert [message.created_at for message in recent] == ["2026-01-05 12:32:10", "2024-02-29 00:00:00"]


@pytest.mark.parametrize(
    "message",
    [
        said("x", "system"),
        said("x", "tool"),
        said(7),  # type: ignore[arg-type]
        said("x", tool_calls="no json"),
        said("x", tool_calls='{"name": "x"}'),
        said("x", tool_calls='[{"other": 1}]'),
        said("x", tool_results='[{"tool_call_id": "a", "odd": 1}]'),
        said("x", created_at="yesterday"),
        said("x", created_at="2024-02-30 00:00:00"),
    ],
)
def test_what_is_no_message_is_refused_and_begins_no_conversation(
    service: ConversationService, store: manent.Store, message: ConversationMessage
) -> None:
    with pytest.raises(InputError):
        service.save_message(42, message)

    assert len(store.list()) == 0


@pytest.mark.parametrize("telegram_id", ["", "  ", True, 1.5, None, "x" * 600])
def test_a_user_has_a_name(service: ConversationService, telegram_id: Any) -> None:
    with pytest.raises(InputError):
        service.save_message(telegram_id, said("x"))


def test_any_keyword_finds_and_only_this_users_messages(service: ConversationService) -> None:
    for user, text in ((1, "apple pie"), (1, "cherry"), (1, "Berry cake"), (2, "apple of another")):
        service.save_message(user, said(text))

    assert contents(service.search_relevant_messages(1, ["apple", "berry"], 10)) == [
        "apple pie",
        "Berry cake",
    ]
    assert contents(service.search_relevant_messages(1, ["apple", "berry"], 1)) == ["Berry cake"]
    assert service.search_relevant_messages(1, ["another"], 10) == []
    assert service.search_relevant_messages(1, [], 10) == service.search_relevant_messages(1, [" "], 10) == []
    assert service.search_relevant_messages(3, ["apple"], 10) == []
    with pytest.raises(InputError):
        service.search_relevant_messages(1, "apple", 10)


def test_percent_and_underscore_are_plain_characters(service: ConversationService) -> None:
    """In the original they were wildcards."""
    for text in ("100% sure", "100 sure", "snake_case", "snakeXcase"):
        service.save_message(1, said(text))

    assert contents(service.search_relevant_messages(1, ["100%"], 10)) == ["100% sure"]
    assert contents(service.search_relevant_messages(1, ["e_c"], 10)) == ["snake_case"]
    assert contents(service.search_relevant_messages(1, ["%"], 10)) == ["100% sure"]


def test_a_keyword_of_more_than_16_syllables_is_found(service: ConversationService) -> None:
    """The original's database took patterns of 50 bytes at most."""
    keyword = "아주길고긴한국어검색어를입력해도문제없이찾아집니다"
    service.save_message(1, said(f"앞 {keyword}뒤"))

    assert len(service.search_relevant_messages(1, [keyword], 10)) == 1


def test_statistics_are_counted_and_cannot_drift(service: ConversationService, store: manent.Store) -> None:
    service.save_message(GROUP, said("q", created_at="2026-01-01 00:00:00"))
    service.save_message(GROUP, said("a", "assistant", created_at="2026-01-02 00:00:00"))
    store.conversation(key=f"telegram:{GROUP}").append_message(manent.Message(role="system", parts="x"))
    nobody = ConversationStats(
        telegram_id="7",
        message_count=0,
        user_messages=0,
        assistant_messages=0,
        first_message_at=None,
        last_message_at=None,
    )

    assert service.get_conversation_stats(GROUP) == ConversationStats(
        telegram_id=str(GROUP),
        message_count=2,
        user_messages=1,
        assistant_messages=1,
        first_message_at="2026-01-01 00:00:00",
        last_message_at="2026-01-02 00:00:00",
    )
    assert service.get_conversation_stats(7) == nobody
    assert len(store.list()) == 1


def test_the_times_of_statistics_are_claims_in_no_order_of_saving(service: ConversationService) -> None:
    service.ensure_conversation_table(1)  # states no time of its own
    assert service.get_conversation_stats(1).first_message_at is None
    for day in (2, 4, 3):
        service.save_message(1, said(f"on day {day}", created_at=f"2024-01-0{day} 00:00:00"))

    found = service.get_conversation_stats(1)

    assert (found.first_message_at, found.last_message_at) == ("2024-01-02 00:00:00", "2024-01-04 00:00:00")


def test_statistics_read_no_message(service: ConversationService, store: manent.Store) -> None:
    for number in range(5):
        service.save_message(1, said(f"m{number}"))
    called: list[str] = []

    def noted(name: str, method: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        called.append(name)
        return method(*args, **kwargs)

    traced = Store(store._runtime._replace(backend=Noting(store._runtime.backend, noted)))
    found = ConversationService(traced).get_conversation_stats(1)

    assert found.message_count == 5
    assert "read.measure" in called
    assert not [name for name in called if "message" in name or "entry" in name or "branch" in name]


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(
            lambda service: service.save_message(5, {"role": "user", "content": "x"}), id="no message"
        ),
        pytest.param(lambda service: service.save_message(5, None), id="none"),
        pytest.param(
            lambda service: service.save_message(5, manent.Message(role="user", parts="x")), id="of the store"
        ),
        pytest.param(lambda service: service.get_recent_messages(5, "all"), id="limit"),
        pytest.param(lambda service: service.search_relevant_messages(5, "word", 1), id="one keyword"),
        pytest.param(lambda service: service.search_relevant_messages(5, [7], 1), id="no text"),
        pytest.param(lambda service: service.search_relevant_messages(5, None, 1), id="no keywords"),
        pytest.param(lambda service: service.get_conversation_stats(1.5), id="user"),
    ],
)
def test_an_argument_of_another_type_is_refused(
    service: ConversationService, store: manent.Store, call: Callable[[ConversationService], object]
) -> None:
    with pytest.raises(InputError):
        call(service)

    assert len(store.list()) == 0


@pytest.mark.parametrize("given", ["x", None, {"DB": 1}])
def test_the_service_is_over_a_store(given: Any) -> None:
    with pytest.raises(InputError, match=f"manent.Store.*not {type(given).__name__}"):
        ConversationService(given)


def test_the_service_needs_a_workspace(tmp_path: Path) -> None:
    with manent.open(tmp_path / "bot.db", workspace=None) as owner, pytest.raises(WorkspaceRequiredError):
        ConversationService(owner)


def test_a_repr_tells_the_place(service: ConversationService) -> None:
    assert "bot.db" in repr(service)
