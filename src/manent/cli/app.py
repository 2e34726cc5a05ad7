"""The group of all commands: what every one of them shares, and where each one is."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

import click

from manent import __version__
from manent.cli import exits, options, output

_HOMES: Mapping[str, str] = {
    "new": "manent.cli.new",
    "append": "manent.cli.append",
    "list": "manent.cli.list_",
    "show": "manent.cli.show",
    "search": "manent.cli.search",
    "context": "manent.cli.context",
    "rename": "manent.cli.rename",
    "tag": "manent.cli.tag",
    "pin": "manent.cli.pin",
    "end": "manent.cli.end",
    "reopen": "manent.cli.reopen",
    "delete": "manent.cli.delete",
    "claim": "manent.cli.claim",
    "release": "manent.cli.release",
    "owner": "manent.cli.owner",
    "roadmap": "manent.cli.roadmap",
    "stats": "manent.cli.stats",
    "import": "manent.cli.import_",
    "imports": "manent.cli.imports",
    "secrets": "manent.cli.secrets",
    "export": "manent.cli.export",
    "migrate-legacy": "manent.cli.migrate_legacy",
    "verify": "manent.cli.verify",
    "doctor": "manent.cli.doctor",
    "workspace": "manent.cli.workspace",
    "config": "manent.cli.config",
    "completion": "manent.cli.completion",
}


class App(click.Group):
    """A group that loads a command when it is asked for, and whose errors are one line and an exit code."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """The commands in the order in which one meets them."""
        return list(_HOMES)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of a name, or None."""
        if cmd_name not in _HOMES:
            return None
        command: click.Command = importlib.import_module(_HOMES[cmd_name]).command
        return command

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """As click does; without arguments the help goes to stderr and the exit code is that of usage."""
        if not args and not ctx.resilient_parsing:  # which is what completion does
            output.complain(self.get_help(ctx))
            ctx.exit(exits.USAGE)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> object:
        """As click does, which would call it a failure when whoever reads the output goes away."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError as error:
            raise exits.OutputClosed("nobody reads the output") from error

    def run(self, arguments: Sequence[str] | None = None, **extra: Any) -> int:
        """Run one command; return its exit code."""
        output.prepare()
        typed = [as_typed(word) for word in (sys.argv[1:] if arguments is None else arguments)]
        return exits.run(lambda: super(App, self).main(typed, "manent", standalone_mode=False, **extra))

    def main(self, args: Sequence[str] | None = None, *_: Any, **extra: Any) -> NoReturn:
        """Run one command and leave, for those who call a click command."""
        extra.pop("prog_name", None)
        sys.exit(self.run(args, **extra))


def as_typed(word: str) -> str:
    """
    An argument in the characters that were typed.

    Where the locale is ASCII, Python hides each byte beyond it in a lone surrogate (PEP 383); bytes that are
    UTF-8 together are the text that the terminal sent (case 86).
    """
    try:
        return word if word.isascii() else word.encode("ascii", "surrogateescape").decode("utf-8")
    except UnicodeError:
        return word


EPILOG = """\b
Examples:
  manent import ~/.claude/projects
  manent search slow database
  manent show 3f2a91

Exit codes: 0 done, 1 failed, 2 usage, 3 partly done, 4 not found, 5 busy.
"""


@click.group(cls=App, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="manent", message="%(prog)s %(version)s")
@click.option(
    "--store",
    metavar="PATH",
    help="The store. Default: $MANENT_STORE, else as configured, else conversations.db in your data folder.",
)
@click.option(
    "--workspace",
    metavar="NAME",
    help="The fence inside which everything happens. Default: $MANENT_WORKSPACE, else as configured, else "
    "`default`.",
)
@click.option(
    "--wait",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="How long to wait for another writer. Default: $MANENT_WAIT, else as configured, else 30.",
)
@click.pass_context
def app(context: click.Context, /, **given: Any) -> None:
    """The durable record of conversations with machines."""
    from manent.cli import preferences

    chosen, problems = preferences.settle(given, preferences.read())
    output.taste = output.Taste(colour=chosen["colour"].value, pager=chosen["pager"].value)
    context.obj = options.Settings.of(given, chosen, problems)
