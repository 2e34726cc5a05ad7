"""What a model is told of a conversation before it answers."""

from __future__ import annotations

import msgspec

from manent.model.records import StoredMessage

RECENT = 20
RELATED = 10
"""How many messages a context has unless told otherwise (X-1)."""


class Context(msgspec.Struct, frozen=True, kw_only=True):
    """
    Messages of a conversation for a model, in causal order, each once.

    Args:
        messages: what to tell it. Tool calls stand with their results or not at all, so that parts may be
            missing that the conversation has.
        related: the ids of those that stand here for what they say, not for being recent.
        keywords: by what they were found, the rarest first.
        size: what all of it counts together, by the caller's counter, else in bytes of UTF-8.
        left_out: how many messages would belong here and do not fit the budget.
    """

    messages: tuple[StoredMessage, ...]
    related: frozenset[str]
    keywords: tuple[str, ...]
    size: int
    left_out: int
