"""Identities, order and addresses."""

from __future__ import annotations

import secrets
from typing import NamedTuple

from manent.errors import AddressError, InputError

ID_BYTES_MAX = 512
"""The longest id or key, in bytes of UTF-8."""


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


def check_name(text: str, what: str) -> str:
    """
    Return `text` when it can be the id, key or alias called `what`.

    Any characters are allowed, since names are values and never paths.

    Raises:
        InputError: `text` is blank or longer than `ID_BYTES_MAX` bytes.
    """
    if not isinstance(text, str) or not text.strip():
        raise InputError(f"A {what} cannot be blank.")
    if len(text.encode("utf-8", "surrogatepass")) > ID_BYTES_MAX:
        raise InputError(f"A {what} has at most {ID_BYTES_MAX} bytes.")
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
    kind, colon, rest = text.partition(":")
    conversation_id, hash_sign, ref = rest.rpartition("#")
    if not (colon and hash_sign and conversation_id and ref) or kind not in ("turn", "message"):
        raise AddressError(text)
    if kind == "message":
        return message_address(conversation_id, ref)
    seq, _, writer = ref.partition("@")
    if not (seq.isascii() and seq.isdigit()):
        raise AddressError(text)
    return turn_address(conversation_id, int(seq), writer)
