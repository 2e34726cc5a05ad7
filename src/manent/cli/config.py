"""`manent config`: the configuration file, shown and changed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import MutableMapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from manent.cli import exits, options, output, preferences, render
from manent.errors import InputError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def _complete_key(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem

    found = (name for name in preferences.KEYS if name.startswith(incomplete))
    return [CompletionItem(name, help=preferences.KEYS[name].meaning) for name in found]


key = click.argument("key", shell_complete=_complete_key)


@click.group(
    "config",
    short_help="What holds for every command: show it, change it.",
    epilog=options.examples(
        "manent config show", "manent config set workspace ~/shop", "manent config unset workspace"
    ),
)
def command() -> None:
    """
    What holds for every command, in one file of yours.

    An option comes before an environment variable, that before the file, that before the default.
    """


@command.command(
    "show",
    short_help="Every value, and where it comes from.",
    epilog=options.examples("manent config show", "manent config show --json"),
)
@options.shared
@click.pass_context
def show(context: click.Context) -> int:
    """Every value and where it comes from. The exit code is 1 when something in the file is wrong."""
    settings: options.Settings = context.obj
    found = preferences.read()
    given = {name: getattr(settings, name) for name in settings.given if name in preferences.KEYS}
    chosen, problems = preferences.settle(given, found)
    if settings.json:
        values = {name: each._asdict() for name, each in chosen.items()}
        output.write_json({"path": str(found.path), "values": values, "problems": list(problems)})
    else:
        for name, each in chosen.items():
            value = render.one_line(str(each.value)) or '""'
            output.write(f"{name:10}  {value}  ({render.one_line(_origin(each))})")
        for problem in problems:
            output.note(problem)
    return exits.FAILED if problems else exits.DONE


@command.command(
    "path",
    short_help="Where the file is.",
    epilog=options.examples("manent config path", "manent config path --json"),
)
@options.shared
@click.pass_obj
def path(settings: options.Settings) -> None:
    """Where the configuration file is, there or not; $MANENT_CONFIG names another one."""
    place = preferences.path_of_file()
    if settings.json:
        output.write_json({"path": str(place), "exists": place.exists()})
    else:
        output.write(render.one_line(str(place)))


@command.command(
    "set",
    short_help="Write a value into the file.",
    epilog=options.examples(
        "manent config set store ~/notes/record.db",
        "manent config set wait 60",
        "manent config set pager ''",
        "manent config set colour never",
    ),
)
@key
@click.argument("value")
@options.shared
@click.pass_obj
def set_(settings: options.Settings, key: str, value: str) -> None:
    """
    Write a value into the file, which is made when it is not there; comments in it stay.

    Keys: store, workspace, wait, durability, pager, colour.
    """
    parsed = preferences.parse(key, value)
    place = preferences.path_of_file()
    document = _read(place)
    document[key] = parsed
    _write(place, document)
    _tell(settings, key, parsed)


@command.command(
    "unset",
    short_help="Take a value out of the file.",
    epilog=options.examples("manent config unset workspace"),
)
@key
@options.shared
@click.pass_obj
def unset(settings: options.Settings, key: str) -> None:
    """Take a value out of the file, also one that no release knows; one that is not there is no error."""
    place = preferences.path_of_file()
    document = _read(place)
    if key in document:
        del document[key]
        _write(place, document)
    elif key not in preferences.KEYS:
        raise InputError(f"There is no key {key!r}; the keys are {', '.join(preferences.KEYS)}.")
    _tell(settings, key, None)


def _origin(chosen: preferences.Chosen) -> str:
    match chosen.origin:
        case "option":
            return "an option"
        case "environment":
            return f"${chosen.place}"
        case "file":
            return str(chosen.place)
        case _:
            return "default"


def _read(place: Path) -> MutableMapping[str, Any]:
    """
    The file with its comments.

    Raises:
        InputError: it is no TOML, so that nothing can be changed in it without losing something.
    """
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        return tomlkit.parse(place.read_bytes().decode("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return tomlkit.document()
    except (TOMLKitError, UnicodeDecodeError) as error:
        raise InputError(
            f"{place} is not TOML ({error}), so it was left as it is. Mend it by hand, or move it away."
        ) from error


def _write(place: Path, document: MutableMapping[str, Any]) -> None:
    """Write beside the file, then put the whole of it in its place; where it is a link, where that leads."""
    import tomlkit

    from manent.storage.installation import make_owner_only

    target = place.resolve()
    make_owner_only(target.parent)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=".config-")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(tomlkit.dumps(document).encode("utf-8"))
        Path(name).replace(target)
    finally:
        Path(name).unlink(missing_ok=True)


def _tell(settings: options.Settings, key: str, value: Any) -> None:
    """What the file says now, and what counts where something else comes before it."""
    found = preferences.read()
    chosen, problems = preferences.settle({}, found)
    counts = chosen.get(key)
    if settings.json:
        output.write_json({"path": str(found.path), "key": key, "value": value})
    elif value is not None and counts and counts.origin == "environment":
        output.note(f"{key} is set in {found.path}; ${counts.place} comes before it")
    else:
        output.note(f"{key} is {'not ' if value is None else ''}set in {found.path}")
    for problem in problems:
        output.note(problem)
