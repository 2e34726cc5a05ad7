"""`manent delete`: delete conversations for good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from manent.cli import asking, exits, options, output, render
from manent.errors import SparedError

if TYPE_CHECKING:
    from manent.history.previewing import Removal
    from manent.history.store import Store


@click.command(
    "delete",
    short_help="Delete conversations for good.",
    epilog=options.examples(
        "manent delete 3f2a91 --dry-run",
        "manent delete 3f2a91",
        "manent delete 3f2a91 b077e0 --yes --reason 'asked by the user'",
    ),
)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=options.complete_id)
@click.option("--dry-run", is_flag=True, help="Show what would go; delete nothing.")
@options.yes
@click.option("--force", is_flag=True, help="Also what is pinned, owned, or in a turn that has not ended.")
@click.option("--reason", metavar="WORDS", help="Kept in the record of the deletion.")
@options.shared
@click.pass_obj
def command(
    settings: options.Settings,
    ids: tuple[str, ...],
    dry_run: bool,
    yes: bool,
    force: bool,
    reason: str | None,
) -> int:
    """
    Delete conversations for good: their words, metadata, drafts and attachments.

    What will go is shown first, and a terminal asks; elsewhere --yes is needed. That something was deleted
    stays in the record, and `verify` still passes. What is spared is left, and the exit code is 3 then, or 1
    when nothing could be deleted.
    """
    with options.open_store(settings) as store:
        found = _preview(store, ids)
        if not settings.json:
            _show(found, force)
        going = [each.id for each in found if force or not each.spared]
        if not dry_run and going and not asking.agree(_question(going), yes=yes):
            return exits.FAILED
        gone = [] if dry_run else _delete(store, going, reason, force)
    if settings.json:
        output.write_json({"dry_run": dry_run, "conversations": [_as_json(each, gone) for each in found]})
    elif gone:
        output.note(f"deleted {render.counted(len(gone), 'conversation')}")
    return exits.DONE if dry_run or len(gone) == len(found) else exits.PARTLY if gone else exits.FAILED


def _preview(store: Store, ids: Sequence[str]) -> list[Removal]:
    """What would go, each conversation once, whichever way it was named; all names are looked up first."""
    from manent.history.previewing import preview_removal

    return list({each.id: each for each in (preview_removal(store, name) for name in ids)}.values())


def _question(ids: Sequence[str]) -> str:
    return f"Delete {'this conversation' if len(ids) == 1 else f'these {len(ids)} conversations'} for good?"


def _delete(store: Store, ids: Sequence[str], reason: str | None, force: bool) -> list[str]:
    """Delete one after the other; what somebody has pinned or claimed since it was shown stays."""
    gone: list[str] = []
    with exits.interruptible(lambda: f"{render.counted(len(gone), 'conversation')} deleted"):
        for name in ids:
            try:
                gone.append(store.delete(name, reason=reason, force=force))
            except SparedError as error:
                output.note(_advice(error.conversation_id, error.reasons))
    return gone


def _show(found: Sequence[Removal], force: bool) -> None:
    for each in found:
        title = render.one_line(each.title or "(no title)")
        output.write(f"{output.bold(render.one_line(each.id))}  {title}")
        parts = [
            render.counted(each.messages, "message"),
            render.counted(each.turns, "turn"),
            render.counted(each.attachments, "attachment"),
        ]
        output.write(f"    {', '.join([*parts, *each.spared])}")
        if each.spared and not force:
            output.note(_advice(each.id, each.spared))


def _advice(name: str, reasons: Sequence[str]) -> str:
    return f"{name} is spared: {', '.join(reasons)}; --force deletes it all the same"


def _as_json(each: Removal, gone: Sequence[str]) -> dict[str, Any]:
    return {**each._asdict(), "spared": list(each.spared), "deleted": each.id in gone}
