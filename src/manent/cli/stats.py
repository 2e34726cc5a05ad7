"""`manent stats`: counts of a conversation, a workspace or a store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from manent.cli import options, output, render

if TYPE_CHECKING:
    from manent.model.records import Statistics

TOKENS = ("input_tokens", "output_tokens")
"""Shown whether anybody reported them or not: unknown is not zero."""


@click.command(
    "stats",
    short_help="Count conversations, turns, messages, tokens.",
    epilog=options.examples("manent stats", "manent stats 3f2a91", "manent stats --all-workspaces --json"),
)
@options.named
@options.key
@options.all_workspaces
@options.shared
@click.pass_obj
def command(settings: options.Settings, named: str | None, key: str | None, all_workspaces: bool) -> None:
    """
    Count what a conversation holds, or the whole workspace.

    Tokens are those that providers reported; what none reported is unknown, which is not zero.
    """
    with options.open_store(settings, every_workspace=all_workspaces) as store:
        counted = store if named is None and key is None else options.find_conversation(store, named, key)
        found = counted.stats()
    if settings.json:
        import msgspec

        output.write_json(msgspec.to_builtins(found))
        return
    for line in _lines(found):
        output.write(line)


def _lines(found: Statistics) -> Iterator[str]:
    yield f"conversations  {found.conversations:,}"
    yield f"turns          {found.turns_total:,}{_detail(found.turns)}"
    yield f"messages       {found.messages_total:,}{_detail(found.messages)}"
    yield f"first          {render.local_time(found.first_ns)}"
    yield f"last           {render.local_time(found.last_ns)}"
    for name in dict.fromkeys((*TOKENS, *found.tokens)):
        yield render.one_line(f"{name.replace('_', ' '):13}  {_measure(found, name)}")


def _detail(counts: dict[str, int]) -> str:
    said = ", ".join(f"{count:,} {render.one_line(name)}" for name, count in sorted(counts.items()) if count)
    return f"  ({said})" if said else ""


def _measure(found: Statistics, name: str) -> str:
    if name not in found.tokens:
        return "unknown: no provider reported any"
    return f"{found.tokens[name]:,g}  ({render.counted(found.reports[name], 'report')})"
