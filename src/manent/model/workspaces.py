"""Workspaces: the fence inside which every read happens."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

from manent.model.ids import check_name

DEFAULT = "default"
"""The workspace of whoever names none."""


class Workspace(NamedTuple):
    """
    One alias of a workspace: its `kind` (folder, git or key) and `value`.

    A workspace has a random identity in the store; aliases lead to it and may be moved.
    """

    kind: str
    value: str

    @classmethod
    def key(cls, value: str) -> Workspace:
        """A name of the caller's own: a tenant, a user, a project. Matched exactly."""
        return cls("key", check_name(value, "workspace key"))

    @classmethod
    def folder(cls, path: str | os.PathLike[str]) -> Workspace:
        """A folder, under whatever spelling: links, `~`, `.` and trailing slashes are resolved."""
        return cls("folder", check_name(os.path.realpath(Path(path).expanduser()), "workspace folder"))

    @classmethod
    def of(cls, text: str) -> Workspace:
        """A plain string: `.`, `./x`, `~/x` or an absolute path names a folder, anything else a key."""
        is_folder = text in (".", "~") or text.startswith(("./", "../", "~/")) or Path(text).is_absolute()
        return cls.folder(text) if is_folder else cls.key(text)
