"""
Ids of conversations as `ConversationStore` makes and takes them.

    1750000000000000000-0f8fad5b-d9cb-469f-a165-70867728950e

An id that a caller supplies has ASCII letters, digits and hyphens only, so that it can also name a folder.
"""

from __future__ import annotations

import itertools
import re
import uuid

from manent.errors import InputError
from manent.history.runtime import Clock
from manent.model.ids import ID_BYTES_MAX

_ALPHABET = re.compile(rf"[A-Za-z0-9-]{{1,{ID_BYTES_MAX}}}", re.ASCII)
_SHOWN_MAX = 80
_made = itertools.count()


def is_conversation_id(text: object) -> bool:
    """Whether a text has the alphabet of ids: it can be part of a path and leads nowhere else."""
    return isinstance(text, str) and _ALPHABET.fullmatch(text) is not None


def check_conversation_id(text: str) -> str:
    """
    Return an id, or the beginning of one, that has the alphabet.

    Raises:
        InputError: it is empty, too long, or holds another character.
    """
    if not is_conversation_id(text):
        shown = repr(text[:_SHOWN_MAX]) if isinstance(text, str) else f"a {type(text).__name__}"
        raise InputError(
            f"invalid conversation id {shown}: use 1 to {ID_BYTES_MAX} ASCII letters, digits and hyphens."
        )
    return text


def mint_conversation_id(clock: Clock) -> str:
    """A new id: the time, counted on with each id of this process so that no two tie, and a random UUID."""
    return f"{clock() + next(_made)}-{uuid.uuid4()}"
