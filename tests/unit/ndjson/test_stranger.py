"""The reader that the format page shows, which knows nothing of ours, reads whatever we write (C-1, I-4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from manent.model.ids import BEFORE_ALL
from manent.storage.port import Backend
from tests.docs.blocks import read_blocks
from tests.unit.ndjson.histories import Everything, everything, exported, lines_of, memory_store, write
from tests.unit.ndjson.test_damage import an_export, event_lines, resealed

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "file-format.md"

Reader = Callable[[bytes], Iterator[tuple[dict[str, Any], dict[str, bytes]]]]


@cache
def code_of_the_page() -> str:
    """The block of the page that defines the reader."""
    (code,) = (
        block.code for block in read_blocks(PAGE.read_text("utf-8")) if "def read_export(" in block.code
    )
    return code


@cache
def read_export() -> Reader:
    """The reader of the page."""
    namespace: dict[str, Any] = {}
    exec(compile(code_of_the_page(), str(PAGE), "exec"), namespace)
    reader: Reader = namespace["read_export"]
    return reader


def leaves_in(backend: Backend) -> list[dict[str, bytes]]:
    """The leaves of every event of a store that are there, in the order of an export."""
    with backend.reading() as reader:
        return [
            {leaf.name: leaf.data for leaf in entry.leaves if leaf.data is not None}
            for uid in reader.read_uids("", 1000)
            for entry in reader.read_stream(uid, BEFORE_ALL, 1000)
        ]


def test_the_reader_needs_nothing_of_ours() -> None:
    imports = [line for line in code_of_the_page().splitlines() if "import" in line]

    assert imports == ["import json", "import struct", "from blake3 import blake3"]


@settings(max_examples=60, deadline=None)
@given(everything())
def test_a_stranger_finds_every_hash_and_every_byte(wanted: Everything) -> None:  # C-1, C-2, I-4
    backend = memory_store()
    write(backend, wanted)

    read = [leaves for _, leaves in read_export()(exported(backend))]

    assert read == leaves_in(backend)


@pytest.mark.parametrize("number", event_lines())
@pytest.mark.parametrize(
    "change",
    [
        {"eventId": "ab" * 16},
        {"kind": "message_edited"},
        {"schemaVersion": 2},
        {"seq": 99},
        {"claimNs": 1},
        {"claimNs": None},
        {"encoding": 2},
        {"prevHash": "ab" * 32},
        {"payloadJson": '{"forged":1}'},
        {"leaves": []},
    ],
    ids=str,
)
def test_a_stranger_finds_a_changed_field(number: int, change: dict[str, Any]) -> None:  # C-2
    lines = lines_of(an_export())
    lines[number] = json.dumps({**json.loads(lines[number]), **change}).encode() + b"\n"

    with pytest.raises(AssertionError):
        list(read_export()(resealed(lines)))


@pytest.mark.parametrize("number", event_lines())
def test_a_stranger_finds_a_missing_event(number: int) -> None:  # C-2
    lines = lines_of(an_export())
    del lines[number]

    with pytest.raises(AssertionError):
        list(read_export()(resealed(lines)))
