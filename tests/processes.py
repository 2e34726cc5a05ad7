"""
Child processes of tests: each runs one function, such as those of `tests.programs`, and says how it ended.

    child = start(append_turns, path, "c1", turns=20)
    child.wait_until_ready()                  # when the program calls `ready()`
    child.go()
    assert child.result() == 20

Arguments and results are JSON. Programs live in modules that import no test tools, so that they start fast.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[1]
SECONDS_MAX = 120.0
"""A child that is not done by then is killed."""

_READY = "ready"


class ChildFailedError(AssertionError):
    """A program ended with an exception, whose type is `kind` and whose text is `said`, or without a word."""

    def __init__(self, program: str, kind: str, said: str, trace: str) -> None:
        super().__init__(f"{program} ended with {kind}: {said}\n{trace}")
        self.kind = kind
        self.said = said


class Child:
    """A running program."""

    def __init__(self, name: str, arguments: str, environment: dict[str, str]) -> None:
        self._name = name
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed when the child has ended
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.processes", name, arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=environment,
            cwd=ROOT,
        )
        self._timer = threading.Timer(SECONDS_MAX, self.process.kill)
        self._timer.daemon = True
        self._timer.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        """The process's number."""
        return self.process.pid

    def wait_until_ready(self) -> Self:
        """Wait for `ready()` in the program."""
        line = self._line()
        if line != _READY:
            self._fail(line)
        return self

    def go(self) -> None:
        """Let the program return from `ready()`."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def result(self) -> Any:
        """
        What the program returned, once it has ended.

        Raises:
            ChildFailedError: it ended with an exception, or was killed.
        """
        line = self._line()
        self.process.wait()
        found = json.loads(line) if line.startswith("{") else {}
        if "result" not in found:
            self._fail(line)
        self._let_go()
        return found["result"]

    def kill(self) -> None:
        """Kill the program, if it is there still, and forget it."""
        self.process.kill()
        self.process.wait()
        self._let_go()

    def _line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode().rstrip("\n")

    def _let_go(self) -> None:
        self._timer.cancel()
        for stream in (self.process.stdin, self.process.stdout, self._errors):
            if stream is not None and not stream.closed:
                stream.close()

    def _fail(self, line: str) -> None:
        self.process.wait()
        found = json.loads(line) if line.startswith("{") else {}
        self._errors.seek(0)
        trace = self._errors.read().decode(errors="replace")
        self._let_go()
        code = self.process.returncode
        raise ChildFailedError(
            self._name, found.get("kind", f"exit code {code}"), found.get("said", line), trace
        )


def start(program: Callable[..., object], *arguments: object, **environment: str) -> Child:
    """
    Start a program in a process of its own.

    Args:
        program: a function that stands in a module by its name.
        arguments: what JSON can carry, and paths.
        environment: variables beside those of this process.
    """
    path = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    return Child(
        f"{program.__module__}:{program.__name__}",
        json.dumps(arguments, default=os.fspath),
        {**os.environ, "PYTHONPATH": path, **environment},
    )


def run(program: Callable[..., object], *arguments: object, **environment: str) -> Any:
    """The result of a program in a process of its own; arguments are those of `start`."""
    with start(program, *arguments, **environment) as child:
        return child.result()


def run_together(children: Sequence[Child]) -> list[Any]:
    """The results of programs that call `ready()`: all go at once when all are ready."""
    try:
        for child in children:
            child.wait_until_ready()
        for child in children:
            child.go()
        return [child.result() for child in children]
    finally:
        for child in children:
            child.kill()


# --- in the child


def ready() -> None:
    """Say that this program is ready, and wait until it may go."""
    say(_READY)
    sys.stdin.readline()


def say(line: str) -> None:
    """Hand a line to the parent process."""
    os.write(1, f"{line}\n".encode())


def main(name: str, arguments: str) -> int:
    """Run a program and say how it ended."""
    module, _, function = name.partition(":")
    try:
        result = getattr(importlib.import_module(module), function)(*json.loads(arguments))
    except Exception as error:  # noqa: BLE001 - whatever it is, the parent raises it
        traceback.print_exc()
        say(json.dumps({"kind": type(error).__name__, "said": str(error)}))
        return 1
    say(json.dumps({"result": result}))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
