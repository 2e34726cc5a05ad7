"""`manent claim`: own a conversation as long as a command runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from manent.cli import exits, options, output, owning
from manent.errors import ManentError

if TYPE_CHECKING:
    from manent.history.conversation import Conversation

HEARTBEAT_S = 60.0
"""How often the claim is renewed; others that cannot see this process wait for an hour without."""

NOT_EXECUTABLE, NOT_THERE = 126, 127
"""As a shell says it of a command that cannot be started."""

STDERR = 2
"""The file that every process calls so."""

_PASSED_ON = ("SIGTERM", "SIGHUP")
_OF_THE_TERMINAL = ("SIGINT", "SIGQUIT")
"""A terminal sends these to the command as well."""


@click.command(
    "claim",
    short_help="Own a conversation as long as a command runs.",
    epilog=options.examples(
        "manent claim 3f2a91 -- my-agent --resume",
        'manent claim 3f2a91 -- "$SHELL"',
        "manent claim 3f2a91 -- sh -c 'manent append 3f2a91 --epoch \"$MANENT_EPOCH\" Mine? Yes.'",
    ),
)
@click.argument("words", nargs=-1, metavar="[ID] -- COMMAND...", shell_complete=options.complete_id)
@options.key
@click.option("--force", is_flag=True, help="Take it from an owner that lives; its appends are refused then.")
@options.shared
@click.pass_obj
def command(settings: options.Settings, words: tuple[str, ...], key: str | None, force: bool) -> int:
    """
    Own a conversation while COMMAND runs, and release it when that ends.

    COMMAND finds the conversation in $MANENT_CONVERSATION and the epoch in $MANENT_EPOCH; `manent append
    --epoch` writes only as long as that epoch counts. A `manent` in it uses this store and workspace. The
    exit code is COMMAND's; 5 when another process that lives owns the conversation, and COMMAND was not
    started.
    """
    named, line = _parse(words, key)
    with options.open_store(settings) as store:
        conversation = options.find_conversation(store, named, key)
        epoch = _claim(conversation, force)
        run = _Run(settings, conversation, epoch)
        try:
            code = run.wait_for(line, quiet=settings.json)
        finally:
            kept = conversation.release(epoch=epoch)
    if settings.json:
        seen = {"conversation_id": conversation.id, "epoch": epoch, "exit_code": code, "kept": kept}
        output.write_json(seen)
    elif not kept:
        output.note(f"{conversation.id} was taken over or released while the command ran")
    return code


def _parse(words: tuple[str, ...], key: str | None) -> tuple[str | None, Sequence[str]]:
    """The conversation's ID, unless a key names it, and the command."""
    named, line = (None, words) if key is not None else (words[0] if words else None, words[1:])
    if (named is None and key is None) or not line:
        said = (
            "Give the conversation and the COMMAND that is to own it: a claim ends with the process that has "
            'it. `manent claim ID -- "$SHELL"` owns it until you leave that shell.'
        )
        raise click.UsageError(said, click.get_current_context())
    return named, line


def _claim(conversation: Conversation, force: bool) -> int:
    from manent.model.owners import HeldBy

    answer = conversation.claim(force=force)
    if isinstance(answer, HeldBy):
        raise Held(f"{conversation.id} is owned by {owning.told(answer.owner)}; --force takes it over.")
    return answer.epoch


class Held(click.ClickException):
    """Another process that lives owns the conversation."""

    exit_code = exits.BUSY


class _Run:
    """One command, and the claim that is held for it."""

    def __init__(self, settings: options.Settings, conversation: Conversation, epoch: int) -> None:
        self._settings = settings
        self._conversation = conversation
        self._epoch = epoch

    def wait_for(self, line: Sequence[str], *, quiet: bool) -> int:
        """Start the command, renew the claim until it ends, and return its exit code as a shell tells it."""
        sys.stdout.flush()
        with _signals() as pass_on:
            try:
                stdout = STDERR if quiet else None
                process = subprocess.Popen(list(line), env=self._environment(), stdout=stdout)
            except FileNotFoundError:
                output.note(f"there is no command {line[0]!r}")
                return NOT_THERE
            except OSError as error:
                output.note(f"{line[0]}: {error.strerror}")
                return NOT_EXECUTABLE
            pass_on(process)
            while (code := self._turn(process)) is None:
                self._renew()
        return 128 - code if code < 0 else code

    def _environment(self) -> dict[str, str]:
        """The store and the workspace too, so that a `manent` in the command means the same."""
        return {
            **os.environ,
            **options.in_environment(self._settings),
            owning.EPOCH_VARIABLE: str(self._epoch),
            owning.CONVERSATION_VARIABLE: self._conversation.id,
        }

    def _turn(self, process: subprocess.Popen[bytes]) -> int | None:
        try:
            return process.wait(HEARTBEAT_S)
        except subprocess.TimeoutExpired:
            return None

    def _renew(self) -> None:
        """A heartbeat that fails is tried again in a while; the claim stands meanwhile."""
        try:
            self._conversation.heartbeat(epoch=self._epoch)
        except ManentError as error:
            output.note(str(error))


@contextmanager
def _signals() -> Iterator[Callable[[subprocess.Popen[bytes]], None]]:
    """
    Let no signal end this process before the command has ended.

    Those of the terminal reach the command by themselves; others are passed on to it. Handlers of Python's,
    other than signals that are ignored, are not inherited by the command.
    """
    started: list[subprocess.Popen[bytes]] = []
    early: list[int] = []

    def pass_on(number: int, _: object) -> None:
        early.append(number)
        for process in started:
            process.send_signal(number)

    def begin(process: subprocess.Popen[bytes]) -> None:
        started.append(process)
        for number in early:
            process.send_signal(number)

    wanted = dict.fromkeys(_PASSED_ON, pass_on) | dict.fromkeys(_OF_THE_TERMINAL, _leave_to_the_command)
    before = {
        number: signal.signal(number, handler)
        for name, handler in wanted.items()
        if (number := getattr(signal, name, None)) is not None
    }
    try:
        yield begin
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _leave_to_the_command(number: int, _: object) -> None:
    """The terminal has sent it to the command too, which decides."""
