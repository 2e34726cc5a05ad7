"""`manent pin`: keep a conversation from being deleted."""

from __future__ import annotations

import click

from manent.cli import options, output


@click.command(
    "pin",
    short_help="Keep a conversation from being deleted.",
    epilog=options.examples("manent pin 3f2a91", "manent pin 3f2a91 --off"),
)
@options.named
@options.key
@click.option("--off", is_flag=True, help="Take the pin back.")
@options.shared
@click.pass_obj
def command(settings: options.Settings, named: str | None, key: str | None, off: bool) -> None:
    """Pin a conversation: pruning spares it, and deleting it needs --force."""
    with options.open_store(settings) as store:
        conversation = options.find_conversation(store, named, key)
        if off:
            conversation.unpin()
        else:
            conversation.pin()
    if settings.json:
        output.write_json({"id": conversation.id, "pinned": not off})
    else:
        output.note(f"{conversation.id} is {'not pinned' if off else 'pinned'}")
