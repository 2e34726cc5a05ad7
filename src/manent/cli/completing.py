"""The ids of conversations for a shell that completes: few, quick, and silent about whatever is wrong."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from manent.cli import options, preferences, render
from manent.errors import AmbiguousPrefixError, ManentError, NotFoundError

if TYPE_CHECKING:
    from manent.history.store import Store

SHOWN_MAX = 50
"""At most so many ids are offered."""

TITLE_CHARACTERS_MAX = 60


def ids_beginning(context: click.Context, incomplete: str) -> list[CompletionItem]:
    """
    The most recently active conversations whose ids begin so, with their titles.

    Whatever goes wrong gives none: a shell has no place for an error.
    """
    with contextlib.suppress(ManentError, OSError, click.ClickException):
        given = {**context.find_root().params, **options.given_behind(context)}
        settings = options.Settings.of(given, *preferences.settle(given, preferences.read()))
        settings = settings._replace(wait=0.0)
        with options.open_store(settings) as store:
            return _find(store, incomplete)
    return []


def _find(store: Store, incomplete: str) -> list[CompletionItem]:
    titles = {each.id: each.title for each in store.list(limit=SHOWN_MAX)}
    newest = [name for name in titles if name.startswith(incomplete)]
    others = sorted(set(_resolved(store, incomplete)) - set(newest)) if incomplete else []
    ids = [name for name in [*newest, *others] if render.one_line(name) == name]
    return [CompletionItem(name, help=_help(titles.get(name, ""))) for name in ids[:SHOWN_MAX]]


def _resolved(store: Store, incomplete: str) -> tuple[str, ...]:
    try:
        return (store.resolve(incomplete),)
    except AmbiguousPrefixError as error:
        return error.matches
    except NotFoundError:
        return ()


def _help(title: str) -> str:
    return render.one_line(title)[:TITLE_CHARACTERS_MAX]
