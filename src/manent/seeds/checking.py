"""Verifying one conversation: its chains and its rows, and nothing of the rest of the store."""

from __future__ import annotations

from manent.history.runtime import Runtime
from manent.history.verifying import Verifier
from manent.model.log import StreamInfo
from manent.model.records import Finding, FindingKind
from manent.storage.port import Reader


class ConversationVerifier(Verifier):
    """A run over one conversation, in one snapshot."""

    def run_on(self, info: StreamInfo) -> tuple[Finding, ...]:
        """Every undeclared change of the conversation, by kind and address."""
        try:
            self._verify_stream(info.uid)
        except UnicodeDecodeError:
            address = f"conversation:{info.id}"
            self.find(FindingKind.UNREADABLE, address, "a text in its rows is no UTF-8")
        return tuple(self._findings)


def find_changes(runtime: Runtime, reader: Reader, info: StreamInfo) -> tuple[Finding, ...]:
    """What was changed in a conversation behind the store's back; repairs nothing."""
    return ConversationVerifier(reader, runtime.scratch, None, lambda _: None).run_on(info)
