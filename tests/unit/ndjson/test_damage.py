"""A file that is not as it was written is refused as a whole, and nothing is written (C-3, D-9)."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from blake3 import blake3

from manent.errors import FormatError, MergeNeededError
from manent.history.restoring import restore
from manent.model.log import StreamInfo, WorkspaceInfo
from manent.model.parts import TextPart, ToolCallPart
from manent.storage.port import Backend
from manent.testing.builders import a_turn, answered, began, said
from manent.testing.workbench import Workbench
from tests.unit.ndjson.histories import exported, imported, lines_of, memory_store, redact

EVERY_BYTES = 97
"""One byte in so many is changed."""

Edit = Callable[[list[bytes]], list[bytes]]


@cache
def an_export() -> bytes:
    """A small export with something of everything in it; its lines have the same lengths in every run."""
    backend = memory_store()
    bench = Workbench(backend)
    uid, other = "01" * 16, "02" * 16
    with backend.transaction() as tx:
        tx.put_workspace(WorkspaceInfo("aa" * 16, ("a1" * 16,), (("key", "one"),)))
        tx.put_workspace(WorkspaceInfo("bb" * 16, ("b1" * 16,), (("folder", "/two"), ("key", "two"))))
        tx.put_stream(StreamInfo(uid, "aa" * 16, "c1"))
        tx.put_stream(StreamInfo(other, "bb" * 16, "c2"))
    bench.put_metadata(uid, "key", "telegram:1")
    bench.put_metadata(uid, "title", "A \u2028 title \ud83d")
    bench.put_metadata(uid, "plan", {"steps": [1, 2.5, None, True], "next": "\t"})
    stored = bench.record(
        uid,
        began(origin={"format": "by hand"}),
        a_turn("how much?", "42", author="ann", idempotency_key="once"),
        answered((TextPart("words \x00 \ud83d"), ToolCallPart("find", {"a": 1})), thread_id="t1\udc88"),
        said("<b>&amp;</b>\n"),
    )
    redact(bench, uid, stored, 1)
    bench.record(other, began(), said("hi"))
    backend.blobs.put("bb" * 16, [bytes(range(256))])
    return exported(backend)


def places() -> range:
    """The bytes that are changed."""
    return range(0, len(an_export()), EVERY_BYTES)


def assert_refused(export: bytes, *, why: str = ".") -> None:
    """An import into an empty store fails and leaves it empty."""
    backend = memory_store()
    before = exported(backend)
    with pytest.raises((FormatError, MergeNeededError), match=why):
        imported(backend, export)
    assert exported(backend) == before


def resealed(lines: list[bytes]) -> bytes:
    """Lines with an end that says that they are whole, as a forger would write it."""
    body = b"".join(lines[:-1])
    end = {"manent": "end", "digest": blake3(body).hexdigest()}
    return body + json.dumps(end, separators=(",", ":")).encode() + b"\n"


def values(export: bytes) -> list[Any]:
    """What the lines say, however it is written; the end apart."""
    return [json.loads(line) for line in lines_of(export)[:-1]]


@pytest.mark.parametrize("mask", [0x01, 0x20, 0x80])
@pytest.mark.parametrize("place", places())
def test_a_changed_byte_is_refused(place: int, mask: int) -> None:  # C-3, T-2
    export = bytearray(an_export())
    export[place] ^= mask

    assert_refused(bytes(export))


@pytest.mark.parametrize("mask", [0x01, 0x20])
@pytest.mark.parametrize("place", places())
def test_a_changed_byte_under_a_forged_end_is_refused_or_comes_out_as_it_went_in(
    place: int, mask: int
) -> None:  # C-3, I-4
    export = bytearray(an_export())
    export[place] ^= mask
    forged = resealed(lines_of(bytes(export)))

    backend = memory_store()
    try:
        imported(backend, forged)
    except (FormatError, MergeNeededError):
        return

    assert values(exported(backend)) == values(forged)


def event_lines() -> list[int]:
    """The numbers of the lines that hold events."""
    return [number for number, line in enumerate(lines_of(an_export())) if line.startswith(b'{"eventId"')]


@pytest.mark.parametrize("number", event_lines())
@pytest.mark.parametrize("part", range(12))
def test_a_changed_event_is_refused_under_a_forged_end_too(number: int, part: int) -> None:  # C-2
    lines = lines_of(an_export())
    event = bytearray(lines[number])
    event[len(event) * part // 12 + 3] ^= 0x01
    lines[number] = bytes(event)

    assert_refused(resealed(lines))


@pytest.mark.parametrize("size", [*range(0, len(an_export()), 101), len(an_export()) - 1])
def test_a_cut_file_is_refused(size: int) -> None:  # C-3
    assert_refused(an_export()[:size])


@pytest.mark.parametrize("number", range(len(lines_of(an_export()))))
def test_a_file_that_was_cut_between_lines_is_refused(number: int) -> None:  # C-3
    assert_refused(b"".join(lines_of(an_export())[:number]))


@pytest.mark.parametrize("number", range(len(lines_of(an_export())) - 1))
def test_a_missing_line_is_refused(number: int) -> None:  # C-3
    lines = lines_of(an_export())
    del lines[number]

    assert_refused(b"".join(lines))


@pytest.mark.parametrize("number", [0, *event_lines()])
def test_a_missing_header_or_event_is_refused_under_a_forged_end_too(number: int) -> None:  # C-3
    lines = lines_of(an_export())
    del lines[number]

    assert_refused(resealed(lines))


@pytest.mark.parametrize("number", range(1, len(lines_of(an_export()))))
def test_lines_that_changed_places_are_refused_under_a_forged_end_too(number: int) -> None:  # C-3
    lines = lines_of(an_export())
    lines[number - 1], lines[number] = lines[number], lines[number - 1]

    assert_refused(b"".join(lines))
    assert_refused(resealed(lines))


@pytest.mark.parametrize("number", range(len(lines_of(an_export()))))
def test_a_line_that_stands_twice_is_refused_under_a_forged_end_too(number: int) -> None:  # C-3
    lines = lines_of(an_export())
    lines.insert(number, lines[number])

    assert_refused(resealed(lines))


@pytest.mark.parametrize("number", range(len(lines_of(an_export()))))
def test_a_blank_line_is_refused(number: int) -> None:  # T-2
    lines = lines_of(an_export())
    lines.insert(number, b"\n")

    assert_refused(resealed(lines))


def test_an_empty_file_is_refused() -> None:  # D-9
    assert_refused(b"")


def test_lines_after_the_end_are_refused() -> None:  # C-3
    assert_refused(an_export() + lines_of(an_export())[1])


def test_a_file_that_went_through_crlf_is_refused_by_name() -> None:  # T-2
    assert_refused(an_export().replace(b"\n", b"\r\n"), why="CRLF")


def test_a_byte_order_mark_is_refused() -> None:  # T-2
    assert_refused(b"\xef\xbb\xbf" + an_export())


def test_two_exports_in_one_file_are_refused() -> None:
    assert_refused(an_export() + an_export())


def test_a_newer_version_is_refused_by_both_versions() -> None:  # D-9
    newer = an_export().replace(b'"version":1', b'"version":2,"flavour":"new"', 1)

    assert_refused(newer, why="version 2, this manent reads up to 1")


@pytest.mark.parametrize("version", [b"0", b"-1", b"1.0", b'"1"', b"null", b"true"])
def test_a_version_that_is_none_is_refused(version: bytes) -> None:
    assert_refused(an_export().replace(b'"version":1', b'"version":' + version, 1))


def _change(kind: str, **fields: Any) -> Edit:
    """Change fields of the first line of a kind."""

    def edit(lines: list[bytes]) -> list[bytes]:
        number = next(n for n, line in enumerate(lines) if json.loads(line).get("manent") == kind)
        line = json.dumps({**json.loads(lines[number]), **fields}).encode() + b"\n"
        return [*lines[:number], line, *lines[number + 1 :]]

    return edit


FORGERIES: dict[str, Edit] = {
    "an unknown encoding": _change("export", encoding=2),
    "a key of another length": _change("export", sourceKey="00"),
    "an unknown field": _change("workspace", colour="red"),
    "a workspace without its stream": _change("workspace", streams=[]),
    "an alias twice": _change("workspace", aliases=[["key", "one"], ["key", "one"]]),
    "a stream of no workspace": _change("stream", workspace="ab" * 16),
    "no tips": _change("stream", tips=[]),
    "a number as title": _change(
        "stream", registers=[{"field": "title", "value": 7, "seq": 1, "writer": "ab" * 8}]
    ),
    "a stamp of nobody": _change(
        "stream", registers=[{"field": "title", "value": "", "seq": 0, "writer": ""}]
    ),
    "a blob of another digest": _change("blob", digest="ab" * 32),
    "a blob that is no base64": _change("blob", data="?"),
    "a blob of no workspace": _change("blob", workspace="ab" * 16),
    "an unknown record": _change("blob", manent="drafts"),
    "a number as kind": _change("blob", manent=7),
}


@pytest.mark.parametrize("edit", FORGERIES.values(), ids=FORGERIES.keys())
def test_a_record_that_contradicts_the_format_is_refused(edit: Edit) -> None:  # I-3
    assert_refused(resealed(edit(lines_of(an_export()))))


def _event(**fields: Any) -> Edit:
    """Change fields of the first event."""

    def edit(lines: list[bytes]) -> list[bytes]:
        number = event_lines()[0]
        line = json.dumps({**json.loads(lines[number]), **fields}).encode() + b"\n"
        return [*lines[:number], line, *lines[number + 1 :]]

    return edit


HOSTILE_EVENTS: dict[str, Edit] = {
    "an endless seq": _event(seq=1 << 80),
    "no seq": _event(seq=0),
    "an endless time": _event(claimNs=-(1 << 80)),
    "another time": _event(claimNs=1),
    "an unknown encoding": _event(encoding=2),
    "a lone surrogate as kind": _event(kind="\ud83d"),
    "an upper-case identity": _event(eventId="AB" * 16),
    "a short identity": _event(writer="ab"),
    "no leaves": _event(leaves=[]),
    "half a leaf": _event(leaves=[{"name": "skeleton", "digest": "00" * 32, "length": 2}]),
    "a leaf of less than nothing": _event(
        leaves=[{"name": "skeleton", "digest": "00" * 32, "length": -1, "salt": "00" * 16}]
    ),
    "more leaves than an event has": _event(leaves=[{"name": "a", "digest": "00" * 32}] * (1 << 16)),
    "a thread of nobody": _event(threadId="t1"),
    "an unknown field": _event(colour="red"),
    "deep words": _event(payloadJson='{"thread_id":' * 100_000),
}


@pytest.mark.parametrize("edit", HOSTILE_EVENTS.values(), ids=HOSTILE_EVENTS.keys())
def test_a_hostile_event_is_refused(edit: Edit) -> None:  # I-3
    assert_refused(resealed(edit(lines_of(an_export()))))


def test_deep_nesting_in_a_record_is_refused() -> None:  # I-3
    deep = b'{"manent":"workspace","uid":' + b"[" * 100_000 + b"\n"
    lines = lines_of(an_export())

    assert_refused(resealed([lines[0], deep, *lines[2:]]))


def test_an_error_names_the_file_and_the_line() -> None:  # U-4
    lines = lines_of(an_export())
    lines[2] = b"not JSON\n"

    with pytest.raises(FormatError) as caught:
        restore(memory_store(), lines, name="backup.ndjson")

    assert caught.value.place == "backup.ndjson line 3"


def test_a_refused_file_changes_nothing_in_a_store_with_a_history(backend: Backend) -> None:  # D-2
    bench = Workbench(backend)
    bench.record(bench.conversation("mine", workspace="one"), began(), said("mine"))
    before = exported(backend)

    with pytest.raises(FormatError):
        imported(backend, an_export()[:-10])

    assert exported(backend) == before
