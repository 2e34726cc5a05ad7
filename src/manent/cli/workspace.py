"""`manent workspace`: the workspaces of a store, and moving what leads to them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from manent.cli import asking, exits, options, output, render

if TYPE_CHECKING:
    from manent.history.store import Store
    from manent.model.workspaces import Workspace, WorkspaceMove, WorkspaceSummary


@click.group(
    "workspace",
    short_help="Workspaces: list, find lost ones, relink, merge.",
    epilog=options.examples(
        "manent workspace list",
        "manent workspace lost",
        "manent workspace relink ~/old-name ~/new-name",
    ),
)
def command() -> None:
    """
    The workspaces of a store, and what leads to them.

    A name is a folder when it is `.`, `./x`, `~/x` or an absolute path, else a key. What is moved can be
    undone.
    """


@command.command(
    "list",
    short_help="Every workspace, and what leads to it.",
    epilog=options.examples("manent workspace list", "manent workspace list --json"),
)
@options.shared
@click.pass_obj
def list_(settings: options.Settings) -> None:
    """Every workspace: the beginning of its identity, its conversations, and its names."""
    with options.open_store(settings, every_workspace=True) as store:
        found = store.workspaces.list()
    if settings.json:
        output.write_json({"workspaces": [_summary_as_json(each) for each in found]})
        return
    for each in found:
        names = ", ".join(map(_name, each.aliases)) or "(no name)"
        count = render.counted(each.conversations, "conversation")
        output.write(f"{each.uid[:8]}  {count}  {render.one_line(names)}")


@command.command(
    "lost",
    short_help="Folders that are gone while conversations are here.",
    epilog=options.examples("manent workspace lost", "manent workspace lost --near ."),
)
@click.option("--near", metavar="FOLDER", help="Only those that stood beside this folder.")
@options.shared
@click.pass_obj
def lost(settings: options.Settings, near: str | None) -> None:
    """Folders that are gone while their conversations are here: renamed or moved ones, most likely."""
    with options.open_store(settings, every_workspace=True) as store:
        found = store.workspaces.find_lost(near)
    if settings.json:
        output.write_json({"folders": [each._asdict() for each in found]})
        return
    for each in found:
        count = render.counted(each.conversations, "conversation")
        output.write(render.one_line(f"{each.folder}  {count}"))
    if found:
        output.note("`manent workspace relink OLD NEW` says where one is now")
    else:
        output.note("no folder is lost")


@command.command(
    "relink",
    short_help="A folder was moved: let its conversations follow.",
    epilog=options.examples(
        "manent workspace relink ~/old-name ~/new-name", "manent workspace relink my-key another-key --yes"
    ),
)
@click.argument("old")
@click.argument("new")
@options.yes
@options.shared
@click.pass_obj
def relink(settings: options.Settings, old: str, new: str, yes: bool) -> int:
    """
    Let what led to a workspace by OLD do so by NEW; of a folder, everything under it too.

    What was said stays as it is. `manent workspace undo` takes it back.
    """
    with options.open_store(settings, every_workspace=True) as store:
        foreseen = [_foreseen(store, old, below=True)]
        if not _agree(settings, foreseen, f"Let it be found as {new}?", yes):
            return exits.FAILED
        move = store.workspaces.relink(old, new)
    _tell(settings, move)
    return exits.DONE


@command.command(
    "merge",
    short_help="Make one workspace of two.",
    epilog=options.examples(
        "manent workspace merge ~/clone ~/shop", "manent workspace merge old-key . --yes"
    ),
)
@click.argument("source")
@click.argument("into")
@options.yes
@options.shared
@click.pass_obj
def merge(settings: options.Settings, source: str, into: str, yes: bool) -> int:
    """
    Make one workspace of two: everything of SOURCE is in INTO from then on, under both names.

    An id or a key that both have stays with INTO. `manent workspace undo` takes it back.
    """
    with options.open_store(settings, every_workspace=True) as store:
        foreseen = [_foreseen(store, name, below=False) for name in (source, into)]
        if not _agree(settings, foreseen, f"Make one of these two, as {into}?", yes):
            return exits.FAILED
        move = store.workspaces.merge(source, into)
    _tell(settings, move)
    return exits.DONE


@command.command(
    "moves",
    short_help="What was relinked or merged, and can be undone.",
    epilog=options.examples("manent workspace moves"),
)
@options.shared
@click.pass_obj
def moves(settings: options.Settings) -> None:
    """What was relinked or merged and not undone, the latest first: id, time, kind, names."""
    with options.open_store(settings, every_workspace=True) as store:
        found = store.workspaces.moves()
    if settings.json:
        output.write_json({"moves": [_as_json(each) for each in found]})
        return
    for each in found:
        output.write(_line(each))
    if not found:
        output.note("nothing was moved")


@command.command(
    "undo",
    short_help="Take a relink or a merge back.",
    epilog=options.examples("manent workspace undo 5e1f0c2a"),
)
@click.argument("move", metavar="MOVE")
@options.shared
@click.pass_obj
def undo(settings: options.Settings, move: str) -> None:
    """Take a move back, by its id as `manent workspace moves` gives it. What was begun since stays put."""
    with options.open_store(settings, every_workspace=True) as store:
        undone = store.workspaces.undo(move)
    _tell(settings, undone, "undone: ")


def _name(alias: Workspace) -> str:
    """A name, with its kind where that is not plain to see."""
    return alias.value if alias.kind in ("folder", "key") else f"{alias.kind} {alias.value}"


def _foreseen(store: Store, name: str, *, below: bool) -> str | None:
    """
    What a name leads to, for a person to see before it is moved; None when it leads to nothing.

    Args:
        below: of a folder, with the workspaces of the folders under it.
    """
    from manent.model.workspaces import names_of

    wanted = names_of(name)
    found = [
        each
        for each in store.workspaces.list()
        if any(alias in wanted or (below and _is_under(alias, wanted)) for alias in each.aliases)
    ]
    conversations = render.counted(sum(each.conversations for each in found), "conversation")
    return f"{wanted[0].value}: {render.counted(len(found), 'workspace')}, {conversations}" if found else None


def _is_under(alias: Workspace, wanted: tuple[Workspace, ...]) -> bool:
    below = (each.value.rstrip(os.sep) + os.sep for each in wanted if each.kind == alias.kind == "folder")
    return alias.value.startswith(tuple(below))


def _agree(settings: options.Settings, foreseen: list[str | None], question: str, yes: bool) -> bool:
    """Show what will be moved and ask; what is not there needs no question, for the move refuses it."""
    if None in foreseen:
        return True
    if not settings.json:
        for line in filter(None, foreseen):
            output.note(line)
    return asking.agree(render.one_line(question), yes=yes)


def _tell(settings: options.Settings, move: WorkspaceMove, before: str = "") -> None:
    if settings.json:
        output.write_json(_as_json(move))
        return
    output.write(f"{before}{_line(move)}")
    for old, new in move.renamed:
        output.note(f"the conversation {old!r} has the id {new!r} now")
    for key in move.lost_keys:
        output.note(f"both had the key {key!r}: it stays with the one that was there")


def _line(move: WorkspaceMove) -> str:
    names = "; ".join(f"{_name(old)} -> {_name(new)}" for old, new in move.aliases)
    return render.one_line(f"{move.id}  {render.local_time(move.claim_ns)}  {move.kind}  {names}")


def _summary_as_json(each: WorkspaceSummary) -> dict[str, Any]:
    names = [alias._asdict() for alias in each.aliases]
    return {"uid": each.uid, "aliases": names, "conversations": each.conversations}


def _as_json(move: WorkspaceMove) -> dict[str, Any]:
    return {
        "id": move.id,
        "kind": move.kind,
        "aliases": [{"old": old._asdict(), "new": new._asdict()} for old, new in move.aliases],
        "renamed": [{"old": old, "new": new} for old, new in move.renamed],
        "lost_keys": list(move.lost_keys),
        "claim_ns": move.claim_ns,
    }
