"""Following a store: positions rise, nothing is missed, and a copy says that they mean nothing in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import manent
from manent.errors import FollowResetError


def test_a_follower_gets_each_event_of_its_workspace_once_in_order_of_arrival(tmp_path: Path) -> None:  # L-5
    path = tmp_path / "conversations.db"
    with manent.open(path, workspace="one") as one, manent.open(path, workspace="two") as two:
        mine, theirs = one.create(), two.create()
        seqs = []
        position = one.read_arrivals().position
        for number in range(5):
            seqs.append(mine.append_turn(f"q{number}", "a").seq)
            theirs.append_turn("q", "a")

        followed: list[int] = []
        caught_up = False
        while not caught_up:
            arrivals = one.read_arrivals(after=position, limit=3)
            followed += [event.seq for event in arrivals.events]
            position, caught_up = arrivals.position, arrivals.caught_up

        assert followed == seqs
        assert one.read_arrivals(after=position).events == ()


def test_nothing_arrives_in_a_workspace_that_is_not_there(tmp_path: Path) -> None:  # N-1
    path = tmp_path / "conversations.db"
    with manent.open(path, workspace="one") as one, manent.open(path, workspace="two") as two:
        one.create()

        assert two.read_arrivals().events == ()


def test_a_position_of_before_a_copy_is_refused_in_the_copy(tmp_path: Path) -> None:  # L-6
    with manent.open(tmp_path / "a.db", workspace="demo") as store:
        conv = store.create()
        position = store.read_arrivals().position
    shutil.copy(tmp_path / "a.db", tmp_path / "b.db")

    with manent.open(tmp_path / "b.db", workspace="demo") as copy:
        copy.conversation(conv.id).append_turn("q", "a")

        with pytest.raises(FollowResetError):
            copy.read_arrivals(after=position)
