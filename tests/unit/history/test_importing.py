"""Importing again: what is known adds nothing, what grew or changed is continued."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import manent
from manent.model.imported import ImportedConversation, ImportedMessage
from manent.opening import import_path


@pytest.fixture
def store(tmp_path: Path) -> Iterator[manent.Store]:
    with manent.open(tmp_path / "conversations.db", workspace="demo") as store:
        yield store


def a_file(folder: Path, *conversations: list[dict[str, Any]]) -> Path:
    path = folder / "chats.jsonl"
    lines = [json.dumps({"messages": messages}) + "\n" for messages in conversations]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def says(role: str, words: str) -> dict[str, Any]:
    return {"role": role, "content": words}


def a_session(*messages: ImportedMessage, id: str = "s1") -> ImportedConversation:
    return ImportedConversation(format="test", native_id=id, messages=messages, place="here")


def a_record(words: str, *, id: str, claim_ns: int | None = None) -> ImportedMessage:
    native = json.dumps({"text": words}).encode()
    parts = (manent.parts.TextPart(words),)
    return ImportedMessage(
        role="user", parts=parts, native=native, place="here", native_id=id, claim_ns=claim_ns
    )


def test_the_same_file_again_adds_nothing(store: manent.Store, tmp_path: Path) -> None:  # I-2
    path = a_file(tmp_path, [says("user", "one"), says("assistant", "two")])
    import_path(store, path)
    lines = list(store.export_lines())

    report = import_path(store, path)

    assert (report.added_messages, report.known_messages, report.unchanged_conversations) == (0, 2, 1)
    assert list(store.export_lines()) == lines


def test_a_conversation_that_grew_is_continued_though_it_has_no_id(
    store: manent.Store, tmp_path: Path
) -> None:  # I-2
    import_path(store, a_file(tmp_path, [says("user", "one")]))

    report = import_path(store, a_file(tmp_path, [says("user", "one"), says("assistant", "two")]))
    again = import_path(store, a_file(tmp_path, [says("user", "one"), says("assistant", "two")]))

    assert (report.grown_conversations, report.added_messages) == (1, 1)
    assert again.added_messages == 0
    assert [m.text for m in store.conversation(store.list()[0].id).messages()] == ["one", "two"]


def test_a_record_that_was_rewritten_shows_its_new_words_and_keeps_the_old(store: manent.Store) -> None:
    store.import_items([a_session(a_record("half", id="m1"))], format="test")

    report = store.import_items([a_session(a_record("half and the rest", id="m1"))], format="test")
    again = store.import_items([a_session(a_record("half and the rest", id="m1"))], format="test")

    assert (report.known_messages, report.changed_messages, report.grown_conversations) == (1, 1, 1)
    assert (again.changed_messages, again.unchanged_conversations) == (0, 1)
    assert [m.text for m in store.conversation(store.list()[0].id).messages()] == ["half and the rest"]
    assert b'"half\\"' in b"".join(store.export_lines())


def test_what_a_user_appended_stays_when_the_source_grows(store: manent.Store) -> None:
    store.import_items([a_session(a_record("one", id="m1"))], format="test")
    conv = store.conversation(store.list()[0].id)
    conv.append_message(manent.Message(role="user", parts="mine"))

    store.import_items([a_session(a_record("one", id="m1"), a_record("two", id="m2"))], format="test")

    assert sorted(m.text for m in conv.messages(branch="all")) == ["mine", "one", "two"]


def test_a_secret_told_by_its_surroundings_is_masked_where_it_is_echoed(store: manent.Store) -> None:  # K-1
    secret = "hunter2Xkcd99"
    first = a_record(f"password={secret}", id="m1")
    echo = a_record(f"I read {secret} from it", id="m2")

    report = store.import_items([a_session(echo, first)], format="test")

    assert secret.encode() not in b"".join(store.export_lines())
    assert sum(report.secrets.values()) == 2


def test_an_id_of_the_form_that_turns_make_is_no_turns_id(store: manent.Store) -> None:
    report = store.import_items([a_session(a_record("one", id=f"3.{'a' * 16}.q"))], format="test")

    assert report.added_messages == 1
    assert [m.text for m in store.conversation(store.list()[0].id).messages()] == ["one"]


def test_conversations_are_listed_by_their_own_last_time(store: manent.Store) -> None:
    late = a_session(a_record("late", id="m1", claim_ns=2_000), id="late")
    early = a_session(a_record("early", id="m1", claim_ns=1_000), id="early")
    unknown = a_session(a_record("unknown", id="m1"), id="unknown")

    store.import_items([late, early, unknown], format="test")

    keys = [c.key for c in store.list()]
    assert keys == ["test:late", "test:early", "test:unknown"]


def test_a_dry_run_counts_and_writes_nothing(store: manent.Store, tmp_path: Path) -> None:
    path = a_file(tmp_path, [says("user", "one")], [says("user", "two")])

    report = import_path(store, path, dry_run=True)

    assert (report.new_conversations, report.added_messages) == (2, 2)
    assert len(store.list()) == 0


def test_two_imports_of_one_source_at_once_bring_it_once(tmp_path: Path) -> None:  # I-2
    path = tmp_path / "conversations.db"
    messages = tuple(a_record(f"message {n}", id=f"m{n}") for n in range(600))
    start = threading.Barrier(4)

    def import_it() -> None:
        with manent.open(path, workspace="demo", wait=60) as store:
            start.wait()
            store.import_items([a_session(*messages)], format="test")

    threads = [threading.Thread(target=import_it) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    with manent.open(path, workspace="demo") as store:
        assert len(store.list()) == 1
        assert len(store.conversation(store.list()[0].id).messages(branch="all")) == 600
        assert store.verify().ok


def test_a_log_of_every_request_is_one_conversation_and_stays_one(
    store: manent.Store, tmp_path: Path
) -> None:  # I-2
    asked, answered, more = says("user", "u1"), says("assistant", "a1"), says("user", "u2")
    path = a_file(
        tmp_path, [asked], [asked, answered, more], [asked, answered, more, says("assistant", "a2")]
    )

    first = import_path(store, path)
    second = import_path(store, path)

    assert (first.new_conversations, first.added_messages) == (1, 4)
    assert (second.added_messages, second.unchanged_conversations) == (0, 3)
    assert len(store.list()) == 1


def test_a_secret_in_a_title_or_in_details_is_masked(store: manent.Store) -> None:  # K-1
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    conversation = ImportedConversation(
        format="test",
        native_id="s1",
        messages=(a_record("hi", id="m1"),),
        place="here",
        title=f"about {secret}",
        details={"env": secret},
    )

    store.import_items([conversation], format="test")

    assert secret.encode() not in b"".join(store.export_lines())
    assert store.list()[0].title.startswith("about [secret:")


def test_an_import_ends_at_the_head_of_its_source(store: manent.Store) -> None:
    conversation = ImportedConversation(
        format="test",
        native_id="s1",
        messages=(a_record("shown", id="m1"), a_record("left aside", id="m2")),
        place="here",
        head_native_id="m1",
    )

    store.import_items([conversation], format="test")

    assert [m.text for m in store.conversation(store.list()[0].id).messages()] == ["shown"]


def test_one_conversation_that_cannot_be_kept_costs_itself(store: manent.Store) -> None:  # I-1
    parts = tuple(manent.parts.NoticePart(kind="n") for _ in range(65_535))
    large = ImportedMessage(role="user", parts=parts, native=b"{}", place="line 1", native_id="m1")
    sessions = [a_session(large, id="large"), a_session(a_record("fine", id="m1"), id="fine")]

    report = store.import_items(sessions, format="test")

    assert len(report.refusals) == 1
    assert [c.key for c in store.list()] == ["test:fine"]
