"""
The root of a receipt: one hash over all tips (C-4).

    root = BLAKE3-256 over the length-prefixed fields "manent.receipt.1", then for each tip, sorted by
           (uid, writer): uid, writer, seq, hash
"""

from __future__ import annotations

from blake3 import blake3

from manent.codec.chain import pack_int
from manent.model.log import Tip


class RootHasher:
    """Takes tips in (uid, writer) order and needs no memory of them."""

    def __init__(self) -> None:
        self._hasher = blake3()
        self.count = 0
        self._add(b"manent.receipt.1")

    def _add(self, *fields: bytes) -> None:
        for field in fields:
            self._hasher.update(len(field).to_bytes(8, "little"))
            self._hasher.update(field)

    def add(self, tip: Tip) -> None:
        """Take the next tip in."""
        self._add(tip.uid.encode(), tip.writer.encode(), pack_int(tip.seq), tip.hash)
        self.count += tip.total

    def root(self) -> str:
        """The root over the tips so far, in hex."""
        return self._hasher.hexdigest()
