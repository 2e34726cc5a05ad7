"""The place of a store: whether it can carry WAL."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

PlaceDetector = Callable[[str], bool]
"""Says whether a path is on a local file system; tests bring their own."""

PLACE_VARIABLE = "MANENT_PLACE"
"""`local` or `remote` overrules the detector."""

_REMOTE = frozenset(
    ("nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "afs", "ceph", "glusterfs", "lustre", "beegfs")
)
_MOUNTS = Path("/proc/self/mounts")


def is_local(path: str) -> bool:
    """
    Whether a path is on a file system of this machine, so that WAL's shared memory and locks are sound.

    Goes by the system's table of mounts; where there is none, a place counts as local and SQLite's own
    refusal of WAL decides.
    """
    if named := os.environ.get(PLACE_VARIABLE):
        return named != "remote"
    kind = file_system_of(os.path.realpath(path))
    return not (kind in _REMOTE or kind.startswith("fuse.sshfs"))


def file_system_of(path: str) -> str:
    """The kind of the file system that a path is on, such as `ext4`; "" where this system does not tell."""
    try:
        table = _MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""
    best, kind = "", ""
    for line in table.splitlines():
        _, mount, found, *_ = line.split(" ")
        mount = mount.replace("\\040", " ")
        inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= len(best):
            best, kind = mount, found
    return kind
