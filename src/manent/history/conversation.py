"""One conversation: append to it and read it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from manent.errors import NotFoundError
from manent.history import appending, assembly, messages, turns
from manent.history.appending import Guard, Parent
from manent.history.linking import Linked
from manent.history.messages import Branch, Window
from manent.history.metadata import Described
from manent.history.ownership import Ownable
from manent.history.statistics import NOTHING, to_statistics
from manent.model.contexts import RECENT, RELATED, Context
from manent.model.events import TurnAppended
from manent.model.ids import Address
from manent.model.paging import Page
from manent.model.parts import Citation, PhantomReach, ToolEvent, Usage, plain_str
from manent.model.records import Message, Statistics, StoredMessage, Turn
from manent.model.rows import ConversationRow


class Conversation(Described, Ownable, Linked):
    """
    What a user opens again. Get one from `Store.create` or `Store.conversation`.

    Cheap, and holds no row: two handles of one conversation see the same things. Every append is durable
    when it returns, at the level that the store was opened with.
    """

    def __repr__(self) -> str:
        return f"<Conversation {self.id!r}>"

    @property
    def uid(self) -> str:
        """The inner identity, random and unique everywhere; what the chain is bound to."""
        with self._reading() as (_, target):
            return target.uid

    # --- writing

    def append_turn(
        self,
        question: str,
        answer: str,
        *,
        tool_events: Sequence[ToolEvent] = (),
        citations: Sequence[Citation] = (),
        usage: Usage | None = None,
        phantom_reaches: Sequence[PhantomReach] = (),
        author: str | None = None,
        idempotency_key: str | None = None,
        after: int | None = None,
        epoch: int | None = None,
    ) -> Turn:
        """
        Append a whole turn after the head. A reserved conversation begins with it.

        Args:
            question, answer: any text; it comes back equal.
            usage: what the provider reported; None is "not reported", never zero.
            author: whose question it is.
            idempotency_key: the same key with the same content gives the first turn back and writes nothing.
            after: the activity seq that the caller has seen.
            epoch: what `claim` gave: append only as the conversation's owner.

        Returns:
            The turn as stored.

        Raises:
            ConflictError: `after` was given and somebody wrote since.
            OwnershipLostError: `epoch` was given and is over.
            IdempotencyError: the key stands for other content.
            InputError: an argument cannot be stored.
            NotFoundError: the conversation is gone.
            StoreBusyError, StorageFullError, ReadOnlyError: nothing was written.
        """
        turn = TurnAppended(
            question=plain_str(question),
            answer=plain_str(answer),
            tool_events=tuple(tool_events),
            citations=tuple(citations),
            usage=usage,
            phantom_reaches=tuple(phantom_reaches),
            author=author,
            idempotency_key=idempotency_key,
        )
        stored, was_there = appending.append_turn(self._runtime, self._target, turn, Guard(after, epoch))
        self._settle(stored.header.uid)
        if not was_there:
            return assembly.to_fresh_turn(self._target, stored, turn)
        with self._reading() as (reader, target):
            return turns.read_turn(reader, target, stored.header.stamp)

    def append_message(
        self,
        message: Message,
        *,
        parent: Parent = None,
        idempotency_key: str | None = None,
        after: int | None = None,
        epoch: int | None = None,
    ) -> StoredMessage:
        """Append one message: `append_messages` for a single one, with the same arguments and errors."""
        return self.append_messages(
            [message], parent=parent, idempotency_key=idempotency_key, after=after, epoch=epoch
        )[0]

    def append_messages(
        self,
        batch: Sequence[Message],
        *,
        parent: Parent = None,
        idempotency_key: str | None = None,
        after: int | None = None,
        epoch: int | None = None,
    ) -> list[StoredMessage]:
        """
        Append messages, each under the one before: all of them or none (L-2).

        Args:
            parent: what the first one hangs under. None: the head. `ROOT`: nothing. Else a message or its id.
            idempotency_key: one key for the whole batch.
            after: the activity seq that the caller has seen.
            epoch: what `claim` gave: append only as the conversation's owner.

        Returns:
            The messages as stored.

        Raises:
            NotFoundError: the parent is not in the tree, or the conversation is gone.
            AlreadyExistsError: a message brings an id that is taken.
            ConflictError, OwnershipLostError, IdempotencyError, InputError, StoreBusyError, StorageFullError,
                ReadOnlyError: as `append_turn`.
        """
        batch = list(batch)
        if not batch:
            return []
        stored = appending.append_messages(
            self._runtime,
            self._target,
            batch,
            parent=parent,
            idempotency_key=idempotency_key,
            guard=Guard(after, epoch),
        )
        self._settle(stored[0].header.uid)
        with self._reading() as (reader, target):
            return [messages.message_at(reader, target, event.header.stamp) for event in stored]

    # --- reading

    def messages(
        self,
        *,
        limit: int | None = None,
        after: str | None = None,
        before: str | None = None,
        branch: Branch = "active",
    ) -> Page[StoredMessage]:
        """
        Read messages in causal order.

        Args:
            limit: at most this many, the newest ones unless `after` is given. None: all of them.
            after, before: cursors that a page gave (`next`, `previous`), or a message's own; exclusive. An
                empty `after` begins with the first message.
            branch: `active` reads from the root to the head, `all` every branch and what was removed.

        Returns:
            A page, oldest first; `next` and `previous` lead on.

        Raises:
            InputError: a limit below 1, or a cursor that is none.
        """
        window = Window.of(limit, after, before, branch)
        with self._reading() as (reader, target):
            return messages.read_page(reader, target, window)

    def get_message(self, message_id: str) -> StoredMessage:
        """
        One message by its id.

        Raises:
            NotFoundError: the conversation has no such message.
        """
        with self._reading() as (reader, target):
            return messages.get_message(reader, target, message_id)

    def siblings(self, message_id: str) -> list[str]:
        """
        The ids of the messages under the same parent, this one included, oldest first.

        Raises:
            NotFoundError: the conversation has no such message.
        """
        with self._reading() as (reader, target):
            return messages.siblings(reader, target, message_id)

    def turns(
        self,
        *,
        limit: int | None = None,
        after: str | None = None,
        before: str | None = None,
        branch: Branch = "active",
    ) -> Page[Turn]:
        """Read turns in causal order; arguments, pages and errors are those of `messages`."""
        window = Window.of(limit, after, before, branch)
        with self._reading() as (reader, target):
            return turns.read_page(reader, target, window)

    def get_turn(self, seq: int | Address | str, writer: str = "") -> Turn:
        """
        One turn by the seq of the event that began it, or by its address.

        Args:
            seq: a turn's seq, its address, or that as text.
            writer: the beginning of the writer's id, where two writers share the seq.

        Raises:
            NotFoundError: no such turn here.
            AmbiguousAddressError: two writers share the seq; lists the full addresses.
            AddressError: text that is no address.
        """
        with self._reading() as (reader, target):
            return turns.get_turn(reader, target, seq, writer)

    def find_turn(self, seq: int | Address | str, writer: str = "") -> Turn | None:
        """As `get_turn`, but None when there is no such turn."""
        try:
            return self.get_turn(seq, writer)
        except NotFoundError:
            return None

    def context(
        self,
        message: str | None = None,
        *,
        recent: int = RECENT,
        related: int = RELATED,
        budget: int | None = None,
        count: Callable[[str], int] | None = None,
    ) -> Context:
        """
        Choose what a model is told before it answers: the newest messages, and older ones on the same matter.

        Of the active branch, without what was injected. A tool's call and its results come together or not
        at all. Nothing is written, and `message` is not in the result.

        Args:
            message: what is asked now. None: the newest message of the user that is here.
            recent: at most so many of the newest messages, and the user's newest one beside them.
            related: at most so many older ones, found by at most five keywords of `message`.
            budget: what the result may count at most. None: no bound. The newest messages win.
            count: counts a text, for example in tokens. None: bytes of UTF-8, of which there are at least as
                many as tokens. What a model's API adds to each message is the caller's to leave room for.

        Raises:
            InputError: a number below 0, or an argument of another type.
        """
        from manent.history import context  # brings the folding of search, which nothing else here needs

        wanted = context.Wanted.of(message, recent, related, budget, count)
        with self._reading() as (reader, target):
            return context.build(reader, target, wanted)

    @property
    def head(self) -> str | None:
        """The id of the message at which the active branch ends; None before the first one."""
        row = self._row()
        return row.head if row else None

    @property
    def activity_seq(self) -> int:
        """The seq of the last content event, which `after=` compares with; 0 before the first one."""
        row = self._row()
        return row.activity.seq if row else 0

    def stats(self) -> Statistics:
        """Counts over this conversation."""
        with self._reading() as (reader, target):
            begun = messages.find_row(reader, target) is not None
            return to_statistics(reader.measure(None, target.uid) if begun else NOTHING)

    def _row(self) -> ConversationRow | None:
        with self._reading() as (reader, target):
            return messages.find_row(reader, target)
