"""Programs of case 21: processes that own a conversation. No test tools are imported here."""

from __future__ import annotations

from typing import Any

import manent
from manent.model.owners import Claimed, HeldBy
from tests.processes import ready


def claim_and_wait(path: str, conversation_id: str) -> int:
    """Claim a conversation, append as its owner, and live on until told to go; the epoch."""
    with manent.open(path) as store:
        conversation = store.conversation(conversation_id)
        answer = conversation.claim()
        assert isinstance(answer, Claimed)
        conversation.append_turn("mine", "so it is", epoch=answer.epoch)
        ready()
        return answer.epoch


def claim(path: str, conversation_id: str) -> dict[str, Any]:
    """Try to claim a conversation; whether that was so, or who has it."""
    with manent.open(path) as store:
        answer = store.conversation(conversation_id).claim()
        if isinstance(answer, HeldBy):
            owner = answer.owner
            return {"held by": [owner.host, owner.pid], "since": owner.claimed_ns}
        return {"claimed": answer.epoch}


def claim_by_force_when_told(path: str, conversation_id: str) -> int:
    """Take a conversation from whoever has it; the epoch."""
    with manent.open(path) as store:
        answer = store.conversation(conversation_id).claim(force=True)
        assert isinstance(answer, Claimed)
        return answer.epoch


def claim_and_append_when_told(path: str, conversation_id: str) -> str:
    """Claim, wait while others do what they want, and append with the epoch; how that ended."""
    with manent.open(path) as store:
        conversation = store.conversation(conversation_id)
        answer = conversation.claim()
        assert isinstance(answer, Claimed)
        ready()
        try:
            conversation.append_turn("late", "so it is", epoch=answer.epoch)
        except manent.errors.OwnershipLostError as error:
            return error.holder or "nobody"
        return "appended"


def race_for_it(path: str, conversation_id: str, rounds: int) -> list[bool]:
    """Claim and release a conversation as often as that; in which rounds it was had."""
    with manent.open(path, wait=30.0) as store:
        conversation = store.conversation(conversation_id)
        ready()
        had = []
        for number in range(rounds):
            answer = conversation.claim()
            had.append(isinstance(answer, Claimed))
            if isinstance(answer, Claimed):
                conversation.append_turn(f"{number}", "so it is", epoch=answer.epoch)
                assert conversation.release(epoch=answer.epoch)
        return had
