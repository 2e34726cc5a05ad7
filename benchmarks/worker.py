"""
A contender in a process and an environment of its own, told what to do line by line.

`python worker.py CONTENDER FOLDER`; then one JSON object a line on standard input, such as
`{"do": "append", "count": 50}`; the answer is one JSON object a line: nanoseconds and a number.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from pathlib import Path

MESSAGE_BYTES = 1000


def text(number: int, side: str) -> str:
    """A message of exactly `MESSAGE_BYTES` bytes, unlike every other one."""
    words = f"{side} {number} "
    filler = "the quick brown fox keeps the record of every word that was said "
    return (words + filler * (MESSAGE_BYTES // len(filler) + 1))[:MESSAGE_BYTES]


def main() -> None:
    """Serve until the input ends."""
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    module = importlib.import_module(f"benchmarks.contenders.{sys.argv[1]}")
    contender = module.Contender(Path(sys.argv[2]))
    number = 0
    for line in sys.stdin:
        wish = json.loads(line)
        result = 0
        turns = [(text(number + i, "q"), text(number + i, "a")) for i in range(wish.get("count", 0))]
        started = time.perf_counter_ns()
        if wish["do"] == "append":
            for question, answer in turns:
                contender.append(question, answer)
        elif wish["do"] == "load":
            result = contender.load()
        elapsed = time.perf_counter_ns() - started
        number += len(turns)
        sys.stdout.write(json.dumps({"ns": elapsed, "result": result}) + "\n")
        sys.stdout.flush()
    contender.close()


if __name__ == "__main__":
    main()
