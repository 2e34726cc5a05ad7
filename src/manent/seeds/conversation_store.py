"""
`ConversationStore`: a folder, a workspace in it, and conversations of question and answer.

    store = ConversationStore("~/.newt", ".")
    id = store.create("Fix the login bug")
    store.append_turn(id, "Why is it slow?", "Because it asks the database once for each row.")

The store is `<root>/conversations.db`, an ordinary one of ours: `manent.open` reads it too, in the workspace
of the same folder.
"""

from __future__ import annotations

import builtins
import os
from collections.abc import Iterator, Sequence
from typing import Self

from manent.errors import ChainError, InputError, NotFoundError
from manent.history.listing import conversations
from manent.history.resolving import resolve
from manent.history.resuming import find_latest_open
from manent.history.runtime import Runtime
from manent.history.workspaces import find_fence, is_there
from manent.model.ids import Address, check_text
from manent.model.old_keys import workspace_key_v1
from manent.model.paging import check_limit
from manent.model.parts import PhantomReach, ToolEvent, Usage
from manent.model.rows import ConversationEntry
from manent.seeds.checking import find_changes
from manent.seeds.claiming import Claiming
from manent.seeds.conversation_ids import check_conversation_id, mint_conversation_id
from manent.seeds.conversation_records import (
    ConversationRecord,
    ConversationSummary,
    ConversationTurn,
    SearchHit,
    read_record,
    to_summary,
    to_turn,
)
from manent.seeds.describing import Describing
from manent.seeds.plan_folders import remove_plan_folder
from manent.seeds.recalling import recall
from manent.storage.port import Reader

SEARCH_LIMIT = 10
_TOKENS_MAX = (1 << 63) - 1


class ConversationStore(Claiming, Describing):
    """
    Conversations of one workspace, in the store of a folder. Usable from several threads.

    `delete` removes the session's plan folder too: `<workspace>/.scratch/sessions/<id>`, with whatever is in
    it. `ConversationStore(root, workspace, plan_folder=None)` leaves all folders alone; another relative path
    looks for it there.

    Ids that a caller gives may be the beginning of exactly one id unless a call says otherwise; they have
    ASCII letters, digits and hyphens only, anything else is an `InputError`. An id of another workspace
    is simply absent, and free. Every call may raise `StoreBusyError`, `StorageFullError` or
    `ReadOnlyError` when it could not write, and nothing was written then.
    """

    @classmethod
    def new(
        cls, root: str | os.PathLike[str], workspace: str | os.PathLike[str], max_per_workspace: int = 0
    ) -> Self:
        """The constructor, by its old name."""
        return cls(root, workspace, max_per_workspace)

    @staticmethod
    def workspace_id_for_path(path: str | os.PathLike[str]) -> str:
        """
        The retired key of a folder, which old JSON trees name their folders by. Warns that it is deprecated.

        Raises:
            NotFoundError: there is no such folder.
        """
        return workspace_key_v1(path)

    # --- beginning

    def create(self, title: str, persona: str | None = None) -> str:
        """Begin a conversation under a new id, and return the id. Prunes to the cap."""
        id = mint_conversation_id(self._runtime.clock)
        self.create_with_id(id, title, persona)
        return id

    def create_with_id(
        self, id: str, title: str, persona: str | None = None, *, replace: bool = False
    ) -> None:
        """
        Begin a conversation under an id of the caller's own. Prunes to the cap.

        Args:
            id: a whole id.
            replace: delete the conversation that has this id in this workspace now, turns and all.

        Raises:
            AlreadyExistsError: the id is taken and `replace` is not given.
            SparedError: what would be replaced is pinned, has an open turn or a live owner elsewhere.
        """
        self._store.create_with_id(
            check_conversation_id(id), title, persona=persona, replace=replace, max_conversations=self._max
        )

    def exists(self, id: str) -> bool:
        """Whether exactly this id is here. What hinders the look-up raises; it is never "absent"."""
        return self._store.exists(check_conversation_id(id))

    def resolve_id(self, id_or_prefix: str) -> str:
        """
        The whole id: an exact one wins, else the beginning of exactly one, case-sensitive.

        Raises:
            NotFoundError: none.
            AmbiguousPrefixError: several; `matches` lists them in the order of their ids.
        """
        return self._store.resolve(check_conversation_id(id_or_prefix))

    # --- turns

    def append_turn(self, id: str, user: str, assistant: str) -> Address:
        """Append a turn without tools and token counts; otherwise as `append_turn_full`."""
        return self.append_turn_full(id, user, assistant)

    def append_turn_full(
        self,
        id: str,
        user: str,
        assistant: str,
        events: Sequence[ToolEvent] = (),
        phantom_reaches: Sequence[PhantomReach] = (),
        tokens_in: int | None = None,
        tokens_out: int | None = None,
    ) -> Address:
        """
        Append a turn, whole or not at all; nothing is ever pruned by it.

        Args:
            tokens_in, tokens_out: what the provider reported; None stays unknown, and is never 0.

        Returns:
            The turn's address.

        Raises:
            InputError: a count is no whole number from 0 on, or something cannot be stored.
            NotFoundError, AmbiguousPrefixError: as `resolve_id`.
        """
        counted = _usage(tokens_in, tokens_out)
        turn = self._conversation(id).append_turn(
            user, assistant, tool_events=events, phantom_reaches=phantom_reaches, usage=counted
        )
        return turn.address

    def load(self, id: str) -> ConversationRecord:
        """
        A whole conversation, its turns in causal order, from one moment of the store.

        Raises:
            NotFoundError, AmbiguousPrefixError: as `resolve_id`.
            EncodingError: something that is stored cannot be read; no half of it is handed out.
        """
        name = check_conversation_id(id)
        with self._runtime.backend.reading() as reader:
            return read_record(reader, resolve(self._runtime, reader, name), str(self._folder))

    def load_turn(self, id: str, seq: int, writer: str = "") -> ConversationTurn | None:
        """
        One turn by its address, or None when there is none in this workspace.

        Args:
            writer: the beginning of the writer's fingerprint, where two writers share the seq.

        Raises:
            AmbiguousPrefixError: the id fits several conversations.
            AmbiguousAddressError: two writers share the seq.
        """
        try:
            conversation = self._conversation(id)
        except NotFoundError:
            return None
        turn = conversation.find_turn(seq, writer)
        return to_turn(turn) if turn is not None else None

    # --- lists

    def list(self) -> list[ConversationSummary]:
        """Every conversation of this workspace, the least recently active first; no clock has a say in it."""
        with self._runtime.backend.reading() as reader:
            newest_first = [to_summary(reader, entry) for entry in _entries(self._runtime, reader)]
        return newest_first[::-1]

    def latest_open(self) -> ConversationSummary | None:
        """
        The most recently active conversation that was not ended; or None.

        One that another conversation runs, and one whose last word came from an export of another program,
        are not offered.
        """
        with self._runtime.backend.reading() as reader:
            entry = find_latest_open(self._runtime, reader, None)
            return to_summary(reader, entry) if entry is not None else None

    def search(self, query: str, limit: int = SEARCH_LIMIT) -> builtins.list[SearchHit]:
        """
        Find turns of this workspace, the best first, one hit a turn.

        Args:
            query: words, "phrases", AND, OR, NOT; see `sanitize_fts5_query`. Words are found inside words.
            limit: at most this many hits.

        Raises:
            EmptyQueryError: nothing is left to search.
            InputError: the query is no text, or a limit below 1.
        """
        return recall(self._store, check_text(query, "query"), check_limit(limit))

    # --- deleting and verifying

    def delete(self, id: str, *, force: bool = False) -> str:
        """
        Delete a conversation with all that is its own, and the session's plan folder where that can be done.

        The plan folder is `<workspace>/<plan_folder>/<id>`, and goes with whatever is in it. Nothing outside
        the workspace is touched, and no link is followed.

        Args:
            force: also what is pinned, has an open turn or a live owner elsewhere.

        Returns:
            Its whole id, which is free from then on.

        Raises:
            NotFoundError, AmbiguousPrefixError: as `resolve_id`.
            SparedError: it is spared, and says why. Nothing was changed.
        """
        gone = self._store.delete(check_conversation_id(id), force=force)
        if self._plan_folder is not None:
            remove_plan_folder(self._folder, self._plan_folder, gone)
        return gone

    def verify_chain(self, id: str) -> None:
        """
        See that nothing in a conversation was changed behind the store's back; repairs nothing.

        Raises:
            ChainError: something was; `findings` says what, by kind and address.
            NotFoundError, AmbiguousPrefixError: as `resolve_id`.
        """
        name = check_conversation_id(id)
        with self._runtime.backend.reading() as reader:
            stream = resolve(self._runtime, reader, name)
            findings = find_changes(self._runtime, reader, stream)
        if findings:
            raise ChainError(conversation_id=stream.id or stream.uid, findings=findings)


def _entries(runtime: Runtime, reader: Reader) -> Iterator[ConversationEntry]:
    """The conversations of the workspace, the most recently active first."""
    if is_there(runtime, reader):
        yield from conversations(reader, find_fence(runtime, reader))


def _usage(tokens_in: int | None, tokens_out: int | None) -> Usage | None:
    """
    Token counts as usage; None where neither was reported.

    Raises:
        InputError: one is no whole number from 0 on.
    """
    for name, count in (("tokens_in", tokens_in), ("tokens_out", tokens_out)):
        if count is not None and (type(count) is not int or not 0 <= count <= _TOKENS_MAX):
            raise InputError(f"{name} is a whole number from 0 on, or None where nobody reported it.")
    if tokens_in is None and tokens_out is None:
        return None
    return Usage(input_tokens=tokens_in, output_tokens=tokens_out)
