"""`manent tag`: the tags of a conversation, shown and changed."""

from __future__ import annotations

import click

from manent.cli import options, output, render


@click.command(
    "tag",
    short_help="Show the tags of a conversation, or change them.",
    epilog=options.examples(
        "manent tag 3f2a91",
        "manent tag 3f2a91 --add garden --add spring",
        "manent tag 3f2a91 --remove spring",
        "manent list --tag garden",
    ),
)
@options.named
@options.key
@click.option("--add", "added", metavar="TAG", multiple=True, help="May be given several times.")
@click.option("--remove", "removed", metavar="TAG", multiple=True, help="One that is not there is no error.")
@options.shared
@click.pass_obj
def command(
    settings: options.Settings,
    named: str | None,
    key: str | None,
    added: tuple[str, ...],
    removed: tuple[str, ...],
) -> None:
    """Show the tags of a conversation, one on a line, after what --add and --remove change."""
    if both := sorted({*added} & {*removed}):
        raise click.UsageError(f"{both[0]!r} cannot be added and removed.", click.get_current_context())
    with options.open_store(settings) as store:
        conversation = options.find_conversation(store, named, key)
        if removed:
            conversation.remove_tags(*removed)
        if added:
            conversation.add_tags(*added)
        tags = conversation.tags
    if settings.json:
        output.write_json({"id": conversation.id, "tags": list(tags)})
        return
    for tag in tags:
        output.write(render.one_line(tag))
    if not tags:
        output.note(f"{conversation.id} has no tags")
