"""How commands end: an exit code for each kind of ending, one line on stderr, never a traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable

import pytest

from manent import errors
from manent.cli import exits
from manent.history.store import Store
from tests.surface.command_line import Desk, environment

ANSWER_LARGER_THAN_A_PIPE = "word " * 100_000
WAITING = """
import sys, time
from manent.cli import main

class Stdin:
    def read(self):
        print("waiting", flush=True)
        for _ in range(600):  # a signal may come just before a sleep, which then is slept to its end
            time.sleep(0.1)

sys.stdin = Stdin()
sys.stdin.buffer = sys.stdin
sys.exit(main())
"""


def interrupt(*_: object, **__: object) -> None:
    """What a command meets when somebody presses Ctrl-C."""
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["list"], 0),
        (["--version"], 0),
        (["list", "--help"], 0),
        (["new", "--key", "taken"], 1),
        (["append", "--key", "taken", "--after", "999", "q", "a"], 1),
        (["import", "."], 1),
        (["verify", "--receipt", "no-such-file"], 1),
        (["sing"], 2),
        (["list", "--sing"], 2),
        (["list", "--limit", "0"], 2),
        (["list", "--cursor", "sing"], 2),
        (["append", "--key", "taken", "only a question"], 2),
        (["append", "--key", "taken", "-", "-"], 2),
        (["show"], 2),
        (["show", "abc", "--key", "taken"], 2),
        (["search", " "], 2),
        (["export", "-", "--json"], 2),
        (["--wait", "-1", "list"], 2),
        (["--workspace", " ", "list"], 2),
        (["show", "zzz"], 4),
        (["show", "--key", "zzz"], 4),
        (["append", "zzz", "q", "a"], 4),
        (["import", "no-such-file"], 4),
        (["--store", "no-such-store", "list"], 4),
    ],
)
def test_each_ending_has_its_exit_code(  # U-2
    desk: Desk, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int
) -> None:
    desk.begin("", "--key", "taken")
    monkeypatch.chdir(desk.folder / "..")

    result = desk.type(*words)

    assert (result.exit_code, result.stderr) == (code, "" if code == 0 else result.stderr)
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.StoreBusyError(store="s", waited_s=1), 5),
        (errors.StorageFullError(store="s"), 1),
        (errors.ReadOnlyError(store="s"), 1),
        (errors.NotFoundError("turn", "t"), 4),
        (errors.AmbiguousPrefixError(prefix="a", matches=["ab", "ac"]), 2),
        (errors.AmbiguousAddressError(address="a", matches=["ab", "ac"]), 2),
        (errors.ConflictError(conversation_id="c", expected=1, actual=2), 1),
        (errors.IdempotencyError(address="a"), 1),
        (errors.WorkspaceRequiredError(), 2),
        (errors.EmptyQueryError(), 2),
        (errors.AddressError("a"), 2),
        (errors.FormatError("bad", place="f"), 1),
        (errors.EncodingError("bad", event="e"), 1),
        (OSError(28, "No space left", "f"), 1),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else None,
)
def test_each_error_has_its_exit_code(error: Exception, code: int) -> None:  # U-2
    assert exits.code_of(error) == code


def test_an_error_is_one_line_with_our_name_before_it(desk: Desk) -> None:  # U-4
    desk.begin()

    assert desk.type("show", "zzz").stderr == (
        "manent: No conversation 'zzz' here. `list` shows what is there.\n"
    )


def test_a_mistyped_option_says_where_the_help_is(desk: Desk) -> None:  # U-4
    said = desk.type("list", "--sing").stderr

    assert said.startswith("manent: No such option '--sing'.")
    assert said.endswith("Try 'manent list --help'.\n")
    assert said.count("\n") == 1


def test_no_command_at_all_shows_the_help_and_is_a_mistake(desk: Desk) -> None:
    result = desk.run()

    assert result.returncode == 2
    assert b"Missing command" in result.stderr


def test_a_store_that_is_missed_is_not_made(desk: Desk) -> None:
    result = desk.type("list")

    assert result.exit_code == 4
    assert not desk.store.exists()


def test_a_file_that_is_no_store_is_named_and_left_alone(desk: Desk) -> None:
    desk.store.write_text("a diary " * 1000, encoding="utf-8")

    result = desk.type("list")

    assert result.exit_code == 1
    assert str(desk.store) in result.stderr
    assert desk.store.read_text(encoding="utf-8") == "a diary " * 1000


def test_an_ambiguous_beginning_lists_what_it_fits(desk: Desk) -> None:
    ids = [desk.begin() for _ in range(17)]  # of hexadecimal digits there are 16
    first, times = Counter(name[0] for name in ids).most_common(1)[0]

    result = desk.type("show", first)

    assert result.exit_code == 2
    assert f"fits {times} conversations" in result.stderr
    assert next(name for name in ids if name.startswith(first))[:6] in result.stderr


def test_a_damaged_store_fails_to_verify(desk: Desk, corrupt: Callable[[], None]) -> None:
    desk.say(desk.begin(), "the question that was asked")
    corrupt()

    result = desk.type("verify")

    assert result.exit_code == 1
    assert result.stdout.startswith("content  ")
    assert "question that" not in result.output


@pytest.fixture
def corrupt(desk: Desk) -> Callable[[], None]:
    """Change one word on disk, as no program of ours would."""

    def change() -> None:
        data = desk.store.read_bytes()
        desk.store.write_bytes(data.replace(b"the question", b"the Question"))

    return change


def test_an_interrupted_verify_says_that_it_was_not_finished(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:  # U-1
    desk.begin()
    monkeypatch.setattr(Store, "verify", interrupt)

    result = desk.type("verify")

    assert (result.exit_code, result.stderr) == (130, "manent: interrupted: verify was not finished\n")


def test_an_interrupted_import_says_what_stays(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:  # U-1
    monkeypatch.setattr("manent.opening.import_path", interrupt)

    result = desk.type("import", desk.folder)

    assert result.exit_code == 130
    assert result.stderr == ("manent: interrupted: what came in before stays; repeat the command to go on\n")


def test_an_interrupted_export_leaves_no_file(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:  # U-1
    desk.begin()
    before = sorted(desk.folder.iterdir())
    monkeypatch.setattr("manent.formats.placing._put_in_place", interrupt)

    result = desk.type("export", desk.folder / "out.ndjson")

    assert (result.exit_code, result.stderr) == (130, "manent: interrupted: nothing was exported\n")
    assert sorted(desk.folder.iterdir()) == before


def test_ctrl_c_ends_a_waiting_command_without_a_traceback(desk: Desk) -> None:
    desk.begin("", "--key", "k")
    process = subprocess.Popen(
        (sys.executable, "-c", WAITING, "--store", str(desk.store), "append", "--key", "k", "question", "-"),
        env=environment({}),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"

    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=20)

    assert (process.returncode, said.strip()) == (130, "manent: interrupted")


def test_a_reader_that_goes_away_is_no_error(desk: Desk) -> None:
    desk.say(desk.begin(), "q", ANSWER_LARGER_THAN_A_PIPE)
    process = subprocess.Popen(
        desk.command("export"), env=environment({}), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None

    process.stdout.read(1)
    process.stdout.close()
    said = process.stderr.read()
    process.stderr.close()

    assert (process.wait(timeout=20), said) == (141, b"")
