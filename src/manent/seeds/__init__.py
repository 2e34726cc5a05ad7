"""
Façades: programs that were written for other conversation stores find their calls here, under their names.

    ConversationStore     one folder, one workspace, turns of question and answer; takes in its old JSON tree
    SessionRepo           sessions of asked questions with citations
    ConversationService   messages of users of a chat bot

Each says where it differs from what it stands for. Names load when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manent.seeds.conversation_service import ConversationService
    from manent.seeds.conversation_store import ConversationStore
    from manent.seeds.legacy import migrate_legacy
    from manent.seeds.sanitizing import sanitize_fts5_query
    from manent.seeds.session_repo import SessionRepo
    from manent.seeds.tool_events import tool_event_from_call

_HOMES = {
    "ConversationService": "manent.seeds.conversation_service",
    "ConversationStore": "manent.seeds.conversation_store",
    "SessionRepo": "manent.seeds.session_repo",
    "migrate_legacy": "manent.seeds.legacy",
    "sanitize_fts5_query": "manent.seeds.sanitizing",
    "tool_event_from_call": "manent.seeds.tool_events",
}

__all__ = [
    "ConversationService",
    "ConversationStore",
    "SessionRepo",
    "migrate_legacy",
    "sanitize_fts5_query",
    "tool_event_from_call",
]


def __getattr__(name: str) -> object:
    """Load a name when it is first asked for, so that nobody pays for the façades that he does not use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'manent.seeds' has no attribute {name!r}")
    value: object = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
