"""
Keys of workspaces as an older system made them of a folder, so that its rows find their workspace here.

    version 1 = UUIDv5 in the namespace of URLs, of the path
    version 2 = BLAKE3-256 in hexadecimal, over a domain and then each field with its length in front
                (8 bytes, little-endian): domain "newt-workspace-key:v2:git", fields origin and branch,
                in a checkout that has both; else domain "newt-workspace-key:v2:path", field path

Rows that these keys stand in do not change any more, so neither do the rules, however git's own differ:
no comments after a value and no escapes, and a file with one byte that is no UTF-8 says nothing.
"""

from __future__ import annotations

import os
import re
import uuid
import warnings
from pathlib import Path

from blake3 import blake3

from manent.errors import InputError, NotFoundError
from manent.model.checkouts import find_git_folders, is_text, read_git_file
from manent.model.folders import true_folder


def workspace_key_v1(path: str | os.PathLike[str]) -> str:
    """
    Return the first key of a folder: 36 characters, a UUID. Deprecated already where it comes from.

    Raises:
        NotFoundError: there is no such folder.
    """
    warnings.warn("workspace_key_v1 serves the reading of old rows only.", DeprecationWarning, stacklevel=2)
    return str(uuid.uuid5(uuid.NAMESPACE_URL, old_spelling(_folder_there(path))))


def workspace_key_v2(path: str | os.PathLike[str]) -> str:
    """
    Return the second key of a folder: 64 hexadecimal characters.

    It is of the origin and the branch, so another branch is another key; of the path when the head is
    detached, there is no origin, or anything about git's files is odd.

    Raises:
        NotFoundError: there is no such folder.
    """
    folder = _folder_there(path)
    if (origin_and_branch := _find_origin_and_branch(folder)) is not None:
        return _hash(b"newt-workspace-key:v2:git", *origin_and_branch)
    return _hash(b"newt-workspace-key:v2:path", old_spelling(folder))


def old_spelling(folder: str) -> str:
    r"""
    Return a true folder as the older system spelled it: with `/` for each backslash.

    On Windows its paths began with `\\?\`, or `\\?\UNC\` for a shared folder, which became `//?/`. Bytes
    of a path that are no UTF-8 became U+FFFD.
    """
    text = os.fsencode(folder).decode("utf-8", "replace")
    if re.match(r"[A-Za-z]:\\", text):
        text = "\\\\?\\" + text
    elif text.startswith("\\\\") and not text.startswith("\\\\?\\"):
        text = "\\\\?\\UNC" + text[1:]
    return text.replace("\\", "/")


def _folder_there(path: str | os.PathLike[str]) -> str:
    """The true spelling of a folder that exists."""
    try:
        return true_folder(os.path.realpath(Path(path).expanduser(), strict=True))
    except (OSError, ValueError, RuntimeError, InputError) as error:
        raise NotFoundError("folder", os.fspath(path)) from error


def _find_origin_and_branch(folder: str) -> tuple[str, str] | None:
    if (folders := find_git_folders(folder)) is None:
        return None
    origin = _origin(_read_whole(folders.common / "config"))
    branch = _branch(_read_whole(folders.own / "HEAD"))
    return (origin, branch) if origin and branch else None


def _read_whole(file: Path) -> str:
    text = read_git_file(file) or ""
    return text if is_text(text) else ""


def _branch(head: str) -> str:
    word, _, ref = head.partition("\n")[0].strip().partition("ref:")
    ref = ref.strip()
    return ref.removeprefix("refs/heads/") if not word and ref.startswith("refs/heads/") else ""


_HEADER = re.compile(r'\[\s*(?i:remote)\s+"origin"\s*\]')
_ENTRY = re.compile(r"url\s*=\s*(?:\"(.+)\"|(.*))", re.IGNORECASE | re.DOTALL)


def _origin(config: str) -> str:
    """The first URL of `[remote "origin"]` that is not empty; only quotes around it go."""
    inside = False
    for line in map(str.strip, config.split("\n")):
        if line.startswith("["):
            inside = _HEADER.fullmatch(line) is not None
        elif inside and (entry := _ENTRY.fullmatch(line)) and (url := entry[1] or entry[2]) not in ("", '""'):
            return str(url)
    return ""


def _hash(domain: bytes, *fields: str) -> str:
    hasher = blake3(domain)
    for field in (field.encode("utf-8") for field in fields):
        hasher.update(len(field).to_bytes(8, "little") + field)
    return hasher.hexdigest()
