"""
Importing other tools' conversations: what is known is skipped, what grew is continued (I-1, I-2).

Three steps: conversations are shelved in the order of their own last time, prepared (named, compared with
what is here, masked), and written in transactions of about one size. An interrupted import leaves whole
transactions behind; when it is repeated it goes on. A message that says something else now is edited: the new
state is read, the old one stays in the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

import msgspec

from manent.errors import InputError, WorkspaceRequiredError
from manent.history.awaiting import AwaitedLink, awaited_in, can_settle, find_target, settle
from manent.history.batching import Slice, cut, marking_last, together
from manent.history.fetching import Attachments
from manent.history.import_records import COUNTS, Keeper
from manent.history.masking import check_kinds
from manent.history.preparing import DELETED, GROWN, NEW, UNCHANGED, Prepared, Preparer, Ready
from manent.history.runtime import Runtime
from manent.history.shelving import Shelf
from manent.history.workspaces import ensure_workspace, find_fence
from manent.history.writing import Writer, Written
from manent.model.imported import ImportedConversation, ImportReport, Refusal

Progress = Callable[[int], None]
"""Called after each conversation with the number of records looked at."""


def import_items(
    runtime: Runtime,
    items: Iterable[ImportedConversation | Refusal],
    *,
    format: str,
    files: int = 1,
    paths: Sequence[str] = (),
    dry_run: bool = False,
    allow_secrets: Collection[str] = (),
    progress: Progress = lambda _: None,
) -> ImportReport:
    """
    Import conversations, those first whose own last time is oldest; say what came in and what was refused.

    Lists then show the most recent one first, as the source did. All of the source is read before the first
    conversation is written; what does not fit into memory meanwhile waits, masked, in a file without a name.

    Args:
        paths: where they come from, as it was given, for the record of the import.
        dry_run: look, count, write nothing.
        allow_secrets: kinds of secrets that are not masked this time.

    Raises:
        WorkspaceRequiredError: on the owner's handle.
        InputError: there is no such kind of secret.
        StoreBusyError, StorageFullError, ReadOnlyError: what was written before stays; import again.
    """
    if runtime.workspace is None:
        raise WorkspaceRequiredError
    allowed = check_kinds(allow_secrets) | runtime.allow_secrets
    run = (_DryRun if dry_run else _Run)(runtime, Keeper(runtime, format, paths), allowed, progress)
    with Shelf(run.prepare) as shelf:
        for item in items:
            if isinstance(item, Refusal):
                run.refusals.append(item)
            else:
                run.preparer.cover(item)
                shelf.add(item)
        run.write(prepared for prepared in shelf.take())
    return run.report(format, files, allowed)


class _Base:
    """What a run and a dry one have in common."""

    def __init__(self, runtime: Runtime, keeper: Keeper, allowed: frozenset[str], progress: Progress) -> None:
        self.runtime = runtime
        self.preparer = Preparer(runtime, allowed)
        self.counts: Counter[str] = Counter()
        self.secrets: Counter[str] = Counter()
        self.refusals: list[Refusal] = []
        self.keeper = keeper
        self._progress = progress
        self._stated: dict[str, AwaitedLink] = {}
        self._coming: dict[str, dict[str, str]] = {}
        self._writer = Writer(runtime, keeper)

    def prepare(self, conversation: ImportedConversation) -> Prepared:
        """Prepare a conversation; one that cannot be stored at all is refused, by name."""
        try:
            return self.preparer.prepare(conversation)
        except InputError as error:
            return self.refuse(conversation, error)

    def refuse(self, origin: ImportedConversation, error: InputError) -> Prepared:
        """Name what could not be stored; nothing of it counts."""
        self.refusals.append(Refusal(place=origin.place, reason=str(error)))
        bare = msgspec.structs.replace(origin, messages=(), title=None, project=None, details=None)
        return Prepared(state="", origin=bare, messages=0, records=0)

    def count(self, prepared: Prepared, state: str, added: int, changed: int) -> None:
        """A conversation was looked at."""
        if state:
            self.counts.update(
                conversations=1,
                messages=prepared.messages,
                records=prepared.records,
                merged_records=prepared.records - prepared.messages,
                added_messages=added,
                known_messages=prepared.messages - added,
                changed_messages=changed,
                known_links=prepared.known_links,
            )
            self.counts[f"{state}_conversations"] += 1
        self._progress(self.counts["records"] + len(self.refusals))

    def count_files(self, stored: int, kept: int) -> None:
        """Files of messages that were added or changed."""
        self.counts.update(attachments=stored + kept, stored_attachments=stored, kept_references=kept)

    def report(self, format: str, files: int, allowed: frozenset[str]) -> ImportReport:
        """What was done."""
        links = sum(self.counts[name] for name in ("recorded_links", "known_links", "pending_links"))
        return ImportReport(
            format=format,
            files=files,
            secrets=dict(sorted(self.secrets.items())),
            refusals=tuple(self.refusals),
            links=links,
            allowed_secrets=tuple(sorted(allowed)),
            import_id=self.keeper.id if self.keeper.began else None,
            **{name: self.counts[name] for name in _COUNTS},
        )


class _Run(_Base):
    """One run: what it did so far."""

    def write(self, conversations: Iterable[Prepared]) -> None:
        """Write all that is new in transactions of about one size."""
        slices = (one for prepared in conversations for one in self._cut(prepared))
        for batch, is_last in marking_last(together(slices)):
            self._write(batch, is_last=is_last)
        self._end()

    def _cut(self, prepared: Prepared) -> Iterator[Slice]:
        """The slices of a conversation; one of which nothing is written counts at once."""
        self._stated.update({link.field: link for link in prepared.waiting_links})
        slices = list(cut(prepared))
        if not slices:
            self.count(prepared, prepared.state, 0, 0)
        yield from slices

    def _write(self, batch: list[Slice], *, is_last: bool) -> None:
        """Write a batch; when something in it cannot be stored, each conversation on its own."""
        with Attachments() as files:
            for one in batch:
                self.refusals += files.fetch(one.ready)
            try:
                self._commit(batch, files, is_last=is_last)
            except InputError as error:
                if len(batch) > 1:
                    for one in batch:
                        self._write_alone(one, files)
                else:
                    self._give_up(batch[0], error)

    def _write_alone(self, one: Slice, files: Attachments) -> None:
        try:
            self._commit([one], files, is_last=False)
        except InputError as error:
            self._give_up(one, error)

    def _give_up(self, one: Slice, error: InputError) -> None:
        """A conversation that cannot be stored is refused, once."""
        if not self._writer.has_failed(one.prepared):
            self.refuse(one.prepared.origin, error)
            self._writer.fail(one.prepared)

    def _commit(self, batch: Sequence[Slice], files: Attachments, *, is_last: bool) -> None:
        batch = [one for one in batch if not self._writer.has_failed(one.prepared)]
        settled: list[AwaitedLink] = []
        with self.runtime.backend.transaction() as tx:
            workspace = ensure_workspace(self.runtime, tx)
            written = [self._writer.write(tx, workspace, one, files) for one in batch]
            totals = self._totals(written)
            touched = [each.touched for each in written if each.touched is not None]
            stream = None
            if touched:
                stream = self.keeper.note(tx, workspace, touched, totals, finished=is_last)
            if is_last:
                settled = settle(self.runtime, tx, workspace)
        if stream is not None:
            self.keeper.committed(stream, finished=is_last)
        self._count_written(batch, written)
        self._count_settled(settled)

    def _totals(self, written: Sequence[Written]) -> Counter[str]:
        """What the record of the import says after this transaction."""
        totals = Counter({name: self.counts[f"kept_{name}"] for name in COUNTS})
        for one in written:
            totals.update(one.counts)
        return totals

    def _count_written(self, batch: Sequence[Slice], written: Sequence[Written]) -> None:
        for one, done in zip(batch, written, strict=True):
            self._writer.committed(one.prepared, done)
            self.counts.update({f"kept_{name}": count for name, count in done.counts.items()})
            self.secrets.update(done.masked)
            self.count_files(done.stored_files, done.kept_references)
            self.counts.update(recorded_links=done.recorded_links, known_links=done.known_links)
            self._stated.update({link.field: link for link in done.awaited_links})
            if one.is_last:
                state, added, changed = self._writer.end(one.prepared)
                self.count(one.prepared, state, added, changed)

    def _count_settled(self, settled: Sequence[AwaitedLink]) -> None:
        self.counts["recorded_links"] += len(settled)
        for link in settled:
            self._stated.pop(link.field, None)

    def _end(self) -> None:
        """Where no last transaction did it: record what waited, and say that the import came to its end."""
        unfinished = self.keeper.began and not self.keeper.finished
        with self.runtime.backend.reading() as reader:
            fence = find_fence(self.runtime, reader)
            if fence is None or not (unfinished or can_settle(reader, fence)):
                self.counts["pending_links"] = len(self._stated)
                return
        with self.runtime.backend.transaction() as tx:
            settled = settle(self.runtime, tx, fence)
            if unfinished:
                self.keeper.finish(tx, self._totals(()))
        self._count_settled(settled)
        self.counts["pending_links"] = len(self._stated)


class _DryRun(_Base):
    """A run that only looks, and counts as a run would."""

    def write(self, conversations: Iterable[Prepared]) -> None:
        """Count what would be written."""
        for prepared in conversations:
            self._count(prepared)
        self._count_links()

    def _count(self, prepared: Prepared) -> None:
        there = next((self._coming[key] for key in prepared.keys if key in self._coming), None)
        coming: dict[str, str] = {} if there is None else there
        self._coming.update(dict.fromkeys(prepared.keys[:1], coming))
        ready = [item for item in prepared.ready if coming.get(item.message_id) != item.hash]
        changed = sum(item.changed or item.message_id in coming for item in ready)
        state = prepared.state
        if state == NEW and there is not None:
            state = GROWN if ready else UNCHANGED
        for item in ready:
            self.secrets.update(item.masked)
        self.secrets.update(prepared.masked if state == NEW else {})
        self._count_files(ready)
        coming.update((item.message_id, item.hash) for item in ready)
        for link in (*prepared.links, *prepared.waiting_links):
            named = link._replace(uid=prepared.uid or prepared.keys[0])
            self._stated[named.field] = named
        self.count(prepared, state, len(ready) - changed, changed)

    def _count_files(self, ready: Sequence[Ready]) -> None:
        for item in ready:
            if item.message.files:
                with Attachments() as files:
                    self.refusals += files.fetch([item])
                    stored = len(files.of(item))
                    self.count_files(stored, len(item.message.files) - stored)

    def _count_links(self) -> None:
        with self.runtime.backend.reading() as reader:
            fence = find_fence(self.runtime, reader)
            waiting = dict(self._stated)
            if fence is not None:
                waiting.update((link.field, link) for _, link in awaited_in(reader, fence))
            for field, link in waiting.items():
                is_here = fence is not None and find_target(reader, fence, link) is not None
                if is_here or link.key in self._coming:
                    self.counts["recorded_links"] += 1
                elif field in self._stated:
                    self.counts["pending_links"] += 1


_COUNTS = (
    "records",
    "messages",
    "conversations",
    *(f"{state}_conversations" for state in (NEW, GROWN, UNCHANGED, DELETED)),
    "added_messages",
    "known_messages",
    "changed_messages",
    "merged_records",
    "attachments",
    "stored_attachments",
    "kept_references",
    "recorded_links",
    "known_links",
    "pending_links",
)
