"""What is said about a conversation beside its turns: none of it moves any activity."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from manent.errors import InputError, NotFoundError
from manent.history.beginning import described
from manent.history.conversation import Conversation
from manent.history.resolving import resolve
from manent.model.ids import check_name
from manent.model.log import END_FIELD
from manent.model.plans import PlanSnapshot
from manent.seeds.conversation_ids import check_conversation_id
from manent.seeds.conversation_records import DISPLAY_FIELD
from manent.seeds.opened import Opened


class Describing(Opened):
    """Titles, ends, scratchpads, plans and links of conversations."""

    def _conversation(self, id: str) -> Conversation:
        return self._store.conversation(check_conversation_id(id))

    def rename(self, id: str, title: str) -> None:
        """
        Set the title, without white space around it, and the time of display.

        Raises:
            NotFoundError, AmbiguousPrefixError: as `resolve_id`.
        """
        self._describe(id, "title", described(title=title).get("title"))

    def end_conversation(self, id: str, reason: str) -> bool:
        """Say that a conversation has ended, and why; return False, and write nothing, when it is absent."""
        if not isinstance(reason, str):
            raise InputError(f"A reason is text, not {type(reason).__name__}.")
        checked = check_name(reason.strip(), "reason")
        return self._if_there(lambda: self._describe(id, END_FIELD, checked))

    def update_scratchpad(self, id: str, scratchpad: Mapping[str, str]) -> bool:
        """Replace the whole scratchpad; return False, and write nothing, when the conversation is absent."""
        return self._if_there(lambda: self._conversation(id).set_scratchpad(scratchpad))

    def update_plan_snapshot(self, id: str, plan: PlanSnapshot) -> bool:
        """Replace the whole plan; return False, and write nothing, when the conversation is absent."""
        return self._if_there(lambda: self._conversation(id).set_plan(plan))

    def link_conversation_to_node(self, id: str, roadmap_id: str | None, node_id: str | None) -> None:
        """
        Say which node of a roadmap the conversation works on, or (None, None) that it works on none.

        Args:
            id: a whole id; the conversation need not be there yet.

        Raises:
            InputError: only one of the two is given, or one is blank.
        """
        named = self._store.reserve(check_conversation_id(id))
        if roadmap_id is not None and node_id is not None:
            named.link_to_node(roadmap_id, node_id)
        elif roadmap_id is None and node_id is None:
            named.unlink_from_node()
        else:
            raise InputError("Give both a roadmap and a node, or neither.")

    def _describe(self, id: str, field: str, value: str | None) -> None:
        """Set a register and the time of display, together."""
        name, now_ns = check_conversation_id(id), self._runtime.clock()
        with self._runtime.backend.transaction() as tx:
            stream = resolve(self._runtime, tx.read, name)
            tx.put_metadata(stream.uid, field, value)
            tx.put_metadata(stream.uid, DISPLAY_FIELD, now_ns)

    def _if_there(self, change: Callable[[], None]) -> bool:
        try:
            change()
        except NotFoundError:
            return False
        return True
