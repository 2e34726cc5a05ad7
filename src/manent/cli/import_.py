"""`manent import`: take in conversations that other tools, or another store, wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from manent.cli import exits, options, output, render
from manent.errors import ManentError

if TYPE_CHECKING:
    from manent.history.store import Store
    from manent.model.imported import ImportReport

REFUSALS_SHOWN_MAX = 20


class Outcome(NamedTuple):
    """What became of one path: a report, or the reason and exit code of its failure."""

    path: Path
    report: ImportReport | None
    reason: str = ""
    code: int = exits.DONE


@click.command(
    "import",
    short_help="Take in conversations of other tools.",
    epilog=options.examples(
        "manent import conversation.jsonl",
        "manent import ~/.claude/projects --dry-run",
        "manent import --all-workspaces backup.ndjson",
    ),
)
@click.argument("paths", nargs=-1, required=True, metavar="PATH...", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Look and count; write nothing.")
@click.option("--all-workspaces", is_flag=True, help="Bring an export's workspaces back as they were.")
@options.shared
@click.pass_obj
def command(settings: options.Settings, paths: tuple[Path, ...], dry_run: bool, all_workspaces: bool) -> int:
    """
    Take in files and folders: OpenAI messages as JSONL, Claude Code sessions, and manent's own export.

    What is known already is skipped, and what grew is continued, so a command may be repeated. Secrets are
    masked on the way in. The exit code is 3 when a part was refused, and 1 when nothing could be read.
    """
    progress = output.Progress("records")
    outcomes: list[Outcome] = []
    with _open(settings, dry_run, all_workspaces) as store:
        done = f"what came in before stays{'' if dry_run else '; repeat the command to go on'}"
        with exits.interruptible(lambda: done):
            for path in paths:
                outcomes.append(_import(store, path, progress, dry_run))
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


def _import(store: Store, path: Path, progress: output.Progress, dry_run: bool) -> Outcome:
    """Import one path; an error costs that path, and the next one is tried."""
    from manent.opening import import_path

    try:
        return Outcome(path, import_path(store, path, progress=progress, dry_run=dry_run))
    except (ManentError, OSError) as error:
        return Outcome(path, None, exits.message_of(error), exits.code_of(error))
    finally:
        progress.clear()


def code_of(outcomes: list[Outcome]) -> int:
    """Done when all came in, partly done when some did; else why the first did not."""
    reports = [outcome.report for outcome in outcomes if outcome.report is not None]
    if len(reports) == len(outcomes) and all(report.ok for report in reports):
        return exits.DONE
    if any(report.records for report in reports):
        return exits.PARTLY
    return next((outcome.code for outcome in outcomes if outcome.code), exits.FAILED)


def _as_json(outcome: Outcome) -> dict[str, Any]:
    import msgspec

    fields: dict[str, Any] = {"path": str(outcome.path), "error": outcome.reason or None, "report": None}
    if outcome.report is not None:
        refusals = [{"place": refusal.place, "reason": refusal.reason} for refusal in outcome.report.refusals]
        fields["report"] = {**msgspec.structs.asdict(outcome.report), "refusals": refusals}
    return fields


def _write(outcome: Outcome, dry_run: bool) -> None:
    """The report of one path, whose sums can be checked; what was refused stands on stderr."""
    report = outcome.report
    if report is None:
        output.note(outcome.reason)
        return
    name = render.one_line(str(outcome.path))
    output.write(f"{output.bold(name)} ({report.format}{', dry run' if dry_run else ''})")
    for line in _sums(report):
        output.write(f"  {line}")
    for refusal in report.refusals[:REFUSALS_SHOWN_MAX]:
        output.note(f"refused: {refusal.place}: {refusal.reason}")
    if (more := len(report.refusals) - REFUSALS_SHOWN_MAX) > 0:
        output.note(f"refused: {more} more; --json lists them all")


def _sums(report: ImportReport) -> list[str]:
    masked = ", ".join(f"{count} {kind}" for kind, count in report.secrets.items())
    return [
        f"{report.records} records = {report.messages} messages + {report.merged_records} merged into others",
        f"{report.messages} messages = {report.added_messages} added + {report.known_messages} known",
        f"{report.conversations} conversations = {report.new_conversations} new + "
        f"{report.grown_conversations} grown + {report.unchanged_conversations} unchanged",
        f"{report.files} files, {len(report.refusals)} records refused",
        *([f"secrets masked: {masked}"] if masked else []),
    ]
