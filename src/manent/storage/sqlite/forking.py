"""
Forks: while a process forks, none of its connections is open (D-7).

SQLite keeps in a process's memory which locks that process has on a file. A forked child inherits the
memory without the locks: what it opens then believes itself safe, and the parent's close takes the log
away under it, so that acknowledged writes are lost and the file ends malformed. So a fork first waits
until other threads have given their connections back, and closes the idle ones. A file that is in use
all the same, for longer than that or by the forking thread itself, is refused in the child.
"""

from __future__ import annotations

import os
import threading
from typing import Protocol
from weakref import ReferenceType, WeakSet, ref

FORK_WAIT_S = 5.0
"""How long a fork waits for other threads that use a store."""


class Resting(Protocol):
    """What keeps connections to a file open while nobody uses them."""

    @property
    def file(self) -> str:
        """The file, by its real path."""

    @property
    def has_idle(self) -> bool:
        """Whether any is open."""

    def drop_idle(self) -> None:
        """Close them, so that whoever comes next opens a new one."""

    def begin_anew(self) -> None:
        """In a child: forget the parent's connections without touching them."""


class Use:
    """
    One use of a file by a thread, from `Gate.enter` to `Gate.leave`.

    What belongs to a use is free again when it has ended or is gone. So an interrupt between any two steps
    of Python leaves nothing taken: at the latest it ends with the frame that it was made for (D-2).
    """

    __slots__ = ("__weakref__", "file", "has_ended", "pid", "thread")

    def __init__(self, file: str) -> None:
        self.file = file
        self.has_ended = False
        self.pid = os.getpid()
        self.thread = threading.get_ident()


class Gate:
    """
    Knows which threads use which files; closed to newcomers while the process forks.

    Entering costs next to nothing: whoever enters notes it first and looks for a fork then, and whoever
    forks announces it first and looks for uses then, so that one of both always sees the other.
    """

    def __init__(self) -> None:
        self._resting: WeakSet[Resting] = WeakSet()
        self._refused: set[str] = set()
        self._start()

    def _start(self) -> None:
        self._pid = os.getpid()
        self._uses: set[ReferenceType[Use]] = set()
        self._forking: int | None = None
        self._moved = threading.Condition()

    def watch(self, resting: Resting) -> None:
        """Close and forget its connections when the process forks."""
        with self._moved:
            self._resting.add(resting)

    def is_refused(self, file: str) -> bool:
        """Whether a file was in use while this process was forked off."""
        return file in self._refused

    def enter(self, file: str) -> Use:
        """Let forks wait, until `leave`, for a use of connections to a file; wait for a fork under way."""
        use = Use(file)
        if use.pid != self._pid:
            self.begin_anew()  # forked by something that does not tell Python
        self._uses.add(ref(use))
        while self._forking not in (None, use.thread) and not self._is_nested(use):
            self._uses.discard(ref(use))
            with self._moved:
                self._moved.wait_for(lambda: self._forking is None)
            self._uses.add(ref(use))
        return use

    def _is_nested(self, use: Use) -> bool:
        """A thread that is inside already goes on, or it would never come out."""
        return any(other.thread == use.thread for other in self._under_way() if other is not use)

    def _under_way(self) -> list[Use]:
        found = (reference() for reference in self._uses.copy())
        return [use for use in found if use is not None and not use.has_ended]

    def leave(self, use: Use) -> None:
        """End a use."""
        use.has_ended = True
        self._uses.discard(ref(use))
        if self._forking is not None:
            with self._moved:
                self._moved.notify_all()

    def rest(self) -> None:
        """Before a fork: wait for other threads, and close what is idle."""
        thread = threading.get_ident()
        with self._moved:
            self._moved.wait_for(lambda: self._forking is None)
            self._forking = thread
            self._moved.wait_for(lambda: all(u.thread == thread for u in self._under_way()), FORK_WAIT_S)
            resting = list(self._resting)
        for each in resting:
            each.drop_idle()

    def go_on(self) -> None:
        """After a fork, in the parent."""
        with self._moved:
            self._forking = None
            self._moved.notify_all()

    def begin_anew(self) -> None:
        """After a fork, in the child."""
        resting = list(self._resting)
        self._refused.update(use.file for use in self._under_way())
        self._refused.update(each.file for each in resting if each.has_idle)
        self._start()
        for each in resting:
            each.begin_anew()


GATE = Gate()
"""The one of this process."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=GATE.rest, after_in_parent=GATE.go_on, after_in_child=GATE.begin_anew)
