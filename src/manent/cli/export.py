"""`manent export`: conversations to a file, a folder or stdout, in a format of ours or of another tool."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manent.cli import exits, options, output, render

if TYPE_CHECKING:
    from manent.history.store import Store
    from manent.model.exported import ExportReport

STDOUT = "-"
FORMATS = ("ndjson", "archive", "openai", "markdown", "chatgpt")
"""The names of the formats; the first one is what is meant where none is named."""


@click.command(
    "export",
    short_help="Write conversations to a file.",
    epilog=options.examples(
        "manent export backup.ndjson",
        "manent export --format archive --all-workspaces backup.zip",
        "manent export --format markdown --conversation 3f2a91 talk.md",
        "manent export --all-workspaces - | zstd > backup.ndjson.zst",
    ),
)
@click.argument("file", default=STDOUT)
@click.option("--format", type=click.Choice(FORMATS), default=FORMATS[0], help="Default: ndjson.")
@click.option("--conversation", "named", metavar="ID", multiple=True, help="Only this one; may be repeated.")
@click.option("--hidden", is_flag=True, help="Also what programs injected, in other tools' formats.")
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@options.all_workspaces
@options.shared
@click.pass_obj
def command(
    settings: options.Settings,
    file: str,
    format: str,
    named: tuple[str, ...],
    hidden: bool,
    force: bool,
    all_workspaces: bool,
) -> None:
    """
    Write what the workspace holds.

    `ndjson` and `archive` hold everything, and `manent import` reads them back. `openai`, `markdown` and
    `chatgpt` are for other programs and for people; a note says what they could not carry. Markdown of
    several conversations goes into a folder or a .zip, where attachments have room too.

    A FILE appears when it is whole, and only its owner can read it. Without one, or with -, the export goes
    to stdout.
    """
    if file == STDOUT and settings.json:
        raise click.UsageError("--json needs a FILE: stdout takes the export.", click.get_current_context())
    if file != STDOUT:
        _refuse(Path(file), settings, force)
    with options.open_store(settings, every_workspace=all_workspaces) as store:
        asked = {"format": format, "conversations": named, "hidden": hidden}
        report = _to_stdout(store, asked) if file == STDOUT else _to_path(store, file, force, asked)
    if report.left_out:
        output.note(f"not in it: {report.describe()}")
    if file != STDOUT:
        _report(settings, Path(file), report)


def _to_stdout(store: Store, asked: dict[str, Any]) -> ExportReport:
    from manent.opening import export_stream

    return export_stream(store, sys.stdout.buffer, **asked)


def _to_path(store: Store, file: str, force: bool, asked: dict[str, Any]) -> ExportReport:
    from manent.opening import export_path

    progress = output.Progress("lines" if asked["format"] in ("ndjson", "archive") else "conversations")
    try:
        with exits.interruptible(lambda: "nothing was exported"):
            return export_path(store, file, replace=force, progress=progress, **asked)
    finally:
        progress.clear()


def _refuse(target: Path, settings: options.Settings, force: bool) -> None:
    """
    Refuse to overwrite, before any work is done.

    Raises:
        UsageError: it is the store itself.
        ClickException: something is there and `force` was not given.
    """
    store = options.path_of(settings.url)
    if target.exists() and store.exists() and target.samefile(store):
        raise click.UsageError(f"{target} is the store itself.", click.get_current_context())
    if not force and os.path.lexists(target) and not target.is_dir():
        raise click.ClickException(f"{target} is there already; --force replaces it.")


def _report(settings: options.Settings, target: Path, report: ExportReport) -> None:
    if settings.json:
        import msgspec

        told = msgspec.structs.asdict(report)
        output.write_json({"path": str(target), "bytes": told.pop("size_bytes"), **told})
        return
    counts = [
        *([render.counted(report.lines, "line")] if report.format == "ndjson" else []),
        *([render.counted(report.conversations, "conversation")] if report.format != "ndjson" else []),
        *([render.counted(report.messages, "message")] if report.messages is not None else []),
        *([render.counted(report.attachments, "attachment")] if report.attachments else []),
        f"{report.size_bytes:,} bytes",
    ]
    output.write(f"{render.one_line(str(target))}: {', '.join(counts)}")
