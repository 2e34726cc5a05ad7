"""`manent reopen`: take the end of a conversation back."""

from __future__ import annotations

import click

from manent.cli import options, output


@click.command(
    "reopen",
    short_help="Take the end of a conversation back.",
    epilog=options.examples("manent reopen 3f2a91", "manent reopen --key telegram-42"),
)
@options.named
@options.key
@options.shared
@click.pass_obj
def command(settings: options.Settings, named: str | None, key: str | None) -> None:
    """Take the end of a conversation back; of one that is open nothing changes."""
    with options.open_store(settings) as store:
        conversation = options.find_conversation(store, named, key)
        conversation.reopen()
    if settings.json:
        output.write_json({"id": conversation.id, "end_reason": None})
    else:
        output.note(f"{conversation.id} is open")
