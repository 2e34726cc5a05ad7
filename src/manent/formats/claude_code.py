"""
Claude Code: session files (`<session>.jsonl`), their folder, and the web's JSON with `loglines`.

A session is a conversation. A sub-agent's lines, in a file of their own or among the session's, are a
conversation `<session>/<agent>`, linked to the session and, where it is known, to the message that called it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from manent.errors import FormatError
from manent.formats import jsontext
from manent.formats.blocks import text_or_none
from manent.formats.claude_code_files import Key, read_records, read_wrapped
from manent.formats.claude_code_lines import NAME, Record
from manent.formats.claude_code_spawning import SPAWNED_BY, Spawning, find_spawning
from manent.formats.claude_code_threads import Thread, find_threads
from manent.formats.source import Source
from manent.model.imported import ImportedConversation, ImportedLink, Refusal
from manent.model.parts import TextPart

_LINES_LOOKED_AT = 40
_KINDS = {
    "summary",
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "custom-title",
    "ai-title",
}


def recognises(head: bytes, name: str) -> bool:  # noqa: ARG001 - every format is asked alike
    """Whether some line near the beginning is one that Claude Code writes, or the whole is its wrapper."""
    if "loglines[].message" in jsontext.outline(head):
        return True
    return any(_is_session_line(jsontext.outline(line)) for line in head.split(b"\n", _LINES_LOOKED_AT))


def _is_session_line(paths: dict[str, str]) -> bool:
    kind = paths.get("type", "")
    in_session = not {"sessionId", "uuid", "leafUuid", "messageId"}.isdisjoint(paths)
    if "message.content" in paths:
        is_dated = kind in ("user", "assistant") and "timestamp" in paths
        return is_dated or (in_session and kind in ("user", "assistant", ""))
    return in_session and (kind in _KINDS or ("parentUuid" in paths and kind == "system"))


def read(source: Source) -> Iterator[ImportedConversation | Refusal]:
    """
    Read a session file, or every session below a folder.

    Raises:
        FormatError: the one file that was asked for cannot be opened.
    """
    is_folder = source.is_folder
    for file in source.files(".jsonl"):
        if isinstance(file, Refusal):
            yield file
        elif is_folder:
            yield from _read_one_of_many(file)
        else:
            yield from _read_file(file)


def _read_one_of_many(file: Source) -> Iterator[ImportedConversation | Refusal]:
    """A file that cannot be read, or is something else, costs that file."""
    try:
        head = file.head()
        if head.strip() and not recognises(head, file.name):
            yield Refusal(place=file.name, reason="no Claude Code session; left out")
            return
        yield from _read_file(file)
    except FormatError as error:
        yield Refusal(place=error.place, reason=error.detail)


def _read_file(file: Source) -> Iterator[ImportedConversation | Refusal]:
    records: list[Record] = []
    extra: dict[str, Any] = {}
    is_wrapper = "loglines[]" in jsontext.outline(file.head())
    for item in read_wrapped(file, extra) if is_wrapper else read_records(file):
        if isinstance(item, Refusal):
            yield item
        else:
            records.append(item)
    yield from _conversations(records, file, extra)


def _conversations(
    records: list[Record], file: Source, extra: dict[str, Any]
) -> Iterator[ImportedConversation]:
    threads = find_threads(records, file)
    here = {each.key.session for each in threads if each.key.agent is None and not each.is_view}
    spawned = Spawning.of(records, threads)
    for thread in threads:
        details = _details(thread) | ({} if thread.is_view else extra)
        links = thread.links
        if thread.key.agent is None:
            details |= {"agents": spawned.calls} if spawned.calls and not thread.is_view else {}
        else:
            is_here = thread.key.session in here
            beside = spawned if is_here else find_spawning(file.path, thread.key.session)
            call_id = beside.find_call(thread.key.agent, _first_text(thread)) or text_or_none(
                details.get("call_id")
            )
            details |= _origin(thread.key, call_id)
            ran = ImportedLink(
                relation=SPAWNED_BY,
                native_id=thread.key.session,
                message_native_id=beside.messages.get(call_id or ""),
            )
            links = (ran, *links)
        yield _conversation(thread, file, details, links)


def _conversation(
    thread: Thread, file: Source, details: dict[str, Any], links: tuple[ImportedLink, ...]
) -> ImportedConversation:
    return ImportedConversation(
        format=NAME,
        messages=thread.tree.messages,
        place=file.name,
        native_id=thread.key.native_id,
        title=_title(thread.members),
        project=next((record.cwd for record in thread.members if record.cwd), None),
        head_native_id=thread.tree.head_native_id,
        details=details or None,
        links=links,
    )


def _title(members: Sequence[Record]) -> str | None:
    """The newest title of the best kind; a summary of another conversation's message is none of ours."""
    uuids = {record.uuid for record in members}
    titles = [r.title for r in members if r.title and (r.leaf is None or r.leaf in uuids)]
    best = min((rank for rank, _ in titles), default=0)
    return next((text for rank, text in reversed(titles) if rank == best), None)


def _details(thread: Thread) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for record in thread.members:
        for name, value in (record.facts or {}).items():
            facts.setdefault(name, value)
    named = {
        "session": thread.key.session,
        "version": facts.get("version"),
        "git_branch": facts.get("gitBranch"),
        "forked_from": None if thread.is_view else facts.get("forkedFrom"),
        "call_id": facts.get("sourceToolUseID") or facts.get("parentToolUseID"),
    }
    return {name: value for name, value in named.items() if value} | thread.tree.notes.as_details()


def _origin(key: Key, call_id: str | None) -> dict[str, Any]:
    """Which session spawned an agent, and by which call: as a result says, or by the prompt it was given."""
    origin: dict[str, Any] = {"agent": key.agent, "spawned_by": key.session}
    return origin | ({"call_id": call_id} if call_id else {})


def _first_text(thread: Thread) -> str:
    parts = next((record.parts for record in thread.members if record.is_spoken), ())
    return next((part.text for part in parts if isinstance(part, TextPart)), "")
