"""Masking secrets on the way in: in parts, titles, details and the native record alike (K-1)."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from manent.history.secrets import collect_secrets, mask, mask_native, mask_value
from manent.model.parts import AnyPart


class Masker:
    """Masks what it is given and counts what it masked, by kind."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def mask_text(self, text: str) -> str:
        """A text without its secrets."""
        masked = mask(text)
        self.counts.update(masked.kinds)
        return masked.text

    def mask_json(self, value: Any) -> Any:
        """A JSON value without the secrets in its strings."""
        masked, secrets = mask_value(value)
        self.counts.update(secret.kind for secret in secrets)
        return masked

    def mask_message(self, parts: tuple[AnyPart, ...], native: bytes) -> tuple[tuple[AnyPart, ...], bytes]:
        """A message's parts and its native record without secrets; each secret counts once."""
        value = msgspec.to_builtins(parts)
        known = collect_secrets(value)
        if known:
            value, secrets = mask_value(value, known)
            self.counts.update(secret.kind for secret in secrets)
            parts = msgspec.convert(value, tuple[AnyPart, ...])
        return parts, mask_native(native, known)
