"""
The configuration file: what somebody wants for every command, and where each value comes from.

An option comes before an environment variable, that before the file, that before the default. A file that
cannot be read, or says something wrong, is a list of problems and never an exception: `manent config` must
work on it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from manent.errors import InputError

FILE_VARIABLE = "MANENT_CONFIG"
"""The environment variable that names another configuration file."""

WAIT_S = 30.0
"""Longer than the library's own: a command is a process of its own, and nobody repeats it for the user."""

PAGER = "less -FRX"


class Key(NamedTuple):
    """
    One thing that can be set.

    Args:
        variables: the environment variables that set it too, the first one that is set counts.
        default: what it is when nobody sets it; None where that depends on the system.
        right: what a right value is, in words.
        check: whether a value is right.
        meaning: what it does.
    """

    variables: tuple[str, ...]
    default: Any
    right: str
    check: Callable[[Any], bool]
    meaning: str


class Chosen(NamedTuple):
    """
    A value and where it comes from.

    Args:
        origin: `option`, `environment`, `file` or `default`.
        place: the variable or the file; None for an option and a default.
    """

    value: Any
    origin: str
    place: str | None = None


class Preferences(NamedTuple):
    """A configuration file as it was read: the right values of known keys, and what is wrong with it."""

    path: Path
    values: Mapping[str, Any]
    problems: tuple[str, ...] = ()


def _is_store(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    head = value.removeprefix("sqlite:")
    return value == "memory:" or head.startswith("~/") or Path(head).is_absolute()


def _is_seconds(value: Any) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and 0 <= value < float("inf")


KEYS: Mapping[str, Key] = {
    "store": Key(
        ("MANENT_STORE",), None, "an absolute path, or one that begins with ~/", _is_store, "the store"
    ),
    "workspace": Key(
        ("MANENT_WORKSPACE",),
        "default",
        "text that is not blank",
        lambda value: isinstance(value, str) and bool(value.strip()),
        "the fence inside which everything happens",
    ),
    "wait": Key(
        ("MANENT_WAIT",),
        WAIT_S,
        "a number of seconds from 0 on",
        _is_seconds,
        "how long to wait for another writer",
    ),
    "durability": Key(
        ("MANENT_DURABILITY",),
        "full",
        "full or process",
        lambda value: value in ("full", "process"),
        "what a write survives: a power cut, or a killed process",
    ),
    "pager": Key(
        ("MANENT_PAGER", "PAGER"),
        PAGER,
        "a command, or empty text for none",
        lambda value: isinstance(value, str),
        "what shows output that is longer than the screen",
    ),
    "colour": Key(
        ("MANENT_COLOUR",),
        "auto",
        "auto or never",
        lambda value: value in ("auto", "never"),
        "whether terminals get emphasis and colour",
    ),
}
"""What can be set, in the order in which it is shown."""


def path_of_file() -> Path:
    """Where the configuration file is, there or not."""
    if named := os.environ.get(FILE_VARIABLE):
        return Path(named)
    import platformdirs

    return platformdirs.user_config_path("manent", appauthor=False) / "config.toml"


def read() -> Preferences:
    """Read the configuration file; one that is not there says nothing."""
    path = path_of_file()
    try:
        data = _parsed(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return Preferences(path, {})
    except OSError as error:
        return Preferences(path, {}, (f"{path}: {error.strerror}.",))
    except ValueError as error:  # of which what is wrong with TOML and with UTF-8 are two
        return Preferences(path, {}, (f"{path} is not TOML: {error}.",))
    problems = tuple(said for name, value in data.items() if (said := problem_of(path, name, value)))
    right = {name: value for name, value in data.items() if problem_of(path, name, value) is None}
    return Preferences(path, right, problems)


def _parsed(data: bytes) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(data.decode("utf-8"))


def problem_of(path: Path, name: str, value: Any) -> str | None:
    """What is wrong with a line of the file, or None; it names the file, the key and what is right."""
    if name not in KEYS:
        return f"{path}: there is no key {name!r}; the keys are {', '.join(KEYS)}."
    return None if KEYS[name].check(value) else f"{path}: {name!r} is {KEYS[name].right}."


def choose(name: str, option: Any, found: Preferences) -> Chosen:
    """
    The value that counts, and where it comes from.

    Args:
        option: what the command line says; None when it says nothing.

    Raises:
        InputError: an environment variable has a value that is not right.
    """
    if option is not None:
        return Chosen(option, "option")
    if name == "colour" and os.environ.get("NO_COLOR"):
        return Chosen("never", "environment", "NO_COLOR")
    for variable in KEYS[name].variables:
        if (text := os.environ.get(variable)) or (text is not None and name == "pager"):
            return Chosen(_from_variable(name, variable, text or ""), "environment", variable)
    if name in found.values:
        return Chosen(_at_home(name, found.values[name]), "file", str(found.path))
    return Chosen(default_of(name), "default")


def settle(options: Mapping[str, Any], found: Preferences) -> tuple[dict[str, Chosen], tuple[str, ...]]:
    """
    Every key's value, and what is wrong with the file and the environment, where the default counts then.

    Args:
        options: what the command line says, by name.
    """
    chosen: dict[str, Chosen] = {}
    problems = list(found.problems)
    for name in KEYS:
        try:
            chosen[name] = choose(name, options.get(name), found)
        except InputError as error:
            problems.append(str(error))
            chosen[name] = Chosen(default_of(name), "default")
    return chosen, tuple(problems)


def default_of(name: str) -> Any:
    """What a key is when nobody sets it."""
    if name != "store":
        return KEYS[name].default
    import platformdirs

    return str(platformdirs.user_data_path("manent", appauthor=False) / "conversations.db")


def parse(name: str, text: str) -> Any:
    """
    A value as somebody types it. The path of a store becomes absolute, as it is to mean the same everywhere.

    Raises:
        InputError: it is not right for this key, or there is no such key.
    """
    if name not in KEYS:
        raise InputError(f"There is no key {name!r}; the keys are {', '.join(KEYS)}.")
    value: Any = _number(text) if name == "wait" else text
    if name == "store" and text and not _is_store(text):
        value = str(Path(text).absolute())
    if not KEYS[name].check(value):
        raise InputError(f"{name!r} is {KEYS[name].right}.")
    return value


def _number(text: str) -> Any:
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return None


def _from_variable(name: str, variable: str, text: str) -> Any:
    """A store in a variable is taken as it stands: it is of this process, and of this folder."""
    value: Any = _number(text) if name == "wait" else text
    if name != "store" and not KEYS[name].check(value):
        raise InputError(f"${variable} is {KEYS[name].right}.")
    return value


def _at_home(name: str, value: Any) -> Any:
    """A store with the home folder in place of ~; any other value as it is."""
    if name != "store":
        return value
    scheme = "sqlite:" if value.startswith("sqlite:") else ""
    path = value.removeprefix(scheme)
    return scheme + (str(Path(path).expanduser()) if path.startswith("~/") else path)
