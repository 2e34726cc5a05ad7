"""`manent end`: say that a conversation has ended."""

from __future__ import annotations

import click

from manent.cli import options, output

REASON = "ended by hand"


@click.command(
    "end",
    short_help="Say that a conversation has ended.",
    epilog=options.examples("manent end 3f2a91", "manent end 3f2a91 --reason solved"),
)
@options.named
@options.key
@click.option("--reason", metavar="WORDS", default=REASON, show_default=True, help="Why: a word or two.")
@options.shared
@click.pass_obj
def command(settings: options.Settings, named: str | None, key: str | None, reason: str) -> None:
    """
    Say that a conversation has ended, and why.

    It stays in lists and searches; going on with the latest open one passes it over. Once more with another
    reason replaces it. `manent reopen` takes it back.
    """
    with options.open_store(settings) as store:
        conversation = options.find_conversation(store, named, key)
        conversation.end(reason)
        kept = conversation.end_reason
    if settings.json:
        output.write_json({"id": conversation.id, "end_reason": kept})
    else:
        output.note(f"{conversation.id} has ended")
