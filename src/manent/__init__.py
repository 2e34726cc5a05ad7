"""
manent: the durable record of conversations with machines.

    import manent

    with manent.open("conversations.db", workspace="demo") as store:
        conv = store.create("Fix the login bug")
        conv.append_turn("Why is it slow?", "Because it asks the database once for each row.")
        print(store.search("slow")[0].snippet)

Names load when they are first used. Errors are in `manent.errors`, parts of messages in `manent.parts`,
events in `manent.events`, plans in `manent.plans`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from manent import aio, errors, events, parts, plans
    from manent.aio.conversation import AsyncConversation
    from manent.aio.opening import aopen
    from manent.aio.store import AsyncStore
    from manent.history.appending import ROOT
    from manent.history.conversation import Conversation
    from manent.history.resuming import Resumption
    from manent.history.store import Store
    from manent.model.contexts import Context
    from manent.model.ids import Address
    from manent.model.metadata import Metadata
    from manent.model.owners import Claimed, HeldBy, Owner
    from manent.model.paging import Page
    from manent.model.parts import Citation, PhantomReach, ToolEvent, Usage
    from manent.model.records import (
        ConversationSummary,
        Finding,
        Hit,
        Link,
        Message,
        Receipt,
        Report,
        Statistics,
        StoredMessage,
        Turn,
    )
    from manent.model.workspaces import Workspace
    from manent.opening import open

_HOMES = {
    "ROOT": "manent.history.appending",
    "Address": "manent.model.ids",
    "AsyncConversation": "manent.aio.conversation",
    "AsyncStore": "manent.aio.store",
    "Citation": "manent.model.parts",
    "Claimed": "manent.model.owners",
    "Context": "manent.model.contexts",
    "Conversation": "manent.history.conversation",
    "ConversationSummary": "manent.model.records",
    "Finding": "manent.model.records",
    "HeldBy": "manent.model.owners",
    "Hit": "manent.model.records",
    "Link": "manent.model.records",
    "Message": "manent.model.records",
    "Metadata": "manent.model.metadata",
    "Owner": "manent.model.owners",
    "Page": "manent.model.paging",
    "PhantomReach": "manent.model.parts",
    "Receipt": "manent.model.records",
    "Report": "manent.model.records",
    "Resumption": "manent.history.resuming",
    "Statistics": "manent.model.records",
    "Store": "manent.history.store",
    "StoredMessage": "manent.model.records",
    "ToolEvent": "manent.model.parts",
    "Turn": "manent.model.records",
    "Usage": "manent.model.parts",
    "Workspace": "manent.model.workspaces",
    "aopen": "manent.aio.opening",
    "open": "manent.opening",
}
_MODULES = {name: f"manent.{name}" for name in ("aio", "errors", "events", "parts", "plans")}

__all__ = [
    "ROOT",
    "Address",
    "AsyncConversation",
    "AsyncStore",
    "Citation",
    "Claimed",
    "Context",
    "Conversation",
    "ConversationSummary",
    "Finding",
    "HeldBy",
    "Hit",
    "Link",
    "Message",
    "Metadata",
    "Owner",
    "Page",
    "PhantomReach",
    "Receipt",
    "Report",
    "Resumption",
    "Statistics",
    "Store",
    "StoredMessage",
    "ToolEvent",
    "Turn",
    "Usage",
    "Workspace",
    "aio",
    "aopen",
    "errors",
    "events",
    "open",
    "parts",
    "plans",
]


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for, so that `import manent` costs next to nothing."""
    if name in _MODULES:
        value: object = importlib.import_module(_MODULES[name])
    elif name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
    else:
        raise AttributeError(f"module 'manent' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
