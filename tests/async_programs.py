"""Programs of awaited stores that tests run in child processes. No test tools are imported here."""

from __future__ import annotations

import asyncio
import os
import threading

import manent
from manent.opening import open_backend


def leave_without_closing(path: str, conversation_id: str) -> list[str]:
    """End an event loop while a write waits for the lock and nobody closed the store; who is left."""
    backend = open_backend(path)
    loop = asyncio.new_event_loop()

    async def begin() -> None:
        store = await manent.aopen(path, wait=0.3)
        conversation = await store.conversation(conversation_id)
        loop.create_task(conversation.append_turn("left", "behind"))  # noqa: RUF006 - it is lost on purpose
        await asyncio.sleep(0.05)

    with backend.transaction():
        loop.run_until_complete(begin())
        loop.close()
    backend.close()
    return sorted(thread.name for thread in threading.enumerate() if thread.name.startswith("manent-write"))


def fork_and_append(path: str, conversation_id: str) -> list[int]:
    """Append before a fork, in the child, and afterwards; the child's exit code and the number of turns."""
    store = asyncio.run(_opened(path))
    asyncio.run(_append(store, conversation_id, "before"))
    pid = os.fork()
    if pid == 0:
        asyncio.run(_append_and_close(store, conversation_id))
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    turns = asyncio.run(_append_and_close(store, conversation_id))
    return [os.waitstatus_to_exitcode(status), turns]


async def _opened(path: str) -> manent.AsyncStore:
    return await manent.aopen(path)


async def _append(store: manent.AsyncStore, conversation_id: str, question: str) -> int:
    conversation = await store.conversation(conversation_id)
    await conversation.append_turn(question, "so it is")
    return len(await conversation.turns())


async def _append_and_close(store: manent.AsyncStore, conversation_id: str) -> int:
    turns = await _append(store, conversation_id, "after")
    await store.aclose()
    return turns
