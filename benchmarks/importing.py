"""
Q-6: how fast a ChatGPT export comes in, secrets masked, and what memory that takes.

    python -m benchmarks.importing               50 MB
    python -m benchmarks.importing 1000000000    any number of bytes, one or several

Each figure is from a process of its own. `read` takes the file apart and keeps nothing; `import` is the whole
way into a new store in a file.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.chatgpt_export import write_export

SIZES = (50_000_000,)
ACTS = ("read", "import")

_CHILD = "--child"
_KIB = 1024 if sys.platform != "darwin" else 1
"""What `ru_maxrss` counts, in bytes."""


class Imported(NamedTuple):
    """One act on a file: bytes, messages, seconds, and the most memory that its process held, in bytes."""

    act: str
    size: int
    messages: int
    seconds: float
    peak: int

    @property
    def rate(self) -> float:
        """Megabytes a second."""
        return self.size / self.seconds / 1e6


def measure(sizes: tuple[int, ...] = SIZES, acts: tuple[str, ...] = ACTS) -> list[Imported]:
    """Write an export of each size and do each act on it."""
    found = []
    with tempfile.TemporaryDirectory(prefix="manent-importing-") as name:
        for size in sizes:
            path = Path(name) / f"conversations-{size}.json"
            messages = write_export(path, size)
            found += [_run(act, path, messages) for act in acts]
            path.unlink()
    return found


def table(rows: list[Imported]) -> str:
    """The figures, in Markdown."""
    lines = [
        "## Import a ChatGPT export (Q-6)\n",
        "| | file, MB | messages | MB/s | most memory, MiB |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    lines += [
        f"| {row.act} | {row.size / 1e6:,.0f} | {row.messages:,} | {row.rate:.1f} | {row.peak / 2**20:,.0f} |"
        for row in rows
    ]
    return "\n".join(lines) + "\n"


def _run(act: str, path: Path, messages: int) -> Imported:
    command = [sys.executable, "-m", "benchmarks.importing", _CHILD, act, str(path)]
    answer = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    if answer["messages"] != messages:
        raise RuntimeError(f"{act}: {answer['messages']} of {messages} messages")
    return Imported(act, path.stat().st_size, messages, answer["seconds"], answer["peak"])


def _child(act: str, path: Path) -> None:
    started = time.perf_counter()
    messages = _read(path) if act == "read" else _import(path)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _KIB
    print(json.dumps({"messages": messages, "seconds": seconds, "peak": peak}))


def _read(path: Path) -> int:
    from manent.formats.registry import detect
    from manent.model.imported import ImportedConversation

    items = detect(path).items
    return sum(len(item.messages) for item in items if isinstance(item, ImportedConversation))


def _import(path: Path) -> int:
    import manent
    from manent.opening import import_path

    with manent.open(path.with_suffix(".db"), workspace="bench") as store:
        return import_path(store, path).messages


if __name__ == "__main__":
    if sys.argv[1:2] == [_CHILD]:
        _child(sys.argv[2], Path(sys.argv[3]))
    else:
        print(table(measure(tuple(map(int, sys.argv[1:])) or SIZES)))
