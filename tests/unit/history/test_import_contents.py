"""What an import stores beside words: attachments, metadata, links; and what it masks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from blake3 import blake3

import manent
from manent.errors import InputError
from manent.history import fetching, shelving
from manent.model.events import ConversationLinked
from manent.model.imported import ImportedConversation
from manent.model.imports import MaskedSecret
from manent.parts import FilePart, TextPart, ToolResultPart
from tests.unit.history.sources import (
    a_file,
    a_message,
    a_talk,
    by_key,
    link_to,
    seen,
    texts,
    unreadable,
)

NOW_NS = 1_700_000_000_000_000_000
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[manent.Store]:
    with manent.open(tmp_path / "conversations.db", workspace="demo", clock=lambda: NOW_NS) as store:
        yield store


def events_of(store: manent.Store, kind: str) -> int:
    """How many events of a kind the workspace holds."""
    return sum(kind == arrival.event.KIND for arrival in store.read_arrivals(limit=10_000).events)


def the_file(conversation: manent.Conversation, place: int = 0) -> FilePart:
    """The file in a message."""
    part = conversation.messages()[place].parts[1]
    assert isinstance(part, FilePart)
    return part


# --- attachments


def test_an_attachment_is_stored_with_its_message(store: manent.Store) -> None:
    report = store.import_items(
        [a_talk(a_file("see", id="m1", read=lambda: iter([b"by", b"tes"])))], format="test"
    )

    assert (report.attachments, report.stored_attachments, report.kept_references) == (1, 1, 0)
    assert the_file(by_key(store)) == FilePart(
        name="a.txt",
        media_type="text/plain",
        digest=blake3(b"bytes").hexdigest(),
        size_bytes=5,
        state="stored",
    )
    assert store.verify().ok


def test_the_same_bytes_are_kept_once(store: manent.Store) -> None:
    files = [a_file("see", id=f"m{n}", read=lambda: iter([b"bytes"])) for n in range(3)]

    store.import_items([a_talk(*files)], format="test")

    assert b"".join(store.export_lines()).count(b'{"manent":"blob"') == 1


def test_a_known_messages_attachment_is_not_read_again(store: manent.Store) -> None:
    reads: list[str] = []

    def read() -> Iterator[bytes]:
        reads.append("read")
        yield b"bytes"

    talk = a_talk(a_file("see", id="m1", read=read))
    store.import_items([talk], format="test")
    again = store.import_items([talk], format="test")

    assert (reads, again.attachments, again.known_messages) == (["read"], 0, 1)


def test_an_attachment_that_cannot_be_read_stays_a_reference_and_is_named(store: manent.Store) -> None:  # I-1
    good = a_file("good", id="m2", read=lambda: iter([b"bytes"]))

    report = store.import_items([a_talk(a_file("see", id="m1", read=unreadable), good)], format="test")

    assert (report.attachments, report.stored_attachments, report.kept_references) == (2, 1, 1)
    assert [(one.place, one.reason) for one in report.refusals] == [
        ("here", "attachment: the archive was cut")
    ]
    assert (the_file(by_key(store)).state, the_file(by_key(store)).digest) == ("reference", None)
    assert the_file(by_key(store), 1).size_bytes == 5
    assert (report.records, report.messages) == (2, 2)


def test_an_attachment_beyond_the_bound_stays_a_reference(
    store: manent.Store, monkeypatch: pytest.MonkeyPatch
) -> None:  # I-3
    monkeypatch.setattr(fetching, "FILE_BYTES_MAX", 10)

    report = store.import_items(
        [a_talk(a_file("see", id="m1", read=lambda: iter([b"123456"] * 2)))], format="test"
    )

    assert report.kept_references == 1
    assert report.refusals[0].reason == "attachment: a file of more than 10 bytes"


def test_a_deleted_conversations_attachments_stay_deleted(store: manent.Store) -> None:
    talk = a_talk(a_file("see", id="m1", read=lambda: iter([b"bytes"])))
    store.import_items([talk], format="test")
    store.delete(by_key(store).id)

    report = store.import_items([talk], format="test")

    assert (report.deleted_conversations, report.attachments) == (1, 0)
    assert b"bytes" not in b"".join(store.export_lines())


def test_a_changed_message_with_a_file_says_its_new_words(store: manent.Store) -> None:
    store.import_items([a_talk(a_file("old", id="m1", read=lambda: iter([b"bytes"])))], format="test")

    changed = a_talk(a_file("new", id="m1", read=lambda: iter([b"bytes"])))
    report = store.import_items([changed], format="test")
    again = store.import_items([changed], format="test")

    assert (report.changed_messages, report.stored_attachments) == (1, 1)
    assert (again.changed_messages, again.attachments) == (0, 0)
    assert the_file(by_key(store)).state == "stored"


# --- metadata


def test_what_a_source_says_about_a_message_is_its_metadata(store: manent.Store) -> None:
    message = a_message("one", id="m1", metadata={"feedback": "thumbs_up", "note": f"token {TOKEN}"})

    report = store.import_items([a_talk(message)], format="test")

    assert by_key(store).messages()[0].metadata == {
        "feedback": "thumbs_up",
        "note": "token [secret:github_token]",
    }
    assert report.secrets == {"github_token": 1}


# --- links


ONE = a_message("one", id="m1")


@pytest.mark.parametrize("order", [("s1", "s2"), ("s2", "s1")])
def test_a_link_is_recorded_whichever_end_comes_first(store: manent.Store, order: tuple[str, str]) -> None:
    talks = {"s1": a_talk(ONE, id="s1"), "s2": a_talk(ONE, id="s2", links=link_to("s1", message="m1"))}

    report = store.import_items([talks[id] for id in order], format="test")

    assert (report.links, report.recorded_links, report.pending_links) == (1, 1, 0)
    assert [
        (link.relation, link.conversation_id, link.message_id) for link in by_key(store, "s2").links()
    ] == [("continues", by_key(store, "s1").id, "m1")]


def test_a_link_waits_for_a_later_import(store: manent.Store) -> None:
    child = a_talk(ONE, id="s2", links=link_to("s1", "spawned_by"))
    first = store.import_items([child], format="test")
    waiting = store.import_items([child], format="test")

    later = store.import_items([a_talk(ONE, id="s1")], format="test")

    assert [(r.recorded_links, r.pending_links) for r in (first, waiting, later)] == [(0, 1), (0, 1), (1, 0)]
    assert [link.relation for link in by_key(store, "s2").links()] == ["spawned_by"]


def test_importing_links_again_adds_nothing(store: manent.Store) -> None:  # I-2
    talks = [
        a_talk(ONE, id="s1"),
        a_talk(ONE, id="s2", links=(*link_to("s1"), *link_to("never"), *link_to("s2"))),
    ]
    store.import_items(talks, format="test")
    lines = list(store.export_lines())

    again = store.import_items(talks, format="test")

    assert (again.links, again.known_links, again.pending_links) == (2, 1, 1)
    assert list(store.export_lines()) == lines
    assert events_of(store, ConversationLinked.KIND) == 1


def test_a_link_of_a_conversation_that_is_gone_is_forgotten(store: manent.Store) -> None:
    store.import_items([a_talk(ONE, id="s2", links=link_to("s1"))], format="test")
    store.delete(by_key(store, "s2").id)

    report = store.import_items([a_talk(ONE, id="s1")], format="test")

    assert (report.recorded_links, events_of(store, ConversationLinked.KIND)) == (0, 0)


def test_a_link_that_an_older_release_left_out_is_recorded_now(store: manent.Store) -> None:
    store.import_items([a_talk(ONE, id="s1"), a_talk(ONE, id="s2")], format="test")

    report = store.import_items([a_talk(ONE, id="s2", links=link_to("s1"))], format="test")

    assert (report.recorded_links, report.unchanged_conversations, report.added_messages) == (1, 1, 0)


def test_waiting_links_are_in_no_export(store: manent.Store) -> None:
    store.import_items([a_talk(ONE, id="s2", links=link_to("a-name"))], format="test")

    assert b"a-name" not in b"".join(store.export_lines())


# --- a dry run


def test_a_dry_run_counts_the_same(store: manent.Store) -> None:
    store.import_items([a_talk(ONE, id="s0", links=link_to("s1"))], format="test")
    source = [
        a_talk(a_file("see", id="m1", read=lambda: iter([b"bytes"])), a_message(TOKEN, id="m2"), id="s1"),
        a_talk(a_file("see", id="m1", read=unreadable), id="s2", links=(*link_to("s1"), *link_to("s9"))),
        a_talk(ONE, id="s0", links=link_to("s1")),
        a_talk(ONE, a_message("more", id="m5"), id="s2"),
        a_talk(ONE, id="s3"),
        a_talk(ONE, id="s3"),
    ]
    lines = list(store.export_lines())

    dry = store.import_items(source, format="test", dry_run=True)
    assert list(store.export_lines()) == lines
    wet = store.import_items(source, format="test")

    assert dry == msgspec.structs.replace(wet, import_id=None)
    assert wet.links == wet.recorded_links + wet.known_links + wet.pending_links == 3


def test_a_dry_run_makes_not_even_a_workspace(store: manent.Store) -> None:
    store.import_items([a_talk(ONE, links=link_to("s9"))], format="test", dry_run=True)

    with manent.open(store.url, workspace=None) as owner:
        assert owner.workspaces.list() == []


# --- much of it


def test_what_does_not_fit_into_memory_comes_in_the_same_way(
    store: manent.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    talks = [
        a_talk(
            a_file(f"see \ud83d {TOKEN}", id="m1", read=lambda: iter([b"bytes"])),
            a_message("two", id="m2", claim_ns=(10 - n) * 1000),
            id=f"s{n}",
            title=f"talk {n}",
        )
        for n in range(5)
    ]
    with manent.open("memory:", workspace="demo", clock=lambda: NOW_NS) as plain:
        expected = plain.import_items(talks, format="test")
        monkeypatch.setattr(shelving, "SHELF_BYTES_MAX", 1)

        report = store.import_items(talks, format="test")

        assert seen(store) == seen(plain)
        assert (report.secrets, report.stored_attachments) == (expected.secrets, 5)
        assert the_file(by_key(store, "s3")).state == "stored"


# --- titles


@pytest.mark.parametrize(
    ("talk", "title"),
    [
        (a_talk(a_message("  How do I\n\tfind it?  ", id="m1"), title="given"), "given"),
        (a_talk(a_message("  How do I\n\tfind it?  ", id="m1")), "How do I find it?"),
        (a_talk(a_message("답이요", id="m1", role="assistant"), a_message("질문이요", id="m2")), "질문이요"),
        (a_talk(a_message("<reminder>", id="m1", hidden=True), a_message("mine", id="m2")), "mine"),
        (a_talk(a_message(f"use {TOKEN} " + "x" * 99, id="m1")), "use [secret:github_token] xxxxxxxxxxxxxx"),
        (a_talk(a_message("answer alone", id="m1", role="assistant")), ""),
        (a_talk(a_message(" ", id="m1")), ""),
    ],
)
def test_a_talk_without_a_title_is_called_as_its_first_question_begins(
    store: manent.Store, talk: ImportedConversation, title: str
) -> None:
    store.import_items([talk], format="test")

    assert by_key(store).title == title


# --- secrets


def test_what_was_masked_is_listed_without_what_it_was(store: manent.Store) -> None:  # K-1
    report = store.import_items(
        [a_talk(a_message(f"use {TOKEN} or {TOKEN}", id="m1"), title=f"about {TOKEN}")], format="test"
    )

    found = store.secrets.list()

    conversation = by_key(store)
    address = str(conversation.messages()[0].address)
    assert list(found) == [
        MaskedSecret(
            kind="github_token",
            conversation_id=conversation.id,
            address=where,
            count=count,
            claim_ns=NOW_NS,
            import_id=report.import_id,
        )
        for where, count in ((None, 1), (address, 2))
    ]
    assert report.secrets == {"github_token": 3}
    assert TOKEN not in repr(found)


def test_masked_secrets_come_in_pages(store: manent.Store) -> None:
    talks = [
        a_talk(*(a_message(f"{TOKEN} {JWT}", id=f"m{n}") for n in range(3)), id=f"s{n}") for n in range(3)
    ]
    store.import_items(talks, format="test")

    for kind, total in ((None, 18), ("jwt", 9)):
        pages, cursor = [], None
        while True:
            page = store.secrets.list(kind=kind, limit=4, cursor=cursor)
            pages += list(page)
            cursor = page.next
            if cursor is None:
                break
        assert pages == list(store.secrets.list(kind=kind, limit=100))
        assert len(pages) == total


def test_another_workspace_sees_no_masked_secret(store: manent.Store) -> None:  # N-1
    store.import_items([a_talk(a_message(TOKEN, id="m1"))], format="test")

    with manent.open(store.url, workspace="beside") as beside:
        assert list(beside.secrets.list()) == []


def test_a_masked_secret_is_listed_no_more_when_its_conversation_is_deleted(store: manent.Store) -> None:
    store.import_items([a_talk(a_message(TOKEN, id="m1"))], format="test")

    store.delete(by_key(store).id)

    assert list(store.secrets.list()) == []


def test_a_kind_that_is_allowed_stays_and_the_report_says_so(store: manent.Store) -> None:
    report = store.import_items(
        [a_talk(a_message(f"{TOKEN} {JWT}", id="m1"))], format="test", allow_secrets=["github_token"]
    )

    assert (report.secrets, report.allowed_secrets) == ({"jwt": 1}, ("github_token",))
    assert texts(by_key(store)) == [f"{TOKEN} [secret:jwt]"]
    native = b"".join(store.export_lines())
    assert TOKEN.encode() in native
    assert JWT.encode() not in native


@pytest.mark.parametrize("kinds", [["no_such_kind"], "jwt"])
def test_a_kind_that_there_is_none_of_is_refused(store: manent.Store, kinds: list[str]) -> None:
    with pytest.raises(InputError):
        store.import_items([a_talk(ONE)], format="test", allow_secrets=kinds)
    with pytest.raises(InputError):
        manent.open("memory:", allow_secrets=kinds)


def test_unknown_kinds_are_answered_with_those_that_there_are(store: manent.Store) -> None:
    with pytest.raises(InputError, match=r"'nothing'.*anthropic_key.*jwt"):
        store.secrets.list(kind="nothing")


def test_tool_output_is_masked_and_listed(store: manent.Store) -> None:  # K-1
    conversation = store.create("a run")
    output = ToolResultPart(content={"env": f"GITHUB={TOKEN}"}, call_id="c1")

    conversation.append_messages(
        [
            manent.Message(role="user", parts=f"my own words {TOKEN}"),
            manent.Message(role="tool", parts=[output], id="t1"),
            manent.Message(role="tool", parts=f"plain {TOKEN}", id="t2"),
        ]
    )

    asked, first, second = conversation.messages()
    assert asked.text == f"my own words {TOKEN}"
    assert first.parts == (ToolResultPart(content={"env": "GITHUB=[secret:github_token]"}, call_id="c1"),)
    assert second.parts == (TextPart("plain [secret:github_token]"),)
    assert [(one.kind, one.address, one.count, one.import_id) for one in store.secrets.list()] == [
        ("github_token", str(first.address), 1, None),
        ("github_token", str(second.address), 1, None),
    ]


def test_masked_tool_output_repeats_under_its_key(store: manent.Store) -> None:  # L-7
    conversation = store.create("a run")
    message = manent.Message(role="tool", parts=[ToolResultPart(content=TOKEN)])

    first = conversation.append_message(message, idempotency_key="k")
    again = conversation.append_message(message, idempotency_key="k")

    assert (first.id == again.id, len(store.secrets.list())) == (True, 1)


def test_a_store_may_allow_a_kind_in_tool_output(tmp_path: Path) -> None:
    with manent.open(tmp_path / "c.db", allow_secrets=["github_token"]) as store:
        conversation = store.create("a run")
        conversation.append_message(manent.Message(role="tool", parts=[ToolResultPart(content=TOKEN)]))

        assert json.dumps(conversation.messages()[0].parts[0].content) == json.dumps(TOKEN)  # type: ignore[union-attr]
        assert list(store.secrets.list()) == []
