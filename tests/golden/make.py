"""
Makes the golden store of the present format.

    python -m tests.golden.make            # once for each format, from the root of the repository
    python -m tests.golden.make --again    # while the format is not released

What was released is never made again: each later release must read these very bytes (M-1).
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

import manent
from manent import ROOT, Citation, Message, PhantomReach, ToolEvent, Usage
from manent.codec.canonical import escape_name
from manent.codec.sealing import hash_of
from manent.history import recording
from manent.history.runtime import Runtime, Scratch
from manent.history.store import Store
from manent.model.events import (
    CONTINUES,
    COPIED_FROM,
    SPAWNED_BY,
    ContentRedacted,
    ConversationCreated,
    ConversationDeleted,
    ConversationForked,
    ConversationLinked,
    Event,
    HeadMoved,
    MessageEdited,
    MessageRemoved,
    TurnEnded,
    TurnStarted,
    TurnState,
)
from manent.model.ids import Stamp
from manent.model.imported import ImportedConversation, ImportedLink, ImportedMessage
from manent.model.log import Pending, SealedEvent, StreamInfo
from manent.model.parts import (
    FilePart,
    NoticePart,
    OpaquePart,
    ReasoningPart,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from manent.model.workspaces import Workspace
from manent.opening import make_scratch
from manent.storage.installation import Installation
from manent.storage.port import Transaction
from manent.storage.sqlite.backend import SqliteBackend
from manent.storage.sqlite.engine import FORMAT
from manent.testing.builders import answered, said, sealed
from manent.testing.clocks import NOON_NS, stepping
from tests.golden.reading import OWNED, OWNER, WORKSPACES, read_everything, to_json

HERE = Path(__file__).parent
GARDEN, KITCHEN = WORKSPACES
A_SECRET = "ghp_" + "a1B2" * 9

ODD_TEXTS = (
    "",
    "\x00 a NUL",
    "\ud83d alone",
    "\ud83d\ude00 two that are no smile",
    "\U0001f600 a smile",
    "\\ud83d written out",
    "one\u2028two\u2029three\x85four\x0b\x0c\r\nfive",
    "e\u0301 and é, שלום, مرحبا \u202e",
    "콩은 5월에 심어요. 豆は五月に。 豆子五月种。",
    "\x1b[31mred\x1b[0m <script>alert(1)</script>",
    "\ufeff\ufffd\U0010ffff",
    "user_repository camelCase node.js C++ ERR_0042 61.2% /usr/lib ünïcode",
)


class Maker:
    """A store that is being made, with a clock and identities that repeat."""

    def __init__(self, path: Path) -> None:
        self._number = 0
        self._seed = 0
        self._clock = stepping(step_ns=1_000_000_000)
        installation = Installation(path.with_name("state"))
        self.backend = SqliteBackend(path, installation=installation, new_salts=self._salts)

    def _salts(self, size: int) -> bytes:
        self._seed += 1
        return bytes((self._seed * 31 + number * 7) % 256 for number in range(size))

    def new_id(self) -> str:
        """The next identity."""
        self._number += 1
        return f"{self._number:032x}"

    def store(self, workspace: str) -> Store:
        """A handle of a workspace."""
        fence = Workspace.key(workspace)
        return Store(Runtime(self.backend, fence, Scratch(make_scratch), self._clock, self.new_id))

    def record(self, uid: str, *events: Event, claim_ns: int | None = NOON_NS) -> None:
        """Append events that no call of this release writes."""
        pending = [Pending(event, self.new_id(), claim_ns) for event in events]
        with self.backend.transaction() as tx:
            recording.record(tx, uid, pending)

    def adopt(self, *events: SealedEvent) -> None:
        """Take in events of other writers."""
        with self.backend.transaction() as tx:
            recording.adopt(tx, events)

    def put_metadata(self, uid: str, **values: Any) -> None:
        """Set registers; None unsets one."""
        with self.backend.transaction() as tx:
            for field, value in values.items():
                tx.put_metadata(uid, field, value)

    def workspace(self, tx: Transaction, name: str) -> str:
        """The uid of a workspace that is there."""
        found = tx.read.find_workspace("key", name)
        assert found is not None, "made by the first conversation"
        return found

    def reserve(self, name: str, id: str) -> str:
        """A conversation without any event, in a workspace; its uid."""
        uid = self.new_id()
        with self.backend.transaction() as tx:
            tx.put_stream(StreamInfo(uid, self.workspace(tx, name), id))
        return uid

    def delete(self, uid: str, *, reason: str) -> None:
        """Delete a conversation: declare it, erase its leaves, and free its names."""
        with self.backend.transaction() as tx:
            info = tx.read.find_stream(uid)
            workspace = tx.read.find_workspace_info(info.workspace) if info else None
            assert workspace is not None, "there is no such conversation"
            tips = tuple((tip.writer, tip.seq, tip.hash.hex()) for tip in tx.read.read_tips(uid))
            declared = ConversationDeleted(uid=uid, tips=tips, reason=reason)
            recording.record(tx, workspace.streams[0], [Pending(declared, self.new_id(), NOON_NS)])
            for entry in list(recording.stream(tx.read, uid)):
                tx.erase_leaves(uid, entry.header.stamp, [leaf.name for leaf in entry.leaves])
            tx.delete_stream(uid)

    def redact(self, uid: str, seq: int, writer: str, *leaves: str) -> None:
        """Take leaves away and declare it."""
        declared = ContentRedacted(
            target_seq=seq,
            target_writer=writer,
            target_leaves=leaves,
            reason_code="asked",
            replacement="[gone]",
        )
        with self.backend.transaction() as tx:
            recording.record(tx, uid, [Pending(declared, self.new_id(), NOON_NS)])
            tx.erase_leaves(uid, Stamp(seq, writer), leaves)


def make_store(maker: Maker) -> None:
    """Something of everything that this format can hold."""
    garden, kitchen = maker.store(GARDEN), maker.store(KITCHEN)
    make_turns(garden)
    make_odd_texts(garden)
    make_branches(garden, maker)
    make_live_turns(kitchen, maker)
    make_import(kitchen)
    make_strangers(kitchen, maker)
    make_metadata(kitchen, maker)
    make_ends(kitchen, maker)
    make_links(kitchen, maker)
    make_owner(kitchen, maker)
    make_roadmaps(maker)
    make_deletion(kitchen, maker)
    with maker.backend.reading() as reader:
        workspaces = [info.uid for info in reader.list_workspaces()]
    maker.backend.blobs.put(workspaces[0], [b"\x89PNG ", b"but not really"])
    maker.backend.blobs.put(workspaces[1], [])


def make_turns(store: Store) -> None:
    """Whole turns with all that rides along."""
    conversation = store.create(
        "When to sow beans", persona="a gardener", key="garden:1", project="/home/ann"
    )
    conversation.append_turn("When do I sow beans?", "In May.", author="ann", idempotency_key="first")
    conversation.append_turn(
        "And kale?",
        "In March [1].",
        tool_events=[ToolEvent("almanac", "ab12", ok=False, duration_ms=40)],
        citations=[Citation("[1]", "https://example.org/kale", "Kale", "sow in March", {"page": 3})],
        usage=Usage(input_tokens=7, output_tokens=3, cost=0.25, currency="EUR", model="m-1"),
        phantom_reaches=[PhantomReach("alamnac", "corrected", "a slip", ("similar",))],
    )


def make_odd_texts(store: Store) -> None:
    """Text that stores like to lose."""
    conversation = store.create("Odd \ud83d texts \x00", key="odd \\ \ud83d \x00 key")
    for text in ODD_TEXTS:
        conversation.append_turn(text, text[::-1])


def make_branches(store: Store, maker: Maker) -> None:
    """A tree with an edit, a removal, a moved head and a redaction."""
    conversation = store.create("Branches", key="tree")
    first, answer = conversation.append_messages(
        [
            Message(role="user", parts="root", id="q1", author="ann"),
            Message(role="assistant", parts="one", id="a1"),
        ]
    )
    conversation.append_message(Message(role="assistant", parts="two", id="a2"), parent=first)
    conversation.append_message(Message(role="user", parts="elsewhere", id="r2"), parent=ROOT)
    conversation.append_message(Message(role="user", parts="to be removed", id="gone"), parent=answer)
    maker.record(
        conversation.uid,
        MessageEdited(message_id="a1", new_parts=(TextPart("one, edited"),), reason="a slip"),
        MessageRemoved(message_id="gone"),
        HeadMoved(message_id="a1"),
    )
    maker.redact(conversation.uid, first.seq, first.writer, "content")


def make_live_turns(store: Store, maker: Maker) -> None:
    """A turn in each state, and parts of every kind."""
    conversation = store.create("Live", key="live")
    parts = (
        ReasoningPart("let me see", "c2lnbmVk", is_summary=True),
        TextPart("I look it up"),
        ToolCallPart("almanac", {"plant": "bean", "of": [1, 2.5, None, True]}, "call-1"),
    )
    result = (
        ToolResultPart({"month": 5}, "call-1", "almanac"),
        FilePart("bean.png", "image/png", "ab" * 32, 20),
    )
    other = (
        NoticePart("compaction", "shorter now"),
        OpaquePart({"type": "hologram"}, "elsewhere"),
        Citation("[2]"),
    )
    maker.record(conversation.uid, TurnStarted(turn_id="t1"))
    conversation.append_messages(
        [
            Message(role="user", parts="live?", id="live-q"),
            Message(role="assistant", parts=parts, id="live-a", usage=Usage(output_tokens=5)),
            Message(role="tool", parts=result, id="live-t", metadata={"exit": 0}),
            Message(role="observer", parts=other, id="live-o", hidden=True),
        ]
    )
    maker.record(conversation.uid, TurnEnded(turn_id="t1", state=TurnState.FAILED, reason="out of beans"))
    maker.record(conversation.uid, TurnStarted(turn_id="t2"), claim_ns=None)


def make_import(store: Store) -> None:
    """A conversation of another tool, with native records that are kept packed."""
    raw = b'{"role":"user","content":"imported ' + b"and long " * 60 + b'"}'
    message = ImportedMessage(
        role="user",
        parts=(TextPart("imported " + "and long " * 60),),
        native=raw,
        place="chat.jsonl line 1",
        native_id="n1",
        claim_ns=NOON_NS - 1,
    )
    picture = ImportedMessage(
        role="tool",
        parts=(TextPart(f"the key is {A_SECRET}"), FilePart(name="a.png", media_type="image/png")),
        native=b'{"role":"tool"}',
        place="chat.jsonl line 2",
        native_id="n2",
        parent_native_id="n1",
        metadata={"feedback": {"rating": "up"}},
        files=((1, lambda: iter([b"\x89PNG ", b"drawn"])),),
    )
    conversation = ImportedConversation(
        format="by hand",
        messages=(message, picture),
        place="chat.jsonl",
        native_id="c-77",
        title="Imported",
        details={"v": 2},
    )
    later = ImportedConversation(
        format="by hand",
        messages=(msgspec.structs.replace(message, native=b"{}", native_id="n3"),),
        place="chat.jsonl",
        native_id="c-78",
        links=(
            ImportedLink(relation=CONTINUES, native_id="c-77", message_native_id="n2"),
            ImportedLink(relation=COPIED_FROM, native_id="c-79"),
        ),
    )
    store.import_items([conversation, later], format="by hand", paths=("chat.jsonl",))


def make_strangers(store: Store, maker: Maker) -> None:
    """Events of other writers, one of them at a seq that two share, and one of a newer release."""
    conversation = store.create("Strangers", key="strangers")
    mine = conversation.append_turn("mine", "yes")
    uid, one, two = conversation.uid, "aa" * 8, "bb" * 8
    shared, future = sealed(uid, said("theirs", id="s1"), answered("?", id="s2"), writer=one, seq=mine.seq)
    future = future._replace(header=future.header._replace(kind="from_the_future", schema_version=7))
    last = sealed(uid, said("last", id="s3"), writer=one, seq=mine.seq + 5, prev_hash=hash_of(future))
    maker.adopt(shared, future, *last, *sealed(uid, said("another", id="s4"), writer=two, seq=mine.seq + 1))


def make_metadata(store: Store, maker: Maker) -> None:
    """A register of each kind, one of them unset, and one of a newer release."""
    conversation = store.create("Metadata", persona="a cook", key="metadata", project="/home/bea")
    maker.put_metadata(
        conversation.uid,
        tags=["soup", "\ud83d \x00"],
        pin=True,
        scratchpad={"salt": "enough", "": "\u2028"},
        plan={"steps": [{"text": "peel", "status": "done"}, {"text": "boil", "status": "todo"}]},
        config_snapshot={"model": "m-1", "temperature": 0.5, "tools": [], "big": 1 << 60},
        roadmap_link={"roadmap_id": "year", "node_id": "spring"},
        from_the_future={"v": [1, 2]},
    )
    maker.put_metadata(conversation.uid, persona=None)


def make_ends(store: Store, maker: Maker) -> None:
    """A conversation that was ended, one that was opened again, and one that was ended before it began."""
    ended = store.create("Ended", key="ended")
    ended.append_turn("Done?", "Done.")
    maker.put_metadata(ended.uid, end_reason="done")
    again = store.create("Open again", key="again")
    maker.put_metadata(again.uid, end_reason="too early")
    maker.put_metadata(again.uid, end_reason=None)
    early = maker.reserve(KITCHEN, "early")
    maker.put_metadata(early, end_reason="before it began")
    maker.record(early, ConversationCreated())


def make_links(store: Store, maker: Maker) -> None:
    """A relation of each kind, between conversations and to what is not there."""
    first = store.create("First", key="first")
    message = first.append_message(Message(role="user", parts="one", id="one"))
    related = {
        "continued": ConversationLinked(relation=CONTINUES, to_uid=first.uid),
        "copied": ConversationLinked(relation=COPIED_FROM, to_uid=first.uid, message_id=message.id),
        "forked": ConversationForked(from_uid=first.uid, from_message_id=message.id),
        "forked whole": ConversationForked(from_uid=first.uid),
        "spawned": ConversationLinked(relation=SPAWNED_BY, to_uid=first.uid),
        "lost": ConversationLinked(relation=CONTINUES, to_uid="ab" * 16, message_id="\ud83d \x00"),
    }
    for key, event in related.items():
        maker.record(store.create(key.capitalize(), key=key).uid, event)
    early = maker.reserve(KITCHEN, "spawned early")
    maker.record(early, ConversationLinked(relation=SPAWNED_BY, to_uid=first.uid), ConversationCreated())


def make_owner(store: Store, maker: Maker) -> None:
    """A conversation that a process owns, and an id that one owns before it is there."""
    owned = store.create("Owned", key=OWNED)
    with maker.backend.transaction() as tx:
        workspace = maker.workspace(tx, KITCHEN)
        tx.put_owner(workspace, owned.id, OWNER)
        tx.put_owner(workspace, "not there yet", OWNER)


def make_roadmaps(maker: Maker) -> None:
    """Two roadmaps, registers on a workspace's own stream."""
    trees = {"year": '[spring]\ntitle = "sow"\n', "odd \x00 \ud83d": ""}
    with maker.backend.transaction() as tx:
        info = tx.read.find_workspace_info(maker.workspace(tx, KITCHEN))
        assert info is not None
        for number, (id, tree) in enumerate(trees.items()):
            times = {"created_ns": NOON_NS, "updated_ns": NOON_NS + number}
            value = {"title": f"Roadmap {number}", "tree": tree, **times}
            tx.put_metadata(info.streams[0], f"roadmap:{escape_name(id)}", value)


def make_deletion(store: Store, maker: Maker) -> None:
    """A conversation that was deleted; its key is another one's."""
    doomed = store.create("To be deleted", key="doomed", persona="nobody")
    doomed.append_turn("Do you forget?", "What?", author="ann", idempotency_key="once")
    doomed.append_message(Message(role="user", parts="a word", id="a word"))
    maker.delete(doomed.uid, reason="asked")
    store.create("Not deleted", key="doomed")


def write_golden(folder: Path) -> None:
    """Make the store, and write down what reading it gives."""
    with tempfile.TemporaryDirectory() as desk:
        path = Path(desk) / "conversations.db"
        maker = Maker(path)
        make_store(maker)
        maker.backend.close()
        with manent.open(path, workspace=None) as owner:
            (folder / "export.ndjson").write_bytes(b"".join(owner.export_lines()))
            receipt = owner.receipt().to_json()
        expected = {"receipt": receipt, **read_everything(path)}
        (folder / "expected.json").write_bytes(to_json(expected))
        (folder / "conversations.db.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def main(arguments: list[str]) -> None:
    """Make the folder of the present format."""
    folder = HERE / f"format-{FORMAT}"
    folder.mkdir(exist_ok="--again" in arguments)
    write_golden(folder)
    for file in sorted(folder.iterdir()):
        sys.stdout.write(f"{file.relative_to(HERE)}: {file.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1:])
