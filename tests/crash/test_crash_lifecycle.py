"""Processes killed while they delete, replace, prune, claim and move: each whole or absent (D-1, L-2)."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import manent

KILLS = 12

PROGRAM = """
import itertools, sys, manent

path, name = sys.argv[1:]


def say(*words):
    print(*words, flush=True)


with manent.open(path, workspace="kept", durability="process") as store, \\
     manent.open(path, workspace=None, durability="process") as owner:
    store.roadmaps.create("a", "so that the workspace is there", "")
    with manent.open(path, workspace="other", durability="process") as other:
        other.roadmaps.create("b", "and the other one", "")
    for number in itertools.count(1):
        id = f"{name}-{number}"
        conversation = store.create_with_id(id, "a title", max_conversations=40)
        conversation.append_turn(f"question {id}", "answer " * 300)
        epoch = conversation.claim().epoch
        conversation.append_turn(f"owned {id}", "answer", epoch=epoch)
        say("made", id)
        if number % 3 == 0:
            say("replacing", id)
            store.create_with_id(id, "anew", replace=True).append_turn(f"question {id}", "once more")
            say("replaced", id)
        elif number % 3 == 1:
            say("deleting", id)
            store.delete(id, reason="asked")
            say("deleted", id)
        if number % 4 == 0:
            say("moving")
            owner.workspaces.undo(owner.workspaces.merge("other", "kept").id)
            say("moved")
"""


class Told(NamedTuple):
    """What a writer said before it was killed: each thing that it did, and what it was about to do."""

    done: dict[str, set[str]]
    last: tuple[str, ...]


def killed_in_the_middle(path: Path, name: str, lines: int) -> Told:
    """Run a writer, and kill it behind so many lines, at whatever it does then."""
    command = [sys.executable, "-c", PROGRAM, str(path), name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, encoding="utf-8") as writer:
        assert writer.stdout is not None
        told = [tuple(writer.stdout.readline().split()) for _ in range(lines)]
        writer.kill()
        told += [tuple(line.split()) for line in writer.stdout]
    done: dict[str, set[str]] = {"made": set(), "deleting": set(), "deleted": set(), "replaced": set()}
    for word, *ids in told:
        done.setdefault(word, set()).update(ids)
    return Told(done, told[-1])


@pytest.mark.parametrize("seed", range(KILLS))
def test_a_killed_process_leaves_nothing_half_done(tmp_path: Path, seed: int) -> None:  # D-1, D-2, L-2, O-1
    path, luck = tmp_path / "conversations.db", random.Random(seed)

    tellings = [killed_in_the_middle(path, f"w{run}", luck.randint(3, 60)) for run in range(3)]

    with manent.open(path, workspace=None) as owner:
        assert owner.verify().findings == ()
        assert {move.kind for move in owner.workspaces.moves()} <= {"merge"}
        for move in owner.workspaces.moves():
            owner.workspaces.undo(move.id)
        assert [len(workspace.aliases) for workspace in owner.workspaces.list()] == [1, 1]
        assert b"".join(owner.export_lines()).endswith(b"\n")
    with manent.open(path, workspace="kept") as store:
        there = {summary.id for summary in store.list(limit=1000)}
        for told in tellings:
            assert not there & told.done["deleted"]
        kept = tellings[-1].done["made"] - tellings[-1].done["deleting"] - tellings[-1].done["deleted"]
        newest = sorted(kept, key=lambda id: int(id.rpartition("-")[2]))[-10:]
        assert set(newest) <= there
        for id in newest:
            questions = [turn.question for turn in store.conversation(id).turns()]
            is_whole = questions == [f"question {id}", f"owned {id}"]
            assert is_whole or (questions in ([], [f"question {id}"]) and int(id.rpartition("-")[2]) % 3 == 0)
        assert all(isinstance(store.conversation(id).claim(), manent.Claimed) for id in there)
