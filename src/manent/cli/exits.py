"""How a command ends: every error becomes one line on stderr and an exit code (U-2, U-4)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import click

from manent import errors
from manent.cli import output

DONE = 0
FAILED = 1
USAGE = 2
PARTLY = 3
NOT_FOUND = 4
BUSY = 5
INTERRUPTED = 130
"""As a shell says it of SIGINT."""
CLOSED = 141
"""As a shell says it of SIGPIPE: whoever read the output went away."""

_CODES: Sequence[tuple[type[BaseException], int]] = (
    (errors.StoreBusyError, BUSY),
    (errors.NotFoundError, NOT_FOUND),
    (errors.FormatError, FAILED),
    (errors.InputError, USAGE),
    (errors.AmbiguousPrefixError, USAGE),
    (errors.AmbiguousAddressError, USAGE),
    (errors.WorkspaceRequiredError, USAGE),
)
"""The first that fits counts; whatever is not here has failed."""


class Interrupted(click.ClickException):
    """Somebody pressed Ctrl-C; the message says what is done."""

    exit_code = INTERRUPTED


class OutputClosed(click.ClickException):
    """Whoever read the output went away, as `head` does; nobody is told."""

    exit_code = CLOSED


@contextmanager
def interruptible(done: Callable[[], str]) -> Iterator[None]:
    """Long work: when it is interrupted, say with `done` what of it stays (U-1)."""
    try:
        yield
    except KeyboardInterrupt as error:
        raise Interrupted(f"interrupted: {done()}") from error


def code_of(error: BaseException) -> int:
    """The exit code that stands for an error."""
    if isinstance(error, click.ClickException):
        return error.exit_code
    return next((code for kind, code in _CODES if isinstance(error, kind)), FAILED)


def message_of(error: BaseException) -> str:
    """What to say about an error, without its type."""
    match error:
        case click.UsageError(ctx=click.Context() as context):
            return f"{error.format_message()} Try '{context.command_path} --help'."
        case click.ClickException():
            return error.format_message()
        case errors.ManentError():
            return str(error)
        case OSError(filename=str() as name, strerror=str() as why):
            return f"{name}: {why}"
        case _:
            return str(error)


def run(call: Callable[[], object]) -> int:
    """Call a command; return its exit code. What is nobody's expected error stays a traceback."""
    try:
        result = call()
        sys.stdout.flush()
    except (OutputClosed, BrokenPipeError):
        return _leave_quietly()
    except (click.Abort, KeyboardInterrupt):
        output.note("interrupted")
        return INTERRUPTED
    except (click.ClickException, errors.ManentError, OSError) as error:
        output.note(message_of(error))
        return code_of(error)
    return result if isinstance(result, int) else DONE


def _leave_quietly() -> int:
    """Nobody reads any more: let what is left go nowhere, or the interpreter would complain while it ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return CLOSED
