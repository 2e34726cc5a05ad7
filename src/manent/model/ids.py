"""Identities, order and addresses."""

from __future__ import annotations

import re
import secrets
from typing import NamedTuple

from manent.errors import AddressError, InputError

ID_BYTES_MAX = 512
"""The longest id or key, in bytes of UTF-8."""


SEQ_MAX = (1 << 62) - 1
"""The greatest seq that anybody may bring; ours go on above it without end."""


class Stamp(NamedTuple):
    """
    Who set a value, and when by the store's own clock; the greater one wins.

    `seq` is a Lamport tick (Lamport 1978), `writer` breaks ties; never a wall clock.
    """

    seq: int
    writer: str


BEFORE_ALL = Stamp(-1, "")
"""Less than every stamp."""


class Position(NamedTuple):
    """Where an event stands in one generation of a store. Opaque: rises, may have gaps."""

    generation: str
    value: int


def new_uid() -> str:
    """A random identity: 32 lower-case hexadecimal characters (128 bits)."""
    return secrets.token_hex(16)


def check_text(text: str, what: str) -> str:
    """
    Return `text` when it is text.

    Raises:
        InputError: it is something else; names its type.
    """
    if not isinstance(text, str):
        raise InputError(f"The {what} is text, not {type(text).__name__}.")
    return text


def check_name(text: str, what: str) -> str:
    """
    Return `text` when it can be the id, key or alias called `what`.

    Any characters are allowed, since names are values and never paths.

    Raises:
        InputError: it is no text, blank, or longer than `ID_BYTES_MAX` bytes.
    """
    if not check_text(text, what).strip():
        raise InputError(f"The {what} cannot be blank.")
    if len(text.encode("utf-8", "surrogatepass")) > ID_BYTES_MAX:
        raise InputError(f"The {what} has at most {ID_BYTES_MAX} bytes.")
    return text


_MADE_ID = re.compile(r"([1-9][0-9]{0,18})\.([0-9a-f]{16})(?:\.([qa]))?\Z")
_ORDINALS = {"q": 0, "a": 1}


def turn_id_of(stamp: Stamp) -> str:
    """The id of a turn that its own event began without naming it: `<seq>.<writer>`."""
    return f"{stamp.seq}.{stamp.writer}"


def question_id(stamp: Stamp) -> str:
    """The message id of the question of a whole turn: `<seq>.<writer>.q`."""
    return f"{stamp.seq}.{stamp.writer}.q"


def answer_id(stamp: Stamp) -> str:
    """The message id of the answer of a whole turn: `<seq>.<writer>.a`."""
    return f"{stamp.seq}.{stamp.writer}.a"


def made_place(made_id: str) -> tuple[int, str, int] | None:
    """
    The (seq, writer, ordinal) in an id that was made of a stamp, or None for any other id.

    Such ids need no index: they say where their row stands. Nobody else may choose one of this form.
    """
    if (found := _MADE_ID.match(made_id)) is None:
        return None
    return int(found[1]), found[2], _ORDINALS.get(found[3], -1)


def check_message_id(text: str) -> str:
    """
    Return `text` when a caller may choose it as a message id.

    Raises:
        InputError: it is blank, too long, or of the form that turns make (`<seq>.<writer>.q`).
    """
    if made_place(check_name(text, "message id")) is not None:
        raise InputError("A message id cannot have the form that turns make of their seq and writer.")
    return text


class Address(NamedTuple):
    """
    A stable name for a turn or for a message outside any turn.

    `turn:<conversation>#<seq>`, with `@<writer prefix>` where two writers share the seq;
    `message:<conversation>#<message id>`. The conversation may hold any character: the text is
    split at its last `#`.
    """

    kind: str
    conversation_id: str
    ref: str
    writer: str = ""

    def __str__(self) -> str:
        tail = f"@{self.writer}" if self.writer else ""
        return f"{self.kind}:{self.conversation_id}#{self.ref}{tail}"


def turn_address(conversation_id: str, seq: int, writer: str = "") -> Address:
    """The address of the turn that began at `seq`; `writer` only where it is needed to tell two apart."""
    return Address("turn", conversation_id, str(seq), writer)


def message_address(conversation_id: str, message_id: str) -> Address:
    """The address of a message that belongs to no turn."""
    return Address("message", conversation_id, message_id)


def parse_address(text: str) -> Address:
    """
    Read an address as `str(address)` writes it.

    Raises:
        AddressError: the text has another shape.
    """
    kind, colon, rest = check_text(text, "address").partition(":")
    conversation_id, hash_sign, ref = rest.rpartition("#")
    if not (colon and hash_sign and conversation_id and ref) or kind not in ("turn", "message"):
        raise AddressError(text)
    if kind == "message":
        return message_address(conversation_id, ref)
    seq, _, writer = ref.partition("@")
    if not (seq.isascii() and seq.isdigit() and len(seq) < 20 and int(seq) <= SEQ_MAX):
        raise AddressError(text)
    return turn_address(conversation_id, int(seq), writer)
