"""The record as a whole: verified, followed, given out and taken in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial

from manent.history import exporting, following, restoring, verifying
from manent.history.following import Arrivals
from manent.history.restoring import Restored
from manent.history.runtime import Runtime
from manent.history.workspaces import ensure_workspace, find_fence, is_there
from manent.model.ids import Position
from manent.model.imported import ImportedConversation, ImportReport, Refusal
from manent.model.paging import check_limit
from manent.model.records import Receipt, Report

ARRIVALS_LIMIT = 500


class Whole:
    """What a store can do with everything that it may see."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    @property
    def url(self) -> str:
        """Where the store is, as it was given."""
        return self._runtime.backend.url

    def verify(
        self, *, receipt: Receipt | str | None = None, progress: verifying.Progress = lambda _: None
    ) -> Report:
        """
        Look for every undeclared change, in one snapshot; repair nothing (C-3).

        The whole store is looked at, whatever the workspace: chains do not stop at a fence. Findings name
        ids and places, never content, and conversations of this handle's workspace only.

        Args:
            receipt: one that `receipt()` gave earlier, to find a cut tail or a restored older file.
            progress: called now and then with the number of events looked at.
        """
        known = Receipt.from_json(receipt) if isinstance(receipt, str) else receipt
        with self._runtime.backend.reading() as reader:
            fenced = find_fence(self._runtime, reader) or verifying.NO_WORKSPACE
            fence = fenced if self._runtime.workspace else None
            return verifying.Verifier(reader, self._runtime.scratch, known, progress, fence=fence).run()

    def read_arrivals(self, *, after: Position | None = None, limit: int = ARRIVALS_LIMIT) -> Arrivals:
        """
        Read events of this workspace's conversations in the order in which they arrived here.

        Args:
            after: the `position` of the call before; None begins with the first event.
            limit: at most this many events are looked at; those of other workspaces are passed over.

        Returns:
            The events, and the position to go on from. An event that becomes visible later has a later
            position, so that no follower misses one (L-5).

        Raises:
            FollowResetError: the store was copied or restored since: read from the start.
        """
        with self._runtime.backend.reading() as reader:
            fence = find_fence(self._runtime, reader) or ""
            seen = fence if self._runtime.workspace else None
            return following.read_arrivals(reader, seen, after, check_limit(limit), store=self.url)

    def receipt(self) -> Receipt:
        """A small statement of everything as of now; keep it outside the store (C-4)."""
        with self._runtime.backend.reading() as reader:
            return verifying.make_receipt(reader, self._runtime.clock())

    def export_lines(self) -> Iterator[bytes]:
        """
        The record as lines of our NDJSON, from one snapshot: what this handle may see, to the last byte.

        Importing them into an empty store and exporting again gives the same bytes (I-4).
        """
        with self._runtime.backend.reading() as reader:
            exists, fence = is_there(self._runtime, reader), find_fence(self._runtime, reader)
        return exporting.export_lines(self._runtime.backend, fence if exists else "")

    def import_items(
        self,
        items: Iterable[ImportedConversation | Refusal],
        *,
        format: str,
        files: int = 1,
        paths: Sequence[str] = (),
        dry_run: bool = False,
        allow_secrets: Collection[str] = (),
        progress: Callable[[int], None] = lambda _: None,
    ) -> ImportReport:
        """
        Import what a format read; arguments, report and errors are those of `importing.import_items`.

        Secrets are masked on the way in, in the native records too. What is known is skipped, what grew
        is continued; an interrupted import goes on when it is repeated.
        """
        from manent.history import importing

        return importing.import_items(
            self._runtime,
            items,
            format=format,
            files=files,
            paths=paths,
            dry_run=dry_run,
            allow_secrets=allow_secrets,
            progress=progress,
        )

    def import_lines(
        self,
        lines: Iterable[bytes],
        *,
        name: str = "import",
        read_blob: restoring.ReadBlob | None = None,
    ) -> Restored:
        """
        Take in lines that `export_lines` gave, all or nothing.

        On the owner's handle workspaces come back as they were; else everything goes into this workspace.

        Args:
            name: what to call the file in errors.
            read_blob: reads an attachment by its digest, for the lines of an archive, which only name them.

        Raises:
            FormatError: a line is damaged or the file was cut.
            MergeNeededError: it brings another history of something that is here.
        """
        fenced = self._runtime.workspace is not None
        into = partial(ensure_workspace, self._runtime) if fenced else None
        return restoring.restore(self._runtime.backend, lines, into=into, name=name, read_blob=read_blob)
