"""
Claude Code: session files (`<session>.jsonl`), their folder, and the web's JSON with `loglines`.

A session is a conversation. A sub-agent's lines, in a file of their own or among the session's, are a
conversation `<session>/<agent>` whose details name the session and, where it is known, the call.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from manent.errors import FormatError
from manent.formats import jsontext
from manent.formats.claude_code_lines import NAME, Record, read_record
from manent.formats.claude_code_tree import Tree, build_tree
from manent.formats.notes import Notes
from manent.formats.source import REFUSED_BYTES_MAX, Source
from manent.model.imported import ImportedConversation, Refusal
from manent.model.parts import TextPart, ToolCallPart

_LINES_LOOKED_AT = 40
_KINDS = {
    "summary",
    "file-history-snapshot",
    "file-history-delta",
    "queue-operation",
    "custom-title",
    "ai-title",
}
_AGENT_FILE = "agent-"
_AGENT_FOLDER = "subagents"
_WRAPPER = "loglines"


class Key(NamedTuple):
    """Which conversation a record belongs to: a session, or one agent of it."""

    session: str
    agent: str | None = None

    @property
    def native_id(self) -> str:
        """`<session>` or `<session>/<agent>`."""
        return "/".join(part for part in self if part)


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
    for item in _wrapped_records(file, extra) if is_wrapper else _records(file):
        if isinstance(item, Refusal):
            yield item
        else:
            records.append(item)
    yield from _conversations(records, file, extra)


def _records(file: Source) -> Iterator[Record | Refusal]:
    for line in file.lines():
        if isinstance(line, Refusal):
            yield line
            continue
        try:
            value = jsontext.loads(line.raw, place=line.place)
        except FormatError as error:
            yield line.refuse(error.detail)
            continue
        if isinstance(value, dict):
            yield read_record(value, raw=line.raw, place=line.place)
        else:
            yield line.refuse(f"a line that is no object but a {type(value).__name__}")


def _wrapped_records(file: Source, extra: dict[str, Any]) -> Iterator[Record | Refusal]:
    """The records of `{"loglines": [...]}`; its other members go into `extra`."""
    number = 0
    try:
        raw = file.whole()
        jsontext.check_shape(raw, place=file.name)
        for member in jsontext.members(jsontext.decode(raw, place=file.name), _WRAPPER, place=file.name):
            if member.raw is None:
                extra[member.name] = member.value
                continue
            number += 1
            place = f"{file.name}: record {number}"
            if isinstance(member.value, dict):
                yield read_record(member.value, raw=member.raw, place=place)
            else:
                reason = f"a record that is no object but a {type(member.value).__name__}"
                yield Refusal(place=place, reason=reason, raw=member.raw[:REFUSED_BYTES_MAX])
    except FormatError as error:
        yield Refusal(place=error.place, reason=f"{error.detail}, after {number} records")


def _conversations(
    records: list[Record], file: Source, extra: dict[str, Any]
) -> Iterator[ImportedConversation]:
    groups = _group(records, file)
    uuids = frozenset(record.uuid for record in records if record.uuid)
    agents = {record.spawned[0]: record.spawned[1] for record in records if record.spawned}
    for key, members in groups.items():
        tree = build_tree(members, elsewhere=uuids)
        details = _details(key, members, tree.notes) | extra
        if key.agent is None and agents:
            details["agents"] = agents
        if key.agent is not None:
            details |= _origin(key, members, agents, groups.get(Key(key.session), []))
        yield _conversation(key, members, tree, file, details)


def _conversation(
    key: Key, members: list[Record], tree: Tree, file: Source, details: dict[str, Any]
) -> ImportedConversation:
    return ImportedConversation(
        format=NAME,
        messages=tree.messages,
        place=file.name,
        native_id=key.native_id,
        title=_title(members),
        project=next((record.cwd for record in members if record.cwd), None),
        head_native_id=tree.head_native_id,
        details=details or None,
    )


def _title(members: list[Record]) -> str | None:
    """The newest title of the best kind; a summary of another conversation's message is none of ours."""
    uuids = {record.uuid for record in members}
    titles = [r.title for r in members if r.title and (r.leaf is None or r.leaf in uuids)]
    best = min((rank for rank, _ in titles), default=0)
    return next((text for rank, text in reversed(titles) if rank == best), None)


def _details(key: Key, members: list[Record], notes: Notes) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for record in members:
        for name, value in (record.facts or {}).items():
            facts.setdefault(name, value)
    named = {
        "session": key.session,
        "version": facts.get("version"),
        "git_branch": facts.get("gitBranch"),
        "forked_from": facts.get("forkedFrom"),
        "call_id": facts.get("sourceToolUseID") or facts.get("parentToolUseID"),
    }
    return {name: value for name, value in named.items() if value} | notes.as_details()


def _origin(key: Key, members: list[Record], agents: dict[str, str], main: list[Record]) -> dict[str, Any]:
    """Which session spawned an agent, and by which call: as a result says, or by the prompt it was given."""
    origin: dict[str, Any] = {"agent": key.agent, "spawned_by": key.session}
    call_id = agents.get(key.agent or "") or _call_with_prompt(main, _first_text(members))
    return origin | ({"call_id": call_id} if call_id else {})


def _first_text(members: list[Record]) -> str:
    parts = next((record.parts for record in members if record.is_spoken), ())
    return next((part.text for part in parts if isinstance(part, TextPart)), "")


def _call_with_prompt(main: list[Record], prompt: str) -> str | None:
    calls = (part for record in main for part in record.parts if isinstance(part, ToolCallPart))
    prompts = ((call.call_id, call.arguments) for call in calls if isinstance(call.arguments, dict))
    return next((call_id for call_id, given in prompts if prompt and given.get("prompt") == prompt), None)


def _group(records: list[Record], file: Source) -> dict[Key, list[Record]]:
    """Records by conversation, in the order in which the conversations begin."""
    stem = file.path.stem
    own_agent = stem.removeprefix(_AGENT_FILE) if stem.startswith(_AGENT_FILE) else None
    home = _home(records, file, own_agent)
    roots = _side_roots(records)
    sessions = {record.uuid: record.session for record in records if record.uuid}
    groups: dict[Key, list[Record]] = {}
    for record in records:
        session = record.session or sessions.get(record.leaf or "") or home
        agent = record.agent if record.is_sidechain or own_agent else None
        if agent is None:
            agent = own_agent or roots.get(record.uuid)
        groups.setdefault(Key(session, agent), []).append(record)
    return groups


def _home(records: list[Record], file: Source, own_agent: str | None) -> str:
    """The session of lines that name none: the one that the file is called after, or its first one."""
    named = [record.session for record in records if record.session]
    stem = file.path.stem
    if named and stem not in named:
        return named[0]
    folders = file.path.parts
    if own_agent is not None and _AGENT_FOLDER in folders[1:-1]:
        return folders[folders.index(_AGENT_FOLDER, 1) - 1]
    return stem


def _side_roots(records: list[Record]) -> dict[str | None, str]:
    """Uuid of each sidechain line → uuid of its chain's first one, which names it where no agent id does."""
    parents = {record.uuid: record.parent for record in records if record.is_sidechain and record.uuid}
    roots: dict[str | None, str] = {}
    for uuid in parents:
        path: dict[str, None] = {}
        at: str | None = uuid
        while at in parents and at not in roots and at not in path:
            path[at] = None
            at = parents[at]
        root = roots.get(at) or next(reversed(path), uuid)
        roots.update(dict.fromkeys(path, root))
    return roots
