"""The doctor: what it finds, what it says to do, and that it changes nothing."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.surface.command_line import Desk

IS_ROOT = getattr(os, "geteuid", lambda: 0)() == 0

HEALTHY = {
    "engine": "ok",
    "place": "ok",
    "durability": "ok",
    "rights": "ok",
    "folder": "ok",
    "size": "ok",
    "space": "ok",
    "state": "ok",
    "format": "ok",
    "journal": "ok",
    "read": "ok",
    "write": "ok",
    "index": "notice",
    "verify": "ok",
}


def looked_at(desk: Desk, *words: str) -> tuple[int, dict[str, Any]]:
    """The exit code of the doctor and its checks by name."""
    result = desk.type("doctor", "--json", *words)
    return result.exit_code, {check["name"]: check for check in json.loads(result.stdout)["checks"]}


def test_a_healthy_store_is_called_so(desk: Desk) -> None:  # U-2
    desk.say(desk.begin())

    code, checks = looked_at(desk)

    assert code == 0
    assert {name: check["state"] for name, check in checks.items()} == HEALTHY
    assert desk.type("doctor").stdout.endswith("healthy\n")


def test_quick_leaves_the_long_look_out(desk: Desk) -> None:
    desk.begin()

    _, checks = looked_at(desk, "--quick")

    assert set(HEALTHY) - set(checks) == {"verify"}


def test_no_store_is_not_found_and_none_is_made(desk: Desk) -> None:  # U-2
    assert desk.type("doctor").exit_code == 4
    assert not desk.store.exists()


def test_looking_changes_nothing(desk: Desk) -> None:
    desk.say(desk.begin())
    before = desk.type("export", "-").stdout_bytes

    desk.type("doctor")

    assert desk.type("export", "-").stdout_bytes == before


def test_rights_of_others_are_wrong_and_the_cure_is_told(desk: Desk) -> None:  # N-2
    desk.begin()
    desk.store.chmod(0o644)
    desk.folder.chmod(0o777)

    code, checks = looked_at(desk, "--quick")

    assert code == 1
    assert (checks["rights"]["state"], checks["folder"]["state"]) == ("wrong", "wrong")
    assert checks["rights"]["advice"].startswith(f"chmod 600 {desk.store}")
    assert checks["folder"]["advice"] == f"chmod go-w {desk.folder}"
    assert desk.type("doctor", "--quick").stdout.endswith("2 wrong\n")


def test_another_programs_database_is_wrong(desk: Desk) -> None:
    with sqlite3.connect(desk.store) as connection:
        connection.execute("create table notes (text)")
    connection.close()
    desk.store.chmod(0o600)
    before = desk.store.read_bytes()

    code, checks = looked_at(desk)

    assert code == 1
    assert "not a manent store" in checks["format"]["said"]
    assert "write" not in checks
    assert desk.store.read_bytes() == before


@pytest.mark.parametrize("content", [b"x", b"no store " * 100])
def test_a_file_that_is_no_store_is_wrong_and_stays_as_it_is(desk: Desk, content: bytes) -> None:  # D-9
    desk.store.write_bytes(content)
    desk.store.chmod(0o600)

    code, checks = looked_at(desk)

    assert (code, checks["format"]["state"]) == (1, "wrong")
    assert "write" not in checks
    assert desk.store.read_bytes() == content


def test_a_folder_and_a_link_to_nothing_are_no_stores(desk: Desk) -> None:
    link = desk.folder / "link.db"
    link.symlink_to(desk.folder / "gone.db")

    answers = [desk.type("--store", str(place), "doctor") for place in (desk.folder, link)]

    assert [answer.exit_code for answer in answers] == [1, 1]
    assert all("WRONG   format" in answer.stdout for answer in answers)
    assert not (desk.folder / "gone.db").exists()


def test_an_empty_file_is_not_made_a_store(desk: Desk) -> None:
    desk.store.touch(0o600)

    code, checks = looked_at(desk)

    assert (code, checks["format"]["state"]) == (0, "notice")
    assert desk.store.read_bytes() == b""


def test_a_store_of_an_older_format_stays_as_it_is(desk: Desk) -> None:  # M-1
    older = Path(__file__).parents[1] / "golden/format-1/conversations.db.gz"
    desk.store.write_bytes(gzip.decompress(older.read_bytes()))
    desk.store.chmod(0o600)
    before = desk.store.read_bytes()

    code, checks = looked_at(desk)

    assert (code, checks["format"]["state"]) == (0, "notice")
    assert desk.store.read_bytes() == before


def test_a_store_that_is_being_written_is_said_to_be_busy(desk: Desk) -> None:  # D-5
    desk.begin()
    with desk.open_store() as store, store._runtime.backend.transaction():
        answers: list[tuple[int, dict[str, Any]]] = []
        looking = threading.Thread(
            target=lambda: answers.append(looked_at(desk, "--quick", "--wait", "0.05"))
        )
        looking.start()
        looking.join()

    (code, checks) = answers[0]
    assert code == 1
    assert (checks["read"]["state"], checks["write"]["state"]) == ("ok", "wrong")
    assert "--wait" in checks["write"]["advice"]


def test_what_was_changed_behind_the_stores_back_is_wrong(desk: Desk) -> None:  # C-3
    desk.say(desk.begin())
    with sqlite3.connect(desk.store) as connection:
        tables = {
            name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")
        }
        table = next(name for name in ("event", "events") if name in tables)
        connection.execute(
            f"update {table} set kind = 'turn_began' where seq = (select max(seq) from {table})"
        )
    connection.close()

    code, checks = looked_at(desk)

    assert (code, checks["verify"]["state"]) == (1, "wrong")
    assert "manent verify" in checks["verify"]["advice"]


@pytest.mark.parametrize(("said", "state"), [("remote", "notice"), ("local", "notice")])
def test_a_place_that_was_told_is_said_to_be(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, said: str, state: str
) -> None:  # D-8
    monkeypatch.setenv("MANENT_PLACE", said)
    desk.begin()

    _, checks = looked_at(desk, "--quick")

    assert checks["place"]["state"] == state
    assert ("fallback" in checks) == (said == "remote")
    assert checks["journal"]["facts"]["journal_mode"] == ("wal" if said == "local" else "delete")


@pytest.mark.skipif(IS_ROOT, reason="nothing is closed to root")
def test_a_state_folder_that_cannot_be_written_is_a_notice(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.begin()
    closed = desk.folder / "closed"
    closed.mkdir(0o500)
    monkeypatch.setenv("MANENT_STATE", str(closed))

    _, checks = looked_at(desk, "--quick")

    assert checks["state"]["state"] == "notice"


def test_a_store_in_memory_is_looked_at_too(desk: Desk) -> None:
    result = desk.type("--store", "memory:", "doctor", "--json")

    assert {check["name"] for check in json.loads(result.stdout)["checks"]} == {
        "read",
        "write",
        "index",
        "verify",
    }
