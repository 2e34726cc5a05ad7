"""Case 78: two users have one session id, and neither ever meets the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import manent
from manent.errors import NotFoundError
from manent.parts import Citation
from manent.seeds import ConversationMessage, ConversationService, ConversationStore, SessionRepo
from tests.stores import questions

SESSION = "New Session 0"
SECRET = "locker code 4711"


@pytest.fixture
def t1(path: Path) -> Iterator[manent.Store]:
    """The first tenant, who has said something."""
    with manent.open(path, workspace="t1") as store:
        store.create_with_id(SESSION, "t1's", key=SESSION).append_turn(SECRET, "kept")
        yield store


@pytest.fixture
def t2(path: Path, t1: manent.Store) -> Iterator[manent.Store]:
    """The second tenant, in the same store, with a session of the same name."""
    assert t1.exists(SESSION)
    with manent.open(path, workspace="t2") as store:
        store.create_with_id(SESSION, "t2's", key=SESSION)
        yield store


def test_case_78_nothing_of_the_other_tenant_is_loaded_found_or_listed(t2: manent.Store) -> None:  # N-1
    mine = t2.conversation(SESSION)

    assert (list(mine.turns()), list(mine.messages())) == ([], [])
    assert t2.search("4711") == []
    assert [summary.title for summary in t2.list()] == ["t2's"]
    assert t2.conversation(key=SESSION).title == "t2's"
    assert t2.find(f"turn:{SESSION}#3") is None


def test_case_78_nothing_of_the_other_tenant_is_resumed_exported_or_counted(t2: manent.Store) -> None:
    latest = t2.latest_open()

    assert latest is not None and latest.title == "t2's"
    assert t2.resume(SESSION).conversation.title == "t2's"
    assert SECRET.encode() not in b"".join(t2.export_lines())
    assert (t2.stats().conversations, t2.stats().turns_total) == (1, 0)
    assert t2.conversation(SESSION).stats().messages_total == 0


def test_case_78_renaming_and_deleting_ones_own_leaves_the_other_alone(
    t1: manent.Store, t2: manent.Store
) -> None:
    t2.conversation(SESSION).rename("renamed")
    t2.delete(SESSION)

    assert t1.conversation(SESSION).title == "t1's"
    assert questions(t1, SESSION) == [SECRET]
    assert not t2.exists(SESSION)
    with pytest.raises(NotFoundError):
        t2.delete(SESSION)
    assert t1.verify().ok


def test_case_78_a_tenant_who_never_wrote_sees_nothing(path: Path, t1: manent.Store) -> None:
    with manent.open(path, workspace="t3") as t3:
        assert (list(t3.list()), t3.search("4711"), t3.latest_open()) == ([], [], None)
        assert not t3.exists(SESSION)
        assert t3.stats().conversations == 0
        assert SECRET.encode() not in b"".join(t3.export_lines())
    assert t1.exists(SESSION)


def test_case_78_sessions_of_questions_are_apart_too(t1: manent.Store, t2: manent.Store) -> None:
    first, second = SessionRepo(t1), SessionRepo(t2)
    for repo in (first, second):
        repo.create_session("ask", config_snapshot={"model": "m"})
    first.append_turn("ask", SECRET, "kept", [Citation(marker="1", target="a.md")])

    assert second.list_turns("ask") == []
    assert second.delete_session("ask")

    assert [turn.question for turn in first.list_turns("ask")] == [SECRET]


def test_case_78_users_of_a_bot_are_apart_too(t1: manent.Store, t2: manent.Store) -> None:
    first, second = ConversationService(t1), ConversationService(t2)
    first.save_message(1, ConversationMessage(role="user", content=SECRET))

    assert second.get_recent_messages(1, 10) == []
    assert first.get_recent_messages(2, 10) == []
    assert second.search_relevant_messages(1, ["4711"], 10) == []
    assert second.get_conversation_stats(1).message_count == 0


def test_case_78_folders_of_one_store_are_apart_too(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
    with (
        ConversationStore(tmp_path, tmp_path / "one") as first,
        ConversationStore(tmp_path, tmp_path / "other") as second,
    ):
        for store in (first, second):
            store.create_with_id("session-0", "same name")
        seq = int(first.append_turn("session-0", SECRET, "kept").ref)

        assert second.load("session-0").turns == ()
        assert second.load_turn("session-0", seq) is None
        assert second.search("4711") == []
        second.rename("session-0", "renamed")
        second.delete("session-0")

        assert first.load("session-0").title == "same name"
