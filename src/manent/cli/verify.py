"""`manent verify`: look for every undeclared change."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from manent.cli import exits, options, output, render

if TYPE_CHECKING:
    from manent.model.records import Receipt, Report


@click.command(
    "verify",
    short_help="Look for every undeclared change.",
    epilog=options.examples(
        "manent verify", "manent verify --make-receipt > receipt.json", "manent verify --receipt receipt.json"
    ),
)
@click.option(
    "--receipt",
    "receipt_file",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Compare with a receipt made earlier: finds a cut tail and a restored older file.",
)
@click.option(
    "--make-receipt", is_flag=True, help="When all is well, print a receipt to keep outside the store."
)
@options.shared
@click.pass_obj
def command(settings: options.Settings, receipt_file: Path | None, make_receipt: bool) -> int:
    """
    Look through the whole store for every undeclared change, and repair nothing.

    Findings are one on a line: kind, place, what is wrong. The exit code is 1 when there is one.
    """
    known = receipt_file.read_text(encoding="utf-8", errors="replace") if receipt_file else None
    progress = output.Progress("events")
    interrupted = exits.interruptible(lambda: "verify was not finished")
    with options.open_store(settings, every_workspace=True) as store, interrupted:
        try:
            report = store.verify(receipt=known, progress=progress)
        finally:
            progress.clear()
        receipt = store.receipt() if make_receipt and report.ok else None
    if settings.json:
        _write_json(report, receipt)
    else:
        _write(report, receipt)
    return exits.DONE if report.ok else exits.FAILED


def _write_json(report: Report, receipt: Receipt | None) -> None:
    import msgspec

    made = msgspec.to_builtins(receipt)
    output.write_json({"ok": report.ok, **msgspec.to_builtins(report), "receipt": made})


def _write(report: Report, receipt: Receipt | None) -> None:
    """The report; beside a receipt, which may go to a file, it stands on stderr."""
    for finding in report.findings:
        output.write(render.one_line(f"{finding.kind}  {finding.address}  {finding.detail}"))
    if receipt:
        output.write(receipt.to_json())
        output.note(summary_of(report))
    else:
        output.write(summary_of(report))


def summary_of(report: Report) -> str:
    """What was looked at and how it stands, in one line."""
    state = "ok" if report.ok else render.counted(len(report.findings), "finding")
    looked = f"{render.counted(report.events, 'event')} in {render.counted(report.streams, 'stream')}"
    erased = f", {render.counted(report.erased_leaves, 'erased piece')}" if report.erased_leaves else ""
    newer = f", {report.unknown_kinds:,} of a newer release" if report.unknown_kinds else ""
    return f"{state}: {looked}{erased}{newer}"
