"""`manent import`: take in conversations that other tools, or another store, wrote."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from manent.cli import exits, options, output, render
from manent.errors import InputError, ManentError

if TYPE_CHECKING:
    from manent.history.restoring import Restored
    from manent.history.store import Store
    from manent.model.imported import ImportReport

REFUSALS_SHOWN_MAX = 20


class Outcome(NamedTuple):
    """What became of one path: what an import or a restoration did, or why it failed and with which code."""

    path: Path
    report: ImportReport | None = None
    restored: Restored | None = None
    error: str | None = None
    code: int = exits.DONE

    @property
    def came_in(self) -> bool:
        """Whether anything could be read."""
        return bool((self.report and self.report.records) or (self.restored and self.restored.events))

    @property
    def is_whole(self) -> bool:
        """Whether nothing was refused."""
        return self.error is None and (self.report is None or self.report.ok)


@click.command(
    "import",
    short_help="Take in conversations of other tools.",
    epilog=options.examples(
        "manent import conversation.jsonl",
        "manent import ~/.claude/projects --dry-run",
        "manent import chats.zip --allow jwt --allow basic_auth",
        "manent import --all-workspaces backup.ndjson",
    ),
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Look and count; write nothing.")
@click.option("--all-workspaces", is_flag=True, help="Bring an export's workspaces back as they were.")
@click.option(
    "--allow", multiple=True, metavar="KIND", help="Do not mask secrets of this kind; may be repeated."
)
@options.shared
@click.pass_obj
def command(
    settings: options.Settings,
    paths: tuple[Path, ...],
    dry_run: bool,
    all_workspaces: bool,
    allow: tuple[str, ...],
) -> int:
    """
    Take in files and folders: OpenAI messages as JSONL, Claude Code sessions, and manent's own export.

    What is known already is skipped, and what grew is continued, so a command may be repeated. Secrets are
    masked on the way in; `manent secrets list` says where. `manent imports undo` takes an import back. The
    exit code is 3 when a part was refused, and 1 when nothing could be read.
    """
    from manent.history.masking import check_kinds

    allowed = check_kinds(allow)
    progress = output.Progress("records")
    outcomes: list[Outcome] = []
    with _open(settings, dry_run, all_workspaces) as store:
        done = f"what came in before stays{'' if dry_run else '; repeat the command to go on'}"
        with exits.interruptible(lambda: done):
            for path in paths:
                outcomes.append(_import(store, path, progress, dry_run, allowed))
                if not settings.json:
                    _write(outcomes[-1], dry_run)
    if settings.json:
        output.write_json({"dry_run": dry_run, "paths": [_as_json(outcome) for outcome in outcomes]})
    return code_of(outcomes)


def _open(settings: options.Settings, dry_run: bool, all_workspaces: bool) -> Store:
    """The store; where there is none, a dry run looks at what would come into an empty one."""
    if dry_run and not options.is_there(settings.url):
        settings = settings._replace(store="memory:")
    return options.open_store(settings, every_workspace=all_workspaces, create=True)


def _import(
    store: Store, path: Path, progress: output.Progress, dry_run: bool, allowed: frozenset[str]
) -> Outcome:
    """Import one path; an error costs that path, and the next one is tried."""
    from manent.opening import import_path, is_own_export, restore_path

    try:
        if not is_own_export(path):
            report = import_path(store, path, progress=progress, dry_run=dry_run, allow_secrets=allowed)
            return Outcome(path, report=report)
        if dry_run:
            raise InputError(f"{path} is an export of manent's own, which --dry-run cannot look into.")
        return Outcome(path, restored=restore_path(store, path))
    except (ManentError, OSError) as error:
        return Outcome(path, error=exits.message_of(error), code=exits.code_of(error))
    finally:
        progress.clear()


def code_of(outcomes: list[Outcome]) -> int:
    """Done when all came in, partly done when some did; else why the first did not."""
    if all(outcome.is_whole for outcome in outcomes):
        return exits.DONE
    if any(outcome.came_in for outcome in outcomes):
        return exits.PARTLY
    return next((outcome.code for outcome in outcomes if outcome.code), exits.FAILED)


def _as_json(outcome: Outcome) -> dict[str, Any]:
    import msgspec

    report, restored = outcome.report, outcome.restored
    refusals = [{"place": one.place, "reason": one.reason} for one in report.refusals] if report else []
    return {
        "path": str(outcome.path),
        "error": outcome.error,
        "report": {**msgspec.structs.asdict(report), "refusals": refusals} if report else None,
        "restored": msgspec.structs.asdict(restored) if restored else None,
    }


def _write(outcome: Outcome, dry_run: bool) -> None:
    """What became of one path, with sums that can be checked; what was refused stands on stderr."""
    if outcome.error is not None:
        output.note(outcome.error)
        return
    report, restored = outcome.report, outcome.restored
    kind = f"{report.format if report else 'manent'}{', dry run' if dry_run else ''}"
    output.write(f"{output.bold(render.one_line(str(outcome.path)))} ({kind})")
    for line in [*(_sums(report) if report else []), *(_restored(restored) if restored else [])]:
        output.write(f"  {line}")
    if report:
        _write_refusals(report)


def _write_refusals(report: ImportReport) -> None:
    for refusal in report.refusals[:REFUSALS_SHOWN_MAX]:
        output.note(f"refused: {refusal.place}: {refusal.reason}")
    if (more := len(report.refusals) - REFUSALS_SHOWN_MAX) > 0:
        output.note(f"refused: {more} more; --json lists them all")


def _sums(report: ImportReport) -> list[str]:
    masked = ", ".join(f"{count:,} {kind}" for kind, count in report.secrets.items())
    records, messages = render.counted(report.records, "record"), render.counted(report.messages, "message")
    return [
        f"{records} = {messages} + {report.merged_records:,} merged into others",
        f"{messages} = {report.added_messages:,} added + {report.known_messages:,} known{_changed(report)}",
        f"{render.counted(report.conversations, 'conversation')} = {report.new_conversations:,} new + "
        f"{report.grown_conversations:,} grown + {report.unchanged_conversations:,} unchanged"
        + _deleted(report),
        f"{render.counted(report.files, 'file')}, {len(report.refusals):,} refused",
        *_extras(report),
        *([f"secrets masked: {masked}"] if masked else []),
        *(
            [f"secrets left as they are: {', '.join(report.allowed_secrets)}"]
            if report.allowed_secrets
            else []
        ),
    ]


def _extras(report: ImportReport) -> Iterator[str]:
    """Sums of what only some sources have."""
    if report.attachments:
        attachments = render.counted(report.attachments, "attachment")
        stored, kept = report.stored_attachments, report.kept_references
        yield f"{attachments} = {stored:,} stored + {kept:,} kept as references"
    if report.links:
        recorded, known, pending = report.recorded_links, report.known_links, report.pending_links
        links = render.counted(report.links, "link")
        yield f"{links} = {recorded:,} recorded + {known:,} known + {pending:,} whose other end is not here"


def _deleted(report: ImportReport) -> str:
    left = report.deleted_conversations
    return f" + {left:,} that were deleted here and stay so" if left else ""


def _changed(report: ImportReport) -> str:
    return f", {report.changed_messages:,} of them changed" if report.changed_messages else ""


def _restored(restored: Restored) -> list[str]:
    return [
        f"{render.counted(restored.events, 'event')} = {restored.added:,} added + {restored.known:,} known",
        f"{render.counted(restored.conversations, 'conversation')}, {restored.new_conversations:,} new; "
        f"{render.counted(restored.blobs, 'attachment')}",
    ]
