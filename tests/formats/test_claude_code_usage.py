"""Claude Code: tokens count once for each request, and a live file is taken as far as it goes (case 84)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import manent
from manent.opening import import_path
from tests.formats.reading import (
    FIXTURES,
    SAMPLES,
    answered,
    as_line,
    needs_fixtures,
    read_path,
    said,
    text,
    write_lines,
)

USAGE = {"input_tokens": 2, "cache_read_input_tokens": 8, "output_tokens": 100}
FOLDER = FIXTURES / "claude-code"
FILES = sorted(path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.json*"))


def count_by_hand(path: Path) -> tuple[int, int]:
    """Input, with what was cached, and output, straight from the JSON: the last line of a request counts."""
    last: dict[Any, dict[str, Any]] = {}
    for number, line in enumerate(lines_of(path)):
        message = line.get("message")
        if not isinstance(message, dict) or message.get("model") == "<synthetic>":
            continue
        if "assistant" in (line.get("type"), message.get("role")):
            request = (message["id"], line.get("requestId")) if message.get("id") else number
            if isinstance(message.get("usage"), dict):
                last[request] = message["usage"]
    inputs = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    return (
        sum(usage.get(name) or 0 for usage in last.values() for name in inputs),
        sum(usage.get("output_tokens") or 0 for usage in last.values()),
    )


def lines_of(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a file, without what is damaged."""
    if path.suffix == ".json":
        yield from json.loads(path.read_text(encoding="utf-8"))["loglines"]
        return
    for line in path.read_bytes().split(b"\n"):
        try:
            value = json.loads(line)
        except ValueError:
            continue
        if isinstance(value, dict):
            yield value


def count_read(path: Path) -> tuple[int, int]:
    """The same, of what was read."""
    usages = [m.usage for found in read_path(path).conversations for m in found.messages if m.usage]
    return sum(u.input_tokens or 0 for u in usages), sum(u.output_tokens or 0 for u in usages)


@needs_fixtures
@pytest.mark.parametrize("file", FILES)
def test_the_tokens_of_a_known_file_are_those_of_a_count_by_hand(file: str) -> None:  # case 84
    assert count_read(FOLDER / file) == count_by_hand(FOLDER / file)


def test_the_tokens_of_the_sample_are_those_of_a_count_by_hand() -> None:  # case 84
    for path in (SAMPLES / "claude-code").rglob("*.jsonl"):
        assert count_read(path) == count_by_hand(path)


def test_the_sums_of_a_store_are_those_of_the_requests(tmp_path: Path) -> None:  # case 84
    once = [answered(f"a{n}", "u1", text(f"{n}"), answer="m", usage=USAGE) for n in range(3)]
    again = [line | {"uuid": f"{line['uuid']}-again"} for line in once]
    nameless = answered("b1", "a2", text("nameless"), usage=USAGE)
    del nameless["requestId"], nameless["message"]["id"]
    unknown = answered("c1", "b1", text("unknown"))
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None), *once, *again, nameless, unknown)

    with manent.open("memory:") as store:
        import_path(store, file)
        import_path(store, file)
        counts = store.stats()

    assert (counts.input_tokens, counts.output_tokens) == (20, 200)
    assert counts.reports["input_tokens"] == 2  # null is unknown, not zero


def test_tokens_of_a_resumed_session_count_once_in_a_store(tmp_path: Path) -> None:  # case 84
    first = [said("u1", None), answered("a1", "u1", text("one"), usage=USAGE)]
    later = said("u2", "a1", "go on", sessionId="s2", timestamp="2026-02-01T00:00:00Z")
    folder = tmp_path / "projects"
    write_lines(folder / "s1.jsonl", *first)
    write_lines(folder / "s2.jsonl", *(line | {"sessionId": "s2"} for line in first), later)

    with manent.open("memory:") as store:
        report = import_path(store, folder)
        again = import_path(store, folder)
        counts = store.stats()

    assert (counts.conversations, counts.messages_total, counts.output_tokens) == (2, 3, 100)
    assert (report.records, report.added_messages, again.added_messages) == (5, 3, 0)  # I-1, I-2


def test_a_live_file_is_taken_to_its_last_whole_line_and_the_rest_comes_next_time(tmp_path: Path) -> None:
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None))  # case 10
    whole = as_line(answered("a1", "u1", text("an answer")))
    with file.open("ab") as stream:
        stream.write(whole[:40])

    with manent.open("memory:") as store:
        torn = import_path(store, file)
        with file.open("ab") as stream:
            stream.write(whole[40:])
        rest = import_path(store, file)
        texts = [m.text for m in store.conversation(store.list()[0].id).messages()]

    assert [refusal.place for refusal in torn.refusals] == [f"{file.as_posix()}:2"]
    assert "stops in the middle of a line" in torn.refusals[0].reason
    assert (torn.added_messages, rest.added_messages, rest.refusals) == (1, 1, ())
    assert texts == ["hi", "an answer"]


def test_a_damaged_line_costs_itself_alone(tmp_path: Path) -> None:  # case 10
    lines = [as_line(said(f"u{n}", f"u{n - 1}" if n > 1 else None, f"{n}")) for n in range(1, 7)]
    file = write_lines(tmp_path / "s1.jsonl", *lines[:2], lines[2][:30] + b"\n", *lines[3:5], lines[5][:30])

    reading = read_path(file)

    assert [refusal.place for refusal in reading.refusals] == [f"{file.as_posix()}:{n}" for n in (3, 6)]
    assert [refusal.raw for refusal in reading.refusals] == [lines[2][:30], lines[5][:30]]
    assert reading.counts.messages == 4


def test_a_rewritten_file_shows_its_new_words_and_keeps_the_old(tmp_path: Path) -> None:  # I-2
    file = write_lines(tmp_path / "s1.jsonl", said("u1", None, "as it was"))

    with manent.open("memory:") as store:
        import_path(store, file)
        report = import_path(store, write_lines(file, said("u1", None, "as it is")))
        texts = [m.text for m in store.conversation(store.list()[0].id).messages()]
        record = b"".join(store.export_lines())

    assert report.changed_messages == 1
    assert texts == ["as it is"]
    assert b"as it was" in record
