"""`manent secrets`: what was masked, and where; never what it was."""

from __future__ import annotations

import click

from manent.cli import options, output, render


@click.group(
    "secrets",
    short_help="List what was masked.",
    epilog=options.examples("manent secrets list", "manent secrets list --kind github_token"),
)
def command() -> None:
    """See which secrets were masked on the way in: kinds and places. What they were is kept nowhere."""


@command.command(
    "list",
    short_help="Kinds and places of what was masked.",
    epilog=options.examples(
        "manent secrets list",
        "manent secrets list --kind github_token --limit 10",
        "manent secrets list --json",
    ),
)
@click.option("--kind", metavar="KIND", help="Only this kind, such as github_token.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="At most so many.")
@click.option("--cursor", metavar="CURSOR", help="Go on where the page that gave it ended.")
@options.shared
@click.pass_obj
def list_(settings: options.Settings, kind: str | None, limit: int, cursor: str | None) -> None:
    """List what was masked: how many, the kind, when, and the address; `manent show ADDRESS` reads it."""
    with options.open_store(settings) as store:
        page = store.secrets.list(kind=kind, limit=limit, cursor=cursor)
    if settings.json:
        import msgspec

        output.write_json({"secrets": msgspec.to_builtins(list(page)), "next": page.next})
        return
    for one in page:
        where = render.one_line(one.address or f"{one.conversation_id} (its title or origin)")
        output.write(f"{one.count:>4}  {one.kind:20}  {render.local_time(one.claim_ns):16}  {where}")
    if not page:
        output.note(f"nothing was masked in workspace {settings.workspace!r}")
    if page.next:
        output.note(f"there are more: --cursor {page.next}")
