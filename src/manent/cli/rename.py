"""`manent rename`: give a conversation another title."""

from __future__ import annotations

import click

from manent.cli import options, output


@click.command(
    "rename",
    short_help="Give a conversation another title.",
    epilog=options.examples(
        'manent rename 3f2a91 "The slow login"',
        'manent rename --key telegram-42 "The slow login"',
        'manent rename 3f2a91 ""',
    ),
)
@click.argument("words", nargs=-1, metavar="[ID] TITLE", shell_complete=options.complete_id)
@options.key
@options.shared
@click.pass_obj
def command(settings: options.Settings, words: tuple[str, ...], key: str | None) -> None:
    """Give a conversation another title; an empty one takes it away. Its place in lists stays."""
    named, title = _parse(words, key)
    with options.open_store(settings) as store:
        conversation = options.find_conversation(store, named, key)
        conversation.rename(title)
        kept = conversation.title
    if settings.json:
        output.write_json({"id": conversation.id, "title": kept})
    else:
        output.note(f"{conversation.id} has {'another title' if kept else 'no title'} now")


def _parse(words: tuple[str, ...], key: str | None) -> tuple[str | None, str]:
    """The conversation's ID, unless a key names it, and the title."""
    wanted = ("TITLE",) if key is not None else ("ID", "TITLE")
    if len(words) != len(wanted):
        said = f"Give {' and '.join(wanted)}, and a TITLE of several words inside quotes."
        raise click.UsageError(said, click.get_current_context())
    *named, title = words
    return (named[0] if named else None), title
