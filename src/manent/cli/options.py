"""What commands share: the store and the workspace that they work on, and how a conversation is named."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from manent.errors import NotFoundError

if TYPE_CHECKING:
    from manent.history.conversation import Conversation
    from manent.history.store import Store

STORE_VARIABLE = "MANENT_STORE"
WORKSPACE_VARIABLE = "MANENT_WORKSPACE"
WAIT_S = 30.0
"""Longer than the library's own: a command is a process of its own, and nobody repeats it for the user."""

F = TypeVar("F", bound=Callable[..., Any])


class Settings(NamedTuple):
    """What the options that every command knows came to."""

    store: str | None
    workspace: str
    wait: float
    json: bool = False

    @property
    def url(self) -> str:
        """The store that is meant."""
        return self.store or default_store()


def default_store() -> str:
    """The store of whoever names none."""
    import platformdirs

    return str(platformdirs.user_data_path("manent", appauthor=False) / "conversations.db")


def shared(command: F) -> F:
    """Give a command the options that every one has; those of the group may also stand behind the command."""
    for option in reversed(_SHARED):
        command = option(command)
    return command


def _override(context: click.Context, parameter: click.Parameter, value: Any) -> None:
    if value is not None and value is not False:
        context.obj = context.obj._replace(**{str(parameter.name): value})


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

all_workspaces = click.option("--all-workspaces", is_flag=True, help="Look into every workspace.")
key = click.option("--key", metavar="KEY", help="The conversation with this key of your own, instead of ID.")


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def open_store(settings: Settings, *, every_workspace: bool = False, create: bool = False) -> Store:
    """
    Open the store that is meant.

    Args:
        every_workspace: as its owner, across all fences.
        create: make it when it is not there; else it is missed.

    Raises:
        NotFoundError: it is not there, and `create` was not given.
    """
    import manent

    if not create and not is_there(settings.url):
        raise NotFoundError("store", settings.url, "`manent new` or `manent import` makes one.")
    return manent.open(
        settings.url, workspace=None if every_workspace else settings.workspace, wait=settings.wait
    )


def is_there(url: str) -> bool:
    """Whether a URL leads to a store; one that is no path of a file is left to `manent.open`."""
    if url == "memory:" or url.startswith(("ndjson:", "postgres:", "postgresql:")):
        return True
    return os.path.lexists(path_of(url))


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
