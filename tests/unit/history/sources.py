"""Small sources of other tools, as formats give them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import manent
from manent.errors import FormatError
from manent.model.imported import ImportedConversation, ImportedLink, ImportedMessage, ReadBytes
from manent.parts import FilePart, TextPart


def a_message(words: str, *, id: str, role: str = "user", **more: Any) -> ImportedMessage:
    """One message whose record holds its words."""
    native = json.dumps({"id": id, "text": words}).encode()
    return ImportedMessage(
        role=role, parts=(TextPart(words),), native=native, place="here", native_id=id, follows=True, **more
    )


def a_talk(*messages: ImportedMessage, id: str = "s1", **more: Any) -> ImportedConversation:
    """One conversation; its head is its last message."""
    head = messages[-1].native_id if messages else None
    return ImportedConversation(
        format="test", native_id=id, messages=messages, place="here", head_native_id=head, **more
    )


def a_list(*words: str) -> ImportedConversation:
    """A plain list of messages, without any ids."""
    messages = [
        ImportedMessage(
            role="user", parts=(TextPart(word),), native=word.encode(), place="here", follows=True
        )
        for word in words
    ]
    return ImportedConversation(format="test", messages=tuple(messages), place="here")


def a_file(words: str, *, id: str, read: ReadBytes) -> ImportedMessage:
    """A message with a file whose bytes the source has."""
    native = json.dumps({"id": id, "text": words}).encode()
    parts = (TextPart(words), FilePart(name="a.txt", media_type="text/plain"))
    return ImportedMessage(
        role="user", parts=parts, native=native, place="here", native_id=id, files=((1, read),), follows=True
    )


def unreadable() -> Iterator[bytes]:
    """A file that the source names and cannot give."""
    yield b"be"
    raise FormatError("the archive was cut", place="here")


def link_to(id: str, relation: str = "continues", message: str | None = None) -> tuple[ImportedLink, ...]:
    """That a conversation came from another one."""
    return (ImportedLink(relation=relation, native_id=id, message_native_id=message),)


def the_source() -> list[ImportedConversation]:
    """Conversations that need several transactions, with links, files, secrets and a head of their own."""
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2
    talks = []
    for n in range(4):
        messages = [a_message(f"message {m} of {n}", id=f"m{m}", claim_ns=n * 100 + m) for m in range(5)]
        messages[2] = a_file(f"file {token}", id="m2", read=lambda: iter([b"bytes"]))
        links = link_to(f"s{n + 1}", "continues") if n < 3 else ()
        talks.append(a_talk(*messages, id=f"s{n}", title=f"talk {n}", links=links))
    return talks


def by_key(store: manent.Store, id: str = "s1") -> manent.Conversation:
    """The conversation of a source here."""
    return store.conversation(key=f"test:{id}")


def texts(conversation: manent.Conversation) -> list[str]:
    """What is said on the active branch."""
    return [message.text for message in conversation.messages()]


def seen(store: manent.Store) -> list[Any]:
    """All that a reader sees, without ids and places, in the order of lists."""
    found = []
    for summary in store.list(limit=1000):
        conversation = store.conversation(summary.id)
        messages = [(m.id, m.parent_id, m.role, m.text) for m in conversation.messages(branch="all")]
        links = [(link.relation, link.message_id) for link in conversation.links()]
        head = conversation.head
        found.append((summary.key, summary.title, messages, links, head))
    return found
