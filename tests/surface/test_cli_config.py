"""The configuration file: what comes before what, what is wrong in it, and that comments stay."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from manent.cli.preferences import KEYS, path_of_file
from tests.surface.command_line import Desk

COMMENTED = """# mine
wait = 7  # a week
pager = "less"

# at the end
"""


def values(desk: Desk, *words: str) -> dict[str, Any]:
    """What `config show` says of each key: its value and where it comes from."""
    shown = desk.read(*words, "config", "show")["values"]
    return {name: (each["value"], each["origin"]) for name, each in shown.items()}


def test_without_a_file_everything_is_default(desk: Desk) -> None:
    assert values(desk) == {
        "store": (str(desk.store), "option"),
        "workspace": ("default", "default"),
        "wait": (30.0, "default"),
        "durability": ("full", "default"),
        "pager": ("less -FRX", "default"),
        "colour": ("auto", "default"),
    }


def test_an_option_comes_before_the_environment_before_the_file(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.type("config", "set", "workspace", "of the file")
    by_file = values(desk)["workspace"]
    monkeypatch.setenv("MANENT_WORKSPACE", "of the environment")
    by_environment = values(desk)["workspace"]
    by_option = values(desk, "--workspace", "of an option")["workspace"]

    assert by_file == ("of the file", "file")
    assert by_environment == ("of the environment", "environment")
    assert by_option == ("of an option", "option")


def test_an_option_behind_the_command_counts_as_one(desk: Desk) -> None:
    shown = desk.read("config", "show", "--wait", "3")

    assert shown["values"]["wait"] == {"value": 3.0, "origin": "option", "place": None}


def test_what_is_set_counts_for_every_command(desk: Desk) -> None:
    for key, value in (("workspace", "garden"), ("durability", "process"), ("wait", "2.5")):
        assert desk.type("config", "set", key, value).exit_code == 0
    desk.begin("In the garden")

    assert len(desk.read("--workspace", "garden", "list")["conversations"]) == 1
    assert desk.read("--workspace", "default", "list")["conversations"] == []
    facts = {check["name"]: check["facts"] for check in desk.read("doctor", "--quick")["checks"]}
    assert facts["durability"] == {"durability": "process"}


def test_a_store_in_the_file_means_the_same_in_every_folder(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(desk.folder)
    monkeypatch.setenv("HOME", str(desk.folder))

    desk.type("config", "set", "store", "here.db")
    absolute = path_of_file().read_text(encoding="utf-8")
    desk.type("config", "set", "store", "~/notes.db")
    desk.run("new", "At home")

    assert absolute == f'store = "{desk.folder / "here.db"}"\n'
    assert path_of_file().read_text(encoding="utf-8") == 'store = "~/notes.db"\n'


def test_writing_keeps_comments_and_the_rest(desk: Desk) -> None:
    path_of_file().write_text(COMMENTED, encoding="utf-8")

    desk.type("config", "set", "wait", "8")
    desk.type("config", "unset", "pager")

    assert path_of_file().read_text(encoding="utf-8") == COMMENTED.replace("7", "8").replace(
        'pager = "less"\n', ""
    )


def test_a_file_that_is_made_is_its_owners_only(desk: Desk) -> None:  # N-2
    desk.type("config", "set", "wait", "8")

    assert stat.S_IMODE(path_of_file().stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("speed = 3", "'speed'; the keys are store, workspace, wait, durability, pager, colour."),
        ('wait = "long"', "'wait' is a number of seconds from 0 on."),
        ("wait = -1", "'wait' is a number of seconds from 0 on."),
        ("wait = true", "'wait' is a number of seconds from 0 on."),
        ("wait = inf", "'wait' is a number of seconds from 0 on."),
        ('durability = "some"', "'durability' is full or process."),
        ('colour = "red"', "'colour' is auto or never."),
        ("pager = 1", "'pager' is a command, or empty text for none."),
        ('store = "notes.db"', "'store' is an absolute path, or one that begins with ~/."),
        ('workspace = " "', "'workspace' is text that is not blank."),
        ("wait = ", "is not TOML"),
    ],
)
def test_what_is_wrong_is_named_and_config_still_works(desk: Desk, line: str, said: str) -> None:  # U-4
    desk.begin()
    path_of_file().write_text(line, encoding="utf-8")

    listed, shown = desk.type("list"), desk.type("config", "show")

    assert (listed.exit_code, shown.exit_code) == (2, 1)
    for result in (listed, shown):
        assert str(path_of_file()) in result.stderr
        assert said in result.stderr
    assert "workspace   default" in shown.stdout
    assert desk.type("config", "path").stdout == f"{path_of_file()}\n"
    assert desk.type("list", "--help").exit_code == 0


def test_a_file_that_is_no_toml_is_left_as_it_is(desk: Desk) -> None:
    path_of_file().write_text("wait = ", encoding="utf-8")

    result = desk.type("config", "set", "wait", "8")

    assert result.exit_code == 2
    assert "left as it is" in result.stderr
    assert path_of_file().read_text(encoding="utf-8") == "wait = "


def test_a_key_of_no_release_can_be_taken_out(desk: Desk) -> None:
    path_of_file().write_text("speed = 3\nwait = 4\n", encoding="utf-8")

    assert desk.type("config", "unset", "speed").exit_code == 0
    assert path_of_file().read_text(encoding="utf-8") == "wait = 4\n"
    assert desk.type("config", "unset", "speed").exit_code == 2


@pytest.mark.parametrize("words", [["speed", "3"], ["wait", "long"], ["colour", "red"]])
def test_nothing_wrong_is_written(desk: Desk, words: list[str]) -> None:
    assert desk.type("config", "set", *words).exit_code == 2
    assert not path_of_file().exists()


def test_a_variable_that_is_wrong_is_named(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:  # U-4
    monkeypatch.setenv("MANENT_WAIT", "long")

    listed, shown, explained = desk.type("list"), desk.type("config", "show"), desk.type("list", "--help")

    assert (listed.exit_code, shown.exit_code, explained.exit_code) == (2, 1, 0)
    assert "$MANENT_WAIT" in listed.stderr
    assert "$MANENT_WAIT" in shown.stderr


def test_a_link_stays_one(desk: Desk) -> None:
    real = desk.folder / "real.toml"
    real.write_text("wait = 4\n", encoding="utf-8")
    path_of_file().symlink_to(real)

    desk.type("config", "set", "wait", "5")

    assert path_of_file().is_symlink()
    assert real.read_text(encoding="utf-8") == "wait = 5\n"


def test_the_page_names_every_key() -> None:
    page = Path(__file__).parents[2] / "docs/how-to/configure.md"

    text = page.read_text(encoding="utf-8")

    assert [name for name in KEYS if f"| `{name}` |" not in text] == []
