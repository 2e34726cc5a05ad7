"""Every command explains itself, with examples that its own parser takes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

import click
import pytest

from manent.cli.app import EPILOG, app
from manent.cli.options import Settings
from tests.surface.tree import ALL

SETTINGS = Settings("memory:", "default", 1.0)


def examples_in(epilog: str | None) -> list[str]:
    """The lines below `Examples:`."""
    lines = (epilog or "").partition("Examples:\n")[2].split("\n\n")[0].splitlines()
    return [line.strip() for line in lines if line.strip()]


def calls_in(line: str) -> Iterator[list[str]]:
    """The calls of manent in a line for the shell, those inside `sh -c` too; without redirections."""
    reader = shlex.shlex(line.replace("$MANENT_EPOCH", "17"), posix=True, punctuation_chars="|<>")
    reader.whitespace_split = True
    call: list[str] = []
    skipped = False
    for word in [*reader, "|"]:
        if skipped:
            skipped = False
        elif word in ("<", ">"):
            skipped = True
        elif word == "|":
            if call[:1] == ["manent"]:
                yield call[1:]
            call = []
        else:
            call.append(word)
            if " " in word and word.startswith("manent "):
                yield from calls_in(word)


def parse(words: Sequence[str], group: click.Group = app, name: str = "manent") -> None:
    """Parse a line as the program would, without running it."""
    context = group.make_context(name, list(words), obj=SETTINGS)
    rest = [*context._protected_args, *context.args]
    found, command, arguments = group.resolve_command(context, rest)
    assert command is not None
    if isinstance(command, click.Group):
        parse(arguments, command, found or "")
    else:
        command.make_context(found, arguments, parent=context)


@pytest.mark.parametrize("command", sorted(ALL))
def test_every_command_explains_itself(command: str) -> None:  # U-4
    assert ALL[command].help
    assert ALL[command].short_help
    assert examples_in(ALL[command].epilog)


@pytest.mark.parametrize("command", sorted(ALL))
def test_every_example_is_one_that_the_program_takes(command: str) -> None:
    lines = examples_in(ALL[command].epilog)

    calls = [call for line in lines for call in calls_in(line)]

    assert len(calls) >= len(lines)
    for call in calls:
        parse(call)


def test_the_examples_of_the_whole_program_are_taken_too() -> None:
    for line in examples_in(EPILOG):
        for call in calls_in(line):
            parse(call)


def test_calls_are_found_behind_pipes_and_inside_other_shells() -> None:
    line = "a < b | manent append --key x 'y z' - > out"
    nested = "manent claim 3f -- sh -c 'manent append 3f a b'"

    assert list(calls_in(line)) == [["append", "--key", "x", "y z", "-"]]
    assert next(calls_in(nested)) == ["append", "3f", "a", "b"]
