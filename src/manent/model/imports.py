"""What is known of an import afterwards: what it brought, what taking it back did, what was masked."""

from __future__ import annotations

import msgspec


class Import(msgspec.Struct, frozen=True, kw_only=True):
    """
    The record of one import that wrote something.

    Args:
        id: names it; 8 hexadecimal characters.
        workspace: the uid of the workspace that it went into.
        claim_ns: when it began, by the clock's claim.
        format: what was read, as in its report.
        paths: where from, as they were given; () on a handle of one workspace, since they tell of a machine.
        finished: it came to its end; False: it was interrupted, or is under way.
        new_conversations, grown_conversations, added_messages, changed_messages: what it wrote.
    """

    id: str
    workspace: str
    claim_ns: int
    format: str
    paths: tuple[str, ...]
    finished: bool
    new_conversations: int
    grown_conversations: int
    added_messages: int
    changed_messages: int


class SparedConversation(msgspec.Struct, frozen=True, kw_only=True):
    """
    A conversation that an undo left alone, and why.

    `reasons`: `pinned`, `owned`, `open_turn` as in `SparedError`; `continued`, somebody said something in it
    meanwhile; `moved`, it is in another workspace by now.
    """

    conversation_id: str
    reasons: tuple[str, ...]


class Undone(msgspec.Struct, frozen=True, kw_only=True):
    """
    What undoing an import took back, or would.

    Args:
        deleted: the ids of the conversations that it had created and that are gone.
        changed: those of conversations that were there before and that it had added to or changed.
        removed_messages: how many messages left those.
        restored_messages: how many of them say again what they said before the import.
        spared: what stays; the record stays too, and the undo can be repeated.
        continued: addresses of what people or programs said here since, under imported messages; without
            `force` nothing is undone while there is any.
    """

    id: str
    deleted: tuple[str, ...]
    changed: tuple[str, ...]
    removed_messages: int
    restored_messages: int
    spared: tuple[SparedConversation, ...]
    continued: tuple[str, ...]


class MaskedSecret(msgspec.Struct, frozen=True, kw_only=True):
    """
    Secrets of one kind that were masked in one place. What they were is kept nowhere.

    Args:
        kind: such as `github_token`.
        conversation_id: where.
        address: of the turn or message; None for the conversation itself: its title, its origin.
        count: how many of this kind there.
        claim_ns: when they were masked, by the clock's claim.
        import_id: the import that brought them; None for tool output that was appended.
    """

    kind: str
    conversation_id: str
    address: str | None
    count: int
    claim_ns: int
    import_id: str | None
