"""Each case has a store of its own."""

from __future__ import annotations

from tests.stores import path

__all__ = ["path"]
