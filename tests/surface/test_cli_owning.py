"""Owning a conversation from a shell: a claim that lasts as long as a command runs."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from manent.cli import claim
from tests.surface.command_line import PROGRAM, Desk, environment

POSIX = pytest.mark.skipif(os.name != "posix", reason="signals and shells of POSIX")
TELL = 'printf %s "$MANENT_EPOCH $MANENT_CONVERSATION"'
UNTIL_RENEWED = """
import sys, time
import manent

with manent.open(sys.argv[1], workspace="default") as store:
    conversation = store.conversation(sys.argv[2])
    while (owner := conversation.live_owner()).heartbeat_ns == owner.claimed_ns:
        time.sleep(0.01)
sys.exit(9)
"""
LOST = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"


@pytest.fixture
def talk(desk: Desk) -> str:
    """A conversation; its id."""
    return desk.begin("Owned", "--key", "k")


def manent(*words: str) -> str:
    """A line for the shell that calls manent on the store that the environment names; $-words stay for it."""
    return f"{shlex.join(PROGRAM)} {' '.join(words)}"


@contextmanager
def owned(desk: Desk, talk: str) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that owns the conversation, until the block ends."""
    started = desk.folder / "started"
    line = f"touch {shlex.quote(str(started))}; read line; exit 7"
    process = subprocess.Popen(
        desk.command("claim", talk, "--", "sh", "-c", line), stdin=subprocess.PIPE, env=environment({})
    )
    try:
        _wait_for(started)
        yield process
    finally:
        if process.stdin:
            process.stdin.close()
        process.wait()


def _wait_for(file: Path) -> None:
    while not file.exists():
        time.sleep(0.01)


@POSIX
def test_a_command_runs_as_the_owner_and_its_exit_code_is_passed_on(desk: Desk, talk: str) -> None:  # O-1
    done = desk.run("claim", talk, "--", "sh", "-c", f"{TELL}; exit 7")

    epoch, conversation_id = done.stdout.decode().split()
    assert (done.returncode, conversation_id) == (7, talk)
    assert int(epoch) > 0
    assert desk.read("owner", talk)["owner"] is None


@POSIX
def test_what_a_command_appends_with_its_epoch_is_the_owners(desk: Desk, talk: str) -> None:  # O-2
    append = manent("append", talk, "--epoch", '"$MANENT_EPOCH"', "q", "a")

    done = desk.run("claim", "--key", "k", "--", "sh", "-c", append)

    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().startswith(f"turn:{talk}#")


@POSIX
def test_a_command_knows_the_store_and_the_workspace(desk: Desk) -> None:
    desk.type("--workspace", "garden", "new", "Elsewhere", "--key", "e")
    line = manent("list", "--json")

    done = desk.run("--workspace", "garden", "claim", "--key", "e", "--", "sh", "-c", f"cd / && {line}")

    assert [each["key"] for each in json.loads(done.stdout)["conversations"]] == ["e"]


@POSIX
def test_what_a_live_process_owns_is_spared(desk: Desk, talk: str) -> None:
    with owned(desk, talk):
        seen = desk.read("delete", talk, "--dry-run")
        refused = desk.type("delete", talk, "--yes")

    assert seen["conversations"][0]["spared"] == ["owned"]
    assert refused.exit_code == 1


def test_an_epoch_that_is_over_writes_nothing(desk: Desk, talk: str) -> None:  # O-2
    result = desk.type("append", talk, "--epoch", "1", "q", "a")

    assert result.exit_code == 1
    assert "Nothing was written" in result.stderr
    assert desk.read("stats", talk)["messages"] == {}


@POSIX
def test_a_conversation_that_another_process_owns_is_busy(desk: Desk, talk: str) -> None:  # O-1, U-2
    with owned(desk, talk) as process:
        refused = desk.type("claim", talk, "--", "true")
        owner = desk.read("owner", talk)["owner"]
        told = desk.type("owner", talk).stdout

    assert refused.exit_code == 5
    assert f"process {process.pid}" in refused.stderr
    assert (owner["pid"], owner["live"]) == (process.pid, True)
    assert told.startswith(f"process {process.pid} on ") and told.endswith(": runs\n")
    assert process.returncode == 7


@POSIX
def test_a_takeover_ends_the_epoch_of_the_one_before(desk: Desk, talk: str) -> None:  # O-2
    append = manent("append", talk, "--epoch", '"$MANENT_EPOCH"', "q", "a")
    takeover = manent("claim", talk, "--force", "--", "true")

    done = desk.run("claim", talk, "--", "sh", "-c", f"{append} && {takeover} && {append}")

    assert done.returncode == 1
    assert b"is over" in done.stderr
    assert b"was taken over or released while the command ran" in done.stderr
    assert desk.read("stats", talk)["messages"] == {"user": 1, "assistant": 1}


@POSIX
def test_a_claim_is_released_by_its_epoch_and_by_force(desk: Desk, talk: str) -> None:  # O-3
    by_epoch = manent("release", talk, "--epoch", '"$MANENT_EPOCH"')
    by_another = manent("release", talk, "--epoch", "1")

    done = desk.run("claim", talk, "--", "sh", "-c", f"{by_another}; echo $?; {by_epoch}; echo $?")
    with owned(desk, talk):
        forced = desk.read("release", talk, "--force")
        free = desk.read("owner", talk)["owner"]

    assert done.stdout.decode().split() == ["1", "0"]
    assert (forced["released"], free) == (True, None)
    assert desk.type("release", talk, "--force").exit_code == 1
    assert desk.type("release", talk).exit_code == 2


def test_a_claim_is_renewed_while_the_command_runs(
    desk: Desk, talk: str, monkeypatch: pytest.MonkeyPatch
) -> None:  # O-1
    monkeypatch.setattr(claim, "HEARTBEAT_S", 0.02)

    result = desk.type("claim", talk, "--", sys.executable, "-c", UNTIL_RENEWED, str(desk.store), talk)

    assert result.exit_code == 9


@POSIX
def test_an_owner_that_was_killed_is_in_nobodys_way(desk: Desk, talk: str) -> None:  # O-1
    with owned(desk, talk) as process:
        process.kill()
        process.wait()
        told = desk.type("owner", talk).stdout
        taken = desk.type("claim", talk, "--", "true")

    assert "has left it behind" in told
    assert taken.exit_code == 0


@POSIX
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_is_passed_on_and_the_claim_is_released(desk: Desk, talk: str, number: int) -> None:
    with owned(desk, talk) as process:
        process.send_signal(number)
        code = process.wait()

    assert code == 128 + number
    assert desk.read("owner", talk)["owner"] is None


@POSIX
def test_ctrl_c_is_the_commands_to_answer(desk: Desk, talk: str) -> None:
    with owned(desk, talk) as process:
        process.send_signal(signal.SIGINT)
        assert desk.read("owner", talk)["owner"]["live"]

    assert process.returncode == 7


@POSIX
def test_a_command_that_dies_of_a_signal_is_told_as_a_shell_does(desk: Desk, talk: str) -> None:
    assert desk.run("claim", talk, "--", sys.executable, "-c", LOST).returncode == 128 + signal.SIGKILL


def test_a_command_that_cannot_be_started_leaves_no_claim(desk: Desk, talk: str) -> None:
    absent = desk.type("claim", talk, "--", "no-such-command")
    folder = desk.type("claim", talk, "--", str(desk.folder))

    assert (absent.exit_code, folder.exit_code) == (127, 126)
    assert desk.read("owner", talk)["owner"] is None


@pytest.mark.parametrize("words", [["k"], [], ["--key", "k"]])
def test_a_claim_without_a_command_says_what_to_do(desk: Desk, words: list[str]) -> None:  # U-4
    result = desk.type("claim", *words)

    assert result.exit_code == 2
    assert '-- "$SHELL"' in result.stderr


@POSIX
def test_with_json_the_object_alone_is_on_stdout(desk: Desk, talk: str) -> None:  # U-3
    done = desk.run("claim", talk, "--json", "--", "sh", "-c", "echo said; exit 3")

    assert done.returncode == 3
    assert done.stderr == b"said\n"
    answer = json.loads(done.stdout)
    assert (answer["conversation_id"], answer["exit_code"], answer["kept"]) == (talk, 3, True)
