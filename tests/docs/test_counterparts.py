"""The checklist of counterparts is whole, and its page says the same."""

from __future__ import annotations

import pkgutil
import re
from pathlib import Path

import pytest

from manent.seeds import ConversationService, ConversationStore, SessionRepo
from tests.docs.counterparts import (
    CHANGED,
    LATER,
    PAGE,
    ROOT,
    TITLES,
    UNTESTED,
    VERDICTS,
    Row,
    page_of,
    read_rows,
)

ROWS = read_rows()
IDS = [f"{row.document}-{row.old}" for row in ROWS]
TESTS = sorted({test for row in ROWS for test in row.tests if not test.startswith(UNTESTED)})

NAMES = {
    ("004", "call"): """
        new workspace_id_for_path wal_fallback_notice writer_fingerprint create create_with_id exists
        append_turn append_turn_full load load_turn list latest_open end_conversation
        link_conversation_to_node claim release heartbeat live_owner is_owner_live create_roadmap load_roadmap
        update_roadmap list_roadmaps rename update_scratchpad update_plan_snapshot delete resolve_id
        verify_chain search workspace_key_v2 sanitize_fts5_query
    """,
    ("004", "type"): """
        ConversationRecord ConversationTurn ConversationSummary ToolEvent PhantomReach ClaimOutcome::Claimed
        ClaimOutcome::HeldBy StoredOwner Plan Subtask Roadmap RoadmapSummary PlanSnapshot SearchHit
        Clone::clone Clone::clone_from Debug::fmt
    """,
    ("004", "table"): "conversations turns turns_fts live_owners roadmaps",
    ("004", "column"): """
        workspace_key end_reason events phantom_reaches scratchpad plan roadmap_id node_id tool_names
        tool_args_digest activity_tick prev_hash tip_hash encoding_version seq tokens_in tokens_out
    """,
    ("004", "command"): "/end /restart :wq /recall /conversation /resume /roadmap",
    ("004", "tool"): "memory_fetch recall plan_get",
    ("004", "block"): "<state> <plan>",
    ("004", ""): """
        conversations.db conversations/<workspace prune per-session hooks updated_at_unix_nanos
        journal_mode=DELETE IMMEDIATE MATCH bm25 snippet >>> <<< turn:<conversation>#<seq> plan
    """,
    ("000", "table"): "chat_sessions chat_turns",
    ("000", "column"): """
        chosen automatic turn_id turn_index question answer created_at updated_at title config_snapshot_json
        citations_json
    """,
    ("000", ""): """
        idx_chat_turns_session UNIQUE CASCADE V004__chat_sessions.sql schema_version ChatSessionRepo
        SqliteStore create_session get_session list_sessions delete_session append_turn list_turns --session
        --data-only TUI --repl :q :new :save
    """,
    ("003", ""): """
        ensureConversationTable saveMessage getRecentMessages searchRelevantMessages getSmartContext
        getConversationStats archiveOldConversations archiveUserConversations generateArchiveSummary
        ConversationMessage ConversationStats ArchiveResult Env D1Database idx_conv_tables_last_msg
        conversation-service.ts archive-service.ts 008_conversation_tables.sql cron
    """,
    ("003", "table"): "conversation_tables conv_{telegram_id} message_buffer summaries",
    ("003", "column"): "role tool_calls tool_results created_at",
    ("003", "command"): "/history /search /stats",
}
"""Every name of each document, by what it is, so that none can be dropped from the checklist unseen."""

ERRORS = (
    *("not found", "unknown encoding version", "token count out of range", "bad roadmap TOML", "busy"),
    *("invalid conversation id", "ambiguous prefix", "chain violation", "empty query"),
    *("an id that another workspace has", "unreadable JSON column"),
)

FAÇADES = {"004": ConversationStore, "000": SessionRepo, "003": ConversationService}

_PUBLIC = re.compile(r"\bmanent(?:\.\w+)+")
_NOT_PUBLIC = re.compile(r"(?<![\w.])(?:[A-Z]\w+|seeds|model|history|formats)\.\w+")


def test_the_page_is_what_the_checklist_gives() -> None:
    assert PAGE.read_text(encoding="utf-8") == page_of(ROWS)


@pytest.mark.parametrize(("document", "kind"), NAMES)
def test_each_name_of_a_document_has_a_row(document: str, kind: str) -> None:
    rows = [row.old for row in ROWS if row.document == document]

    missing = [
        name
        for name in NAMES[document, kind].split()
        if not any(re.search(_pattern(kind, name), old) for old in rows)
    ]
    assert missing == []


def _pattern(kind: str, name: str) -> str:
    """What a row is called that is about this name."""
    found = re.escape(name)
    match kind:
        case "call":
            return rf"\A{found}\("
        case "type":
            return rf"\A{found}(?:\(|\Z)"
        case "":
            return rf"(?<!\w){found}(?!\w)"
        case _:
            return rf"\A{kind}s? .*(?<!\w){found}(?!\w)"


@pytest.mark.parametrize("error", ERRORS)
def test_each_error_of_the_first_document_has_a_row(error: str) -> None:
    assert [row.document for row in ROWS if row.old == f"error: {error}"] == ["004"]


@pytest.mark.parametrize("document", FAÇADES)
def test_each_public_call_of_a_façade_has_a_row(document: str) -> None:
    cls = FAÇADES[document]
    told = {name for row in ROWS if row.document == document for name in _PUBLIC.findall(row.ours)}

    public = {f"manent.seeds.{cls.__name__}.{name}" for name in dir(cls) if not name.startswith("_")}
    assert public - told == set()


def test_no_name_stands_twice() -> None:
    names = [(row.document, row.old) for row in ROWS]

    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_no_cell_is_empty(row: Row) -> None:
    assert row.document in TITLES
    assert row.verdict in VERDICTS
    assert row.old.strip() and row.ours.strip()
    assert bool(row.because.strip()) == (row.verdict in (CHANGED, LATER))


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_what_is_ours_can_be_imported_as_it_stands_there(row: Row) -> None:
    for name in _PUBLIC.findall(row.ours):
        pkgutil.resolve_name(name)

    assert _NOT_PUBLIC.findall(row.ours) == []


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_a_row_names_a_test_or_says_why_none_can_be(row: Row) -> None:
    assert row.tests and all(test.strip() for test in row.tests)
    if row.untested:
        assert row.verdict == LATER and len(row.tests) == 1
        assert row.tests[0].removeprefix(UNTESTED).strip()
    if row.verdict == LATER and _PUBLIC.search(row.ours):
        assert not row.untested, "there is a call, so that there is a test of it"


@pytest.mark.parametrize("test", TESTS)
def test_a_test_that_a_row_names_is_there(test: str) -> None:
    path, _, name = test.partition("::")
    *_, function = name.split("::")

    assert re.search(rf"^ *(?:async )?def {function}\(", Path(ROOT, path).read_text("utf-8"), re.MULTILINE)
