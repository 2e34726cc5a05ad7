"""
Façades: programs that were written for other conversation stores find their calls here, under their names.

    ConversationStore     one folder, one workspace, turns of question and answer; takes in its old JSON tree
    SessionRepo           sessions of asked questions with citations
    ConversationService   messages of users of a chat bot

What they take and hand out is here too: `ConversationRecord`, `ChatTurn`, `ConversationMessage` and so on.
Each façade says where it differs from what it stands for. Names load when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from manent.seeds.conversation_records import (
        ConversationRecord,
        ConversationSummary,
        ConversationTurn,
        HeldBy,
        SearchHit,
        StoredOwner,
    )
    from manent.seeds.conversation_service import ConversationMessage, ConversationService, ConversationStats
    from manent.seeds.conversation_store import ConversationStore
    from manent.seeds.legacy import LegacyReport, migrate_legacy
    from manent.seeds.sanitizing import sanitize_fts5_query
    from manent.seeds.session_repo import ChatSession, ChatTurn, Reset, SessionRepo, reset, reset_preview
    from manent.seeds.tool_events import tool_event_from_call

_HOMES = {
    "ChatSession": "manent.seeds.session_repo",
    "ChatTurn": "manent.seeds.session_repo",
    "ConversationMessage": "manent.seeds.conversation_service",
    "ConversationRecord": "manent.seeds.conversation_records",
    "ConversationService": "manent.seeds.conversation_service",
    "ConversationStats": "manent.seeds.conversation_service",
    "ConversationStore": "manent.seeds.conversation_store",
    "ConversationSummary": "manent.seeds.conversation_records",
    "ConversationTurn": "manent.seeds.conversation_records",
    "HeldBy": "manent.seeds.conversation_records",
    "LegacyReport": "manent.seeds.legacy",
    "Reset": "manent.seeds.session_repo",
    "SearchHit": "manent.seeds.conversation_records",
    "SessionRepo": "manent.seeds.session_repo",
    "StoredOwner": "manent.seeds.conversation_records",
    "migrate_legacy": "manent.seeds.legacy",
    "reset": "manent.seeds.session_repo",
    "reset_preview": "manent.seeds.session_repo",
    "sanitize_fts5_query": "manent.seeds.sanitizing",
    "tool_event_from_call": "manent.seeds.tool_events",
}

__all__ = [
    "ChatSession",
    "ChatTurn",
    "ConversationMessage",
    "ConversationRecord",
    "ConversationService",
    "ConversationStats",
    "ConversationStore",
    "ConversationSummary",
    "ConversationTurn",
    "HeldBy",
    "LegacyReport",
    "Reset",
    "SearchHit",
    "SessionRepo",
    "StoredOwner",
    "migrate_legacy",
    "reset",
    "reset_preview",
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
