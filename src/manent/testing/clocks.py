"""Clocks that say what a test wants: standing still, stepping, going back."""

from __future__ import annotations

NOON_NS = 1_750_000_000_000_000_000
"""Some moment in June 2025, in nanoseconds since 1970 UTC."""


class SettableClock:
    """
    A clock that is called for the time and moves only when told to.

    Args:
        now_ns: what it says first, in nanoseconds since 1970 UTC.
        step_ns: how far it moves with each call; below zero it goes back.
    """

    def __init__(self, now_ns: int = NOON_NS, *, step_ns: int = 0) -> None:
        self.now_ns = now_ns
        self.step_ns = step_ns

    def __call__(self) -> int:
        now_ns = self.now_ns
        self.now_ns += self.step_ns
        return now_ns

    def set(self, now_ns: int) -> None:
        """Say this from now on."""
        self.now_ns = now_ns

    def advance(self, by_ns: int) -> None:
        """Move; below zero it goes back."""
        self.now_ns += by_ns


def fixed(now_ns: int = NOON_NS) -> SettableClock:
    """A clock that stands still."""
    return SettableClock(now_ns)


def stepping(now_ns: int = NOON_NS, *, step_ns: int = 1_000_000_000) -> SettableClock:
    """A clock that moves with each call, by a second unless told otherwise."""
    return SettableClock(now_ns, step_ns=step_ns)


def going_back(now_ns: int = NOON_NS, *, step_ns: int = 1_000_000_000) -> SettableClock:
    """A clock that goes back with each call, by a second unless told otherwise."""
    return SettableClock(now_ns, step_ns=-step_ns)
