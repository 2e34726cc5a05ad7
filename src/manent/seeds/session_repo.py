"""
`SessionRepo`: sessions of questions, answers and citations, under the names of `chat_sessions`.

    repo = SessionRepo(store)
    session = repo.create_session("foo", first_question="How?", config_snapshot={"model": "m"})
    repo.append_turn("foo", "How?", "So.", [Citation(marker="1", target="a.md")])

A session is a conversation of the store's workspace whose key is the session's id, and that has a config
snapshot; others are no sessions, and are left alone.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from blake3 import blake3

from manent.errors import AlreadyExistsError, InputError, NotFoundError, SparedError
from manent.history import turns
from manent.history.appending import Guard, append_turn_within, check_turn
from manent.history.assembly import to_fresh_turn
from manent.history.beginning import Beginning, begin, described
from manent.history.listing import conversations
from manent.history.messages import BEGINNING, Window
from manent.history.resolving import find_key, only_one, to_target
from manent.history.runtime import Runtime, Target
from manent.history.store import Store
from manent.history.workspaces import find_fence, is_there
from manent.model.events import TurnAppended
from manent.model.ids import Stamp, check_name, check_text
from manent.model.log import KEY_FIELD, Register, find_text
from manent.model.metadata import title_of
from manent.model.paging import check_limit
from manent.model.parts import Citation, check_json, plain_str
from manent.model.records import Turn
from manent.model.rows import ConversationEntry, ConversationRow, Place
from manent.seeds.inside import Within
from manent.storage.port import Reader, Span, Transaction

SECOND_NS = 1_000_000_000
SNAPSHOT_FIELD = "config_snapshot"
_TURN_ID_BYTES = 16
_ALL = Window(None, None, None, "active")
_FIRST = Window(1, BEGINNING, None, "active")


class ChatSession(msgspec.Struct, frozen=True, kw_only=True):
    """
    A session. Times are whole seconds since 1970 UTC, as they were claimed; they order nothing.

    `title` is None while the session has neither a title nor a question. `config_snapshot_json` is a JSON
    object: the settings that the session began with.
    """

    session_id: str
    created_at: int | None
    updated_at: int | None
    title: str | None
    config_snapshot_json: str


class ChatTurn(msgspec.Struct, frozen=True, kw_only=True):
    """
    A question and its answer.

    `turn_index` counts the turns of the session from 0, and `turn_id` is made of it. `citations_json` is the
    JSON of `citations`: a list of objects.
    """

    turn_id: str
    session_id: str
    turn_index: int
    question: str
    answer: str
    citations_json: str
    created_at: int | None
    citations: tuple[Citation, ...] = ()


class Reset(msgspec.Struct, frozen=True, kw_only=True):
    """What a reset deleted, and what it spared: ids of sessions."""

    deleted: tuple[str, ...]
    spared: tuple[str, ...]


class SessionRepo(Within):
    """
    The sessions of one workspace. Usable from several threads and processes at once.

    Every call that writes may raise `StoreBusyError`, `StorageFullError` or `ReadOnlyError`, and nothing was
    written then.

    Args:
        store: a handle of a workspace. Closing it is the caller's.

    Raises:
        InputError: it is something else.
        WorkspaceRequiredError: it is the owner's handle.
    """

    # --- sessions

    def create_session(
        self,
        session_id: str | None = None,
        *,
        first_question: str | None = None,
        config_snapshot: dict[str, Any],
        title: str | None = None,
        created_at: int | None = None,
    ) -> ChatSession:
        """
        Begin a session.

        Args:
            session_id: any text that is not blank, of at most 512 bytes. None makes one of the first question
                and the time: 64 hexadecimal characters.
            first_question: what the title is made of when none is given.
            config_snapshot: the settings as of now, a JSON object. They are kept once and never replaced.
            created_at: whole seconds since 1970 UTC; the store's clock when None.

        Raises:
            AlreadyExistsError: the id is taken.
            InputError: an argument cannot be stored.
        """
        runtime = _at(self._runtime, created_at)
        check_json(config_snapshot, "config_snapshot")
        if not isinstance(config_snapshot, dict):
            raise InputError(f"A config snapshot is a dictionary, not {type(config_snapshot).__name__}.")
        question = check_text("" if first_question is None else first_question, "first question")
        wanted_title = title if title is not None or first_question is None else title_of(question)
        registers = described(title=wanted_title)
        for id in [session_id] if session_id is not None else _ids(question, runtime.clock()):
            try:
                return _begin(runtime, check_name(id, "session id"), registers, config_snapshot)
            except AlreadyExistsError:
                if session_id is not None:
                    raise
        raise AssertionError("there is no end of ids")

    def get_session(self, session_id: str) -> ChatSession | None:
        """A session, or None when this workspace has none with the id."""
        with self._runtime.backend.reading() as reader:
            target = self._find(reader, session_id)
            return _read_session(reader, target.uid) if target is not None else None

    def list_sessions(self, limit: int) -> list[ChatSession]:
        """
        The sessions, the most recently active first: a total order, in which no clock has a say.

        Raises:
            InputError: a limit below 1.
        """
        with self._runtime.backend.reading() as reader:
            if not is_there(self._runtime, reader):
                return []
            found = conversations(reader, find_fence(self._runtime, reader))
            entries = list(itertools.islice(filter(_is_session, found), check_limit(limit)))
        return [_to_session(entry.row, entry.registers) for entry in entries]

    def delete_session(self, session_id: str, *, force: bool = False) -> bool:
        """
        Delete a session with all its turns; return whether it was there.

        Args:
            force: also what is pinned, has an open turn or a live owner elsewhere.

        Raises:
            SparedError: it is spared, and says why.
        """
        with self._runtime.backend.reading() as reader:
            target = self._find(reader, session_id)
        try:
            if target is not None:
                self._store.delete(target.id, force=force)
        except NotFoundError:  # somebody else was faster
            return False
        return target is not None

    # --- turns

    def append_turn(
        self,
        session_id: str,
        question: str,
        answer: str,
        citations: Sequence[Citation] = (),
        created_at: int | None = None,
    ) -> ChatTurn:
        """
        Append a turn; the store gives it its index, so that of two at once both are kept.

        A session without a title gets that of its first question, in the same transaction.

        Args:
            created_at: whole seconds since 1970 UTC; the store's clock when None.

        Raises:
            NotFoundError: there is no such session.
            InputError: an argument cannot be stored.
        """
        runtime = _at(self._runtime, created_at)
        appended = _to_event(question, answer, citations)
        with runtime.backend.transaction() as tx:
            target = self._find(tx.read, session_id)
            if target is None:
                raise NotFoundError("session", session_id)
            stored, _ = append_turn_within(runtime, tx, target, appended, Guard())
            _entitle(tx, target)
            index = _rank(tx.read, target, stored.header.stamp)
        return _to_turn(session_id, index, to_fresh_turn(target, stored, appended))

    def list_turns(self, session_id: str) -> list[ChatTurn]:
        """
        The turns of a session, in order; none when there is no such session.

        Raises:
            EncodingError: citations or words that are stored cannot be read; they never become empty.
        """
        with self._runtime.backend.reading() as reader:
            target = self._find(reader, session_id)
            page = turns.read_page(reader, target, _ALL) if target is not None else ()
        return [_to_turn(session_id, index, turn) for index, turn in enumerate(page)]

    def _find(self, reader: Reader, session_id: str) -> Target | None:
        """Where a session stands; None when there is none, and for a conversation that is no session."""
        key = check_name(session_id, "session id")
        found = find_key(self._runtime, reader, key)
        if not found:
            return None
        target = to_target(only_one(key, found))
        begun = reader.find_row(target.uid) is not None
        return target if begun and _snapshot(reader.read_registers(target.uid)) is not None else None


def reset_preview(store: Store) -> list[ChatSession]:
    """The sessions that a `reset` would delete: all of the workspace, the most recently active first."""
    return SessionRepo(store).list_sessions(1 << 31)


def reset(store: Store, *, force: bool = False) -> Reset:
    """
    Delete every session of the workspace with its turns, and nothing else.

    Each goes in a transaction of its own: what a failure left is deleted by the next reset.

    Args:
        force: also what is pinned, has an open turn or a live owner elsewhere.
    """
    repo, deleted, spared = SessionRepo(store), [], []
    for session in reset_preview(store):
        try:
            repo.delete_session(session.session_id, force=force)
            deleted.append(session.session_id)
        except SparedError:
            spared.append(session.session_id)
    return Reset(deleted=tuple(deleted), spared=tuple(spared))


def _begin(runtime: Runtime, key: str, registers: dict[str, str], snapshot: dict[str, Any]) -> ChatSession:
    with runtime.backend.transaction() as tx:
        target = begin(runtime, tx, Beginning(key=key, registers=registers))
        tx.put_metadata(target.uid, SNAPSHOT_FIELD, snapshot)
        return _read_session(tx.read, target.uid)


def _to_event(question: str, answer: str, citations: Sequence[Citation]) -> TurnAppended:
    """
    What is appended.

    Raises:
        InputError: a part of it cannot be stored.
    """
    if not isinstance(citations, Sequence):
        raise InputError(f"citations is a list of manent.Citation, not {type(citations).__name__}.")
    for each in citations:
        if not isinstance(each, Citation):
            raise InputError(f"A citation is a manent.Citation, not {type(each).__name__}.")
    appended = TurnAppended(
        question=plain_str(question), answer=plain_str(answer), citations=tuple(citations)
    )
    check_turn(appended)
    return appended


def _entitle(tx: Transaction, target: Target) -> None:
    """Give a session that has no title that of its first question."""
    if not find_text(tx.read.read_registers(target.uid), "title"):
        (first,) = turns.read_page(tx.read, target, _FIRST)
        tx.put_metadata(target.uid, "title", title_of(first.question))


def _rank(reader: Reader, target: Target, stamp: Stamp) -> int:
    """The turns before one on the active branch; where there is one branch only, counted and not read."""
    row = reader.find_row(target.uid)
    if row is not None and row.linear:
        before = Place(stamp.seq, stamp.writer, 0)
        return len(reader.read_turns(target.uid, Span(before=before, limit=-1)))
    stamps = [Stamp(turn.seq, turn.writer) for turn in turns.read_page(reader, target, _ALL)]
    return stamps.index(stamp)


def _ids(first_question: str, now_ns: int) -> Iterator[str]:
    """Ids of a first question and a time; a moment later when one is taken."""
    for time_ns in itertools.count(now_ns):
        yield blake3(f"{time_ns}:{first_question}".encode("utf-8", "surrogatepass")).hexdigest()


def _at(runtime: Runtime, created_at: int | None) -> Runtime:
    """A runtime whose clock says that second."""
    if created_at is None:
        return runtime
    if type(created_at) is not int or abs(created_at) >= 1 << 33:
        raise InputError(f"created_at is a whole number of seconds since 1970, not {created_at!r}.")
    return runtime._replace(clock=lambda: created_at * SECOND_NS)


def _snapshot(registers: Sequence[Register]) -> Any:
    return next((register.value for register in registers if register.field == SNAPSHOT_FIELD), None)


def _read_session(reader: Reader, uid: str) -> ChatSession:
    row = reader.find_row(uid)
    assert row is not None, "a session has begun"
    return _to_session(row, reader.read_registers(uid))


def _is_session(entry: ConversationEntry) -> bool:
    told = {register.field for register in entry.registers if register.value is not None}
    return {KEY_FIELD, SNAPSHOT_FIELD} <= told


def _to_session(row: ConversationRow, registers: Sequence[Register]) -> ChatSession:
    return ChatSession(
        session_id=find_text(registers, KEY_FIELD),
        created_at=_to_seconds(row.claim_first_ns),
        updated_at=_to_seconds(row.claim_max_ns),
        title=find_text(registers, "title") or None,
        config_snapshot_json=_to_json(_snapshot(registers)),
    )


def _to_turn(session_id: str, index: int, turn: Turn) -> ChatTurn:
    name = f"{session_id}:{index}".encode("utf-8", "surrogatepass")
    plain = [msgspec.to_builtins(each) for each in turn.citations]
    citations = [{name: value for name, value in each.items() if name != "type"} for each in plain]
    return ChatTurn(
        turn_id=blake3(name).hexdigest(length=_TURN_ID_BYTES),
        session_id=session_id,
        turn_index=index,
        question=turn.question,
        answer=turn.answer,
        citations_json=_to_json(citations),
        created_at=_to_seconds(turn.claim_ns),
        citations=turn.citations,
    )


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _to_seconds(claim_ns: int | None) -> int | None:
    return None if claim_ns is None else claim_ns // SECOND_NS
