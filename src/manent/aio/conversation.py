"""One conversation, awaited."""

from __future__ import annotations

from manent.aio.twins import Twin, read, write
from manent.history.conversation import Conversation
from manent.history.runtime import Target


class AsyncConversation(Twin[Conversation]):
    """
    `Conversation` for an event loop: the same calls, awaited. Get one from an `AsyncStore`.

    Every method is a coroutine, and so is everything that is a property of `Conversation`, such as
    `await conversation.title()`, `is_open()`, `pinned()` and `tags()`. Without its parentheses such a name is
    a method, which is always true: `if conversation.is_open:` asks nothing. `id` alone costs nothing and
    stays an attribute. What is said there of arguments, results and errors holds here.

    After `CancelledError` a call that writes is whole or absent and is not under way any more: look, or
    repeat it with the same `idempotency_key`.
    """

    def __repr__(self) -> str:
        return f"<AsyncConversation {self.id!r}>"

    @property
    def id(self) -> str:
        """The visible id, unique in its workspace."""
        return self._sync.id

    @property
    def _target(self) -> Target:
        return self._sync._target

    uid = read(Conversation.uid)

    # --- writing

    append_turn = write(Conversation.append_turn)
    append_message = write(Conversation.append_message)
    append_messages = write(Conversation.append_messages)

    # --- reading

    messages = read(Conversation.messages)
    get_message = read(Conversation.get_message)
    siblings = read(Conversation.siblings)
    turns = read(Conversation.turns)
    get_turn = read(Conversation.get_turn)
    find_turn = read(Conversation.find_turn)
    head = read(Conversation.head)
    activity_seq = read(Conversation.activity_seq)
    stats = read(Conversation.stats)
    context = read(Conversation.context)

    # --- metadata

    rename = write(Conversation.rename)
    end = write(Conversation.end)
    reopen = write(Conversation.reopen)
    set_persona = write(Conversation.set_persona)
    set_key = write(Conversation.set_key)
    set_project = write(Conversation.set_project)
    add_tags = write(Conversation.add_tags)
    remove_tags = write(Conversation.remove_tags)
    pin = write(Conversation.pin)
    unpin = write(Conversation.unpin)
    set_scratchpad = write(Conversation.set_scratchpad)
    set_plan = write(Conversation.set_plan)
    set_config_snapshot = write(Conversation.set_config_snapshot)
    link_to_node = write(Conversation.link_to_node)
    unlink_from_node = write(Conversation.unlink_from_node)
    metadata = read(Conversation.metadata)
    title = read(Conversation.title)
    key = read(Conversation.key)
    persona = read(Conversation.persona)
    project = read(Conversation.project)
    end_reason = read(Conversation.end_reason)
    is_open = read(Conversation.is_open)
    tags = read(Conversation.tags)
    pinned = read(Conversation.pinned)

    # --- who owns it, and how it relates to others

    claim = write(Conversation.claim)
    heartbeat = write(Conversation.heartbeat)
    release = write(Conversation.release)
    live_owner = read(Conversation.live_owner)
    is_owner_live = read(Conversation.is_owner_live)
    link_to = write(Conversation.link_to)
    links = read(Conversation.links)
    linked_from = read(Conversation.linked_from)
