"""Q-5: what importing and starting cost over bare Python, bytecode compiled."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

REPEATS = 15
COMMANDS = {
    "python": [sys.executable, "-c", "pass"],
    "import manent": [sys.executable, "-c", "import manent"],
    "manent.open": [sys.executable, "-c", "import manent; manent.open"],
    "manent --version": [str(Path(sys.executable).with_name("manent")), "--version"],
}


def start() -> dict[str, float]:
    """Milliseconds of each command over bare Python: the median of differences, run in turns."""
    times: dict[str, list[float]] = {name: [] for name in COMMANDS}
    for number in range(REPEATS + 1):
        for name, command in COMMANDS.items():
            started = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            if number:
                times[name].append((time.perf_counter() - started) * 1000)
    return {
        name: statistics.median(a - b for a, b in zip(took, times["python"], strict=True))
        for name, took in times.items()
        if name != "python"
    }
