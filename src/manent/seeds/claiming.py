"""What `ConversationStore` does besides turns: owners of conversations, and roadmaps."""

from __future__ import annotations

from manent.history.conversation import Conversation
from manent.model import owners
from manent.model.plans import Plan, Roadmap, RoadmapSummary
from manent.seeds.conversation_ids import check_conversation_id
from manent.seeds.conversation_records import ClaimOutcome, HeldBy, StoredOwner
from manent.seeds.opened import Opened


class Claiming(Opened):
    """Who owns a conversation. Ids are whole ones; the conversation need not be there yet."""

    def _named(self, id: str) -> Conversation:
        return self._store.reserve(check_conversation_id(id))

    def claim(self, id: str) -> ClaimOutcome:
        """
        Become the one live owner of a conversation, in one transaction.

        Returns:
            `Claimed`, also of what this process owns already or whose owner is gone; else `HeldBy`, and
            nothing was written: do not attach.

        Raises:
            InputError: no id can be like that.
            StoreBusyError, StorageFullError, ReadOnlyError: nothing was written.
        """
        outcome = self._named(id).claim()
        if isinstance(outcome, owners.HeldBy):
            return HeldBy(outcome.owner.host, outcome.owner.pid)
        return outcome

    def release(self, id: str) -> bool:
        """Give up this process's claim; return whether it had one. Another one's is left alone."""
        return self._named(id).release()

    def heartbeat(self, id: str) -> bool:
        """Say that this process still owns the conversation; return whether it does."""
        return self._named(id).heartbeat()

    def live_owner(self, id: str) -> StoredOwner | None:
        """The owner as recorded, alive or not; None when nobody claimed the conversation."""
        return self._named(id).live_owner()

    def is_owner_live(self, owner: StoredOwner) -> bool:
        """Whether that process still runs: the judgement that `claim` makes."""
        return self._store.is_owner_live(owner)

    # --- roadmaps

    def create_roadmap(self, id: str, title: str, tree: Plan) -> None:
        """
        Keep a plan under an id; a roadmap that has this id in the workspace is replaced.

        Raises:
            InputError: the id is blank, or the tree cannot be kept.
        """
        self._store.roadmaps.create(id, title, tree)

    def load_roadmap(self, id: str) -> Roadmap | None:
        """
        A roadmap, or None when this workspace has none with the id.

        Raises:
            EncodingError: what is stored is no tree; nothing is guessed.
        """
        return self._store.roadmaps.load(id)

    def update_roadmap(self, id: str, tree: Plan) -> bool:
        """Replace the tree of a roadmap; return False, and write nothing, when it is absent."""
        return self._store.roadmaps.update(id, tree)

    def list_roadmaps(self) -> list[RoadmapSummary]:
        """The roadmaps of this workspace, the last written first, by the store's order and no clock."""
        return self._store.roadmaps.list()
