"""Attachments: which blobs a conversation refers to, and what goes when nothing refers to it any more."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from manent.history.listing import conversations
from manent.history.recording import open_leniently, stream
from manent.model.events import MessageAdded, MessageEdited
from manent.model.parts import AnyPart, FilePart
from manent.storage.port import Reader, Transaction


def find_digests(reader: Reader, uid: str) -> set[str]:
    """The digests of every file in a conversation, in what was edited away too."""
    found = set()
    for entry in stream(reader, uid):
        for part in _parts(open_leniently(entry).event):
            if isinstance(part, FilePart) and part.digest:
                found.add(part.digest)
    return found


def _parts(event: object) -> Iterator[AnyPart]:
    match event:
        case MessageAdded(parts=parts) | MessageEdited(new_parts=parts):
            yield from parts
        case _:
            return


def drop_unused(tx: Transaction, workspace: str, digests: Iterable[str]) -> None:
    """Drop those blobs of a workspace that none of its conversations refers to."""
    unused = set(digests)
    for conversation in conversations(tx.read, workspace) if unused else ():
        unused -= find_digests(tx.read, conversation.uid)
        if not unused:
            return
    for digest in sorted(unused):
        tx.blobs.drop(workspace, digest)
