"""The tree of commands, as click has it."""

from __future__ import annotations

from collections.abc import Iterator

import click

from manent.cli.app import app


def walk(
    group: click.Group = app, words: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Every command and every group but the first, with the words that lead to it."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None, name
        yield (*words, name), command
        if isinstance(command, click.Group):
            yield from walk(command, (*words, name))


ALL = {" ".join(words): command for words, command in walk()}
"""Commands and groups by their words."""

LEAVES = [words for words, command in ALL.items() if not isinstance(command, click.Group)]
"""Those that do something."""
