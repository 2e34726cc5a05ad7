"""
Checkouts: what git says of a folder, read from its files.

Git is not run. Only what a clone has by itself is read: no included files, no rewriting of URLs. What is
missing, unreadable or damaged there is as good as absent, since nobody's history may hang on it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from manent.errors import InputError, NotFoundError
from manent.model.folders import true_folder

FILE_BYTES_MAX = 1 << 20
"""The longest file of git's that is read; a longer one is no text that git wrote."""


class Checkout(NamedTuple):
    """
    A folder with files of a repository, and what is known of that repository.

    Args:
        root: the folder that holds `.git`.
        main: the root of the main worktree, when this one is linked to it and both say so; else `root`.
        origin: the first URL of the remote `origin`, verbatim; it may hold credentials. None without one.
        branch: the branch that is checked out; None when the head is detached.
    """

    root: str
    main: str
    origin: str | None
    branch: str | None


class GitFolders(NamedTuple):
    """
    Where the files of a checkout stand. Neither folder needs to exist.

    Args:
        root: the folder that holds `.git`.
        own: the folder of what this checkout has for itself, such as its `HEAD`.
        common: the folder of what all worktrees share, such as `config`; `own` in the main one.
    """

    root: Path
    own: Path
    common: Path


def find_checkout(path: str | os.PathLike[str]) -> Checkout | None:
    """
    Return the checkout that a folder is in, or None. The nearest `.git` above decides.

    A submodule is a checkout of its own. A worktree whose repository is gone has no origin and no branch.

    Raises:
        InputError, NotFoundError: as `true_folder` does; never for what git's files hold.
    """
    if (folders := find_git_folders(path)) is None:
        return None
    urls = (url for url in _settings(folders.common / "config", "remote", "origin", "url") if url)
    return Checkout(
        root=str(folders.root),
        main=_main_root(folders),
        origin=next((url for url in urls if is_text(url)), None),
        branch=_branch(folders.own / "HEAD"),
    )


def find_git_folders(path: str | os.PathLike[str]) -> GitFolders | None:
    """
    Return where git keeps its files for a folder; None outside a checkout, or when `.git` leads nowhere.

    Raises:
        InputError, NotFoundError: as `true_folder` does.
    """
    start = Path(true_folder(path))
    root = next((folder for folder in (start, *start.parents) if _has_dot_git(folder)), None)
    if root is None or (own := _own_folder(root)) is None:
        return None
    pointer = (read_git_file(own / "commondir") or "").strip()
    common = _resolve(own, pointer) if pointer else own
    return GitFolders(root, own, common or own)


def read_git_file(file: Path) -> str | None:
    """The text of a file of git's; bytes that are no UTF-8 become lone surrogates. None if unreadable."""
    try:
        if not file.is_file():  # a pipe would be waited for
            return None
        with file.open("rb") as stream:
            data = stream.read(FILE_BYTES_MAX + 1)
    except (OSError, ValueError):
        return None
    return data.decode("utf-8", "surrogateescape") if len(data) <= FILE_BYTES_MAX else None


def is_text(text: str) -> bool:
    """Whether all of a text that `read_git_file` gave was UTF-8."""
    return not _SURROGATE.search(text)


def normal_origin(url: str) -> str:
    """
    Return one spelling for the URLs of one repository: `host/owner/repo`, whatever the protocol.

    Users, passwords, the protocol's own port, `.git` and slashes at the end go; the host is in small
    letters; the path keeps its case. Another port stays: `host:8443/owner/repo`. A local path, and what
    is no URL of ssh, http, https or git, stays as it is. No user and no password ever does.
    """
    address = url.strip()
    if found := _URL.match(address):
        port = _PORTS.get(found[1].lower())
        return (port and _host_and_path(_after_user(found[2], "/"), port)) or _without_users(url)
    if _HELPER.match(address):
        return _without_users(url)
    if found := _BRACKETED.match(address):
        host = f"[{found[1]}]" if found[1].count(":") > 1 else found[1]
        return _host_and_path(f"{host}/{found[2]}", "22") or f"{host}:{found[2]}"
    if _SCP.match(address):
        address = _after_user(address, ":")
        return _host_and_path(_SCP_HOST.sub(r"\1/", address), "22") or address
    return url


def is_relative_origin(url: str) -> bool:
    """Whether an origin is a path that means something only where this clone stands: `../upstream`."""
    return not _PLACED.match(url)


_SURROGATE = re.compile("[\ud800-\udfff]")

_PORTS = {"ssh": "22", "git+ssh": "22", "ssh+git": "22", "http": "80", "https": "443", "git": "9418"}

_URL = re.compile(r"([A-Za-z][A-Za-z0-9.+-]*)://(.*)", re.DOTALL)

_HELPER = re.compile(r"[A-Za-z0-9][\w.+-]*::")
"""A URL that a helper program of git's understands: `helper::address`."""

_BRACKETED = re.compile(r"\[(?:[^\[\]/]*@)?([^\[\]@/]+)\]:(.*)", re.DOTALL)
"""`[user@host:port]:path`."""

_SCP = re.compile(r"(?![A-Za-z]:)[^/\\:]+:.")
"""`host:path`: a colon before the first slash, and what is before it is no letter of a drive."""

_SCP_HOST = re.compile(r"\A(\[[^\[\]/]+\]|[^:\[\]/]+):")
_PLACED = re.compile(r"[^/\\]*:|[/\\]")
_HOST = re.compile(r"(\[[^\[\]/]+\]|[^:\[\]/]+)(?::([0-9]{0,5}))?(/.*)", re.DOTALL)
_USERS = re.compile(r"(?:(?<=://)|(?<=::))[^/]*@")


def _after_user(address: str, separator: str) -> str:
    """
    What follows `user@` or `user:password@` in an address, whose host ends at `separator`.

    A password may hold `@` and, against the rules, a slash: then a separator stands after the last `@`.
    """
    authority, _, _ = address.partition("/")
    user, at, rest = address.partition("@")
    if at and len(user) < len(authority):
        is_whole = separator == ":" and ":" not in user
        return rest if is_whole else address[authority.rindex("@") + 1 :]
    rest = address.rpartition("@")[2]
    is_password = ":" in authority and not _HOST.match(address) and separator in rest
    return rest if is_password else address


def _host_and_path(address: str, default_port: str) -> str | None:
    """`host/path` of `host:port/path`, or None when there is no such thing in it."""
    if (found := _HOST.match(address)) is None:
        return None
    host, port, path = found[1].lower(), (found[2] or "").lstrip("0"), found[3]
    names = [name for name in path.rstrip("/").removesuffix(".git").split("/") if name]
    place = host if port in ("", default_port) else f"{host}:{port}"
    return "/".join([place, *names]) if names else None


def _without_users(url: str) -> str:
    """A URL that stays as it is, without users and passwords."""
    scheme, separator, address = url.rpartition("://")
    if not separator:
        return _USERS.sub("", url)
    return _USERS.sub("", scheme + separator) + _after_user(address, "/")


def _has_dot_git(folder: Path) -> bool:
    try:
        return (folder / ".git").is_dir() or (folder / ".git").is_file()
    except OSError:
        return False


def _own_folder(root: Path) -> Path | None:
    """The folder that `.git` is, or that its line `gitdir: …` leads to; None when it leads nowhere."""
    dot_git = root / ".git"
    if (text := read_git_file(dot_git)) is None:
        return _resolve(root, ".git")
    line, _, _ = text.partition("\n")
    word, _, target = line.strip().partition("gitdir:")
    return _resolve(root, target.strip()) if not word and target.strip() else None


def _resolve(base: Path, text: str) -> Path | None:
    """A path as it stands in a file of git's, which counts from `base`."""
    try:
        return Path(true_folder(base / text))
    except (InputError, NotFoundError):
        return None


def _branch(head: Path) -> str | None:
    line, _, _ = (read_git_file(head) or "").partition("\n")
    found = _ON_BRANCH.match(line.strip())
    return found[1] if found and is_text(line) else None


_ON_BRANCH = re.compile(r"ref:\s*refs/heads/([^.\s].*)\Z")
"""No name of a branch begins with a dot; one that does says that the head is recorded elsewhere."""


def _main_root(folders: GitFolders) -> str:
    """
    The root of the main worktree, if that one is there and knows of this one.

    Both directions are asked, so that no folder from elsewhere passes for a part of somebody's project.
    """
    root, own, common = folders
    if own == common or not _is_registered(folders) or _core(common, "bare") in ("true", "yes", "on", "1"):
        return str(root)
    if place := _core(common, "worktree"):
        main = _resolve(common, place)
    else:
        main = common.parent if common.name == ".git" else None
    if main is None or not _has_dot_git(main) or _own_folder(main) != common:
        return str(root)
    return true_folder(main)


def _is_registered(folders: GitFolders) -> bool:
    """Whether the repository has a record of this worktree that leads back to it."""
    root, own, common = folders
    back = (read_git_file(own / "gitdir") or "").strip()
    try:
        return bool(back) and own.parent == common / "worktrees" and (own / back).samefile(root / ".git")
    except (OSError, ValueError):
        return False


def _core(common: Path, name: str) -> str | None:
    """A setting of the main worktree, which may have a file of its own for it; the last one counts."""
    files = (common / "config", common / "config.worktree")
    values = [value for file in files for value in _settings(file, "core", "", name)]
    return values[-1] if values else None


_QUOTED = r'"(?:[^"\\\n]|\\.)*"'
_LINE = re.compile(rf'(?:{_QUOTED}|[#;][^\n]*|\\.|[^\\\n#;"]+|")*', re.DOTALL)
"""A line of a config file with those that a backslash adds to it. A comment is never continued."""

_HEADER = re.compile(rf"\s*\[\s*([\w.-]+)(?:\s*({_QUOTED}))?\s*\]", re.DOTALL)
_ENTRY = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*=(.*)", re.DOTALL)
_VALUE = re.compile(rf'((?:{_QUOTED}|\\.|[^\\#;"]+)*)("?)', re.DOTALL)
_ESCAPED = re.compile(r'\\(.)|"', re.DOTALL)
_ESCAPES = {None: "", "\n": "", "n": "\n", "t": "\t", "b": "\b"}


def _settings(file: Path, section: str, subsection: str, name: str) -> Iterator[str]:
    """The values of one setting in a config file, in order. Sections and names are in small letters."""
    text = (read_git_file(file) or "").removeprefix("\ufeff").replace("\r\n", "\n")
    inside = False
    for line in _LINE.findall(text):
        rest = line
        if line.lstrip().startswith("["):
            header = _HEADER.match(line)
            inside = header is not None and _is_section(header, section, subsection)
            rest = line[header.end() :] if header else ""
        entry = _ENTRY.match(rest) if inside else None
        if entry and entry[1].lower() == name and (value := _value(entry[2])) is not None:
            yield value


def _is_section(header: re.Match[str], section: str, subsection: str) -> bool:
    """A section's name in any case; what stands in quotes is exact. `[remote.origin]` is an older way."""
    if header[2] is None:
        return str(header[1]).lower() == f"{section}.{subsection}".rstrip(".")
    return str(header[1]).lower() == section and _unescape(header[2]) == subsection


def _value(raw: str) -> str | None:
    """A value without quotes, escapes and comment; None when a quote does not end."""
    found = _VALUE.match(raw)
    return None if found is None or found[2] else _unescape(found[1]).strip()


def _unescape(text: str) -> str:
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1] or ""), text)
