"""`manent new`: begin a conversation."""

from __future__ import annotations

import click

from manent.cli import options, output


@click.command(
    "new",
    short_help="Begin a conversation and print its id.",
    epilog=options.examples('manent new "Fix the login bug"', "manent new --key telegram-42 --persona tutor"),
)
@click.argument("title", default="")
@click.option("--persona", metavar="NAME", help="Who the machine plays.")
@click.option("--key", metavar="KEY", help="A name of your own for it, unique in the workspace.")
@options.shared
@click.pass_obj
def command(settings: options.Settings, title: str, persona: str | None, key: str | None) -> None:
    """Begin a conversation and print its id. TITLE is for people and may be left out."""
    with options.open_store(settings, create=True) as store:
        conversation_id = store.create(title, persona=persona, key=key).id
    if settings.json:
        output.write_json({"id": conversation_id, "title": title, "persona": persona, "key": key})
    else:
        output.write(conversation_id)
