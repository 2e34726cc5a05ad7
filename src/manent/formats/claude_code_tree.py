"""
The records of one Claude Code conversation, made into messages with parents.

Four things stand between the lines and the tree. One answer is several lines, one for each block, which
share a request; a resumed session repeats lines; the results of parallel calls are siblings on disk, though
all of them came before the next answer; and a compaction begins a new root, which names its real parent
elsewhere. A walk from the newest message to the root has to pass all of them and lose nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from manent.formats.claude_code_lines import Record
from manent.formats.data_urls import take_files
from manent.formats.notes import Notes
from manent.model.imported import ImportedMessage
from manent.model.parts import AnyPart, ToolCallPart, ToolResultPart, Usage


@dataclass(slots=True, eq=False)
class Draft:
    """A message that is being put together from its records. `order` is its place among the messages."""

    record: Record
    order: int
    parts: list[AnyPart]
    usage: Usage | None
    raws: list[bytes]
    records: int = 1
    native_id: str | None = None
    parent: Draft | None = None


@dataclass(slots=True)
class Tree:
    """
    The messages of a conversation, parents first, and the one at which the source stands.

    `natives`: uuid of each record → native id of the message that it is in.
    """

    messages: tuple[ImportedMessage, ...]
    head_native_id: str | None
    notes: Notes = field(default_factory=Notes)
    natives: dict[str, str | None] = field(default_factory=dict)


def build_tree(records: Sequence[Record], *, elsewhere: frozenset[str] = frozenset()) -> Tree:
    """
    Put the messages of one conversation together.

    Args:
        records: in the file's order.
        elsewhere: uuids of the same file's other conversations: a parent among them is no missing one.
    """
    notes = Notes()
    merge = _Merge(notes)
    for record in records:
        merge.add(record)
    _Family(merge, notes, elsewhere).find_parents()
    _cut_cycles(merge.drafts, notes)
    spoken = [draft for draft in merge.drafts if draft.record.is_spoken]
    head = next((draft for draft in reversed(spoken) if not draft.record.is_boundary), None)
    return Tree(
        messages=tuple(_to_message(draft) for draft in _parents_first(merge.drafts)),
        head_native_id=head.native_id if head else None,
        notes=notes,
        natives={uuid: draft.native_id for uuid, draft in merge.by_uuid.items()},
    )


class _Merge:
    """Records into drafts: blocks of one answer together, repeated lines counted once."""

    def __init__(self, notes: Notes) -> None:
        self.drafts: list[Draft] = []
        self.by_uuid: dict[str, Draft] = {}
        self._first: dict[str, Record] = {}
        self._versions: dict[str, int] = {}
        self._by_request: dict[tuple[str, str | None], Draft] = {}
        self._taken: set[str | None] = {None}
        self._notes = notes

    def add(self, record: Record) -> None:
        """Take one record in."""
        if record.time_problem:
            self._notes.add(record.time_problem, record.place)
        if record.uuid in self._first:
            self._add_repeated(record, self._first[record.uuid])
        elif record.request is not None and (known := self._by_request.get(record.request)) is not None:
            self._absorb(known, record)
        else:
            self._begin(record, record.uuid or (record.request[0] if record.request else None))

    def _begin(self, record: Record, native_id: str | None) -> Draft:
        draft = Draft(record, len(self.drafts), list(record.parts), record.usage, [record.raw])
        draft.native_id = None if native_id in self._taken else native_id
        self._taken.add(native_id)
        self.drafts.append(draft)
        self._remember(record, draft)
        if record.request is not None:
            self._by_request.setdefault(record.request, draft)
        return draft

    def _remember(self, record: Record, draft: Draft) -> None:
        if record.uuid is not None:
            self._first.setdefault(record.uuid, record)
            self.by_uuid.setdefault(record.uuid, draft)

    def _absorb(self, draft: Draft, record: Record) -> None:
        """One more block of an answer, or one that is here already; the last usage counts."""
        draft.parts += [part for part in record.parts if part not in draft.parts]
        draft.usage = record.usage or draft.usage
        draft.raws.append(record.raw)
        draft.records += 1
        self._remember(record, draft)

    def _add_repeated(self, record: Record, first: Record) -> None:
        """A line whose uuid is known: a copy counts with the first, other words stay a message."""
        uuid = first.uuid or ""
        if (record.role, record.parts) == (first.role, first.parts):
            self.by_uuid[uuid].records += 1
            self._notes.add("repeated_record", record.place)
            return
        self._versions[uuid] = self._versions.get(uuid, 1) + 1
        self._notes.add("other_words_under_a_known_id", record.place)
        self._begin(record, f"{uuid}#{self._versions[uuid]}")


class _Family:
    """Who follows whom. Where no line names a parent at all, the file is a plain list."""

    def __init__(self, merge: _Merge, notes: Notes, elsewhere: frozenset[str]) -> None:
        self._drafts = merge.drafts
        self._by_uuid = merge.by_uuid
        self._notes = notes
        self._elsewhere = elsewhere
        self._caller = {call: draft for draft in merge.drafts for call in _calls(draft)}
        self._last_result: dict[int, Draft] = {}
        self._owner: dict[int, Draft] = {}
        self._answered: set[str] = set()
        self._is_list = not any(draft.record.parent for draft in merge.drafts if draft.record.is_spoken)

    def find_parents(self) -> None:
        """Set `parent` of each draft. Notices hang under the last message before them and bear nobody."""
        last: Draft | None = None
        for draft in self._drafts:
            if not draft.record.is_spoken:
                draft.parent = last
                continue
            draft.parent = self._after_results(draft, self._named_parent(draft, last))
            last = draft

    def _named_parent(self, draft: Draft, last: Draft | None) -> Draft | None:
        record = draft.record
        if record.parent is None:
            return last if self._is_list or not record.names_parent else None
        found = self._resolve(record.parent)
        if found is draft:
            return None
        if found is None and record.parent not in self._by_uuid and record.parent not in self._elsewhere:
            self._notes.add("absent_parent", record.place)
        return found

    def _resolve(self, uuid: str | None) -> Draft | None:
        """The message that a uuid stands for; a notice stands for the message that it follows."""
        passed: set[str] = set()
        while uuid is not None and uuid not in passed:
            passed.add(uuid)
            found = self._by_uuid.get(uuid)
            if found is None or found.record.is_spoken:
                return found
            if found.record.parent is None:
                return found.parent
            uuid = found.record.parent
        return None

    def _after_results(self, draft: Draft, parent: Draft | None) -> Draft | None:
        """Results of parallel calls follow each other, and what follows one of them follows all."""
        if parent is None:
            return None
        caller = self._caller_of(draft)
        if caller is None:
            owner = self._owner.get(id(parent))
            return self._last_result[id(owner)] if owner else parent
        if parent is not caller and self._owner.get(id(parent)) is not caller:
            return parent
        before = self._last_result.get(id(caller), caller)
        self._last_result[id(caller)] = draft
        self._owner[id(draft)] = caller
        return before

    def _caller_of(self, draft: Draft) -> Draft | None:
        """The message whose calls a draft answers, each for the first time."""
        if draft.record.role != "tool":
            return None
        answers = [p.call_id for p in draft.parts if isinstance(p, ToolResultPart) and p.call_id]
        if not answers or not self._answered.isdisjoint(answers):
            return None
        self._answered.update(answers)
        return self._caller.get(answers[0])


def _calls(draft: Draft) -> Iterator[str]:
    return (part.call_id for part in draft.parts if isinstance(part, ToolCallPart) and part.call_id)


def _cut_cycles(drafts: Sequence[Draft], notes: Notes) -> None:
    """Make a root of the first message of each circle of parents."""
    whole: set[int] = set()
    for draft in drafts:
        path: dict[int, Draft] = {}
        at: Draft | None = draft
        while at is not None and at.order not in whole:
            if at.order in path:
                first = path[min(_circle(at))]
                first.parent = None
                notes.add("circle_of_parents", first.record.place)
                break
            path[at.order] = at
            at = at.parent
        whole.update(path)


def _circle(start: Draft) -> Iterator[int]:
    yield start.order
    at = start.parent
    while at is not None and at is not start:
        yield at.order
        at = at.parent


def _parents_first(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts in their order, but none before its parent."""
    placed: set[int] = set()
    ordered: list[Draft] = []
    for draft in drafts:
        line: list[Draft] = []
        at: Draft | None = draft
        while at is not None and at.order not in placed:
            line.append(at)
            placed.add(at.order)
            at = at.parent
        ordered += reversed(line)
    return ordered


def _to_message(draft: Draft) -> ImportedMessage:
    record, parent = draft.record, draft.parent
    parts, files = take_files(tuple(draft.parts))
    return ImportedMessage(
        role=record.role,
        parts=parts,
        files=files,
        native=b"\n".join(draft.raws),
        place=record.place,
        native_id=draft.native_id,
        parent_native_id=parent.native_id if parent else None,
        follows=parent is not None and parent.native_id is None,
        claim_ns=record.claim_ns,
        hidden=record.hidden,
        usage=draft.usage,
        records=draft.records,
    )
