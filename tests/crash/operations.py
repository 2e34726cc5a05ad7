"""What the writers of the crash tests write: it follows from a seed, so that anybody can say what it was."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

import msgspec

from manent.history.conversation import Conversation
from manent.history.store import Store
from manent.model.imported import ImportedConversation, ImportedMessage
from manent.model.parts import TextPart
from manent.model.records import Message

Kind = Literal["turn", "batch", "import"]

SHARED = "shared"
"""The key of the conversation that all writers append to."""

_WORDS = ("water", "stone", "wind", "서버", "дерево", "light")
_PIECE = re.compile(r"\A(?P<writer>[\w.]+)/(?P<number>\d+) (?P<place>\d+) of (?P<count>\d+)\n")


class Piece(NamedTuple):
    """One stored text: the `place`th of the `pieces` that operation `number` of a writer stores together."""

    writer: str
    number: int
    place: int
    pieces: int
    text: str


class Operation(NamedTuple):
    """One append: a turn, a batch of messages, or an imported conversation."""

    writer: str
    number: int
    kind: Kind
    shared: bool
    texts: tuple[str, ...]

    @property
    def checksum(self) -> str:
        """Over all that it stores."""
        return checksum(self.texts)


class Acknowledgement(msgspec.Struct, frozen=True):
    """An operation that returned: which, where it stands, and a checksum of its content."""

    writer: str
    number: int
    conversation: str
    seqs: list[int]
    checksum: str


def checksum(texts: tuple[str, ...]) -> str:
    """Over some texts, their borders included."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def operation(seed: int, writer: str, number: int) -> Operation:
    """The operation with this number of a writer."""
    luck = random.Random(f"{seed}/{writer}/{number}")
    kind: Kind = luck.choices(("turn", "batch", "import"), (6, 3, 1))[0]
    count = 2 if kind == "turn" else luck.randint(2, 12)
    texts = tuple(_text(luck, writer, number, place, count) for place in range(1, count + 1))
    return Operation(writer, number, kind, luck.random() < 0.5, texts)


def operations(seed: int, writer: str) -> Iterator[Operation]:
    """All operations of a writer, without end."""
    number = 0
    while True:
        number += 1
        yield operation(seed, writer, number)


def _text(luck: random.Random, writer: str, number: int, place: int, count: int) -> str:
    words = luck.choice((0, 20, 200, 2_000)) if luck.random() < 0.98 else 40_000
    return f"{writer}/{number} {place} of {count}\n{' '.join(luck.choices(_WORDS, k=words))}"


def read_piece(text: str) -> Piece:
    """Undo what `operation` put at the head of a text."""
    found = _PIECE.match(text)
    assert found, f"a text that nobody wrote: {text[:40]!r}"
    return Piece(found["writer"], int(found["number"]), int(found["place"]), int(found["count"]), text)


def perform(store: Store, wanted: Operation) -> Acknowledgement:
    """Do it through the library, and say what the library acknowledged."""
    match wanted.kind:
        case "turn":
            conversation = _conversation(store, wanted)
            seqs = [conversation.append_turn(*wanted.texts).seq]
        case "batch":
            conversation = _conversation(store, wanted)
            batch = [Message(role="user", parts=text) for text in wanted.texts]
            seqs = [message.seq for message in conversation.append_messages(batch)]
        case "import":
            store.import_items([_imported(wanted)], format="crash")
            conversation, seqs = store.conversation(key=f"crash:{wanted.writer}-{wanted.number}"), []
    return Acknowledgement(wanted.writer, wanted.number, conversation.id, seqs, wanted.checksum)


def _conversation(store: Store, wanted: Operation) -> Conversation:
    return store.conversation(key=SHARED if wanted.shared else wanted.writer, create=True)


def _imported(wanted: Operation) -> ImportedConversation:
    name = f"{wanted.writer}-{wanted.number}"
    messages = [
        ImportedMessage(
            role="user",
            parts=(TextPart(text),),
            native=text.encode(),
            native_id=str(place),
            place=f"{name} {place}",
            follows=True,
        )
        for place, text in enumerate(wanted.texts)
    ]
    return ImportedConversation(format="crash", messages=tuple(messages), place=name, native_id=name)
