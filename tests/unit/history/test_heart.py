"""The library's heart, in the shape that applications write it."""

from __future__ import annotations

import itertools
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

import manent
from manent.errors import (
    AlreadyExistsError,
    AmbiguousPrefixError,
    ConflictError,
    IdempotencyError,
    InputError,
    NotFoundError,
    StoreError,
    WorkspaceRequiredError,
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[manent.Store]:
    with manent.open(tmp_path / "conversations.db", workspace="demo") as store:
        yield store


def test_a_turn_comes_back_with_everything_that_was_appended(store: manent.Store) -> None:
    conv = store.create("Fix the login bug", persona="coder")

    turn = conv.append_turn(
        "Why is it slow?",
        "Because …",
        tool_events=[manent.ToolEvent("grep", args_digest="…", ok=True, duration_ms=12)],
        citations=[manent.Citation(marker="1", target="doc.md")],
        usage=manent.Usage(input_tokens=812, output_tokens=95),
        phantom_reaches=[manent.PhantomReach("grap", "correct", "grep")],
        author="user-7",
    )

    assert conv.get_turn(turn.seq) == turn
    assert conv.turns()[0] == turn
    assert str(turn.address) == f"turn:{conv.id}#{turn.seq}"
    assert (turn.question, turn.answer, turn.state) == ("Why is it slow?", "Because …", "complete")


def test_a_turn_that_nobody_measured_has_no_usage(store: manent.Store) -> None:
    turn = store.create().append_turn("q", "a")

    assert turn.usage is None


def test_a_conversation_is_found_by_its_id_by_a_unique_beginning_and_by_its_key(store: manent.Store) -> None:
    by_key = store.conversation(key="telegram:123", create=True)

    assert store.conversation(by_key.id).uid == by_key.uid
    assert store.conversation(by_key.id[:12]).uid == by_key.uid
    assert store.conversation(key="telegram:123").uid == by_key.uid
    assert store.conversation(key="telegram:123", create=True).uid == by_key.uid


def test_an_id_never_reaches_a_key_and_never_creates(store: manent.Store) -> None:
    store.conversation(key="telegram:123", create=True)

    with pytest.raises(NotFoundError):
        store.conversation("telegram:123")
    with pytest.raises(NotFoundError):
        store.conversation(key="telegram")
    with pytest.raises(InputError):
        store.conversation("x", create=True)
    with pytest.raises(InputError):
        store.conversation()

    assert len(store.list()) == 1


def test_a_beginning_that_fits_several_ids_lists_them(store: manent.Store) -> None:
    ids = sorted(store.create().id for _ in range(40))
    shared = next(a[0] for a, b in itertools.pairwise(ids) if a[0] == b[0])

    with pytest.raises(AmbiguousPrefixError) as caught:
        store.conversation(shared)

    assert caught.value.matches == tuple(id for id in ids if id.startswith(shared))


def test_the_empty_beginning_is_no_conversation(store: manent.Store) -> None:
    store.create()

    with pytest.raises(NotFoundError):
        store.conversation("")


def test_a_taken_key_is_refused(store: manent.Store) -> None:  # L-7
    store.create(key="k")

    with pytest.raises(AlreadyExistsError):
        store.create(key="k")


def test_the_same_key_with_the_same_content_writes_nothing(store: manent.Store) -> None:  # L-7
    conv = store.create()
    first = conv.append_turn("ok, Thursday", "noted", idempotency_key="k1")
    conv.append_turn("in between", "yes")

    again = conv.append_turn("ok, Thursday", "noted", idempotency_key="k1")

    assert again == first
    assert len(conv.turns()) == 2
    with pytest.raises(IdempotencyError):
        conv.append_turn("ok, Friday", "noted", idempotency_key="k1")


def test_a_batch_of_messages_repeats_under_its_key(store: manent.Store) -> None:  # L-7, L-2
    conv = store.create()
    batch = [manent.Message(role="user", parts="one"), manent.Message(role="assistant", parts="two")]
    first = conv.append_messages(batch, idempotency_key="b1")

    assert conv.append_messages(batch, idempotency_key="b1") == first
    with pytest.raises(IdempotencyError):
        conv.append_messages([*batch[:1], manent.Message(role="assistant", parts="2")], idempotency_key="b1")

    assert [message.text for message in conv.messages()] == ["one", "two"]


def test_after_that_is_past_writes_nothing_and_says_where_it_stands(store: manent.Store) -> None:  # L-3
    conv = store.create()
    seen = conv.activity_seq
    turn = conv.append_turn("q1", "a1", after=seen)

    with pytest.raises(ConflictError) as caught:
        conv.append_turn("q2", "a2", after=seen)

    assert caught.value.actual == turn.seq
    assert len(conv.turns()) == 1
    conv.append_turn("q2", "a2", after=caught.value.actual)


def test_a_message_hangs_under_the_head_under_a_parent_or_under_nothing(store: manent.Store) -> None:
    conv = store.create()
    root = conv.append_message(manent.Message(role="user", parts="a question"))
    first = conv.append_message(manent.Message(role="assistant", parts="an answer"))
    second = conv.append_message(manent.Message(role="assistant", parts="another answer"), parent=root)
    alone = conv.append_message(manent.Message(role="user", parts="a new tree"), parent=manent.ROOT)

    assert (first.parent_id, second.parent_id, alone.parent_id) == (root.id, root.id, None)
    assert conv.siblings(first.id) == [first.id, second.id]
    assert conv.siblings(root.id) == [root.id, alone.id]
    assert [m.text for m in conv.messages()] == ["a new tree"]
    assert len(conv.messages(branch="all")) == 4
    assert conv.head == alone.id


def test_pages_of_a_branch_equal_the_branch(store: manent.Store) -> None:  # L-6
    conv = store.create()
    conv.append_message(manent.Message(role="user", parts="left aside"))
    trunk = conv.append_message(manent.Message(role="user", parts="0"), parent=manent.ROOT)
    conv.append_messages([manent.Message(role="user", parts=str(n)) for n in range(1, 25)], parent=trunk)

    whole = [m.text for m in conv.messages()]
    backward: list[str] = []
    page = conv.messages(limit=7)
    backward = [m.text for m in page] + backward
    while page.previous:
        page = conv.messages(limit=7, before=page.previous)
        backward = [m.text for m in page] + backward
    page = conv.messages(limit=7, before=conv.get_message(trunk.id).cursor)
    forward = [m.text for m in conv.messages(limit=7, after=trunk.cursor)]

    assert whole == [str(n) for n in range(25)]
    assert backward == whole
    assert list(page) == []
    assert forward == whole[1:8]


def test_a_turn_that_is_not_there_is_an_error_or_none(store: manent.Store) -> None:
    conv = store.create()

    with pytest.raises(NotFoundError):
        conv.get_turn(99)

    assert conv.find_turn(99) is None
    assert conv.find_turn(f"turn:{conv.id}#99") is None


def test_the_owners_handle_sees_all_workspaces_and_creates_nothing(tmp_path: Path) -> None:  # N-1
    path = tmp_path / "conversations.db"
    with manent.open(path, workspace="t1") as one, manent.open(path, workspace="t2") as two:
        mine, yours = one.create("mine"), two.create("yours")

        with pytest.raises(NotFoundError):
            two.conversation(mine.id)
        with pytest.raises(NotFoundError):
            two.conversation(mine.id[:8])

    with manent.open(path, workspace=None) as owner:
        assert {c.id for c in owner.list()} == {mine.id, yours.id}
        with pytest.raises(WorkspaceRequiredError):
            owner.create()
        with pytest.raises(WorkspaceRequiredError):
            owner.conversation(key="k", create=True)


def test_opening_and_reading_change_nothing(tmp_path: Path) -> None:  # O-4
    path = tmp_path / "conversations.db"
    with manent.open(path, workspace="demo") as store:
        conv = store.create()
        conv.append_turn("q", "a")
    before = path.read_bytes()

    with manent.open(path, workspace="other") as store:
        assert list(store.list()) == []
        with pytest.raises(NotFoundError):
            store.conversation(conv.id)
    with manent.open(path, workspace="demo") as store:
        store.conversation(conv.id).messages()

    assert path.read_bytes() == before


def test_an_empty_cursor_begins_with_the_first_message(store: manent.Store) -> None:  # L-6
    conv = store.create()
    conv.append_messages([manent.Message(role="user", parts=str(n)) for n in range(5)])

    first = conv.messages(limit=2, after="")
    second = conv.messages(limit=2, after=first.next)

    assert [m.text for m in first] == ["0", "1"]
    assert [m.text for m in second] == ["2", "3"]
    assert [t.question for t in conv.turns(limit=1, after="")] == ["0"]


def test_after_that_is_past_refuses_messages_too(store: manent.Store) -> None:  # L-3
    conv = store.create()
    seen = conv.activity_seq
    conv.append_turn("q", "a")

    with pytest.raises(ConflictError):
        conv.append_message(manent.Message(role="user", parts="late"), after=seen)

    assert len(conv.messages()) == 2


def test_search_and_keys_stop_at_the_fence(tmp_path: Path) -> None:  # N-1
    path = tmp_path / "conversations.db"
    with manent.open(path, workspace="t1") as one, manent.open(path, workspace="t2") as two:
        one.conversation(key="k", create=True).append_turn("locker code 4711", "noted")
        two.create()

        assert list(two.search("4711")) == []
        with pytest.raises(NotFoundError):
            two.conversation(key="k")
        assert two.conversation(key="k", create=True).uid != one.conversation(key="k").uid


def test_words_stand_once_in_the_file(tmp_path: Path) -> None:  # P-3
    path = tmp_path / "conversations.db"
    marker = "a-marker-of-just-thirty-two-byte"
    with manent.open(path, workspace="demo") as store:
        conv = store.create()
        conv.append_turn(f"find {marker} here", "yes")
        for number in range(50):
            conv.append_turn(f"q{number}", "a")

    assert path.read_bytes().count(marker.encode()) == 1


def test_a_batch_under_a_key_is_that_batch_and_no_part_of_it(store: manent.Store) -> None:  # L-7
    conv = store.create()
    one, two = manent.Message(role="user", parts="1"), manent.Message(role="user", parts="2")
    conv.append_messages([one], idempotency_key="k")
    conv.append_messages([two])
    conv.append_messages([one, two], idempotency_key="both")

    with pytest.raises(IdempotencyError):
        conv.append_messages([one, two], idempotency_key="k")
    with pytest.raises(IdempotencyError):
        conv.append_messages([one], idempotency_key="both")


def test_a_repeat_whose_arguments_are_equal_as_json_is_a_repeat(store: manent.Store) -> None:  # L-7
    conv = store.create()
    call = manent.Message(role="assistant", parts=[manent.parts.ToolCallPart("f", {"a": (1, 2)})])

    assert conv.append_message(call, idempotency_key="k") == conv.append_message(call, idempotency_key="k")


def test_a_turn_whose_seq_two_writers_share_has_a_full_address(tmp_path: Path) -> None:
    with manent.open(tmp_path / "a.db", workspace="demo") as store:
        conv = store.create()
        conv.append_turn("before", "the copy")
    shutil.copy(tmp_path / "a.db", tmp_path / "b.db")
    with manent.open(tmp_path / "b.db", workspace="demo") as copy:
        copy.conversation(conv.id).append_turn("theirs", "b")
        lines = list(copy.export_lines())

    with manent.open(tmp_path / "a.db", workspace=None) as store:
        mine = store.conversation(conv.id).append_turn("mine", "a")
        store.import_lines(lines)
        shared = [t for t in store.conversation(conv.id).turns(branch="all") if t.seq == mine.seq]

        assert {store.conversation(conv.id).get_turn(t.address).question for t in shared} == {
            "mine",
            "theirs",
        }


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_gone_or_another_one_takes_no_writes(tmp_path: Path, replaced: bool) -> None:  # D-9
    path = tmp_path / "conversations.db"
    with manent.open(path, workspace="demo") as store:
        conv = store.create()
        path.unlink()
        if replaced:
            manent.open(tmp_path / "other.db", workspace="demo").close()
            (tmp_path / "other.db").rename(path)

        with pytest.raises(StoreError):
            conv.append_turn("q", "a")


def test_a_new_store_that_lost_its_log_is_no_new_store(tmp_path: Path) -> None:  # D-9
    path = tmp_path / "conversations.db"
    store = manent.open(path, workspace="demo")
    identity = store.receipt().store_id
    shutil.copy(path, tmp_path / "without-its-log.db")
    store.close()

    with manent.open(tmp_path / "without-its-log.db", workspace="demo") as found:
        assert found.receipt().store_id == identity


def test_errors_travel_between_processes() -> None:
    error = pickle.loads(pickle.dumps(ConflictError(conversation_id="c", expected=1, actual=2)))

    assert (error.actual, str(error)) == (2, str(ConflictError(conversation_id="c", expected=1, actual=2)))
