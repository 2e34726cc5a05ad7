"""The files of this repository, as the tidy tests read them."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar

ROOT = Path(__file__).resolve().parents[2]


class File(NamedTuple):
    """A file by its path below the root, with `/`, and its bytes."""

    path: str
    content: bytes

    @property
    def text(self) -> str:
        """The content as text, whatever it is."""
        return self.content.decode("utf-8", errors="replace")


class Module(NamedTuple):
    """A Python file, parsed."""

    path: str
    text: str
    tree: ast.Module


class Finding(NamedTuple):
    """One place that breaks a rule."""

    line: int
    what: str


AnyFile = TypeVar("AnyFile", File, Module)


def files(*folders: str, suffix: str = "") -> tuple[File, ...]:
    """What git holds or would take: below some folders, or in the whole repository when none is named."""
    below = tuple(f"{folder}/" for folder in folders) or ("",)
    return tuple(_file(path) for path in _paths() if path.startswith(below) and path.endswith(suffix))


def modules(*folders: str) -> tuple[Module, ...]:
    """The Python files among them, parsed once."""
    return tuple(_module(file) for file in files(*folders, suffix=".py"))


def planted_file(content: bytes | str, path: str = "planted.txt") -> File:
    """A file that exists nowhere but in a test."""
    return File(path, content.encode() if isinstance(content, str) else content)


def planted_module(text: str, path: str = "planted.py") -> Module:
    """A module that exists nowhere but in a test."""
    return Module(path, text, ast.parse(text))


def report(rule: Callable[[AnyFile], Iterable[Finding]], kept_by: Iterable[AnyFile]) -> str:
    """Every place that breaks a rule, a line each; empty when all is well."""
    return "\n".join(f"{file.path}:{found.line}: {found.what}" for file in kept_by for found in rule(file))


@cache
def _paths() -> tuple[str, ...]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        encoding="utf-8",
    ).stdout
    return tuple(sorted(path for path in set(listed.split("\0")) if (ROOT / path).is_file()))


@cache
def _file(path: str) -> File:
    return File(path, (ROOT / path).read_bytes())


@cache
def _module(file: File) -> Module:
    return Module(file.path, file.text, ast.parse(file.content))
