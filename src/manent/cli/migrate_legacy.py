"""`manent migrate-legacy`: take in the tree of JSON files of before there was a database."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manent.cli import exits, options, output, render
from manent.errors import NotFoundError

if TYPE_CHECKING:
    from manent.seeds.legacy import LegacyReport

REFUSALS_SHOWN_MAX = 20


@click.command(
    "migrate-legacy",
    short_help="Take in an old tree of JSON files, once.",
    epilog=options.examples(
        "manent migrate-legacy ~/.agent --dry-run",
        "manent migrate-legacy ~/.agent",
        "manent --store ~/.agent/conversations.db migrate-legacy ~/.agent",
    ),
)
@click.argument("folder", type=click.Path(path_type=Path))
@click.option("--dry-run", is_flag=True, help="Read and count; write and move nothing.")
@options.shared
@click.pass_obj
def command(settings: options.Settings, folder: Path, dry_run: bool) -> int:
    """
    Take in FOLDER/conversations, the tree of JSON files of a conversation store that had no database yet.

    Each record goes into the workspace of its folder. Secrets are masked on the way in. What was taken in is
    moved to FOLDER/conversations.imported, nothing is deleted, and what cannot be read stays where it is, to
    be mended. The exit code is 3 when a record was refused, and 1 when none could be read.
    """
    report = _look(folder) if dry_run else _take(settings, folder)
    if settings.json:
        output.write_json(_as_json(report, dry_run))
    else:
        _write(report, dry_run)
    if report.ok:
        return exits.DONE
    return exits.PARTLY if len(report.refused) < report.records else exits.FAILED


def _take(settings: options.Settings, folder: Path) -> LegacyReport:
    from manent.history.processes import local_processes
    from manent.history.runtime import Runtime, Scratch
    from manent.opening import make_scratch, open_backend
    from manent.seeds.legacy import LegacyReport, migrate

    options.check(settings, create=True)
    _find_tree(folder)
    progress = output.Progress("records")
    backend = open_backend(settings.url, durability=settings.durability, wait=settings.wait)
    interrupted = exits.interruptible(lambda: "what came in before stays; repeat the command to go on")
    with contextlib.closing(backend), interrupted:
        runtime = Runtime(backend, None, Scratch(make_scratch), processes=local_processes())
        try:
            return migrate(runtime, folder.resolve(), progress=progress) or LegacyReport()
        finally:
            progress.clear()


def _look(folder: Path) -> LegacyReport:
    """What could be read; what of it is known already, only the store can say."""
    from manent.errors import FormatError
    from manent.formats.newt_json import Foreign, find_records, read_record
    from manent.model.imported import Refusal
    from manent.seeds.legacy import LegacyReport

    records, turns = 0, 0
    refused: list[Refusal] = []
    foreign: list[Foreign] = []
    for item in find_records(_find_tree(folder)):
        if isinstance(item, Foreign):
            foreign.append(item)
            continue
        records += 1
        try:
            turns += len(read_record(item).turns) if isinstance(item, Path) else 0
        except FormatError as error:
            refused.append(Refusal(place=str(item), reason=error.detail))
        if isinstance(item, Refusal):
            refused.append(item)
    return LegacyReport(
        records=records,
        turns=turns,
        refused=tuple(refused),
        passed_over=tuple(foreign),
        kept_in_place=True,
    )


def _find_tree(folder: Path) -> Path:
    from manent.seeds.legacy import BACKUP, TREE

    tree = folder / TREE
    if not tree.is_dir():
        taken = (folder / BACKUP).exists()
        advice = f"It was taken in before, and is {folder / BACKUP} since." if taken else ""
        raise NotFoundError("folder", str(tree), advice)
    return tree


def _as_json(report: LegacyReport, dry_run: bool) -> dict[str, Any]:
    import msgspec

    known = ("imported", "known", "deleted")
    plain: dict[str, Any] = msgspec.to_builtins(report)
    for name in ("refused", "passed_over"):
        plain[name] = [{"place": one["place"], "reason": one["reason"]} for one in plain[name]]
    unknown = dict.fromkeys(known) if dry_run else {}
    return {"dry_run": dry_run, **plain, **unknown}


def _write(report: LegacyReport, dry_run: bool) -> None:
    """Sums that can be checked; what was refused stands on stderr."""
    records, refused = render.counted(report.records, "record"), f"{len(report.refused):,} refused"
    if dry_run:
        output.write(f"{records} = {report.records - len(report.refused):,} readable + {refused} (dry run)")
    else:
        deleted = f"{report.deleted:,} that were deleted here and stay so"
        output.write(
            f"{records} = {report.imported:,} imported + {report.known:,} known + {deleted} + {refused}"
        )
    output.write(
        f"{render.counted(report.turns, 'turn')}, {len(report.passed_over):,} other files passed over"
    )
    if report.secrets:
        masked = ", ".join(f"{count:,} {kind}" for kind, count in report.secrets.items())
        output.write(f"secrets masked: {masked}")
    if report.backup:
        output.write(f"the files are in {render.one_line(report.backup)} now")
    for said, found in (("refused", report.refused), ("passed over", report.passed_over)):
        for each in found[:REFUSALS_SHOWN_MAX]:
            output.note(f"{said}: {each.place}: {each.reason}")
        if (more := len(found) - REFUSALS_SHOWN_MAX) > 0:
            output.note(f"{said}: {more} more; --json lists them all")
