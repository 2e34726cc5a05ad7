"""Peer: the SQL chat history of `langchain-community` over SQLite, as it comes."""

from __future__ import annotations

from pathlib import Path

from langchain_community.chat_message_histories import SQLChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage


class Contender:
    """One session."""

    def __init__(self, folder: Path) -> None:
        self._history = SQLChatMessageHistory("bench", connection=f"sqlite:///{folder / 'history.db'}")

    def append(self, question: str, answer: str) -> None:
        """Append a turn."""
        self._history.add_messages([HumanMessage(question), AIMessage(answer)])

    def load(self) -> int:
        """Load every message as an object; return how many."""
        return len(self._history.messages)

    def close(self) -> None:
        """Nothing to release by hand."""
