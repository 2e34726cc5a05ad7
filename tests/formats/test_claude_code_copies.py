"""Claude Code: what runs, continues or copies another conversation says so, and nothing is told twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from manent.formats.claude_code_files import find_session_file
from manent.model.imported import ImportedConversation, ImportedLink
from manent.model.parts import NoticePart
from tests.formats.reading import (
    SAMPLES,
    Reading,
    answered,
    branch,
    read_one,
    read_path,
    result,
    said,
    text,
    words,
    write_lines,
)

TASK = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "look around"}}


def at(minute: int) -> str:
    """A time of the same hour."""
    return f"2026-01-05T12:{minute:02}:00Z"


def named(reading: Reading, native_id: str) -> list[ImportedConversation]:
    """The conversations of a name: that of a file of its own, and what others copied of it."""
    return [found for found in reading.conversations if found.native_id == native_id]


def told(reading: Reading) -> list[tuple[str | None, str | None]]:
    """(Conversation, message) of all that was read, each once, as a store keeps it."""
    ids = ((c.native_id, m.native_id) for c in reading.conversations for m in c.messages)
    return sorted(set(ids), key=str)


def ran(message: str | None, session: str = "s1") -> ImportedLink:
    """The link of an agent to the call that ran it."""
    return ImportedLink(relation="spawned_by", native_id=session, message_native_id=message)


# --- agents


def test_an_agent_among_the_lines_of_a_session_names_the_message_that_called_it(tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "s1.jsonl",
        said("u1", None),
        answered("a1", "u1", text("I look"), answer="m"),
        answered("a2", "a1", TASK, answer="m"),
        said("x1", None, "look around", isSidechain=True),
        result("r1", "a2", "t1"),
    )

    main, agent = read_path(file).conversations

    assert main.links == ()
    assert agent.links == (ran("a1"),)  # the call stands on the second line of the message a1


@pytest.mark.parametrize(
    "place",
    ["s1/subagents/agent-b2.jsonl", "s1/subagents/workflows/w1/agent-b2.jsonl", "agent-b2.jsonl"],
)
def test_an_agent_in_a_file_of_its_own_finds_its_call_in_the_file_of_the_session(
    place: str, tmp_path: Path
) -> None:
    write_lines(
        tmp_path / "s1.jsonl",
        said("u1", None),
        answered("a1", "u1", TASK),
        result("r1", "a1", "t1", toolUseResult={"agentId": "b2", "totalTokens": 9}),
    )
    write_lines(tmp_path / place, said("x1", None, "go", isSidechain=True, agentId="b2"))

    agent = named(read_path(tmp_path), "s1/b2")[0]

    assert agent.links == (ran("a1"),)
    assert agent.details == {"session": "s1", "agent": "b2", "spawned_by": "s1", "call_id": "t1"}


def test_an_agent_whose_own_lines_name_the_call_finds_its_message(tmp_path: Path) -> None:
    write_lines(tmp_path / "s1.jsonl", said("u1", None), answered("a1", "u1", TASK))
    agent = {"isSidechain": True, "agentId": "b2", "sourceToolUseID": "t1"}
    write_lines(tmp_path / "s1" / "subagents" / "agent-b2.jsonl", said("x1", None, "go", **agent))

    assert named(read_path(tmp_path), "s1/b2")[0].links == (ran("a1"),)


def test_an_agent_whose_session_is_gone_still_names_it(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1" / "subagents" / "agent-b2.jsonl", said("x1", None, isSidechain=True))

    assert read_one(file).links == (ran(None),)


def test_the_sample_has_an_agent_with_its_call() -> None:
    _, agent = read_path(SAMPLES / "claude-code").conversations

    (link,) = agent.links
    assert (link.relation, link.native_id) == ("spawned_by", "5f0c1d9e-3b7a-4c52-9e41-7a1b2c3d4e5f")
    assert link.message_native_id is not None


@pytest.mark.parametrize("session", ["../s1", "/etc/passwd", "a/b", "", ".", "..", "s" * 200])
def test_the_name_of_a_session_is_never_a_path(session: str, tmp_path: Path) -> None:  # N-2
    write_lines(tmp_path / "s1.jsonl", said("u1", None))
    inside = tmp_path / "below" / "agent-b2.jsonl"

    assert find_session_file(inside, session) is None


def test_a_link_is_no_session_file(tmp_path: Path) -> None:  # I-3
    write_lines(tmp_path / "elsewhere.jsonl", said("u1", None))
    (tmp_path / "s1.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")

    assert find_session_file(tmp_path / "agent-b2.jsonl", "s1") is None


# --- agents that compact a thread


@pytest.mark.parametrize("rename", [False, True])
def test_an_agent_that_replays_the_thread_has_only_what_is_new_in_it(rename: bool, tmp_path: Path) -> None:
    """The copies have the uuids of the thread, or new ones."""
    thread = [said("u1", None, "one"), answered("a1", "u1", text("two")), said("u2", "a1", "three")]
    write_lines(tmp_path / "s1.jsonl", *thread)
    names = {"u1": "c1", "a1": "c2", "u2": "c3"} if rename else {}
    replayed: list[dict[str, Any]] = [
        line
        | {
            "uuid": names.get(line["uuid"], line["uuid"]),
            "parentUuid": names.get(line["parentUuid"], line["parentUuid"]),
            "isSidechain": True,
            "agentId": "acompact-9",
        }
        for line in thread
    ]
    new = {"isSidechain": True, "agentId": "acompact-9"}
    last = names.get("u2", "u2")
    write_lines(
        tmp_path / "s1" / "subagents" / "agent-acompact-9.jsonl",
        *replayed,
        said("n1", last, "summarise", **new),
        answered("n2", "n1", text("summary"), **new),
    )

    reading = read_path(tmp_path)

    agent = named(reading, "s1/acompact-9")[0]
    assert words(agent) == ["summarise", "summary"]
    copied = ImportedLink(relation="copied_from", native_id="s1", message_native_id="u2")
    assert agent.links == (ran(None), copied)
    assert told(reading) == [("s1", "a1"), ("s1", "u1"), ("s1", "u2"), *_both("s1/acompact-9", "n1", "n2")]
    assert reading.counts.records == 3 + 5  # I-1


def _both(conversation: str, *messages: str) -> list[tuple[str, str]]:
    return [(conversation, message) for message in messages]


# --- sessions that were resumed


def resumed(folder: Path, *, growth: bool = False) -> Reading:
    """A session of three lines, and one that copied them under its own name and goes on."""
    old = [said("u1", None, "one", timestamp=at(1)), answered("a1", "u1", text("two"), timestamp=at(2))]
    fresh = [said("u2", "a1", "three", sessionId="s2", timestamp=at(9))]
    write_lines(folder / "s1.jsonl", *old)
    write_lines(
        folder / "s2.jsonl", *(line | {"sessionId": "s2"} for line in old), *(fresh if growth else ())
    )
    return read_path(folder)


def test_a_resumed_session_has_only_what_is_new_and_says_where_it_goes_on(tmp_path: Path) -> None:
    reading = resumed(tmp_path, growth=True)

    (new,) = named(reading, "s2")
    assert words(new) == ["three"]
    assert new.links == (ImportedLink(relation="continues", native_id="s1", message_native_id="a1"),)
    assert told(reading) == [("s1", "a1"), ("s1", "u1"), ("s2", "u2")]
    assert reading.counts.records == 5  # I-1


def test_what_was_copied_is_the_very_message_of_the_other_session(tmp_path: Path) -> None:  # I-2
    own, copied = named(resumed(tmp_path, growth=True), "s1")

    assert copied.messages == own.messages
    assert copied.title == own.title and copied.project == own.project


def test_a_session_that_copied_and_said_nothing_yet_is_there_and_empty(tmp_path: Path) -> None:
    reading = resumed(tmp_path)

    (new,) = named(reading, "s2")
    assert new.messages == ()
    assert new.links == (ImportedLink(relation="continues", native_id="s1", message_native_id="a1"),)
    assert new.details is not None and new.details["notes"]["copied_record"]["count"] == 2


def test_of_a_chain_of_sessions_each_has_its_own_words(tmp_path: Path) -> None:
    one = [said("u1", None, "one", timestamp=at(1))]
    two = [*one, said("u2", "u1", "two", timestamp=at(2))]
    three = [*two, said("u3", "u2", "three", timestamp=at(3))]
    for session, lines in (("s1", one), ("s2", two), ("s3", three)):
        write_lines(tmp_path / f"{session}.jsonl", *(line | {"sessionId": session} for line in lines))

    reading = read_path(tmp_path)

    assert told(reading) == [("s1", "u1"), ("s2", "u2"), ("s3", "u3")]
    assert [link.native_id for link in named(reading, "s3")[0].links] == ["s2"]
    assert reading.counts.records == 6  # I-1


def test_a_long_chain_of_sessions_is_read_in_a_time_that_does_not_explode(tmp_path: Path) -> None:  # I-3
    lines: list[dict[str, Any]] = []
    for number in range(12):
        lines.append(said(f"u{number}", f"u{number - 1}" if number else None, timestamp=at(number)))
        session = f"s{number:02}"
        write_lines(tmp_path / f"{session}.jsonl", *(line | {"sessionId": session} for line in lines))

    reading = read_path(tmp_path)

    assert told(reading) == sorted((f"s{n:02}", f"u{n}") for n in range(12))
    assert reading.counts.records == sum(range(1, 13))


def test_other_words_under_a_copied_id_are_the_new_sessions_own(tmp_path: Path) -> None:  # I-1
    write_lines(tmp_path / "s1.jsonl", said("u1", None, "one", timestamp=at(1)))
    write_lines(
        tmp_path / "s2.jsonl",
        said("u1", None, "one", timestamp=at(1), sessionId="s2"),
        said("u1", None, "other", timestamp=at(2), sessionId="s2"),
    )

    assert words(named(read_path(tmp_path), "s2")[0]) == ["other"]


def test_a_session_whose_origin_is_gone_keeps_all_of_its_lines(tmp_path: Path) -> None:
    resumed(tmp_path, growth=True)
    (tmp_path / "s1.jsonl").unlink()

    conversation = read_one(tmp_path / "s2.jsonl")

    assert words(conversation) == ["one", "two", "three"]
    assert conversation.links == ()


def test_two_sessions_in_one_file_are_linked_where_the_second_goes_on(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s2.jsonl", said("u1", None), said("u2", "u1", sessionId="s2"))

    first, second = read_path(file).conversations

    assert (first.native_id, first.links) == ("s1", ())
    assert second.links == (ImportedLink(relation="continues", native_id="s1", message_native_id="u1"),)


# --- forks


def forked(uuid: str, parent: str | None, content: str) -> dict[str, Any]:
    """A line that was copied by a fork, as it says itself."""
    origin = {"sessionId": "s1", "messageUuid": uuid}
    return said(uuid, parent, content, sessionId="s2", forkedFrom=origin)


@pytest.mark.parametrize("origin_is_here", [True, False])
def test_a_fork_has_what_is_new_and_names_the_message_that_it_left_at(
    origin_is_here: bool, tmp_path: Path
) -> None:
    if origin_is_here:
        write_lines(tmp_path / "s1.jsonl", said("u1", None, "one"), said("u2", "u1", "two"), said("u3", "u2"))
    write_lines(
        tmp_path / "s2.jsonl",
        forked("u1", None, "one"),
        forked("u2", "u1", "two"),
        said("v3", "u2", "another way", sessionId="s2"),
    )

    reading = read_path(tmp_path)

    (fork,) = named(reading, "s2")
    assert words(fork) == ["another way"]
    assert fork.links == (ImportedLink(relation="copied_from", native_id="s1", message_native_id="u2"),)
    assert [words(found)[:2] for found in named(reading, "s1")] == [["one", "two"]] * (1 + origin_is_here)


def test_a_fork_that_copied_nothing_names_its_message(tmp_path: Path) -> None:
    origin = {"sessionId": "s0", "messageUuid": "m9"}
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None, forkedFrom=origin))

    conversation = read_one(file)

    assert words(conversation) == ["hi"]
    assert conversation.links == (
        ImportedLink(relation="copied_from", native_id="s0", message_native_id="m9"),
    )


# --- compaction


def test_a_compaction_keeps_the_chain_and_hides_its_summary(tmp_path: Path) -> None:
    boundary = {
        "type": "system",
        "subtype": "compact_boundary",
        "uuid": "b1",
        "parentUuid": None,
        "logicalParentUuid": "a1",
        "sessionId": "s1",
        "content": "Conversation compacted",
    }
    file = write_lines(
        tmp_path / "s1.jsonl",
        said("u1", None),
        answered("a1", "u1", text("yes")),
        boundary,
        said("c1", "b1", "This session goes on …", isCompactSummary=True),
        said("u2", "c1", "go on"),
    )

    conversation = read_one(file)

    assert branch(conversation) == ["u1", "a1", "b1", "c1", "u2"]
    assert [found.hidden for found in conversation.messages] == [False, False, True, True, False]


def test_clearing_old_results_is_a_hidden_notice_and_breaks_no_chain(tmp_path: Path) -> None:
    cleared = {
        "type": "system",
        "subtype": "microcompact_boundary",
        "uuid": "b1",
        "parentUuid": "a1",
        "sessionId": "s1",
        "content": "Context microcompacted",
    }
    file = write_lines(
        tmp_path / "s1.jsonl", said("u1", None), answered("a1", "u1", text("yes")), cleared, said("u2", "b1")
    )

    conversation = read_one(file)

    assert branch(conversation) == ["u1", "a1", "u2"]
    (notice,) = [found for found in conversation.messages if found.hidden]
    assert notice.parts == (NoticePart("claude-code:system:microcompact_boundary", "Context microcompacted"),)
