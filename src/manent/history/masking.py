"""Masking secrets on the way in: in parts, titles, details and the native record alike (K-1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from manent.history.secrets import collect_secrets, mask, mask_native, mask_value
from manent.model.parts import AnyPart


class Masker:
    """Masks what it is given, echoes of what it has learnt included, and counts what it masked, by kind."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._known: dict[str, str] = {}

    def learn(self, messages: Iterable[tuple[AnyPart, ...]]) -> None:
        """Look a conversation's parts through: a secret told by its surroundings is one elsewhere too."""
        self._known = {}
        for parts in messages:
            self._known.update(collect_secrets(msgspec.to_builtins(parts)))

    def mask_text(self, text: str) -> str:
        """A text without its secrets."""
        masked = mask(text, self._known)
        self.counts.update(masked.kinds)
        return masked.text

    def mask_json(self, value: Any) -> Any:
        """A JSON value without the secrets in its strings."""
        masked, secrets = mask_value(value, self._known)
        self.counts.update(secret.kind for secret in secrets)
        return masked

    def mask_message(
        self, parts: tuple[AnyPart, ...], native: bytes, *, count: bool = True
    ) -> tuple[tuple[AnyPart, ...], bytes]:
        """A message's parts and its native record without secrets; what is in both counts once."""
        masked, secrets = mask_value(msgspec.to_builtins(parts), self._known)
        if secrets:
            self.counts.update(secret.kind for secret in secrets if count)
            parts = msgspec.convert(masked, tuple[AnyPart, ...])
        return parts, mask_native(native, self._known)
