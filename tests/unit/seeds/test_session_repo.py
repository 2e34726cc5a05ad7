"""Sessions of questions and answers, under their old names."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from blake3 import blake3

import manent
from manent.errors import (
    AlreadyExistsError,
    EncodingError,
    InputError,
    NotFoundError,
    SparedError,
    WorkspaceRequiredError,
)
from manent.history.store import Store
from manent.parts import Citation
from manent.seeds import ChatSession, ChatTurn, SessionRepo, reset, reset_preview
from manent.storage.memory.backend import MemoryBackend
from manent.storage.port import Backend, Transaction
from manent.storage.wrappers.wrapper import Wrapper
from manent.testing.clocks import NOON_NS, SettableClock, stepping
from tests.stores import store_over
from tests.tamper import tamper

NOON = NOON_NS // 10**9
CONFIG = {"prompt_template_version": "v3", "llm": {"model": "m"}, "max_context_tokens": 8000}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the store is."""
    return tmp_path / "sessions.db"


@pytest.fixture
def clock() -> SettableClock:
    """A clock that moves a second with each call."""
    return stepping()


@pytest.fixture
def store(path: Path, clock: SettableClock) -> Iterator[manent.Store]:
    """A store with one workspace."""
    with manent.open(path, workspace="demo", clock=clock) as store:
        yield store


@pytest.fixture
def repo(store: manent.Store) -> SessionRepo:
    """Its sessions."""
    return SessionRepo(store)


def test_a_session_and_three_turns_come_back_in_order(repo: SessionRepo) -> None:
    session = repo.create_session("foo", first_question=" How? ", config_snapshot=CONFIG, created_at=NOON)
    citation = Citation(marker="1", target="a.md", title="A", quote="so", details={"line": 3})

    turns = [repo.append_turn("foo", f"q{n}", f"a{n}", [citation], NOON + n) for n in range(3)]

    assert session == ChatSession(
        session_id="foo",
        created_at=NOON,
        updated_at=NOON,
        title="How?",
        config_snapshot_json='{"prompt_template_version":"v3","llm":{"model":"m"},"max_context_tokens":8000}',
    )
    assert repo.list_turns("foo") == turns
    assert turns[2] == ChatTurn(
        turn_id=blake3(b"foo:2").hexdigest()[:32],
        session_id="foo",
        turn_index=2,
        question="q2",
        answer="a2",
        citations_json='[{"marker":"1","target":"a.md","title":"A","quote":"so","details":{"line":3}}]',
        created_at=NOON + 2,
        citations=(citation,),
    )
    found = repo.get_session("foo")
    assert found is not None and found.updated_at == NOON + 2


@pytest.mark.parametrize("id", ["../../x", "세션 ✓", " spaces ", "a\0b", "telegram:1"])
def test_an_id_is_any_text(repo: SessionRepo, id: str) -> None:
    repo.create_session(id, config_snapshot={})

    assert [each.session_id for each in repo.list_sessions(10)] == [id]
    assert repo.append_turn(id, "q", "a").turn_index == 0
    assert repo.delete_session(id)


def test_an_id_is_made_of_the_first_question_and_the_time(store: manent.Store) -> None:
    """The original promised it and never did it."""
    frozen = SessionRepo(manent.Store(store._runtime._replace(clock=lambda: NOON_NS)))

    first = frozen.create_session(first_question="How?", config_snapshot={})
    again = frozen.create_session(first_question="How?", config_snapshot={})

    assert first.session_id == blake3(f"{NOON_NS}:How?".encode()).hexdigest()
    assert again.session_id == blake3(f"{NOON_NS + 1}:How?".encode()).hexdigest()


def test_a_session_that_is_there_is_not_created_again_and_keeps_its_config(repo: SessionRepo) -> None:
    repo.create_session("foo", config_snapshot=CONFIG)

    with pytest.raises(AlreadyExistsError):
        repo.create_session("foo", config_snapshot={"other": 1})

    found = repo.get_session("foo")
    assert found is not None and '"prompt_template_version":"v3"' in found.config_snapshot_json


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("  How do I sow beans?  ", "How do I sow beans?"),
        ("x" * 60, "x" * 40),
        ("e\u0301", "\u00e9"),
        ("   ", "untitled"),
    ],
)
def test_a_title_is_the_beginning_of_the_first_question(repo: SessionRepo, question: str, title: str) -> None:
    repo.create_session("given", first_question=question, config_snapshot={})
    repo.create_session("later", config_snapshot={})
    repo.append_turn("later", question, "a")
    repo.append_turn("later", "second", "a")
    repo.create_session("own", title="mine", first_question=question, config_snapshot={})

    titles = {session.session_id: session.title for session in repo.list_sessions(10)}
    assert titles == {"given": title, "later": title, "own": "mine"}


def test_a_session_without_title_and_question_has_none(repo: SessionRepo) -> None:
    assert repo.create_session("foo", config_snapshot={}).title is None


def test_two_asks_at_once_are_both_saved_with_different_indexes(path: Path) -> None:
    """In the original both computed the same index, and the second answer was lost."""
    with manent.open(path, workspace="demo") as store:
        SessionRepo(store).create_session("foo", config_snapshot={})
        barrier = threading.Barrier(8)
        turns: list[ChatTurn] = []

        def ask(number: int) -> None:
            barrier.wait()
            turns.append(SessionRepo(store).append_turn("foo", f"q{number}", "a"))

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        saved = SessionRepo(store).list_turns("foo")
        assert [turn.turn_index for turn in saved] == list(range(8))
        assert sorted(turns, key=lambda turn: turn.turn_index) == saved
        assert len({turn.turn_id for turn in saved}) == 8


def test_an_index_is_the_rank_on_the_active_branch(repo: SessionRepo, store: manent.Store) -> None:
    repo.create_session("foo", config_snapshot={})
    repo.append_turn("foo", "q0", "a0")
    repo.append_turn("foo", "q1", "a1")
    conversation = store.conversation(key="foo")
    first_answer = conversation.turns()[0].message_ids[1]
    conversation.append_messages(
        [manent.Message(role="user", parts="other"), manent.Message(role="assistant", parts="way")],
        parent=first_answer,
    )

    turn = repo.append_turn("foo", "q2", "a2")

    assert turn.turn_index == 2
    assert [(t.turn_index, t.question) for t in repo.list_turns("foo")] == [
        (0, "q0"),
        (1, "other"),
        (2, "q2"),
    ]


class Overtaken(Wrapper):
    """A store in which somebody else does something as soon as something was committed, once."""

    def __init__(self, inner: Backend, act: Callable[[], object]) -> None:
        super().__init__(inner)
        self._waiting = [act]

    @contextmanager
    def transaction(self) -> Iterator[Transaction]:
        with self.inner.transaction() as tx:
            yield tx
        while self._waiting:
            self._waiting.pop()()


def test_a_turn_has_its_index_though_another_one_moves_the_head_at_once(
    repo: SessionRepo, store: manent.Store
) -> None:
    repo.create_session("foo", config_snapshot={})
    repo.append_turn("foo", "q0", "a0")
    conversation = store.conversation(key="foo")
    first_answer = conversation.turns()[0].message_ids[1]
    other_way = [manent.Message(role="user", parts="other"), manent.Message(role="assistant", parts="way")]
    overtaken = Overtaken(
        store._runtime.backend, lambda: conversation.append_messages(other_way, parent=first_answer)
    )

    turn = SessionRepo(Store(store._runtime._replace(backend=overtaken))).append_turn("foo", "q1", "a1")

    assert (turn.turn_index, turn.question) == (1, "q1")
    assert [each.question for each in repo.list_turns("foo")] == ["q0", "other"]


def test_sessions_are_listed_by_activity_and_never_by_a_clock(repo: SessionRepo) -> None:
    """The original ordered by a time of one second's resolution, and left ties open."""
    for id in ("a", "b", "c"):
        repo.create_session(id, config_snapshot={}, created_at=NOON)
    repo.append_turn("a", "q", "a", created_at=NOON - 1_000)

    assert [session.session_id for session in repo.list_sessions(10)] == ["a", "c", "b"]
    assert [session.session_id for session in repo.list_sessions(1)] == ["a"]
    found = repo.get_session("a")
    assert found is not None and found.updated_at == NOON
    with pytest.raises(InputError):
        repo.list_sessions(0)


def test_what_is_no_session_is_left_alone(repo: SessionRepo, store: manent.Store) -> None:
    other = store.create("a conversation", key="other")
    store.create("without a key")

    assert repo.list_sessions(10) == []
    assert repo.get_session("other") is None
    assert repo.list_turns("other") == []
    assert not repo.delete_session("other")
    with pytest.raises(NotFoundError):
        repo.append_turn("other", "q", "a")
    with pytest.raises(AlreadyExistsError):
        repo.create_session("other", config_snapshot={})
    assert store.exists(other.id)


def test_what_is_only_reserved_is_no_session_yet(repo: SessionRepo, store: manent.Store) -> None:
    reserved = store.reserve("r-1")
    reserved.set_key("foo")
    reserved.set_config_snapshot({"model": "m"})

    assert (repo.get_session("foo"), repo.list_sessions(10), repo.list_turns("foo")) == (None, [], [])
    assert not repo.delete_session("foo")
    with pytest.raises(NotFoundError):
        repo.append_turn("foo", "q", "a")


def test_deleting_a_session_deletes_its_turns_and_an_absent_one_is_no_error(
    repo: SessionRepo, store: manent.Store
) -> None:
    repo.create_session("foo", config_snapshot={})
    repo.append_turn("foo", "needle", "a")

    assert repo.delete_session("foo")

    assert not repo.delete_session("foo")
    assert (repo.get_session("foo"), repo.list_turns("foo")) == (None, [])
    assert store.search("needle") == []
    assert repo.create_session("foo", config_snapshot={}).session_id == "foo"


def test_a_pinned_session_is_spared(repo: SessionRepo, store: manent.Store) -> None:
    repo.create_session("foo", config_snapshot={})
    store.conversation(key="foo").pin()

    with pytest.raises(SparedError):
        repo.delete_session("foo")

    assert repo.delete_session("foo", force=True)


def test_citations_that_cannot_be_read_are_an_error_and_never_none(path: Path) -> None:
    """In the original they became an empty list."""
    with manent.open(path, workspace="demo") as store:
        repo = SessionRepo(store)
        repo.create_session("foo", config_snapshot={})
        repo.append_turn("foo", "q", "a", [Citation(marker="1", target="a.md")])
    tamper(path, "UPDATE leaves SET data = CAST('{\"odd\"' AS BLOB) WHERE name = 'citations'")

    with manent.open(path, workspace="demo") as store, pytest.raises(EncodingError):
        SessionRepo(store).list_turns("foo")


@pytest.mark.parametrize(
    "arguments",
    [
        {"config_snapshot": {"a": {1, 2}}},
        {"config_snapshot": ["a"]},
        {"config_snapshot": {}, "created_at": 1.5},
        {"config_snapshot": {}, "created_at": 1 << 40},
        {"config_snapshot": {}, "title": 7},
    ],
)
def test_what_cannot_be_stored_is_refused_and_nothing_is_written(
    repo: SessionRepo, arguments: dict[str, Any]
) -> None:
    with pytest.raises(InputError):
        repo.create_session("foo", **arguments)

    assert repo.list_sessions(10) == []


def test_a_reset_deletes_the_sessions_of_the_workspace_and_nothing_else(
    repo: SessionRepo, store: manent.Store, path: Path
) -> None:
    other = store.create("no session", key="other")
    for id in ("a", "b", "c"):
        repo.create_session(id, config_snapshot={})
    store.conversation(key="b").pin()
    with manent.open(path, workspace="elsewhere") as elsewhere:
        SessionRepo(elsewhere).create_session("a", config_snapshot={})

        assert [session.session_id for session in reset_preview(store)] == ["c", "b", "a"]
        done = reset(store)

        assert (done.deleted, done.spared) == (("c", "a"), ("b",))
        assert [session.session_id for session in repo.list_sessions(10)] == ["b"]
        assert store.exists(other.id)
        assert len(SessionRepo(elsewhere).list_sessions(10)) == 1
        assert reset(store, force=True).deleted == ("b",)


@pytest.mark.parametrize(
    "call",
    [
        pytest.param(lambda repo: repo.create_session(5, config_snapshot={}), id="session id"),
        pytest.param(
            lambda repo: repo.create_session(first_question=5, config_snapshot={}), id="first question"
        ),
        pytest.param(
            lambda repo: repo.create_session("bar", title="t", first_question=5, config_snapshot={}),
            id="first question beside a title",
        ),
        pytest.param(lambda repo: repo.append_turn("foo", 5, "a"), id="question"),
        pytest.param(lambda repo: repo.append_turn("foo", "q", None), id="answer"),
        pytest.param(lambda repo: repo.append_turn("foo", "q", "a", 5), id="citations"),
        pytest.param(lambda repo: repo.append_turn("foo", "q", "a", ["a.md"]), id="citation"),
        pytest.param(lambda repo: repo.append_turn("foo", "q", "a", (), "noon"), id="created_at"),
        pytest.param(lambda repo: repo.append_turn(5, "q", "a"), id="id to append to"),
        pytest.param(lambda repo: repo.get_session(5), id="id to get"),
        pytest.param(lambda repo: repo.list_turns(None), id="id to list"),
        pytest.param(lambda repo: repo.delete_session(5), id="id to delete"),
        pytest.param(lambda repo: repo.list_sessions("all"), id="limit"),
    ],
)
def test_an_argument_of_another_type_is_refused(
    repo: SessionRepo, call: Callable[[SessionRepo], object]
) -> None:
    repo.create_session("foo", config_snapshot={})

    with pytest.raises(InputError):
        call(repo)

    assert [session.session_id for session in repo.list_sessions(10)] == ["foo"]
    assert repo.list_turns("foo") == []


@pytest.mark.parametrize("given", ["s.db", None, 5])
def test_sessions_are_over_a_store(given: Any) -> None:
    with pytest.raises(InputError, match=f"manent.Store.*not {type(given).__name__}"):
        SessionRepo(given)


def test_sessions_work_over_every_backend() -> None:
    with store_over(MemoryBackend()) as store:
        repo = SessionRepo(store)
        repo.create_session("foo", config_snapshot=CONFIG)

        turn = repo.append_turn("foo", "q", "a", [Citation(marker="1", target="a.md")])

        assert repo.list_turns("foo") == [turn]
        assert [session.session_id for session in repo.list_sessions(10)] == ["foo"]
        assert repo.delete_session("foo")


def test_sessions_need_a_workspace(path: Path) -> None:
    with manent.open(path, workspace=None) as owner, pytest.raises(WorkspaceRequiredError):
        SessionRepo(owner)


def test_a_repr_tells_the_place(repo: SessionRepo, path: Path) -> None:
    assert str(path) in repr(repo)
