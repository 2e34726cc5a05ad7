"""`manent export`: the record as NDJSON, to a file or to stdout."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import click

from manent.cli import exits, options, output, render

STDOUT = "-"


@click.command(
    "export",
    short_help="Write the record as NDJSON.",
    epilog=options.examples(
        "manent export backup.ndjson", "manent export --all-workspaces - | zstd > backup.ndjson.zst"
    ),
)
@click.argument("file", default=STDOUT)
@click.option("--force", is_flag=True, help="Replace a file that is there.")
@options.all_workspaces
@options.shared
@click.pass_obj
def command(settings: options.Settings, file: str, force: bool, all_workspaces: bool) -> None:
    """
    Write everything that the workspace holds as NDJSON, which `manent import` reads back.

    A FILE appears when it is whole, and only its owner can read it. Without one, or with -, the lines go
    to stdout.
    """
    if file == STDOUT and settings.json:
        raise click.UsageError("--json needs a FILE: stdout takes the export.", click.get_current_context())
    target = Path(file)
    if file != STDOUT:
        _refuse(target, settings, force)
    with options.open_store(settings, every_workspace=all_workspaces) as store:
        if file == STDOUT:
            _write_stdout(store.export_lines())
            return
        with exits.interruptible(lambda: "nothing was exported"):
            lines = _write_file(store.export_lines(), target, force)
    _report(settings, target, lines)


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
    if not force:
        _refuse_present(target)


def _refuse_present(target: Path) -> None:
    if os.path.lexists(target):
        raise click.ClickException(f"{target} is there already; --force replaces it.")


def _write_stdout(lines: Iterable[bytes]) -> None:
    for line in lines:
        output.write_bytes(line)


def _write_file(lines: Iterable[bytes], target: Path, force: bool) -> int:
    """Write beside the target, then put the whole file in its place; return how many lines there are."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:40]}-")
    try:
        with os.fdopen(handle, "wb") as stream:
            count = _copy(lines, stream)
        _put_in_place(Path(name), target, force)
    finally:
        Path(name).unlink(missing_ok=True)
    return count


def _copy(lines: Iterable[bytes], stream: BinaryIO) -> int:
    count, progress = 0, output.Progress("lines")
    try:
        for count, line in enumerate(lines, 1):
            stream.write(line)
            progress(count)
    finally:
        progress.clear()
    stream.flush()
    os.fsync(stream.fileno())
    return count


def _put_in_place(whole: Path, target: Path, force: bool) -> None:
    """Rename, never over a file that appeared meanwhile; a place without links cannot tell."""
    if not force:
        try:
            os.link(whole, target)
            return
        except OSError:
            _refuse_present(target)
    whole.replace(target)


def _report(settings: options.Settings, target: Path, lines: int) -> None:
    size = target.stat().st_size
    if settings.json:
        output.write_json({"path": str(target), "lines": lines, "bytes": size})
    else:
        output.write(f"{render.one_line(str(target))}: {render.counted(lines, 'line')}, {size:,} bytes")
