"""
The conversations of one file of Claude Code, and which of its lines are copies of another one's.

A session that was resumed or forked, and an agent that compacts a thread, begin with lines that are already
somewhere else. Such lines are told as what they are: messages of the other conversation, as its own file has
them. What is left is new, and linked to where it goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from manent.errors import FormatError
from manent.formats.claude_code_files import (
    REPLAY,
    Key,
    find_session_file,
    group,
    read_records,
)
from manent.formats.claude_code_lines import Record
from manent.formats.claude_code_origins import find_older, fingerprint
from manent.formats.claude_code_tree import Tree, build_tree
from manent.formats.notes import Notes
from manent.formats.source import Source
from manent.model.imported import ImportedLink

CONTINUES, COPIED_FROM = "continues", "copied_from"


class Thread(NamedTuple):
    """
    One conversation of a file: its records, its messages, and what it came from.

    `is_view`: only copies of it stand in the file; `members` are those of its own file, and `tree` has the
    messages that were copied.
    """

    key: Key
    members: Sequence[Record]
    tree: Tree
    links: tuple[ImportedLink, ...] = ()
    is_view: bool = False


class Copies(NamedTuple):
    """
    Lines that are another conversation's.

    `lines`: how many stand for each uuid of the other one. `threads`: the conversations of the other one's
    file, where it is here. `relation` is what the copying conversation is to it, `key` which one that is.
    """

    relation: str
    key: Key
    records: tuple[Record, ...]
    lines: Counter[str]
    threads: tuple[Thread, ...]


def find_threads(records: list[Record], file: Source, *, seen: frozenset[Path] = frozenset()) -> list[Thread]:
    """
    The conversations of a file; what was copied stands before the conversation that copied it.

    Args:
        records: of the file, in its order.
        seen: files that are being looked into already; no other file leads back to them.
    """
    groups = group(records, file)
    uuids = frozenset(record.uuid for record in records if record.uuid)
    seen |= {file.path}
    threads: list[Thread] = []
    origins: tuple[Thread, ...] = ()
    for key, members in groups.items():
        copies = _find_copies(key, members, file, seen) or _of_agent(key, members, origins)
        origins += copies.threads if copies else ()
        taken = {id(record) for record in copies.records} if copies else set()
        own = [record for record in members if id(record) not in taken]
        views = _views(copies, uuids) if copies else []
        links = _links(key, own, copies, views, groups)
        if own:
            threads += [*views, Thread(key, own, build_tree(own, elsewhere=uuids), links)]
        else:
            threads.append(Thread(key, members, _nothing_new(members), links))
    return threads


def _nothing_new(members: list[Record]) -> Tree:
    """A conversation that has nothing yet but what the other one tells; its copies are noted."""
    notes = Notes()
    for record in members:
        notes.add("copied_record", record.place)
    return Tree((), None, notes)


def _find_copies(key: Key, members: list[Record], file: Source, seen: frozenset[Path]) -> Copies | None:
    if key.agent is not None:
        return _replayed(key, members, file, seen) if key.agent.startswith(REPLAY) else None
    return _forked(key, members, file, seen) or _resumed(key, members, file, seen)


def _of_agent(key: Key, members: list[Record], origins: tuple[Thread, ...]) -> Copies | None:
    """The lines of an agent that were copied with the session that ran it."""
    agents = tuple(thread for thread in origins if key.agent is not None and thread.key.agent is not None)
    known = {uuid for thread in agents for uuid in thread.tree.natives}
    copied = tuple(record for record in members if record.uuid in known)
    lines = Counter(record.uuid for record in copied if record.uuid)
    return Copies(COPIED_FROM, agents[0].key, copied, lines, agents) if copied else None


def _replayed(key: Key, members: list[Record], file: Source, seen: frozenset[Path]) -> Copies | None:
    """The thread that an agent was given to compact: lines of its session, under their own or new uuids."""
    threads = _threads_of(find_session_file(file.path, key.session), seen)
    main = [record for thread in threads if thread.key.agent is None for record in thread.members]
    uuids = {record.uuid for record in main if record.uuid}
    by_words = {fingerprint(record): record.uuid for record in reversed(main) if record.is_spoken}
    copied: list[Record] = []
    lines: Counter[str] = Counter()
    at_beginning = True
    for record in members:
        same = record.uuid if record.uuid in uuids else None
        if same is None and at_beginning and record.is_spoken:
            same = by_words.get(fingerprint(record))
        at_beginning = at_beginning and (same is not None or not record.is_spoken)
        if same is not None:
            copied.append(record)
            lines[same] += 1
    return Copies(COPIED_FROM, Key(key.session), tuple(copied), lines, tuple(threads)) if copied else None


def _forked(key: Key, members: list[Record], file: Source, seen: frozenset[Path]) -> Copies | None:
    """The lines that say themselves which line of which session they are."""
    copied = [record for record in members if _is_fork_copy(key, record)]
    if not copied:
        return None
    origin = _forked_from(copied[-1])
    threads = _threads_of(find_session_file(file.path, origin), seen)
    lines = Counter(record.uuid for record in copied if record.uuid)
    return Copies(COPIED_FROM, Key(origin), tuple(copied), lines, tuple(threads))


def _is_fork_copy(key: Key, record: Record) -> bool:
    fork = (record.facts or {}).get("forkedFrom")
    is_same = isinstance(fork, dict) and record.uuid is not None and fork.get("messageUuid") == record.uuid
    return is_same and _forked_from(record) not in ("", key.session)


def _forked_from(record: Record) -> str:
    fork = (record.facts or {}).get("forkedFrom")
    session = fork.get("sessionId") if isinstance(fork, dict) else None
    return session if isinstance(session, str) else ""


def _resumed(key: Key, members: list[Record], file: Source, seen: frozenset[Path]) -> Copies | None:
    """The beginning of an older session of the folder, copied under this one's name."""
    path = find_older(key, members, file.path)
    threads = _threads_of(path, seen)
    origin = next((each.key for each in threads if each.key.agent is None and not each.is_view), None)
    others = [record for thread in threads for record in _told_by(thread)]
    known = {record.uuid: record for record in others if record.uuid}
    copied = [
        record
        for record in members
        if (same := known.get(record.uuid or "")) and (same.role, same.parts) == (record.role, record.parts)
    ]
    if origin is None or not copied:
        return None
    lines = Counter(record.uuid for record in copied if record.uuid)
    return Copies(CONTINUES, origin, tuple(copied), lines, tuple(threads))


def _told_by(thread: Thread) -> list[Record]:
    """The records of a session that its file holds, copied ones too; none of an agent's."""
    if thread.key.agent is not None:
        return []
    here = {message.native_id for message in thread.tree.messages}
    return [r for r in thread.members if not thread.is_view or thread.tree.natives.get(r.uuid or "") in here]


def _threads_of(path: Path | None, seen: frozenset[Path]) -> list[Thread]:
    """The conversations of another file; none where there is no such file, or it cannot be read."""
    if path is None or path in seen:
        return []
    file = Source(path)
    try:
        records = [item for item in read_records(file) if isinstance(item, Record)]
    except FormatError:
        return []
    return find_threads(records, file, seen=seen)


def _views(copies: Copies, uuids: frozenset[str]) -> list[Thread]:
    """What was copied, as messages of the conversations that it comes from."""
    if not copies.threads:
        return [Thread(copies.key, copies.records, build_tree(copies.records, elsewhere=uuids), is_view=True)]
    views = []
    for thread in copies.threads:
        lines: Counter[str | None] = Counter()
        for uuid, count in copies.lines.items():
            if uuid in thread.tree.natives:
                lines[thread.tree.natives[uuid]] += count
        kept = tuple(
            msgspec.structs.replace(message, records=lines[message.native_id])
            for message in thread.tree.messages
            if lines[message.native_id]
        )
        if kept:
            tree = Tree(kept, thread.tree.head_native_id, thread.tree.notes, thread.tree.natives)
            views.append(thread._replace(tree=tree, is_view=True))
    return views


def _links(
    key: Key,
    own: list[Record],
    copies: Copies | None,
    views: list[Thread],
    groups: dict[Key, list[Record]],
) -> tuple[ImportedLink, ...]:
    """Where a conversation goes on from; what ran an agent is told elsewhere."""
    if copies is not None and views:
        at = _last_copied(own, copies, views)
        return (ImportedLink(relation=copies.relation, native_id=at[0], message_native_id=at[1]),)
    if key.agent is not None:
        return ()
    fork = next((record for record in own if _forked_from(record) not in ("", key.session)), None)
    if fork is not None:
        message = (fork.facts or {})["forkedFrom"].get("messageUuid")
        native_id = message if isinstance(message, str) else None
        origin = _forked_from(fork)
        return (ImportedLink(relation=COPIED_FROM, native_id=origin, message_native_id=native_id),)
    return _continued(key, own, groups)


def _last_copied(own: list[Record], copies: Copies, views: list[Thread]) -> tuple[str, str | None]:
    """The conversation and message that the first new line follows, or the last ones that were copied."""
    asked = [record.parent for record in own if record.is_spoken][:1]
    for uuid in (*asked, *reversed(copies.lines)):
        for view in views:
            if uuid is not None and view.tree.natives.get(uuid):
                return view.key.native_id, view.tree.natives[uuid]
    return copies.key.native_id, None


def _continued(key: Key, own: list[Record], groups: dict[Key, list[Record]]) -> tuple[ImportedLink, ...]:
    """The session of the same file whose message the first line of this one follows."""
    first = next((record for record in own if record.is_spoken), None)
    if first is None or first.parent is None or any(record.uuid == first.parent for record in own):
        return ()
    for other, members in groups.items():
        if other.agent is None and other != key and any(r.uuid == first.parent for r in members):
            native_id = build_tree(members).natives.get(first.parent)
            link = ImportedLink(relation=CONTINUES, native_id=other.native_id, message_native_id=native_id)
            return (link,)
    return ()
