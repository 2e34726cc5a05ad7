"""Files that commands read and write: exports, receipts, and what an import says about its paths."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from manent.model.imported import ImportReport, Refusal
from tests.surface.command_line import Desk

GOOD_LINE = '{"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ho"}]}\n'


@pytest.fixture
def target(desk: Desk) -> Path:
    """Where an export of a store with one turn may go."""
    desk.say(desk.begin("Fix it"), "q", "a")
    return desk.folder / "out.ndjson"


def a_report(*, refused: int, records: int = 5) -> ImportReport:
    """A report in which everything happens; one message of it is two records."""
    return ImportReport(
        format="openai-messages",
        files=1,
        records=records,
        messages=4,
        conversations=3,
        new_conversations=1,
        grown_conversations=1,
        unchanged_conversations=1,
        deleted_conversations=0,
        added_messages=3,
        known_messages=1,
        changed_messages=0,
        merged_records=1,
        secrets={"github_token": 2, "private_key": 1},
        refusals=tuple(Refusal(place=f"f line {n}", reason="no JSON", raw=b"x") for n in range(refused)),
    )


@pytest.fixture
def importing(monkeypatch: pytest.MonkeyPatch) -> Callable[[ImportReport], None]:
    """Let every import end with a given report."""

    def end_with(report: ImportReport) -> None:
        monkeypatch.setattr("manent.opening.import_path", lambda *_, **__: report)

    return end_with


# --- export


def test_an_export_is_what_the_library_exports_and_its_owners_alone(desk: Desk, target: Path) -> None:  # N-2
    result = desk.type("export", target)

    with desk.open_store() as store:
        lines = list(store.export_lines())
    assert target.read_bytes() == b"".join(lines)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert result.stdout == f"{target}: {len(lines)} lines, {target.stat().st_size:,} bytes\n"
    assert not list(desk.folder.glob(".out*"))


def test_an_export_to_stdout_has_the_same_bytes(desk: Desk, target: Path) -> None:
    desk.type("export", target)

    assert desk.run("export").stdout == target.read_bytes()
    assert desk.run("export", "-").stdout == target.read_bytes()


def test_an_export_never_takes_the_place_of_a_file_unasked(desk: Desk, target: Path) -> None:
    target.write_text("mine", encoding="utf-8")

    result = desk.type("export", target)

    assert result.exit_code == 1
    assert result.stderr == f"manent: {target} is there already; --force replaces it.\n"
    assert target.read_text(encoding="utf-8") == "mine"


def test_an_export_replaces_a_file_when_asked_to(desk: Desk, target: Path) -> None:
    target.write_text("mine", encoding="utf-8")

    assert desk.type("export", target, "--force").exit_code == 0
    assert target.read_bytes().startswith(b'{"manent":"export"')


@pytest.mark.usefixtures("target")
def test_an_export_never_takes_the_place_of_the_store(desk: Desk) -> None:
    link = desk.folder / "link"
    link.symlink_to(desk.store)

    ends = [desk.type("export", place, "--force").exit_code for place in (desk.store, link)]

    assert ends == [2, 2]
    assert desk.type("verify").exit_code == 0


@pytest.mark.usefixtures("target")
def test_an_export_into_a_missing_folder_says_so(desk: Desk) -> None:
    result = desk.type("export", desk.folder / "no" / "out.ndjson")

    assert result.exit_code == 1
    assert "No such file or directory" in result.stderr


def test_an_export_of_all_workspaces_comes_back_as_it_was(desk: Desk, target: Path) -> None:  # I-4
    desk.type("--workspace", "other", "new", "elsewhere")
    desk.type("export", "--all-workspaces", target)
    desk.store = desk.folder / "copy.db"

    code = desk.type("import", "--all-workspaces", target).exit_code

    assert code == 0
    assert desk.run("export", "--all-workspaces").stdout == target.read_bytes()
    assert desk.read("--workspace", "other", "list")["conversations"][0]["title"] == "elsewhere"


@pytest.mark.usefixtures("target")
def test_one_workspace_is_all_that_a_command_sees(desk: Desk) -> None:  # N-1
    inside = desk.read("list")["conversations"][0]["id"]
    fence = ("--workspace", "other")
    desk.type(*fence, "new", "elsewhere")

    assert desk.type(*fence, "show", inside).exit_code == 4
    assert desk.type(*fence, "append", inside, "q", "a").exit_code == 4
    assert [c["title"] for c in desk.read(*fence, "list")["conversations"]] == ["elsewhere"]
    assert len(desk.read("list", "--all-workspaces")["conversations"]) == 2
    assert inside not in desk.run(*fence, "export").stdout.decode("utf-8")


# --- receipts


@pytest.mark.usefixtures("target")
def test_a_receipt_is_all_that_stands_on_stdout(desk: Desk) -> None:
    result = desk.type("verify", "--make-receipt")

    assert json.loads(result.stdout)["count"] == 2
    assert result.stderr == "manent: ok: 2 events in 2 streams\n"


@pytest.mark.usefixtures("target")
def test_a_receipt_finds_that_an_older_file_was_put_back(desk: Desk) -> None:  # C-4
    older = desk.store.read_bytes()
    desk.say(desk.begin())
    receipt = desk.folder / "receipt.json"
    receipt.write_text(desk.type("verify", "--make-receipt").stdout, encoding="utf-8")
    with_all = desk.type("verify", "--receipt", receipt)

    desk.store.write_bytes(older)
    without = desk.type("verify", "--receipt", receipt)

    assert with_all.exit_code == 0
    assert without.exit_code == 1
    assert without.stdout.startswith("receipt  ")


def test_what_is_no_receipt_is_refused(desk: Desk, target: Path) -> None:
    target.write_bytes(b"\xff{}")

    assert desk.type("verify", "--receipt", target).exit_code == 2


# --- import


def test_an_import_that_refuses_nothing_is_done(
    desk: Desk, importing: Callable[[ImportReport], None]
) -> None:  # I-1, K-1
    importing(a_report(refused=0))

    result = desk.type("import", "f.jsonl")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        "f.jsonl (openai-messages)\n"
        "  5 records = 4 messages + 1 merged into others\n"
        "  4 messages = 3 added + 1 known\n"
        "  3 conversations = 1 new + 1 grown + 1 unchanged\n"
        "  1 file, 0 refused\n"
        "  secrets masked: 2 github_token, 1 private_key\n"
    )


def test_an_import_that_refuses_a_part_is_partly_done(
    desk: Desk, importing: Callable[[ImportReport], None]
) -> None:  # U-2, I-1
    importing(a_report(refused=22))

    result = desk.type("import", "f.jsonl", "--dry-run")

    assert result.exit_code == 3
    assert "f.jsonl (openai-messages, dry run)\n" in result.stdout
    assert "  1 file, 22 refused\n" in result.stdout
    assert result.stderr.splitlines()[0] == "manent: refused: f line 0: no JSON"
    assert result.stderr.splitlines()[20] == "manent: refused: 2 more; --json lists them all"


def test_an_import_of_which_nothing_is_read_has_failed(
    desk: Desk, importing: Callable[[ImportReport], None]
) -> None:  # U-2
    importing(a_report(refused=1, records=0))

    assert desk.type("import", "f.jsonl").exit_code == 1


def test_a_refusal_in_json_has_its_place_and_not_its_content(
    desk: Desk, importing: Callable[[ImportReport], None]
) -> None:  # U-3, U-4
    importing(a_report(refused=1))

    result = desk.type("import", "f.jsonl", "--json")

    report = json.loads(result.stdout)["paths"][0]["report"]
    assert report["refusals"] == [{"place": "f line 0", "reason": "no JSON"}]
    assert report["secrets"] == {"github_token": 2, "private_key": 1}


def test_a_path_that_cannot_be_read_costs_that_path(desk: Desk) -> None:  # I-1, U-2
    good = desk.folder / "good.jsonl"
    good.write_text(GOOD_LINE, encoding="utf-8")

    result = desk.type("import", desk.folder / "no-such-file", good)

    assert result.exit_code == 3
    assert "no-such-file" in result.stderr
    assert f"{good} (" in result.stdout
    assert len(desk.read("list")["conversations"]) == 1


def test_an_import_may_be_repeated(desk: Desk) -> None:  # I-2
    good = desk.folder / "good.jsonl"
    good.write_text(GOOD_LINE, encoding="utf-8")

    first, second = desk.type("import", good), desk.type("import", good)

    assert "2 messages = 2 added + 0 known" in first.stdout
    assert "2 messages = 0 added + 2 known" in second.stdout
    assert second.exit_code == 0


def test_a_dry_run_makes_nothing(desk: Desk) -> None:
    good = desk.folder / "good.jsonl"
    good.write_text(GOOD_LINE, encoding="utf-8")

    result = desk.type("import", good, "--dry-run")

    assert result.exit_code == 0
    assert "2 messages = 2 added + 0 known" in result.stdout
    assert not desk.store.exists()


def test_a_dry_run_does_not_pretend_to_look_into_an_export_of_ours(desk: Desk, target: Path) -> None:
    desk.type("export", target)

    result = desk.type("import", target, "--dry-run")

    assert result.exit_code == 2
    assert "--dry-run cannot look into" in result.stderr


def test_an_export_that_was_cut_is_refused_whole(desk: Desk, target: Path) -> None:  # L-2
    desk.type("export", target)
    target.write_bytes(target.read_bytes()[:-10])
    desk.store = desk.folder / "copy.db"

    result = desk.type("import", target)

    assert result.exit_code == 1
    assert result.stderr.startswith(f"manent: {target.name}")
    assert desk.read("list")["conversations"] == []
