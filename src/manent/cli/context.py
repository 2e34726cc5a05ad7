"""`manent context`: what a model is told of a conversation before it answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from manent.cli import options, output, render
from manent.cli.transcript import message_lines

if TYPE_CHECKING:
    from manent.model.contexts import Context


@click.command(
    "context",
    short_help="Show what a model is told before it answers.",
    epilog=options.examples(
        "manent context 3f2a91 'And the database?'",
        "manent context 3f2a91 --recent 6 --related 0",
        "manent context --key login --budget 4000 --json 'Why is it slow?'",
    ),
)
@click.argument("words", nargs=-1, metavar="[ID] [MESSAGE]", shell_complete=options.complete_id)
@options.key
@click.option("--recent", type=click.IntRange(min=0), metavar="N", help="At most so many of the newest.")
@click.option("--related", type=click.IntRange(min=0), metavar="N", help="At most so many older ones.")
@click.option(
    "--budget", type=click.IntRange(min=0), metavar="BYTES", help="Never more bytes of UTF-8 than that."
)
@click.option("--plain", is_flag=True, help="The text as it is, also on a terminal.")
@options.no_pager
@options.shared
@click.pass_obj
def command(
    settings: options.Settings,
    /,
    words: tuple[str, ...],
    key: str | None,
    plain: bool,
    no_pager: bool,
    **limits: Any,
) -> None:
    """
    Show the newest messages of a conversation, and older ones on the matter of MESSAGE.

    Without MESSAGE the user's newest one says what the matter is. Calls of tools come with their results or
    not at all. With --budget the newest win; what does not fit is counted. Nothing is written.
    """
    named, message = _parse(words, key)
    wished = {name: value for name, value in limits.items() if value is not None}
    with options.open_store(settings) as store:
        conversation = options.find_conversation(store, named, key)
        context = conversation.context(message, **wished)
    if settings.json:
        output.write_json(_as_json(conversation.id, context))
        return
    output.write_pages(_lines(context, drawn=output.is_terminal() and not plain), paged=not no_pager)
    output.note(_said(context))


def _parse(words: tuple[str, ...], key: str | None) -> tuple[str | None, str | None]:
    """The conversation's ID, unless a key names it, and the message."""
    named, rest = (None, words) if key is not None else (words[0] if words else None, words[1:])
    return named, " ".join(rest) if rest else None


def _lines(context: Context, *, drawn: bool) -> Iterator[str]:
    for number, message in enumerate(context.messages):
        if number:
            yield ""
        flags = ["related"] if message.id in context.related else []
        yield from message_lines(message, drawn=drawn, flags=flags)


def _said(context: Context) -> str:
    found = f", {len(context.related)} of them by {', '.join(context.keywords)}" if context.related else ""
    left = f"; {context.left_out} did not fit" if context.left_out else ""
    return f"{render.counted(len(context.messages), 'message')}{found}, {context.size:,} bytes{left}"


def _as_json(conversation_id: str, context: Context) -> dict[str, Any]:
    import msgspec

    return {
        "conversation_id": conversation_id,
        "messages": [
            {**msgspec.to_builtins(m), "address": str(m.address), "related": m.id in context.related}
            for m in context.messages
        ],
        "keywords": list(context.keywords),
        "size_bytes": context.size,
        "left_out": context.left_out,
    }
