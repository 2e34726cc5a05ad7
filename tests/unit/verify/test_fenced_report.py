"""A report names conversations of its own workspace only; what is wrong elsewhere is said without ids."""

from __future__ import annotations

from pathlib import Path

import manent
from tests.tamper import tamper


def test_a_fenced_report_hides_the_ids_of_other_workspaces(tmp_path: Path) -> None:  # N-1, C-3
    path = tmp_path / "conversations.db"
    with manent.open(path, workspace="mine") as mine, manent.open(path, workspace="theirs") as theirs:
        mine.create().append_turn("q", "a")
        secret = theirs.create()
        secret.append_turn("q", "a")
    tamper(path, "UPDATE events SET claim_ns = claim_ns + 1")

    with manent.open(path, workspace="mine") as mine, manent.open(path, workspace=None) as owner:
        fenced, whole = mine.verify(), owner.verify()

    assert not fenced.ok
    assert not any(secret.id in finding.address for finding in fenced.findings)
    assert any(secret.id in finding.address for finding in whole.findings)
