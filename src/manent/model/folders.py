"""Folders: one real folder has one spelling."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path

from manent.errors import InputError, NotFoundError


def true_folder(
    path: str | os.PathLike[str],
    *,
    list_names: Callable[[str], Iterable[str]] = os.listdir,
    is_same: Callable[[str, str], bool] = os.path.samefile,
) -> str:
    """
    Return the one spelling of a folder: absolute, without links, `~`, `.`, `..` or a slash at its end.

    Where the file system ignores case, or how an accent is composed, each component is spelled as the
    folder above lists it. What does not exist, or cannot be listed, keeps the spelling that it came with.

    Args:
        path: a folder, there or not. A relative one begins at the working folder.
        list_names: the names inside a folder; may raise `OSError`.
        is_same: whether two paths lead to one file; may raise `OSError`.

    Raises:
        InputError: no path can be spelled like that, or a `~user` has no home.
        NotFoundError: the path is relative and the working folder is gone.
    """
    real = Path(resolve_links(path))
    folder = Path(real.anchor)
    for name in real.parts[1:]:
        folder = folder / _listed_name(str(folder), name, list_names, is_same)
    return str(folder)


def resolve_links(path: str | os.PathLike[str]) -> str:
    """
    Return `path` absolute, with `~` expanded and links resolved; case stays as it was given.

    Raises:
        InputError: no path can be spelled like that, or a `~user` has no home.
        NotFoundError: the path is relative and the working folder is gone.
    """
    try:
        return os.path.realpath(Path(path).expanduser())
    except (ValueError, RuntimeError) as error:
        raise InputError(f"{os.fspath(path)[:80]!r} cannot be a folder: {error}.") from error
    except OSError as error:
        advice = "The working folder is gone. Give an absolute path."
        raise NotFoundError("folder", os.fspath(path), advice) from error


def _listed_name(
    folder: str,
    name: str,
    list_names: Callable[[str], Iterable[str]],
    is_same: Callable[[str, str], bool],
) -> str:
    """The name under which `folder` lists its entry `name`."""
    try:
        names = set(list_names(folder))
    except OSError:
        return name
    if name in names:
        return name
    alike = sorted(listed for listed in names if _fold(listed) == _fold(name))
    given = str(Path(folder, name))
    return next((listed for listed in alike if _is_same(str(Path(folder, listed)), given, is_same)), name)


def _is_same(one: str, other: str, is_same: Callable[[str, str], bool]) -> bool:
    try:
        return is_same(one, other)
    except OSError:
        return False


def _fold(name: str) -> str:
    """What names have in common that a file system may take for one (Unicode 3.13, canonical caseless)."""
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", name).casefold())
