"""`manent release`: give up a claim."""

from __future__ import annotations

import click

from manent.cli import exits, options, output, owning


@click.command(
    "release",
    short_help="Give up the claim on a conversation.",
    epilog=options.examples('manent release 3f2a91 --epoch "$MANENT_EPOCH"', "manent release 3f2a91 --force"),
)
@options.named
@options.key
@click.option("--epoch", type=click.IntRange(min=0), metavar="N", help="The claim that has this epoch.")
@click.option("--force", is_flag=True, help="Whosever it is; appends of that owner are refused then.")
@options.shared
@click.pass_obj
def command(
    settings: options.Settings, named: str | None, key: str | None, epoch: int | None, force: bool
) -> int:
    """
    Give up a claim before the command that holds it has ended.

    The exit code is 1 when there was no such claim. An owner that has died needs no release.
    """
    if (epoch is None) == (not force):
        said = "Give either --epoch, as $MANENT_EPOCH has it, or --force."
        raise click.UsageError(said, click.get_current_context())
    with owning.open_for_owner(settings, epoch) as (store, act_for):
        conversation = options.find_conversation(store, named, key)
        if force and conversation.live_owner() is not None:
            conversation.claim(force=True)
        act_for(conversation)
        released = conversation.release(epoch=epoch)
    if settings.json:
        output.write_json({"id": conversation.id, "released": released})
    else:
        said = "is released" if released else "has no such claim" if epoch is not None else "has no owner"
        output.note(f"{conversation.id} {said}")
    return exits.DONE if released else exits.FAILED
