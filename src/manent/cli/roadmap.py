"""`manent roadmap`: the plans that a workspace keeps as trees."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manent.cli import asking, exits, options, output, render
from manent.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from manent.model.plans import Plan, Roadmap, RoadmapSummary

STDIN = "-"

file = click.argument("file", metavar="FILE")


@click.group(
    "roadmap",
    short_help="Plans as trees: keep, show, change, link.",
    epilog=options.examples(
        "manent roadmap create garden-2027 garden.toml --title 'The garden'",
        "manent roadmap load garden-2027",
        "manent roadmap link 3f2a91 garden-2027 beans",
    ),
)
def command() -> None:
    """
    Plans as trees in TOML, kept in the workspace.

    A tree is a list of subtasks, each with an id and an instruction, that may name a parent and what they
    depend on.
    """


@command.command(
    "create",
    short_help="Keep a plan under an id.",
    epilog=options.examples(
        "manent roadmap create garden-2027 garden.toml --title 'The garden'",
        "manent roadmap create garden-2027 - < garden.toml",
    ),
)
@click.argument("roadmap_id", metavar="ROADMAP")
@file
@click.option("--title", default="", metavar="WORDS", help="For people.")
@click.option("--replace", is_flag=True, help="Replace one that is there, its title too.")
@options.shared
@click.pass_obj
def create(settings: options.Settings, roadmap_id: str, file: str, title: str, replace: bool) -> None:
    """Keep the plan in FILE, which is TOML, under an id of your own; - reads it from stdin."""
    text = read_tree(file)
    with options.open_store(settings, create=True) as store:
        if not replace and store.roadmaps.load(roadmap_id) is not None:
            raise click.ClickException(
                f"There is a roadmap {roadmap_id!r} here; `manent roadmap update` changes its plan, "
                "--replace takes its place."
            )
        roadmap = store.roadmaps.create(roadmap_id, title, text)
    _told(settings, roadmap)


@command.command(
    "update",
    short_help="Replace the plan of a roadmap.",
    epilog=options.examples("manent roadmap update garden-2027 garden.toml"),
)
@click.argument("roadmap_id", metavar="ROADMAP")
@file
@options.shared
@click.pass_obj
def update(settings: options.Settings, roadmap_id: str, file: str) -> None:
    """Replace the plan of a roadmap by that in FILE; - reads it from stdin. Its title stays."""
    text = read_tree(file)
    with options.open_store(settings) as store:
        if not store.roadmaps.update(roadmap_id, text):
            raise NotFoundError("roadmap", roadmap_id, "`manent roadmap list` shows what is there.")
        roadmap = store.roadmaps.get(roadmap_id)
    _told(settings, roadmap)


@command.command(
    "load",
    short_help="Show a roadmap.",
    epilog=options.examples(
        "manent roadmap load garden-2027", "manent roadmap load garden-2027 --toml > garden.toml"
    ),
)
@click.argument("roadmap_id", metavar="ROADMAP")
@click.option("--toml", "as_toml", is_flag=True, help="The plan as TOML, for `update`.")
@options.shared
@click.pass_obj
def load(settings: options.Settings, roadmap_id: str, as_toml: bool) -> None:
    """Show a roadmap: each subtask under its parent, with its id, how it stands and what it asks for."""
    with options.open_store(settings) as store:
        roadmap = store.roadmaps.get(roadmap_id)
    if settings.json:
        output.write_json(_as_json(roadmap))
    elif as_toml:
        output.write(render.inert(roadmap.tree.to_toml()).rstrip("\n"))
    else:
        output.write(output.bold(f"# {render.one_line(roadmap.title or roadmap.id)}"))
        for line in _outline(roadmap.tree):
            output.write(line)


@command.command(
    "list",
    short_help="The roadmaps of the workspace.",
    epilog=options.examples("manent roadmap list", "manent roadmap list --limit 5"),
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most so many.")
@options.shared
@click.pass_obj
def list_(settings: options.Settings, limit: int | None) -> None:
    """The roadmaps of the workspace, the last written first: id, number of subtasks, title."""
    with options.open_store(settings) as store:
        found = store.roadmaps.list(limit=limit)
    if settings.json:
        import msgspec

        output.write_json({"roadmaps": msgspec.to_builtins(found)})
        return
    for each in found:
        output.write(_line(each))
    if not found:
        output.note(f"no roadmaps in workspace {settings.workspace!r}")


@command.command(
    "delete",
    short_help="Remove a roadmap.",
    epilog=options.examples("manent roadmap delete garden-2027", "manent roadmap delete garden-2027 --yes"),
)
@click.argument("roadmap_id", metavar="ROADMAP")
@options.yes
@options.shared
@click.pass_obj
def delete(settings: options.Settings, roadmap_id: str, yes: bool) -> int:
    """Remove a roadmap, readable or not. Conversations that are linked to it keep their link."""
    with options.open_store(settings) as store:
        known = {each.id: each for each in store.roadmaps.list()}
        if roadmap_id not in known:
            raise NotFoundError("roadmap", roadmap_id, "`manent roadmap list` shows what is there.")
        if not settings.json:
            output.write(_line(known[roadmap_id]))
        if not asking.agree("Remove this roadmap?", yes=yes):
            return exits.FAILED
        deleted = store.roadmaps.delete(roadmap_id)
    if settings.json:
        output.write_json({"id": roadmap_id, "deleted": deleted})
    return exits.DONE


@command.command(
    "link",
    short_help="Say which subtask a conversation works on.",
    epilog=options.examples(
        "manent roadmap link 3f2a91 garden-2027 beans", "manent roadmap link 3f2a91 --off"
    ),
)
@click.argument("named", metavar="ID", shell_complete=options.complete_id)
@click.argument("roadmap_id", metavar="[ROADMAP", required=False)
@click.argument("node_id", metavar="SUBTASK]", required=False)
@click.option("--off", is_flag=True, help="Take the link back.")
@options.shared
@click.pass_obj
def link(
    settings: options.Settings, named: str, roadmap_id: str | None, node_id: str | None, off: bool
) -> None:
    """Say which subtask of which roadmap a conversation works on. Neither has to be there yet."""
    if off == (node_id is not None) or off == (roadmap_id is not None):
        said = "Give ROADMAP and SUBTASK, or --off without them."
        raise click.UsageError(said, click.get_current_context())
    with options.open_store(settings) as store:
        conversation = store.conversation(named)
        if roadmap_id is not None and node_id is not None:
            conversation.link_to_node(roadmap_id, node_id)
        else:
            conversation.unlink_from_node()
    if settings.json:
        output.write_json({"id": conversation.id, "roadmap_id": roadmap_id, "node_id": node_id})
    else:
        told = "is linked to nothing" if off else f"is linked to {node_id!r} of {roadmap_id!r}"
        output.note(f"{conversation.id} {told}")


def read_tree(name: str) -> str:
    """
    The TOML in a file, or on stdin for -.

    Raises:
        InputError: it is not UTF-8.
        OSError: the file cannot be read.
    """
    data = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        where = "What stands on stdin" if name == STDIN else name
        raise InputError(f"{where} is not UTF-8 (byte {error.start}).") from error


def _line(each: RoadmapSummary) -> str:
    nodes = "unreadable" if each.nodes is None else render.counted(each.nodes, "subtask")
    return render.one_line(f"{each.id}  {nodes}  {each.title or '(no title)'}")


def _told(settings: options.Settings, roadmap: Roadmap) -> None:
    if settings.json:
        output.write_json(_as_json(roadmap))
    else:
        output.note(f"{roadmap.id}: {render.counted(len(roadmap.tree.subtasks), 'subtask')}")


def _as_json(roadmap: Roadmap) -> dict[str, Any]:
    import msgspec

    return {
        "id": roadmap.id,
        "title": roadmap.title,
        "subtasks": msgspec.to_builtins(roadmap.tree.subtasks),
        "toml": roadmap.tree.to_toml(),
        "created_ns": roadmap.created_ns,
        "updated_ns": roadmap.updated_ns,
    }


def _outline(tree: Plan) -> Iterator[str]:
    """Each subtask on a line, deeper ones further to the right."""
    below = [(0, each) for each in tree.roots()]
    while below:
        depth, each = below.pop(0)
        said = f"{each.id}  [{each.status}]  {each.instruction}"
        yield f"{'  ' * depth}{render.one_line(said)}"
        below[:0] = [(depth + 1, child) for child in tree.children(each.id)]
