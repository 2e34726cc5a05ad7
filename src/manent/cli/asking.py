"""Asking before something is changed that cannot be taken back by a key."""

from __future__ import annotations

import sys

import click

from manent.cli import output


def is_answered() -> bool:
    """Whether a person is there to see a question and to answer it."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def agree(question: str, *, yes: bool) -> bool:
    """
    Whether a person agrees; nobody is asked when `yes` is given.

    Raises:
        UsageError: there is no terminal to ask on.
    """
    if yes:
        return True
    if not is_answered():
        said = "This asks before it changes anything, and there is no terminal to ask on; give --yes."
        raise click.UsageError(said, click.get_current_context())
    agreed: bool = click.confirm(question, err=True)
    if not agreed:
        output.note("nothing was changed")
    return agreed
