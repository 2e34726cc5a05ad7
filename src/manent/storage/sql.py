"""Named SQL: one file a backend holds every statement, each under a `-- name:` line."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def load_queries(package: str, file: str = "queries.sql") -> dict[str, str]:
    """
    Read the statements of a package's SQL file by name.

    Args:
        package: the package that the file stands in, such as `manent.storage.sqlite`.
        file: the file's name.

    Returns:
        Name to statement, comments left out.
    """
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    pieces = _NAME.split(text)
    return {name: _bare(body) for name, body in zip(pieces[1::2], pieces[2::2], strict=True)}


def _bare(body: str) -> str:
    lines = (line for line in body.splitlines() if line.strip() and not line.lstrip().startswith("--"))
    return "\n".join(lines)


@cache
def load_script(package: str, file: str) -> str:
    """A whole SQL file, such as a schema."""
    return resources.files(package).joinpath(file).read_text(encoding="utf-8")
