"""Giving conversations out, one at a time and whole, to whatever writes them in another format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from manent.history import messages, turns
from manent.history.attachments import find_digests
from manent.history.exporting import Part
from manent.history.listing import conversations, to_summary
from manent.history.messages import Window
from manent.history.recording import stream
from manent.history.resolving import resolve, to_target
from manent.history.runtime import Runtime, Target
from manent.history.workspaces import find_fence, is_there
from manent.model.events import MessageEdited
from manent.model.exported import ExportedConversation
from manent.model.log import StreamInfo
from manent.model.rows import ConversationEntry
from manent.storage.port import Reader

NATIVE = "native"
"""The leaf that holds another tool's own record."""

_SHOWN = frozenset(("title", "persona", "key", "project", "end_reason", "tags", "pin"))
"""The registers that a summary tells."""

_ALL_BRANCHES = Window(None, None, None, "all")

Progress = Callable[[int], None]
"""Called with the number of conversations that were given out so far."""


def read_conversations(
    runtime: Runtime, named: Sequence[str] = (), *, progress: Progress = lambda _: None
) -> Iterator[ExportedConversation]:
    """
    Read conversations, as of one moment; no more than one is held.

    Args:
        named: ids, or beginnings of ids, in the order wanted. None of them: all that the handle sees, the
            most recently active first.

    Raises:
        NotFoundError, AmbiguousPrefixError: of a name, before anything is given out.
    """
    with runtime.backend.reading() as reader:
        held: dict[str, frozenset[str]] = {}
        for count, entry in enumerate(_entries(runtime, reader, named), 1):
            if entry.workspace not in held:
                held[entry.workspace] = frozenset(runtime.backend.blobs.list_digests(entry.workspace))
            yield _read(runtime, reader, entry, held[entry.workspace])
            progress(count)


def find_part(runtime: Runtime, named: Sequence[str] = ()) -> Part:
    """
    The part of the store that a handle sees, or of that the conversations with these names.

    Raises:
        NotFoundError, AmbiguousPrefixError.
    """
    with runtime.backend.reading() as reader:
        fence = find_fence(runtime, reader) if is_there(runtime, reader) else ""
        if not named:
            return Part(fence)
        return Part(fence, frozenset(resolve(runtime, reader, name).uid for name in named))


def _entries(runtime: Runtime, reader: Reader, named: Sequence[str]) -> Iterator[ConversationEntry]:
    if named:
        found = {stream.uid: stream for stream in [resolve(runtime, reader, name) for name in named]}
        yield from (_to_entry(reader, each) for each in found.values())
    elif is_there(runtime, reader):
        yield from conversations(reader, find_fence(runtime, reader))


def _to_entry(reader: Reader, info: StreamInfo) -> ConversationEntry:
    target = to_target(info)
    row = reader.find_row(info.uid)
    assert row is not None, "what was resolved has begun"
    registers = tuple(reader.read_registers(info.uid))
    return ConversationEntry(info.uid, target.id, info.workspace, row, row.activity.seq, registers)


def _read(
    runtime: Runtime, reader: Reader, entry: ConversationEntry, held: frozenset[str]
) -> ExportedConversation:
    target = Target(entry.uid, entry.id, workspace=entry.workspace)
    edits, native_records = 0, 0
    for each in stream(reader, entry.uid):
        edits += each.header.kind == MessageEdited.KIND
        native_records += any(leaf.name == NATIVE and leaf.data is not None for leaf in each.leaves)
    registers = reader.read_registers(entry.uid)
    return ExportedConversation(
        uid=entry.uid,
        summary=to_summary(entry),
        head=entry.row.head,
        messages=tuple(messages.read_page(reader, target, _ALL_BRANCHES)),
        turns=tuple(turns.read_page(reader, target, _ALL_BRANCHES)),
        links=len(reader.read_links(entry.uid)),
        native_records=native_records,
        edits=edits,
        registers=tuple(r.field for r in registers if r.value is not None and r.field not in _SHOWN),
        files=held.intersection(find_digests(reader, entry.uid)) if held else held,
        read_file=partial(runtime.backend.blobs.get, entry.workspace),
    )
