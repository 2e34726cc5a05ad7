"""The one-time import of the old JSON tree."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import manent
from manent.model.plans import PlanSnapshot, Step, StepStatus
from manent.model.workspaces import Workspace
from manent.parts import PhantomReach, ToolEvent
from manent.seeds import ConversationStore, migrate_legacy
from manent.seeds.legacy import LegacyReport
from manent.testing.clocks import NOON_NS
from tests.unit.seeds.trees import a_record, old_key, plant


def ids(store: ConversationStore) -> list[str]:
    """The ids that a store lists, in its order."""
    return [summary.id for summary in store.list()]


def report_of(store: ConversationStore) -> LegacyReport:
    """What opening a store did to a tree that was there."""
    assert store.legacy_report is not None
    return store.legacy_report


def test_a_store_without_a_tree_has_no_report(store: ConversationStore, root: Path) -> None:
    assert store.legacy_report is None
    assert migrate_legacy(root) == LegacyReport()
    assert migrate_legacy(root / "nowhere") == LegacyReport()
    assert not (root / "nowhere").exists()


def test_everything_in_a_record_comes_in(root: Path, workspace: Path) -> None:
    event = {"tool": "grep", "args_digest": "path b3:0011223344556677", "ok": False, "duration_ms": 12}
    reaches: list[dict[str, Any]] = [
        {"name_as_called": "find", "resolution": {"kind": "unknown"}},
        {
            "name_as_called": "look",
            "resolution": {"kind": "rewrite", "detail": "grep"},
            "active_context_features": ["tools"],
        },
    ]
    turn = {"user": "why?", "assistant": "so.", "events": [event], "phantom_reaches": reaches}
    record = a_record(
        workspace,
        persona="coder",
        turns=[{**turn, "tokens_in": 812, "tokens_out": None, "later": 1}, {"user": "and?", "assistant": ""}],
        scratchpad={"todo": "nothing"},
        plan={"steps": [{"description": "mend it", "status": "Active"}]},
        roadmap_id="road",
        node_id="node",
        unknown="passed over",
    )
    plant(root, record)

    with ConversationStore(root, workspace) as store:
        found = store.load(record["id"])
        first, second = found.turns

        assert (found.title, found.persona, found.scratchpad) == (
            "conversation 0",
            "coder",
            {"todo": "nothing"},
        )
        assert found.plan == PlanSnapshot((Step("mend it", StepStatus.ACTIVE),))
        assert (found.roadmap_id, found.node_id) == ("road", "node")
        assert (found.created_at_unix_nanos, found.updated_at_unix_nanos) == (NOON_NS, NOON_NS + 1_000)
        assert (first.user, first.assistant, first.tokens_in, first.tokens_out) == ("why?", "so.", 812, None)
        assert first.events == (ToolEvent("grep", "path b3:0011223344556677", False, 12),)
        assert first.phantom_reaches == (
            PhantomReach("find", "unknown"),
            PhantomReach("look", "rewrite", "grep", ("tools",)),
        )
        assert (second.user, second.tokens_in) == ("and?", None)
        assert first.ts_claim == second.ts_claim == NOON_NS + 1_000
        assert report_of(store) == LegacyReport(
            records=1, imported=1, turns=2, backup=str(root / "conversations.imported")
        )
        store.verify_chain(record["id"])
        assert store._store.verify().ok


def test_what_came_in_goes_on_and_is_offered_for_resuming(root: Path, workspace: Path) -> None:
    plant(root, a_record(workspace, 1))
    plant(root, a_record(workspace, 2))

    with ConversationStore(root, workspace) as store:
        latest = store.latest_open()
        assert latest is not None and latest.id == a_record(workspace, 2)["id"]
        store.append_turn(a_record(workspace, 1)["id"], "and now?", "it goes on")
        turns = store.load(a_record(workspace, 1)["id"]).turns
        assert [turn.user for turn in turns] == ["question 1.0", "question 1.1", "and now?"]


def test_lists_are_in_the_order_of_the_last_word_then_the_beginning_then_the_id(
    root: Path, workspace: Path
) -> None:
    times = {"d": (5, 9), "c": (5, 9), "b": (4, 9), "a": (9, 8)}
    for id, (created, updated) in times.items():
        fields = {"created_at_unix_nanos": created, "updated_at_unix_nanos": updated}
        plant(root, a_record(workspace, id=id, **fields))

    with ConversationStore(root, workspace) as store:
        assert ids(store) == ["a", "b", "c", "d"]


@pytest.mark.parametrize("time", [1 << 63, (1 << 128) - 1])
def test_a_time_beyond_64_bits_becomes_the_greatest(root: Path, workspace: Path, time: int) -> None:
    plant(root, a_record(workspace, id="a", updated_at_unix_nanos=time))

    with ConversationStore(root, workspace) as store:
        assert store.load("a").updated_at_unix_nanos == (1 << 63) - 1


def test_the_tree_becomes_a_backup_with_every_byte(root: Path, workspace: Path) -> None:
    file = plant(root, a_record(workspace))
    content = file.read_bytes()

    ConversationStore(root, workspace).close()

    backup = root / "conversations.imported"
    assert not (root / "conversations").exists()
    assert (backup / file.relative_to(root / "conversations")).read_bytes() == content


def test_a_second_tree_gets_the_next_name_and_known_records_are_counted(root: Path, workspace: Path) -> None:
    plant(root, a_record(workspace, 1))
    ConversationStore(root, workspace).close()
    (root / "conversations.imported.1").mkdir()
    plant(root, a_record(workspace, 1))
    plant(root, a_record(workspace, 2))

    with ConversationStore(root, workspace) as store:
        assert report_of(store) == LegacyReport(
            records=2, imported=1, known=1, turns=2, backup=str(root / "conversations.imported.2")
        )
        assert len(store.load(a_record(workspace, 1)["id"]).turns) == 2


def test_a_known_record_that_says_more_is_reported(root: Path, workspace: Path) -> None:
    record = a_record(workspace)
    plant(root, record)
    ConversationStore(root, workspace).close()
    plant(root, {**record, "turns": [*record["turns"], {"user": "later", "assistant": "on"}]})

    with ConversationStore(root, workspace) as store:
        report = report_of(store)
        assert (report.known, report.imported) == (1, 0)
        assert [item.reason for item in report.passed_over] == [
            "it has 3 turns and 2 are here; nothing was added"
        ]


def test_what_was_deleted_here_stays_deleted_when_its_file_comes_again(root: Path, workspace: Path) -> None:
    record = a_record(workspace)
    plant(root, record)
    with ConversationStore(root, workspace) as store:
        store.delete(record["id"])
    plant(root, record)

    with ConversationStore(root, workspace) as store:
        assert report_of(store).deleted == 1
        assert store.list() == []


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"workspace_id": "elsewhere"}, "its workspace_id is not the name of its folder"),
        ({"id": "../../x"}, "its id is none: ASCII letters, digits and hyphens make one"),
        ({"id": ""}, "its id is none: ASCII letters, digits and hyphens make one"),
        ({"turns": [{"user": "no answer"}]}, None),
        ({"turns": [{"user": "q", "assistant": "a", "tokens_in": -1}]}, None),
        ({"scratchpad": {"a": 1}}, None),
        ({"plan": {"steps": [{"text": "x", "status": "odd"}]}}, None),
        ({"created_at_unix_nanos": 1.5}, None),
    ],
)
def test_a_record_that_is_none_is_refused_by_name_and_stays_in_its_place(
    root: Path, workspace: Path, fields: dict[str, Any], reason: str | None
) -> None:
    bad = plant(root, a_record(workspace, 1, **fields), key=old_key(workspace), name="bad.json")
    good = plant(root, a_record(workspace, 2))

    with ConversationStore(root, workspace) as store:
        report = report_of(store)

        assert ids(store) == [a_record(workspace, 2)["id"]]
        assert (report.records, report.imported, len(report.refused)) == (2, 1, 1)
        assert report.refused[0].place == str(bad)
        assert reason in (None, report.refused[0].reason)
        assert not report.ok and report.kept_in_place
        assert bad.exists() and not good.exists()
        assert (root / "conversations.imported" / good.relative_to(root / "conversations")).exists()


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"id": "a"}', "[" * 10_000])
def test_a_file_that_is_no_record_is_refused(root: Path, workspace: Path, content: str) -> None:
    plant(root, content, key=old_key(workspace), name="bad.json")

    with ConversationStore(root, workspace) as store:
        assert len(report_of(store).refused) == 1
        assert report_of(store).backup is None
        assert store.list() == []


def test_a_link_is_refused_and_leads_nowhere(root: Path, workspace: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text(json.dumps(a_record(workspace)), encoding="utf-8")
    folder = plant(root, a_record(workspace, 2)).parent
    (folder / "link.json").symlink_to(secret)
    (root / "conversations" / "linked").symlink_to(tmp_path)

    with ConversationStore(root, workspace) as store:
        assert len(report_of(store).refused) == 2
        assert ids(store) == [a_record(workspace, 2)["id"]]


def test_what_is_no_record_is_told_of_and_goes_to_the_backup_too(root: Path, workspace: Path) -> None:
    folder = plant(root, a_record(workspace)).parent
    (folder / "note.txt").write_text("a note", encoding="utf-8")
    (folder / "inner").mkdir()
    (root / "conversations" / "stray.json").write_text("{}", encoding="utf-8")

    with ConversationStore(root, workspace) as store:
        report = report_of(store)

    assert report.ok and not report.kept_in_place
    assert sorted(Path(item.place).name for item in report.passed_over) == ["inner", "note.txt", "stray.json"]
    assert (root / "conversations.imported" / "stray.json").exists()


def test_all_workspaces_come_in_and_each_finds_its_own(root: Path, workspace: Path, tmp_path: Path) -> None:
    other, gone = tmp_path / "other", tmp_path / "gone"
    other.mkdir()
    for number, folder in enumerate((workspace, other, gone)):
        plant(root, a_record(folder, number, id="same-id"))

    with ConversationStore(root, workspace) as store, ConversationStore(root, other) as beside:
        assert store.load("same-id").title == "conversation 0"
        assert beside.load("same-id").title == "conversation 1"
    with manent.open(root / "conversations.db", workspace=None) as owner:
        assert [lost.folder for lost in owner.workspaces.find_lost()] == [str(gone)]


def test_a_record_whose_key_fits_its_folder_no_more_waits_under_the_key(
    root: Path, workspace: Path, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    plant(root, a_record(link, workspace_id=old_key(workspace)))  # told by a spelling that leads nowhere yet
    migrate_legacy(root)
    with manent.open(root / "conversations.db", workspace=None) as owner:
        (waiting,) = owner.workspaces.list()
        assert waiting.aliases == (Workspace("newt_v1", old_key(workspace)),)

    with ConversationStore(root, workspace) as store:
        assert ids(store) == [a_record(link)["id"]]
    with manent.open(root / "conversations.db", workspace=None) as owner:
        (found,) = owner.workspaces.list()
        assert found.uid == waiting.uid
        assert Workspace.folder(workspace) in found.aliases


def test_a_folder_that_has_a_workspace_of_its_own_by_now_gets_both(
    root: Path, workspace: Path, tmp_path: Path
) -> None:
    with ConversationStore(root, workspace) as store:
        store.create_with_id("new-one", "")
    record = a_record(tmp_path / "link", workspace_id=old_key(workspace))
    plant(root, record)

    with ConversationStore(root, workspace) as store:
        assert sorted(ids(store)) == sorted(["new-one", record["id"]])
        assert store._store.verify().ok
    with ConversationStore(root, workspace) as store:
        assert len(store.list()) == 2


def test_a_conversation_that_was_linked_before_it_came_in_keeps_its_link(root: Path, workspace: Path) -> None:
    with ConversationStore(root, workspace) as store:
        store.link_conversation_to_node("s-1", "road", "node")
    plant(root, a_record(workspace, id="s-1"))

    with ConversationStore(root, workspace) as store:
        assert (store.load("s-1").roadmap_id, len(store.load("s-1").turns)) == ("road", 2)


def test_secrets_are_masked_on_the_way_in_and_counted(root: Path, workspace: Path) -> None:  # K-1
    token = "ghp_" + "Ab1" * 12
    record = a_record(workspace, turns=[{"user": f"use {token}", "assistant": f"{token}?"}], title=token)
    plant(root, {**record, "scratchpad": {"note": token}})

    with ConversationStore(root, workspace) as store:
        assert sum(report_of(store).secrets.values()) == 4
    assert token.encode() not in b"".join(file.read_bytes() for file in root.glob("conversations.db*"))


def test_odd_text_comes_back_equal(root: Path, workspace: Path) -> None:  # T-1
    said = "NUL \0, lone \ud800, \u2028, 👩‍👩‍👧, ‮"
    plant(root, a_record(workspace, id="a", turns=[{"user": said, "assistant": said}], title=f"t {said}"))

    with ConversationStore(root, workspace) as store:
        (turn,) = store.load("a").turns
        assert turn.user == turn.assistant == said
        assert store.load("a").title == f"t {said}".strip()


def test_when_every_name_is_taken_the_tree_stays_and_is_known(
    root: Path, workspace: Path, caplog: pytest.LogCaptureFixture
) -> None:
    plant(root, a_record(workspace))
    for name in ("conversations.imported", *(f"conversations.imported.{n}" for n in range(1, 100))):
        (root / name).mkdir()

    for expected in ((1, 0), (0, 1)):
        with ConversationStore(root, workspace) as store:
            report = report_of(store)
            assert (report.imported, report.known) == expected
            assert (report.backup, report.kept_in_place) == (None, True)
    assert "every name for a backup is taken" in caplog.text


def test_a_record_that_is_written_meanwhile_comes_in_at_the_next_opening(
    root: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(root, a_record(workspace, 1))
    rename = Path.rename

    def after_a_late_record(self: Path, target: Any) -> Path:
        if self == root / "conversations":
            plant(root, a_record(workspace, 2))
        return rename(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", after_a_late_record)
        with ConversationStore(root, workspace) as store:
            assert ids(store) == [a_record(workspace, 1)["id"]]
            assert report_of(store).kept_in_place

    with ConversationStore(root, workspace) as store:
        assert ids(store) == [a_record(workspace, number)["id"] for number in (1, 2)]


def test_another_opener_whose_rename_wins_is_a_success(
    root: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(root, a_record(workspace))
    rename = Path.rename

    def after_another(self: Path, target: Any) -> Path:
        os.rename(self, root / "conversations.imported")  # noqa: PTH104 - the other opener's
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", after_another)

    with ConversationStore(root, workspace) as store:
        assert report_of(store).imported == 1
        assert not report_of(store).kept_in_place
