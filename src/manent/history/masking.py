"""
Masking secrets on the way in (K-1): in what is imported, the native record included, and in tool output.

This loads the table of what secrets look like, which costs some time: who may not need it loads it late.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Any, TypeVar

import msgspec

from manent.errors import InputError
from manent.history.masked import MaskedAt, is_output
from manent.history.secret_patterns import KINDS
from manent.history.secrets import NO_KINDS, collect_secrets, mask, mask_native, mask_value, may_hold
from manent.model.events import MessageAdded
from manent.model.parts import AnyPart

M = TypeVar("M", bound=MessageAdded)


def check_kinds(kinds: Collection[str]) -> frozenset[str]:
    """
    Kinds of secrets that somebody allows.

    Raises:
        InputError: there is no such kind; lists those that there are.
    """
    if isinstance(kinds, str) or not all(isinstance(kind, str) for kind in kinds):
        raise InputError("Kinds of secrets are given as a collection of texts.")
    if unknown := sorted(set(kinds) - KINDS):
        raise InputError(
            f"No kind of secret is called {unknown[0]!r}. There are: {', '.join(sorted(KINDS))}."
        )
    return frozenset(kinds)


class Masker:
    """
    Masks what it is given, echoes of what it has learnt included, and counts what it masked, by kind.

    Args:
        allowed: kinds that are left alone.
    """

    def __init__(self, allowed: frozenset[str] = NO_KINDS) -> None:
        self.counts: Counter[str] = Counter()
        self._allowed = allowed
        self._known: dict[str, str] = {}
        self._clean: set[int] = set()

    def learn(self, messages: Iterable[tuple[AnyPart, ...]]) -> None:
        """Look a conversation's parts through: a secret told by its surroundings is one elsewhere too."""
        self._known, self._clean = {}, set()
        for parts in messages:
            plain = msgspec.to_builtins(parts)
            if may_hold(plain):
                self._known.update(collect_secrets(plain, self._allowed))
            else:
                self._clean.add(id(parts))  # the caller keeps them while it masks them

    def mask_text(self, text: str, kinds: Counter[str] | None = None) -> str:
        """A text without its secrets, which are counted in `kinds`, else in `counts`."""
        masked = mask(text, self._known, self._allowed)
        (self.counts if kinds is None else kinds).update(masked.kinds)
        return masked.text

    def mask_json(self, value: Any, kinds: Counter[str] | None = None) -> Any:
        """A JSON value without the secrets in its strings, which are counted as in `mask_text`."""
        masked, secrets = mask_value(value, self._known, self._allowed)
        (self.counts if kinds is None else kinds).update(secret.kind for secret in secrets)
        return masked

    def mask_parts(self, parts: tuple[AnyPart, ...], kinds: Counter[str]) -> tuple[AnyPart, ...]:
        """A message's parts without secrets, which are counted."""
        if id(parts) in self._clean and not self._known:
            return parts
        masked, secrets = mask_value(msgspec.to_builtins(parts), self._known, self._allowed)
        if not secrets:
            return parts
        kinds.update(secret.kind for secret in secrets)
        return msgspec.convert(masked, tuple[AnyPart, ...])

    def mask_native(self, native: bytes) -> bytes:
        """A native record without secrets; those that are in the message's parts too were counted there."""
        return mask_native(native, self._known, self._allowed)


def mask_tool_output(
    events: Sequence[M], allowed: frozenset[str] = NO_KINDS
) -> tuple[list[M], tuple[MaskedAt, ...]]:
    """Messages whose tool output has no secrets, and what was masked in each."""
    masker, masked, found = Masker(allowed), [], []
    for event in events:
        kinds: Counter[str] = Counter()
        parts = tuple(
            masker.mask_parts((part,), kinds)[0] if is_output(event, part) else part for part in event.parts
        )
        masked.append(msgspec.structs.replace(event, parts=parts) if kinds else event)
        if kinds:
            found.append(MaskedAt(event.message_id, dict(kinds)))
    return masked, tuple(found)
