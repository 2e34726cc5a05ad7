"""What a deletion would take, before it is done: by the same rules, in one snapshot."""

from __future__ import annotations

from typing import NamedTuple

from manent.history.attachments import find_digests
from manent.history.processes import is_live
from manent.history.removing import find_reasons
from manent.history.resolving import resolve_all
from manent.history.store import Store
from manent.model.log import find_text


class Removal(NamedTuple):
    """
    What would go with a conversation.

    Args:
        id: the whole id.
        title: "" where it has none.
        turns, messages: those that a reader sees.
        attachments: files whose bytes the store keeps for it; those that others refer to stay.
        spared: why it is spared, of `pinned`, `owned`, `open_turn`; empty when nothing keeps it.
    """

    id: str
    title: str
    turns: int
    messages: int
    attachments: int
    spared: tuple[str, ...]


def preview_removal(store: Store, id_or_prefix: str) -> Removal:
    """
    What `Store.delete` would take; nothing is changed.

    Raises:
        NotFoundError, AmbiguousPrefixError: as `Store.delete`.
    """
    runtime = store._runtime
    here = runtime.processes.here()
    with runtime.backend.reading() as reader:
        info = resolve_all(runtime, reader, id_or_prefix)
        measured = reader.measure(None, info.uid)
        return Removal(
            id=info.id or info.uid,
            title=find_text(reader.read_registers(info.uid), "title") or "",
            turns=sum(measured.turns.values()),
            messages=sum(measured.messages.values()),
            attachments=len(find_digests(reader, info.uid)),
            spared=find_reasons(
                reader,
                info,
                lambda owner: owner.process != here and is_live(owner, runtime.processes, runtime.clock()),
            ),
        )
