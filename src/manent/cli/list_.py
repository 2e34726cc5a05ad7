"""`manent list`: the conversations of a workspace, the most recently active first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import click

from manent.cli import options, output, render

if TYPE_CHECKING:
    from manent.model.paging import Page
    from manent.model.records import ConversationSummary

ID_MIN = 6
"""An id is never shortened to less than this."""


@click.command(
    "list",
    short_help="List conversations, the most recently active first.",
    epilog=options.examples("manent list", "manent list --limit 5 --all-workspaces", "manent list --json"),
)
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many.")
@click.option("--cursor", metavar="CURSOR", help="Go on where the page that gave it ended.")
@click.option("--oldest", is_flag=True, help="The least recently active first.")
@options.all_workspaces
@options.shared
@click.pass_obj
def command(
    settings: options.Settings, limit: int, cursor: str | None, oldest: bool, all_workspaces: bool
) -> None:
    """List conversations: the beginning of the id, the last time that it states, the title."""
    with options.open_store(settings, every_workspace=all_workspaces) as store:
        page = store.list(limit=limit, cursor=cursor, newest_first=not oldest)
    if settings.json:
        import msgspec

        output.write_json({"conversations": msgspec.to_builtins(list(page)), "next": page.next})
        return
    _write(page, with_workspace=all_workspaces)
    if not page:
        where = "the store" if all_workspaces else f"workspace {settings.workspace!r}"
        output.note(f"no conversations in {where}")
    if page.next:
        output.note(f"there are more: --cursor {page.next}")


def _write(page: Page[ConversationSummary], *, with_workspace: bool) -> None:
    names = [render.one_line(name) for name in shorten([summary.id for summary in page])]
    width = max(map(len, names), default=0)
    for name, summary in zip(names, page, strict=True):
        columns = [name.ljust(width), f"{render.local_time(summary.last_ns):16}"]
        start = "  ".join([*columns, summary.workspace[:8]] if with_workspace else columns)
        title = render.one_line(summary.title or "(no title)")
        if output.is_terminal():
            title = render.cut(title, max(1, output.columns() - len(start) - 2))
        output.write(f"{output.bold(start)}  {title}")


def shorten(ids: Sequence[str]) -> list[str]:
    """The shortest beginnings, of `ID_MIN` characters or more, that tell the ids apart."""
    needed = dict.fromkeys(ids, ID_MIN)
    for before, after in pairwise(sorted(needed)):
        length = 1 + _shared(before, after)
        needed[before] = max(needed[before], length)
        needed[after] = max(needed[after], length)
    return [name[: needed[name]] for name in ids]


def _shared(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))
