"""`manent append`: record one turn."""

from __future__ import annotations

import sys

import click

from manent.cli import options, output, owning
from manent.errors import InputError

STDIN = "-"


@click.command(
    "append",
    short_help="Record a question and its answer.",
    epilog=options.examples(
        'manent append 3f2a91 "Why is it slow?" "It asks the database once for each row."',
        "some-model < question.txt | manent append --key telegram-42 'Summarise it' -",
        "manent append 3f2a91 -- '-v does what?' 'It prints more.'",
        "manent claim 3f2a91 -- sh -c 'manent append 3f2a91 --epoch \"$MANENT_EPOCH\" Mine? Yes.'",
    ),
)
@click.argument("words", nargs=-1, metavar="[ID] QUESTION ANSWER", shell_complete=options.complete_id)
@options.key
@click.option("--idempotency-key", metavar="KEY", help="Repeating the command with this key writes nothing.")
@click.option(
    "--after", type=click.IntRange(min=0), metavar="SEQ", help="Refuse if anything was written since."
)
@click.option(
    "--epoch", type=click.IntRange(min=0), metavar="N", help="Only as the owner that `claim` gave this epoch."
)
@click.option("--author", metavar="NAME", help="Whose question it is.")
@options.shared
@click.pass_obj
def command(
    settings: options.Settings,
    words: tuple[str, ...],
    key: str | None,
    idempotency_key: str | None,
    after: int | None,
    epoch: int | None,
    author: str | None,
) -> None:
    """
    Record a whole turn and print its address.

    ID may be the beginning of one. For QUESTION or ANSWER, - takes what stands on stdin, as it is.
    """
    named, question, answer = _parse(words, key)
    with owning.open_for_owner(settings, epoch) as (store, act_for):
        conversation = options.find_conversation(store, named, key)
        act_for(conversation)
        turn = conversation.append_turn(
            question, answer, author=author, idempotency_key=idempotency_key, after=after, epoch=epoch
        )
    if settings.json:
        seen = {"conversation_id": turn.conversation_id, "seq": turn.seq, "writer": turn.writer}
        output.write_json({"address": str(turn.address), **seen})
    else:
        output.write(str(turn.address))


def _parse(words: tuple[str, ...], key: str | None) -> tuple[str | None, str, str]:
    """The conversation's ID, unless a key names it, and the two texts."""
    wanted = ("QUESTION", "ANSWER") if key is not None else ("ID", "QUESTION", "ANSWER")
    if len(words) != len(wanted):
        said = f"Give {' '.join(wanted)}, which are {len(wanted)} arguments and not {len(words)}."
        raise click.UsageError(said, click.get_current_context())
    *named, question, answer = words
    if question == answer == STDIN:
        raise click.UsageError("Only one of QUESTION and ANSWER can be -.", click.get_current_context())
    return (named[0] if named else None), _text(question), _text(answer)


def _text(argument: str) -> str:
    if argument != STDIN:
        return argument
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"What stands on stdin is not UTF-8 (byte {error.start}).") from error
