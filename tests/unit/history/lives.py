"""Programs whose processes end, or nearly end, in some uncommon way. No test tools are imported here."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import threading
from pathlib import Path
from typing import Any
from unittest.mock import patch

from manent.history.processes import local_processes
from manent.model.owners import Process
from tests.processes import ready, say


def wait_to_be_killed() -> None:
    """Live until the test says otherwise."""
    ready()


def say_who() -> list[Any]:
    """Say which process this is, while it still runs."""
    say("ready")
    found = list(local_processes().here())
    sys.stdin.readline()
    return found


def fork_and_say_who() -> dict[str, Any]:
    """What parent and child say of themselves and of each other, the parent having spoken before the fork."""
    processes = local_processes()
    parent = processes.here()
    from_child, to_parent = os.pipe()
    until_told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(tell)
            os.write(to_parent, json.dumps(_said_by_child(parent)).encode())
            os.read(until_told, 1)  # until the parent closes its end
        finally:
            os._exit(0)
    os.close(to_parent)
    told, life, is_parent = json.loads(os.read(from_child, 1_000))
    child = Process(*told)
    while_it_ran = processes.judge(child).value
    os.close(tell)
    os.waitpid(pid, 0)
    return {
        "pids": [os.getpid(), pid],
        "pids as told": [processes.here().pid, child.pid],
        "the parent is the same as before": processes.here() == parent,
        "the child of its parent": life,
        "the child with the number of its parent is its parent": is_parent,
        "the parent of itself": processes.judge(parent).value,
        "the parent of its child": [while_it_ran, processes.judge(child).value],
    }


def _said_by_child(parent: Process) -> list[Any]:
    processes = local_processes()
    with patch.object(os, "getpid", lambda: parent.pid):  # as if the number of a forebear had come back
        is_parent = processes.here() == parent
    return [processes.here(), processes.judge(parent).value, is_parent]


def work_on_without_the_first_thread() -> None:
    """End the first thread of this process, and work on in another one until the test ends it."""
    stat = Path("/proc/self/stat")

    def work() -> None:
        while b") Z " not in stat.read_bytes():
            pass
        ready()
        os._exit(0)

    threading.Thread(target=work).start()
    ctypes.CDLL(None).pthread_exit(None)
