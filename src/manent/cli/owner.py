"""`manent owner`: who owns a conversation."""

from __future__ import annotations

import click

from manent.cli import options, output, owning, render


@click.command(
    "owner",
    short_help="Show who owns a conversation.",
    epilog=options.examples("manent owner 3f2a91", "manent owner --key telegram-42 --json"),
)
@options.named
@options.key
@options.shared
@click.pass_obj
def command(settings: options.Settings, named: str | None, key: str | None) -> None:
    """Show which process owns a conversation, since when, and whether it still runs."""
    with options.open_store(settings) as store:
        conversation = options.find_conversation(store, named, key)
        owner = conversation.live_owner()
        is_live = owner is not None and store.is_owner_live(owner)
    if settings.json:
        seen = {**owning.as_json(owner), "live": is_live} if owner else None
        output.write_json({"id": conversation.id, "owner": seen})
    elif owner is None:
        output.note(f"nobody owns {conversation.id}")
    else:
        state = "runs" if is_live else "has left it behind: whoever claims it gets it"
        since = render.local_time(owner.claimed_ns)
        output.write(render.one_line(f"{owning.told(owner)}, epoch {owner.epoch}, since {since}: {state}"))
