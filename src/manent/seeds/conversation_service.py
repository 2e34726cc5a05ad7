"""
`ConversationService`: the messages of a chat bot's users, each user's in a conversation of his own.

    service = ConversationService(store)
    service.save_message(123456789, ConversationMessage(role="user", content="안녕"))
    service.get_recent_messages(123456789, 20)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any, Literal

import msgspec

from manent.errors import InputError, NotFoundError
from manent.history.appending import Guard, append_messages_within, to_batch
from manent.history.conversation import Conversation
from manent.history.recording import record
from manent.history.resolving import find_key, only_one, to_target
from manent.history.runtime import Target
from manent.history.workspaces import ensure_workspace
from manent.model.events import ConversationCreated
from manent.model.ids import check_name, check_text
from manent.model.log import KEY_FIELD, Pending, StreamInfo
from manent.model.paging import check_limit
from manent.model.parts import AnyPart, TextPart, ToolCallPart, ToolResultPart, json_text
from manent.model.records import Message, StoredMessage
from manent.search.folding import fold
from manent.seeds.inside import Within
from manent.storage.port import Transaction

ROLES = ("user", "assistant")
_PAGE = 200
_SECOND_NS = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)Z?", re.ASCII)


class ConversationMessage(msgspec.Struct, frozen=True, kw_only=True):
    """
    A message.

    Args:
        role: `user` or `assistant`.
        content: its words.
        id: its number, which rises in a user's conversation; given by the store.
        tool_calls: JSON text, a list of objects with `name`, `arguments` and `id`.
        tool_results: JSON text, a list of objects with `tool_call_id` and `result`.
        created_at: `YYYY-MM-DD HH:MM:SS` in UTC; the store's clock when None. For display: it orders nothing.
    """

    role: Literal["user", "assistant"]
    content: str
    id: int | None = None
    tool_calls: str | None = None
    tool_results: str | None = None
    created_at: str | None = None


class ConversationStats(msgspec.Struct, frozen=True, kw_only=True):
    """
    Counts over a user's messages, by query, and of the claims of time the first one made, and the greatest.

    Both times are None for a user without messages.
    """

    telegram_id: str
    message_count: int
    user_messages: int
    assistant_messages: int
    first_message_at: str | None
    last_message_at: str | None


class ConversationService(Within):
    """
    The conversations of a bot's users, in the workspace of a store.

    Nine functions have these names where the bot comes from. Here are five: `ensure_conversation_table`,
    `save_message`, `get_recent_messages`, `search_relevant_messages`, `get_conversation_stats`. The smart
    context and the three of archiving are not part of this release.

    A user is named by a whole number, negative for groups, or by any text. No user ever sees another one's
    messages: each call looks into the one conversation that has the user's key.

    Args:
        store: a handle of a workspace. Closing it is the caller's.

    Raises:
        InputError: it is something else.
        WorkspaceRequiredError: it is the owner's handle.
    """

    def ensure_conversation_table(self, telegram_id: int | str) -> str:
        """
        Begin a user's conversation unless it is there, and return its key: `telegram:<id>`.

        Raises:
            InputError: the id is neither a whole number nor a text that is not blank.
            StoreBusyError, StorageFullError, ReadOnlyError: nothing was written.
        """
        key = _key(telegram_id)
        if self._find(telegram_id) is None:
            with self._runtime.backend.transaction() as tx:
                self._ensure(tx, key)
        return key

    def save_message(self, telegram_id: int | str, message: ConversationMessage) -> None:
        """
        Append a message to a user's conversation, which begins with it when it is not there.

        Raises:
            InputError: no `ConversationMessage`, another role than `user` and `assistant`, tool calls or
                results of another shape, or a time that is none. Nothing was written.
            StoreBusyError, StorageFullError, ReadOnlyError: nothing was written; no conversation has begun.
        """
        key, said = _key(telegram_id), _to_stored(message)
        claim_ns = None if message.created_at is None else _to_ns(message.created_at)
        runtime = self._runtime if claim_ns is None else self._runtime._replace(clock=lambda: claim_ns)
        batch = to_batch(runtime, [said])
        with runtime.backend.transaction() as tx:
            target = self._ensure(tx, key)
            append_messages_within(runtime, tx, target, batch, parent=None, guard=Guard())

    def get_recent_messages(self, telegram_id: int | str, limit: int) -> list[ConversationMessage]:
        """
        The last messages of a user, oldest first, by the order in which they were saved.

        Raises:
            InputError: a limit below 1.
        """
        newest_first = islice(self._newest_first(telegram_id), check_limit(limit))
        return [_to_message(message) for message in newest_first][::-1]

    def search_relevant_messages(
        self, telegram_id: int | str, keywords: Sequence[str], limit: int
    ) -> list[ConversationMessage]:
        """
        Of a user's messages that hold any of the keywords the last ones, oldest first.

        Args:
            keywords: each is looked for inside words too, whatever its case; every character of it, `%` and
                `_` too, stands for itself. Blank ones count for nothing.

        Raises:
            InputError: a limit below 1.
        """
        if isinstance(keywords, str) or not all(isinstance(keyword, str) for keyword in _listed(keywords)):
            raise InputError("keywords is a list of texts, not one text or anything else.")
        wanted = [folded for keyword in keywords if (folded := fold(keyword.strip()))]
        found = (
            message
            for message in (self._newest_first(telegram_id) if wanted else ())
            if any(word in fold(message.text) for word in wanted)
        )
        return [_to_message(message) for message in islice(found, check_limit(limit))][::-1]

    def get_smart_context(self, telegram_id: int | str, current_message: str) -> list[ConversationMessage]:
        """
        The last 20 messages, and up to 10 older ones that hold keywords of the current one, oldest first.

        As `Conversation.context` chooses them; no message twice. Empty for a user who never wrote.

        Raises:
            InputError: the message is no text.
        """
        asked = check_text(current_message, "current message")
        conversation = self._find(telegram_id)
        told = conversation.context(asked).messages if conversation is not None else ()
        return [_to_message(message) for message in told if message.role in ROLES]

    def get_conversation_stats(self, telegram_id: int | str) -> ConversationStats:
        """
        Counts over a user's messages; nothing but zeros for a user who never wrote.

        They are counted by query, and no message is read. What other programs put into the conversation
        counts by its role too, hidden or on another branch. What was removed does not.
        """
        conversation = self._find(telegram_id)
        found = conversation.stats() if conversation is not None else None
        by_role = [found.messages[role] if found else 0 for role in ROLES]
        told = found if found and any(by_role) else None
        return ConversationStats(
            telegram_id=str(telegram_id),
            message_count=sum(by_role),
            user_messages=by_role[0],
            assistant_messages=by_role[1],
            first_message_at=_to_text(told.first_ns) if told else None,
            last_message_at=_to_text(told.last_ns) if told else None,
        )

    def _newest_first(self, telegram_id: int | str) -> Iterator[StoredMessage]:
        """A user's messages that are there and are somebody's words, some at a time."""
        conversation = self._find(telegram_id)
        before: str | None = None
        while conversation is not None:
            page = conversation.messages(limit=_PAGE, before=before)
            yield from (m for m in reversed(page) if m.role in ROLES and not m.hidden)
            before = page.previous
            if before is None:
                return

    def _ensure(self, tx: Transaction, key: str) -> Target:
        """
        A user's conversation, which begins here when it is not there.

        Its beginning states no time, since the times of a conversation here are those of its messages.
        """
        if found := find_key(self._runtime, tx.read, key):
            return to_target(only_one(key, found))
        workspace, uid = ensure_workspace(self._runtime, tx), self._runtime.new_id()
        tx.put_stream(StreamInfo(uid, workspace, uid))
        record(tx, uid, [Pending(ConversationCreated(), self._runtime.new_id(), None)])
        tx.put_metadata(uid, KEY_FIELD, key)
        return Target(uid, uid)

    def _find(self, telegram_id: int | str) -> Conversation | None:
        try:
            return self._store.conversation(key=_key(telegram_id))
        except NotFoundError:
            return None


def _key(telegram_id: int | str) -> str:
    if isinstance(telegram_id, bool) or not isinstance(telegram_id, int | str):
        raise InputError(f"A telegram id is a whole number or text, not {type(telegram_id).__name__}.")
    return check_name(f"telegram:{check_name(str(telegram_id), 'telegram id')}", "key")


def _to_stored(message: ConversationMessage) -> Message:
    """
    A message as the store takes it.

    Raises:
        InputError: it is none, or something in it is none.
    """
    if not isinstance(message, ConversationMessage):
        raise InputError(f"A message is a ConversationMessage, not {type(message).__name__}.")
    if message.role not in ROLES:
        raise InputError(f"role is 'user' or 'assistant', not {message.role!r}.")
    if not isinstance(message.content, str):
        raise InputError(f"content is text, not {type(message.content).__name__}.")
    parts = [TextPart(message.content), *_calls(message.tool_calls), *_results(message.tool_results)]
    return Message(role=message.role, parts=parts)


def _listed(keywords: Sequence[str]) -> Sequence[object]:
    if not isinstance(keywords, Sequence):
        raise InputError(f"keywords is a list of texts, not {type(keywords).__name__}.")
    return keywords


# --- tools


class _Call(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    arguments: Any = None
    id: str | None = None


class _Result(msgspec.Struct, forbid_unknown_fields=True):
    tool_call_id: str | None = None
    result: Any = ""


def _calls(text: str | None) -> Iterator[AnyPart]:
    for each in _read(text, list[_Call], "tool_calls"):
        yield ToolCallPart(each.name, each.arguments, each.id)


def _results(text: str | None) -> Iterator[AnyPart]:
    for each in _read(text, list[_Result], "tool_results"):
        yield ToolResultPart(each.result, each.tool_call_id)


def _read(text: str | None, shape: Any, what: str) -> Any:
    if text is None:
        return ()
    try:
        return msgspec.json.decode(text, type=shape)
    except (msgspec.MsgspecError, ValueError, TypeError, RecursionError) as error:
        raise InputError(f"{what} is no JSON list of the objects that stand there.") from error


def _to_message(message: StoredMessage) -> ConversationMessage:
    calls = [
        {"name": part.name, "arguments": part.arguments, "id": part.call_id}
        for part in message.parts
        if isinstance(part, ToolCallPart)
    ]
    results = [
        {"tool_call_id": part.call_id, "result": part.content}
        for part in message.parts
        if isinstance(part, ToolResultPart)
    ]
    return ConversationMessage(
        id=message.seq,
        role="user" if message.role == "user" else "assistant",
        content=message.text,
        tool_calls=json_text(calls) if calls else None,
        tool_results=json_text(results) if results else None,
        created_at=_to_text(message.claim_ns),
    )


# --- times


def _to_ns(text: str) -> int:
    found = _TIME.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise InputError("created_at is a time in UTC, written YYYY-MM-DD HH:MM:SS.")
    try:
        since = datetime.fromisoformat(f"{found[1]}T{found[2]}+00:00") - _EPOCH
    except ValueError:
        raise InputError("created_at is no day or no time of day.") from None
    return (since.days * 86_400 + since.seconds) * _SECOND_NS


def _to_text(claim_ns: int | None) -> str | None:
    if claim_ns is None:
        return None
    try:
        return (_EPOCH + timedelta(seconds=claim_ns // _SECOND_NS)).strftime("%Y-%m-%d %H:%M:%S")
    except OverflowError:
        return None
