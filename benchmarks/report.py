"""The tables, in Markdown."""

from __future__ import annotations

import platform
import statistics

import apsw

from benchmarks.environments import Peer, versions
from benchmarks.ladder import Rung
from benchmarks.race import Times, ratio

INTRODUCTION = """\
# Measured

Made by `python3 dev.py bench`; every figure is from one run on one machine ({machine}, SQLite {sqlite}).
Absolute times of such a machine mean little and change by half between runs: read the ratios. Messages
have 1,000 bytes. The floor is raw SQLite through the same binding with the same durability and page size,
two inserts a turn into one table with one index. Peers run as they come, each in an environment of its own,
everybody in turns.

"""


def race_table(times: Times, peers: tuple[Peer, ...]) -> str:
    """Q-1 and Q-2."""
    lines = [
        "## Append a turn, load 1,000 turns (Q-1, Q-2)\n",
        "| | append, µs a turn | of the floor (least to greatest) | load, µs a turn | of the floor |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for peer in peers:
        base = "floor_process" if peer.module.endswith("process") else "floor_full"
        append, load = ratio(times.append, peer.module, base), ratio(times.load, peer.module, base)
        name = f"{peer.name} {versions(peer)}".strip()
        lines.append(
            f"| {name} | {statistics.median(times.append[peer.module]) / 1000:.0f} | {_ratio(append)} "
            f"| {statistics.median(times.load[peer.module]) / 1000:.1f} | {_ratio(load)} |"
        )
    return "\n".join(lines) + "\n"


def _ratio(value: tuple[float, float, float]) -> str:
    return f"{value[0]:.2f} ({value[1]:.2f} to {value[2]:.2f})"


def ladder_table(rungs: list[Rung]) -> str:
    """Q-4 and Q-7."""
    acts = list(rungs[0].acts)
    lines = [
        "## The same acts in larger stores (Q-4), and what they weigh (Q-7)\n",
        f"| messages | {' | '.join(f'{act}, µs' for act in acts)} | file / text |",
        f"| ---: |{' ---: |' * (len(acts) + 1)}",
    ]
    for rung in rungs:
        cells = " | ".join(
            f"{rung.acts[act] / 1000:.0f} ({rung.acts[act] / rungs[0].acts[act]:.2f} ×)" for act in acts
        )
        lines.append(f"| {rung.messages:,} | {cells} | {rung.size_ratio:.2f} |")
    return "\n".join(lines) + "\n"


def startup_table(times: dict[str, float]) -> str:
    """Q-5."""
    lines = ["## Starting (Q-5)\n", "| | ms over bare Python |", "| --- | ---: |"]
    lines += [f"| `{name}` | {took:.0f} |" for name, took in times.items()]
    return "\n".join(lines) + "\n"


COMMENT = "## What these figures say"
"""What stands from this heading on was written by hand and stays."""


def page(sections: dict[str, str], before: str) -> str:
    """The whole page; `before` is the page as it stands."""
    comment = COMMENT + before.partition(COMMENT)[2] if COMMENT in before else ""
    machine = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    introduction = INTRODUCTION.format(machine=machine, sqlite=apsw.sqlite_lib_version())
    return introduction + "\n".join([*sections.values(), comment]).rstrip() + "\n"
