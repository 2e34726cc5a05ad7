"""Which call of a session ran which agent, and in which message that call stands."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from manent.errors import FormatError
from manent.formats.claude_code_files import find_session_file, read_as_it_is, read_records
from manent.formats.claude_code_lines import Record
from manent.formats.claude_code_threads import Thread, find_threads
from manent.formats.source import Source
from manent.model.parts import ToolCallPart

SPAWNED_BY = "spawned_by"


class Spawning(NamedTuple):
    """
    What a session says of the agents that it ran.

    Args:
        calls: agent → id of the call, as its result says.
        prompts: prompt of a call → its id; old results do not name the agent.
        messages: id of a call → native id of the message that it stands in.
    """

    calls: dict[str, str]
    prompts: dict[str, str]
    messages: dict[str, str | None]

    @classmethod
    def of(cls, records: Iterable[Record], threads: Iterable[Thread]) -> Spawning:
        """What the records of one file say; calls of agents are calls too."""
        calls = {record.spawned[0]: record.spawned[1] for record in records if record.spawned}
        prompts: dict[str, str] = {}
        messages: dict[str, str | None] = {}
        for thread in threads:
            for message in thread.tree.messages:
                for part in message.parts:
                    if not isinstance(part, ToolCallPart) or part.call_id is None:
                        continue
                    if thread.key.agent is None:
                        messages.setdefault(part.call_id, message.native_id)
                    prompt = part.arguments.get("prompt") if isinstance(part.arguments, dict) else None
                    if isinstance(prompt, str) and prompt:
                        prompts.setdefault(prompt, part.call_id)
        return cls(calls, prompts, messages)

    def find_call(self, agent: str, prompt: str) -> str | None:
        """The call that ran an agent: as its result says, or by the prompt that it was given."""
        return self.calls.get(agent) or self.prompts.get(prompt)


NOTHING = Spawning({}, {}, {})


def find_spawning(path: Path, session: str) -> Spawning:
    """What the file of a session says, where it stands by that of its agent; else nothing."""
    place = find_session_file(path, session)
    return (read_as_it_is(_read, place) if place else None) or NOTHING


@lru_cache(maxsize=2)
def _read(place: Path, size: int, changed_ns: int) -> Spawning:  # noqa: ARG001 - they name a state of the file
    file = Source(place)
    try:
        records = [item for item in read_records(file) if isinstance(item, Record)]
    except FormatError:
        return NOTHING
    return Spawning.of(records, find_threads(records, file))
