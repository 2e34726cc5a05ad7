"""`manent search`: find messages by their words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from manent.cli import options, output, render

if TYPE_CHECKING:
    from manent.model.records import Hit


@click.command(
    "search",
    short_help="Find messages that hold all of some words.",
    epilog=options.examples(
        "manent search slow database", "manent search '\"login bug\"'", "manent search 확인"
    ),
)
@click.argument("words", nargs=-1, required=True)
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many.")
@options.all_workspaces
@options.no_pager
@options.shared
@click.pass_obj
def command(
    settings: options.Settings, words: tuple[str, ...], limit: int, all_workspaces: bool, no_pager: bool
) -> None:
    """
    Find messages that hold all of WORDS, the best hits first.

    Any script, any length; case, width and accents do not matter. Words inside double quotes, which the
    shell must leave in place, stand together. `manent show ADDRESS` shows a hit whole.
    """
    query = " ".join(words)
    with options.open_store(settings, every_workspace=all_workspaces) as store:
        hits = store.search(query, limit=limit)
    if settings.json:
        output.write_json({"query": query, "hits": [_as_json(hit) for hit in hits]})
        return
    output.write_pages((line for hit in hits for line in _lines(hit)), paged=not no_pager)
    if not hits:
        output.note("nothing found")


def _as_json(hit: Hit) -> dict[str, Any]:
    import msgspec

    fields: dict[str, Any] = msgspec.to_builtins(hit)
    return {**fields, "address": str(hit.address), "highlights": [list(span) for span in hit.highlights]}


def _lines(hit: Hit) -> Iterator[str]:
    """A line that says where it is, and one with a piece of it."""
    title = render.one_line(hit.title or "(no title)")
    said = f"{render.one_line(hit.role)}  {render.local_time(hit.claim_ns)}  {title}"
    yield f"{output.bold(render.one_line(str(hit.address)))}  {said}"
    yield f"    {_snippet(hit)}"


def _snippet(hit: Hit) -> str:
    """The snippet on one line, with emphasis on what matched; made inert by pieces, so that offsets hold."""
    pieces, end = [], 0
    for start, stop in hit.highlights:
        pieces.append(render.one_line(hit.snippet[end:start]))
        pieces.append(output.bold(render.one_line(hit.snippet[start:stop])))
        end = stop
    pieces.append(render.one_line(hit.snippet[end:]))
    return f"{'…' * hit.cut_before}{''.join(pieces)}{'…' * hit.cut_after}"
