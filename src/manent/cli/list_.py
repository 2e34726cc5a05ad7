"""`manent list`: the conversations of a workspace, the most recently active first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

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
    epilog=options.examples(
        "manent list",
        "manent list --limit 5 --all-workspaces",
        "manent list --tag garden --open",
        "manent list --json",
    ),
)
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many.")
@click.option("--cursor", metavar="CURSOR", help="Go on where the page that gave it ended.")
@click.option("--oldest", is_flag=True, help="The least recently active first.")
@click.option("--tag", metavar="TAG", help="Only those with this tag.")
@click.option("--project", metavar="PROJECT", help="Only those of exactly this project.")
@click.option("--pinned/--unpinned", default=None, help="Only those that are pinned, or are not.")
@click.option("--open/--ended", "is_open", default=None, help="Only those that were not ended, or were.")
@options.all_workspaces
@options.no_pager
@options.shared
@click.pass_obj
def command(
    settings: options.Settings,
    /,
    oldest: bool,
    all_workspaces: bool,
    no_pager: bool,
    **wanted: Any,
) -> None:
    """
    List conversations: the beginning of the id, the last time that it states, the title.

    What --tag, --project, --pinned and --open ask for must all hold.
    """
    with options.open_store(settings, every_workspace=all_workspaces) as store:
        page = store.list(newest_first=not oldest, **wanted)
    if settings.json:
        import msgspec

        output.write_json({"conversations": msgspec.to_builtins(list(page)), "next": page.next})
        return
    output.write_pages(_lines(page, with_workspace=all_workspaces), paged=not no_pager)
    if not page:
        where = "the store" if all_workspaces else f"workspace {settings.workspace!r}"
        asked = any(wanted[name] is not None for name in ("tag", "project", "pinned", "is_open"))
        output.note(f"no conversations {'like that ' if asked else ''}in {where}")
    if page.next:
        output.note(f"there are more: --cursor {page.next}")


def _lines(page: Page[ConversationSummary], *, with_workspace: bool) -> Iterator[str]:
    names = [render.one_line(name) for name in shorten([summary.id for summary in page])]
    aligned = _aligned(names)
    for name, summary in zip(aligned, page, strict=True):
        columns = [name, f"{render.local_time(summary.last_ns):16}"]
        start = "  ".join([*columns, summary.workspace[:8]] if with_workspace else columns)
        title = render.one_line(summary.title or "(no title)")
        if output.is_terminal():
            title = render.cut(title, max(1, output.columns() - render.width(start) - 2))
        yield f"{output.bold(start)}  {title}"


def _aligned(names: Sequence[str]) -> list[str]:
    """Names of one width: in cells on a terminal, in characters elsewhere, where nothing that draws loads."""
    if output.is_terminal():
        cells = max(map(render.width, names), default=0)
        return [render.pad(name, cells) for name in names]
    longest = max(map(len, names), default=0)
    return [name.ljust(longest) for name in names]


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
