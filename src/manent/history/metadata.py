"""The metadata of one conversation: set and read, moving no activity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from manent.errors import InputError, NotFoundError
from manent.history.handle import Handle
from manent.model.ids import check_name
from manent.model.log import KEY_FIELD, Register
from manent.model.metadata import Metadata, RoadmapLink, read_metadata
from manent.model.parts import check_json, plain_str
from manent.model.plans import PlanSnapshot
from manent.storage.port import Reader


class Described(Handle):
    """
    A handle whose conversation can be described.

    Each call that sets something is durable when it returns, moves no activity and conflicts with nothing
    (L-8). It raises `InputError` for an argument that cannot be stored, `NotFoundError` when the conversation
    is gone, and `StoreBusyError`, `StorageFullError` or `ReadOnlyError` when nothing could be written. A
    conversation that is reserved only gets its place in the store.
    """

    # --- setting

    def rename(self, title: str) -> None:
        """Set the title, without white space around it; an empty one unsets it."""
        self._put("title", _text(title, "title").strip() or None)

    def end(self, reason: str) -> None:
        """
        Say that the conversation has ended, and why; once more replaces the reason.

        Args:
            reason: a word or two, such as "new" or "restart"; white space around it falls away.

        Raises:
            InputError: the reason is blank or longer than 512 bytes.
        """
        self._put("end_reason", check_name(_text(reason, "reason").strip(), "reason"))

    def reopen(self) -> None:
        """Take an end back."""
        self._put("end_reason", None)

    def set_persona(self, persona: str | None) -> None:
        """Set who the machine plays; None or "" unsets it."""
        self._put("persona", None if persona is None else _text(persona, "persona") or None)

    def set_project(self, project: str | None) -> None:
        """
        Set what the conversation belongs to, such as a folder; None or "" unsets it.

        Lists compare it exactly, as text: a folder under another spelling is another project.
        """
        self._put("project", None if project is None else _text(project, "project") or None)

    def set_key(self, key: str | None) -> None:
        """
        Set the caller's own name for the conversation; None gives it up.

        Raises:
            AlreadyExistsError: another conversation of the workspace has it.
        """
        self._put(KEY_FIELD, None if key is None else plain_str(check_name(key, "key")))

    def add_tags(self, *tags: str) -> None:
        """Add tags: any text that is not blank, at most 512 bytes each; one that is there stays."""
        self._change_tags(add=_tags(tags))

    def remove_tags(self, *tags: str) -> None:
        """Remove tags; one that is not there is no error."""
        self._change_tags(remove=_tags(tags))

    def pin(self) -> None:
        """Say "do not delete this"."""
        self._put("pin", True)

    def unpin(self) -> None:
        """Take a pin back."""
        self._put("pin", None)

    def set_scratchpad(self, scratchpad: Mapping[str, str]) -> None:
        """Replace the whole scratchpad; an empty one clears it. Keys and values are any text."""
        if not isinstance(scratchpad, Mapping):
            raise InputError(f"A scratchpad is a mapping of texts, not {type(scratchpad).__name__}.")
        kept = {
            _text(key, "scratchpad key"): _text(value, "scratchpad value")
            for key, value in scratchpad.items()
        }
        check_json(kept, "scratchpad")
        self._put("scratchpad", kept or None)

    def set_plan(self, plan: PlanSnapshot) -> None:
        """Replace the whole plan; one without steps clears it."""
        if not isinstance(plan, PlanSnapshot):
            raise InputError(f"A plan is a PlanSnapshot, not {type(plan).__name__}.")
        kept = plan.to_json()
        self._put("plan", kept if kept["steps"] else None)

    def set_config_snapshot(self, config: dict[str, Any] | None) -> None:
        """Set the settings that the conversation began with: any JSON object; None unsets them."""
        self._put("config_snapshot", None if config is None else _json_object(config))

    def link_to_node(self, roadmap_id: str, node_id: str) -> None:
        """
        Say which node of a roadmap the conversation works on. Neither has to be there.

        Raises:
            InputError: an id is blank or longer than 512 bytes.
        """
        roadmap_id = plain_str(check_name(roadmap_id, "roadmap id"))
        node_id = plain_str(check_name(node_id, "node id"))
        self._put("roadmap_link", msgspec.to_builtins(RoadmapLink(roadmap_id, node_id)))

    def unlink_from_node(self) -> None:
        """Take the link to a node back."""
        self._put("roadmap_link", None)

    def _put(self, field: str, value: Any) -> None:
        with self._writing() as (tx, target):
            tx.put_metadata(target.uid, field, value)

    def _change_tags(
        self, *, add: frozenset[str] = frozenset(), remove: frozenset[str] = frozenset()
    ) -> None:
        with self._writing() as (tx, target):
            there = frozenset(_read(tx.read, target.uid, target.id, only="tags").tags)
            wanted = (there | add) - remove
            if wanted != there:
                tx.put_metadata(target.uid, "tags", sorted(wanted) or None)

    # --- reading

    def metadata(self) -> Metadata:
        """
        All metadata, in one read.

        Raises:
            NotFoundError: the conversation is gone.
            MetadataError: a register holds what nobody of us writes there; nothing is guessed.
        """
        return self._described()

    @property
    def title(self) -> str:
        """The title, or ""."""
        return self._described("title").title

    @property
    def key(self) -> str | None:
        """The caller's own name for it, unique in the workspace."""
        return self._described(KEY_FIELD).key

    @property
    def persona(self) -> str | None:
        """Who the machine plays."""
        return self._described("persona").persona

    @property
    def project(self) -> str | None:
        """What it belongs to, as it was set; compared exactly, as text."""
        return self._described("project").project

    @property
    def end_reason(self) -> str | None:
        """Why the conversation ended; None while it is open."""
        return self._described("end_reason").end_reason

    @property
    def is_open(self) -> bool:
        """Whether nobody has ended it."""
        return self.end_reason is None

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags, sorted, each once."""
        return self._described("tags").tags

    @property
    def pinned(self) -> bool:
        """Whether it has the user's "do not delete"."""
        return self._described("pin").pinned

    def _described(self, only: str | None = None) -> Metadata:
        with self._reading() as (reader, target):
            if target.reserved:
                return Metadata()
            stream = reader.find_stream(target.uid)
            if stream is None or stream.deleted:
                raise NotFoundError("conversation", target.id, "It was deleted.")
            return _read(reader, target.uid, target.id, only=only)


def _read(reader: Reader, uid: str, id: str, *, only: str | None) -> Metadata:
    registers: Sequence[Register] = reader.read_registers(uid)
    return read_metadata(registers, of=f"conversation {id}", only=only)


def _text(value: str, what: str) -> str:
    if not isinstance(value, str):
        raise InputError(f"A {what} is text, not {type(value).__name__}.")
    return plain_str(value)


def _tags(tags: Sequence[str]) -> frozenset[str]:
    return frozenset(plain_str(check_name(tag, "tag")) for tag in tags)


def _json_object(value: dict[str, Any]) -> Any:
    if not isinstance(value, dict):
        raise InputError(f"A config snapshot is a dictionary, not {type(value).__name__}.")
    check_json(value, "config_snapshot")
    try:
        return msgspec.to_builtins(value)
    except TypeError:
        raise InputError("config_snapshot holds a type of its own; give plain JSON values.") from None
