"""What commands share: the store and the workspace that they work on, and how a conversation is named."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import click

from manent.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from manent.cli.preferences import Chosen
    from manent.history.conversation import Conversation
    from manent.history.store import Store

F = TypeVar("F", bound=Callable[..., Any])

_PLACES = "manent.given"
"""Where completion, which runs no command, finds what the options of one say."""


class Settings(NamedTuple):
    """
    What the options that every command knows came to.

    Args:
        store, workspace, wait, durability: as options, environment, configuration file and defaults say.
        json: write one JSON object.
        given: the names of those that came from an option.
        problems: what is wrong with the configuration file and the environment; opening a store raises them.
    """

    store: str
    workspace: str
    wait: float
    durability: Literal["full", "process"] = "full"
    json: bool = False
    given: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()

    @property
    def url(self) -> str:
        """The store that is meant."""
        return self.store

    @classmethod
    def of(
        cls, options: Mapping[str, Any], chosen: Mapping[str, Chosen], problems: tuple[str, ...]
    ) -> Settings:
        """The settings from the options of the group, by name, and what `preferences.settle` made of them."""
        values = {name: chosen[name].value for name in ("store", "workspace", "wait", "durability")}
        given = frozenset(name for name, value in options.items() if value is not None)
        return cls(**values, given=given, problems=problems)


def shared(command: F) -> F:
    """Give a command the options that every one has; those of the group may also stand behind the command."""
    for option in reversed(_SHARED):
        command = option(command)
    return command


def _override(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value is None or value is False:
        return
    name = str(parameter.name)
    context.meta.setdefault(_PLACES, {})[name] = value
    if not context.resilient_parsing:
        context.obj = context.obj._replace(**{name: value}, given=context.obj.given | {name})


_SHARED = (
    click.option(
        "--store", metavar="PATH", expose_value=False, callback=_override, help="As `manent --store`."
    ),
    click.option(
        "--workspace", metavar="NAME", expose_value=False, callback=_override, help="As `manent --workspace`."
    ),
    click.option(
        "--wait",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        expose_value=False,
        callback=_override,
        help="As `manent --wait`.",
    ),
    click.option(
        "--json", is_flag=True, expose_value=False, callback=_override, help="Write one JSON object."
    ),
)


def complete_id(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The ids that begin so, for a shell that completes."""
    if parameter.name == "words" and context.params.get("words"):
        return []  # behind the id stand words of the user's own
    from manent.cli.completing import ids_beginning

    return ids_beginning(context, incomplete)


all_workspaces = click.option("--all-workspaces", is_flag=True, help="Look into every workspace.")
key = click.option("--key", metavar="KEY", help="The conversation with this key of your own, instead of ID.")
named = click.argument("named", metavar="[ID]", required=False, shell_complete=complete_id)
"""A conversation by its ID, unless `key` names it; see `find_conversation`."""

yes = click.option("--yes", is_flag=True, help="Do it without asking.")
no_pager = click.option("--no-pager", is_flag=True, help="Write straight to the terminal.")


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def given_behind(context: click.Context) -> dict[str, Any]:
    """What the shared options of a command say while the shell completes, by name."""
    found: dict[str, Any] = context.meta.get(_PLACES, {})
    return found


def in_environment(settings: Settings) -> dict[str, str]:
    """The variables by which another process works on the same store and workspace."""
    from manent.cli.preferences import KEYS

    place = str(path_of(settings.url).absolute()) if is_file(settings.url) else settings.url
    values = {"store": place, "workspace": settings.workspace}
    return {KEYS[name].variables[0]: value for name, value in values.items()}


def open_store(settings: Settings, *, every_workspace: bool = False, create: bool = False) -> Store:
    """
    Open the store that is meant.

    Args:
        every_workspace: as its owner, across all fences.
        create: make it when it is not there; else it is missed.

    Raises:
        NotFoundError: it is not there, and `create` was not given.
        InputError: the configuration file is not right.
    """
    import manent

    check(settings, create=create)
    return manent.open(
        settings.url,
        workspace=None if every_workspace else settings.workspace,
        wait=settings.wait,
        durability=settings.durability,
    )


def check(settings: Settings, *, create: bool = False) -> None:
    """
    See that the settings can be relied on and that the store is there.

    Raises:
        NotFoundError, InputError: as `open_store`.
    """
    if settings.problems:
        raise InputError(f"{' '.join(settings.problems)} `manent config` shows and changes what is set.")
    if not create and not is_there(settings.url):
        raise NotFoundError("store", settings.url, "`manent new` or `manent import` makes one.")


def is_there(url: str) -> bool:
    """Whether a URL leads to a store; one that is no path of a file is left to `manent.open`."""
    return not is_file(url) or os.path.lexists(path_of(url))


def is_file(url: str) -> bool:
    """Whether a URL means a store in one file, there or not."""
    return url != "memory:" and not url.startswith(("ndjson:", "postgres:", "postgresql:"))


def path_of(url: str) -> Path:
    """The file behind a URL."""
    return Path(url.removeprefix("sqlite:"))


def find_conversation(store: Store, named: str | None, key: str | None) -> Conversation:
    """
    The conversation that a command's ID or --key names.

    Raises:
        UsageError: both are given, or neither.
        NotFoundError, AmbiguousPrefixError: as `Store.conversation`.
    """
    if (named is None) == (key is None):
        raise click.UsageError("Give either the ID of a conversation or --key.", click.get_current_context())
    return store.conversation(named) if key is None else store.conversation(key=key)
