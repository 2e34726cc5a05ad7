"""Giving conversations out: one at a time, as of one moment, inside the fence, with nothing that is gone."""

from __future__ import annotations

import io
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import manent
from manent.errors import AmbiguousPrefixError, InputError, NotFoundError
from manent.history import giving, messages
from manent.history.messages import Window
from manent.history.runtime import Target
from manent.model.paging import Page
from manent.model.records import StoredMessage
from manent.opening import export_path, export_stream, import_path
from manent.storage.port import Reader

FORMATS = ("ndjson", "archive", "openai", "markdown", "chatgpt")
SAMPLES = Path(__file__).resolve().parents[3] / "samples"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[manent.Store]:
    with manent.open(tmp_path / "conversations.db", clock=lambda: 1_780_000_000_000_000_000) as store:
        yield store


def written(store: manent.Store, format: str, *named: str) -> bytes:
    """An export to a stream."""
    stream = io.BytesIO()
    export_stream(store, stream, format=format, conversations=named)
    return stream.getvalue()


def begun(store: manent.Store, id: str, words: str = "hi") -> None:
    """A conversation of one turn."""
    store.create_with_id(id).append_turn(words, "hello")


def test_one_conversation_is_read_when_it_is_asked_for(
    store: manent.Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(store, "one")
    begun(store, "two")
    read: list[str] = []
    original = messages.read_page

    def reading(reader: Reader, target: Target, window: Window) -> Page[StoredMessage]:
        read.append(target.id)
        return original(reader, target, window)

    monkeypatch.setattr(messages, "read_page", reading)

    found = giving.read_conversations(store._runtime)
    first = next(found)

    assert (first.summary.id, read) == ("two", ["two"])
    assert [each.summary.id for each in found] == ["one"]


def test_all_of_them_are_as_of_one_moment(store: manent.Store) -> None:
    begun(store, "one")
    begun(store, "two")

    found = giving.read_conversations(store._runtime)
    first = next(found)
    store.conversation("one").append_turn("later", "too late")
    (second,) = found

    assert [len(each.messages) for each in (first, second)] == [2, 2]


@pytest.mark.parametrize("format", FORMATS)
def test_a_name_of_another_workspace_is_not_there(format: str, store: manent.Store, tmp_path: Path) -> None:
    with manent.open(tmp_path / "conversations.db", workspace="other") as other:  # N-1
        begun(other, "elsewhere", "their words")
    begun(store, "here")

    with pytest.raises(NotFoundError):
        written(store, format, "elsewhere")
    if format != "markdown":
        assert b"their words" not in written(store, format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_beginning_that_fits_several_is_refused(format: str, store: manent.Store) -> None:
    begun(store, "one-a")
    begun(store, "one-b")

    with pytest.raises(AmbiguousPrefixError):
        written(store, format, "one")


def test_those_that_are_named_come_in_the_order_asked_for_and_once(store: manent.Store) -> None:
    for id in ("one", "two", "three"):
        begun(store, id)

    found = giving.read_conversations(store._runtime, ["three", "one", "three"])

    assert [each.summary.id for each in found] == ["three", "one"]


@pytest.mark.parametrize("format", FORMATS)
def test_a_secret_goes_out_as_it_is_stored(format: str, store: manent.Store, tmp_path: Path) -> None:  # K-1
    import_path(store, SAMPLES / "claude-code")

    export_path(store, tmp_path / "out.zip", format=format)

    data = (tmp_path / "out.zip").read_bytes()
    assert b"[secret:github_token]" in data
    assert b"ghp_" not in data


@pytest.mark.parametrize("format", FORMATS)
def test_what_was_deleted_is_in_no_export(format: str, store: manent.Store) -> None:  # E-1
    begun(store, "gone", "the words that went")
    begun(store, "here")
    store.delete("gone")

    assert b"the words that went" not in written(store, format)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("zone", ["Asia/Seoul", "America/St_Johns"])
def test_an_export_is_the_same_in_every_time_zone(
    format: str, zone: str, store: manent.Store, monkeypatch: pytest.MonkeyPatch
) -> None:  # case 46
    begun(store, "one")
    before = written(store, format)

    with monkeypatch.context() as patch:
        patch.setenv("TZ", zone)
        time.tzset()
        after = written(store, format)
    time.tzset()

    assert after == before


def test_a_format_that_there_is_none_of_is_refused_with_those_that_there_are(store: manent.Store) -> None:
    with pytest.raises(InputError, match="archive, ndjson, openai, markdown, chatgpt"):
        written(store, "docx")


def test_progress_is_told_and_a_failed_export_leaves_nothing(store: manent.Store, tmp_path: Path) -> None:
    begun(store, "one")
    begun(store, "two")
    told: list[int] = []
    export_path(store, tmp_path / "out.jsonl", format="openai", progress=told.append)

    def stop(count: int) -> None:
        raise KeyboardInterrupt(count)

    with pytest.raises(KeyboardInterrupt):
        export_path(store, tmp_path / "half.jsonl", format="openai", progress=stop)

    assert told == [1, 2]
    assert sorted(path.name for path in tmp_path.glob("*jsonl*")) == ["out.jsonl"]
    assert not list(tmp_path.glob(".half*"))
