"""Registers that belong to one store alone: they are in no export, and one in an export is refused."""

from __future__ import annotations

from manent.history.moves import MOVE_FIELD

IMPORT_FIELD = "import:"
"""Before the id of an import, and behind that, after a slash, the number of one of its transactions."""

AWAITED_LINK_FIELD = "awaited_link:"
"""Before what names a link whose other end is not there yet."""

LOCAL_FIELDS = (MOVE_FIELD, IMPORT_FIELD, AWAITED_LINK_FIELD)
"""How the fields of such registers begin."""


def is_local(field: str) -> bool:
    """Whether a register belongs to one store alone."""
    return field.startswith(LOCAL_FIELDS)
