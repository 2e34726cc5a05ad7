"""`manent imports`: which imports there were, and how one is undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from manent.cli import asking, exits, options, output, render

if TYPE_CHECKING:
    from manent.model.imports import Import, Undone

NAMES_SHOWN_MAX = 10


@click.group(
    "imports",
    short_help="List imports, and undo one.",
    epilog=options.examples("manent imports list", "manent imports undo 3f2a91bc"),
)
def command() -> None:
    """See what was imported into this workspace, and take an import back."""


@command.command(
    "list",
    short_help="The imports that wrote something, the newest first.",
    epilog=options.examples("manent imports list", "manent imports list --json"),
)
@options.shared
@click.pass_obj
def list_(settings: options.Settings) -> None:
    """
    List the imports that wrote something and were not undone: id, time, what they wrote, format, paths.

    A store that was restored from an export has none, since they belong to one store.
    """
    records = _read(settings)
    if settings.json:
        import msgspec

        output.write_json({"imports": msgspec.to_builtins(records)})
        return
    for record in records:
        output.write(_line(record))
    if not records:
        output.note(f"no imports in workspace {settings.workspace!r}")


def _read(settings: options.Settings) -> list[Import]:
    """The imports of the workspace, with their paths, which only the owner's handle tells."""
    with options.open_store(settings) as store:
        here = [record.id for record in store.imports.list()]
    with options.open_store(settings, every_workspace=True) as owner:
        told = {record.id: record for record in owner.imports.list()}
    return [told[id] for id in here if id in told]


def _line(record: Import) -> str:
    conversations = record.new_conversations + record.grown_conversations
    wrote = (
        f"{render.counted(conversations, 'conversation')}, {render.counted(record.added_messages, 'message')}"
    )
    state = "" if record.finished else "  (interrupted or under way)"
    start = f"{output.bold(record.id)}  {render.local_time(record.claim_ns):16}  {wrote}"
    return f"{start}  {render.one_line(' '.join((record.format, *record.paths)))}{state}"


@command.command(
    "undo",
    short_help="Take an import back.",
    epilog=options.examples(
        "manent imports undo 3f2a91bc --dry-run",
        "manent imports undo 3f2a91bc",
        "manent imports undo 3f2a91bc --yes --json",
    ),
)
@click.argument("import_id", metavar="ID")
@click.option("--dry-run", is_flag=True, help="Say what would go; change nothing.")
@click.option("--force", is_flag=True, help="Also what somebody continued, and what is pinned or owned.")
@options.yes
@options.shared
@click.pass_obj
def undo(settings: options.Settings, import_id: str, dry_run: bool, force: bool, yes: bool) -> int:
    """
    Take back what an import did: what it created is deleted, what it added and changed is as it was.

    What will go is shown first. What somebody said here since is never taken along without --force. A later
    import of the same files brings everything again. The exit code is 3 when something was spared.
    """
    with options.open_store(settings) as store:
        planned = store.imports.undo(import_id, dry_run=True, force=force)
        if dry_run:
            return _report(settings, planned, dry_run=True)
        if force or not planned.continued:
            _write(planned, "would be", to_stderr=True)
            if not asking.agree("Take this import back?", yes=yes):
                return exits.FAILED
        progress = output.Progress("conversations")
        done = "what was taken back stays so; repeat the command to go on"
        with exits.interruptible(lambda: done):
            try:
                undone = store.imports.undo(import_id, force=force, progress=progress)
            finally:
                progress.clear()
    return _report(settings, undone, dry_run=False)


def _report(settings: options.Settings, undone: Undone, *, dry_run: bool) -> int:
    if settings.json:
        import msgspec

        output.write_json({"dry_run": dry_run, "undone": msgspec.to_builtins(undone)})
    else:
        _write(undone, "would be" if dry_run else "was")
    return exits.PARTLY if undone.spared else exits.DONE


def _write(undone: Undone, verb: str, *, to_stderr: bool = False) -> None:
    """What an undo did or would do, in sums; what stays, by name."""
    tell = output.note if to_stderr else output.write
    deleted = render.counted(len(undone.deleted), "conversation")
    changed = render.counted(len(undone.changed), "conversation")
    removed = render.counted(undone.removed_messages, "message")
    tell(f"{undone.id}: {deleted} {verb} deleted")
    if undone.changed:
        tell(f"{undone.id}: {removed} {verb} removed from {changed}, {undone.restored_messages:,} restored")
    for spared in undone.spared[:NAMES_SHOWN_MAX]:
        output.note(f"spared: {spared.conversation_id}: {', '.join(spared.reasons)}")
    for address in undone.continued[:NAMES_SHOWN_MAX]:
        output.note(f"continued here: {address}")
    if (more := max(len(undone.spared), len(undone.continued)) - NAMES_SHOWN_MAX) > 0:
        output.note(f"{more} more; --json lists them all")
