"""
`python -m benchmarks`: run everything and write the table in `docs/explanation/measured.md`.

    python -m benchmarks              the race, the ladder to 10^6 messages, start-up
    python -m benchmarks --quick      without peers, the ladder to 10^4
    python -m benchmarks --only race  one of race, ladder, startup
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from benchmarks.environments import OURS, PEERS
from benchmarks.ladder import STEPS, climb
from benchmarks.race import race
from benchmarks.report import ladder_table, page, race_table, startup_table
from benchmarks.startup import start

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "measured.md"


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="no peers, small ladder, no page written")
    parser.add_argument("--only", choices=("race", "ladder", "startup"))
    wishes = parser.parse_args()
    sections: dict[str, str] = {}
    if wishes.only in (None, "race"):
        peers = OURS if wishes.quick else OURS + PEERS
        sections["race"] = race_table(race(peers), peers)
    if wishes.only in (None, "ladder"):
        sections["ladder"] = ladder_table(climb(STEPS[:2] if wishes.quick else STEPS))
    if wishes.only in (None, "startup"):
        sections["startup"] = startup_table(start())
    sys.stdout.write("\n".join(sections.values()))
    if not wishes.quick and wishes.only is None:
        before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
        PAGE.write_text(page(sections, before), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
