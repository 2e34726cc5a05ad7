"""
Every exception of manent, and what each one carries.

    ManentError
    ├── StoreError                      something about the store as a whole; carries `store`
    │   ├── StoreBusyError              (TimeoutError)  the write lock was not had within `wait`
    │   ├── StoreClosedError            (ValueError)    used after `close()`
    │   ├── StorageFullError            (OSError)       no room left where the store is
    │   ├── ReadOnlyError               (PermissionError) opened, mounted or wrapped read-only
    │   ├── DamagedStoreError           the file is not whole; nothing was changed
    │   ├── NotAStoreError              the file is something else; nothing was changed
    │   ├── NewerStoreError             written by a newer manent; nothing was changed
    │   ├── FaultyEngineError           this SQLite release can lose data; nothing was opened
    │   ├── FollowResetError            positions of an older generation mean nothing any more
    │   └── InjectedFaultError          raised by the `faulty` wrapper, in tests only
    ├── NotFoundError                   (LookupError)   no such conversation, turn, message or blob
    ├── AmbiguousPrefixError            (LookupError)   a shortened id fits several conversations
    ├── AmbiguousAddressError           (LookupError)   two writers share the seq of an address
    ├── AlreadyExistsError              an id or a key is taken
    ├── ConflictError                   the conversation moved on; carries the actual seq
    ├── IdempotencyError                a key was used before, with other content
    ├── SparedError                     a conversation that must not be removed as things stand; says why
    │   └── HeldError                   it is on hold: nothing removes it until the hold is lifted
    ├── ContinuedError                  an import that somebody continued is not undone; lists where
    ├── OwnershipLostError              an append of an owner that is none any more; carries who is
    ├── WorkspaceRequiredError          the owner's handle cannot choose a workspace
    ├── OwnerRequiredError              what moves workspaces needs the owner's handle
    ├── ChainError                      a conversation was changed behind the store's back; carries what was
    ├── MergeNeededError                two histories differ and only a merge can join them
    ├── InputError                      (ValueError)    an argument that cannot be used
    │   ├── EmptyQueryError             nothing is left to search
    │   ├── AddressError                text that is no address
    │   └── FormatError                 a file or record that cannot be read; carries its place
    └── EncodingError                   stored bytes that this release cannot decode; names the event
        └── MetadataError               a register that holds what nobody of us writes; names the field

No message ever holds the content of a conversation: an error says what, which, and what to do.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol


class ManentError(Exception):
    """The base of every exception that manent raises on purpose. Travels between processes whole."""

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, (type(self), self.args, self.__dict__)


def _rebuilt(cls: type[ManentError], args: tuple[object, ...], data: dict[str, object]) -> ManentError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(data)
    return error


class StoreError(ManentError):
    """Something about a store as a whole; `store` is its URL or path."""

    def __init__(self, message: str, *, store: str) -> None:
        super().__init__(message)
        self.store = store


class StoreBusyError(StoreError, TimeoutError):
    """Another process kept the write lock longer than this caller was ready to wait."""

    def __init__(self, *, store: str, waited_s: float, holder: str | None = None) -> None:
        who = f" by {holder}" if holder else ""
        super().__init__(
            f"{store} is being written{who}; gave up after {waited_s:.1f} s. "
            "Nothing was written. Try again, or open the store with a longer `wait`.",
            store=store,
        )
        self.waited_s = waited_s
        self.holder = holder


class StoreClosedError(StoreError, ValueError):
    """The store was closed; open it again."""

    def __init__(self, *, store: str) -> None:
        super().__init__(f"{store} is closed. Open it again.", store=store)


class StorageFullError(StoreError, OSError):
    """There is no room for the write; what was acknowledged before stays readable."""

    def __init__(self, *, store: str) -> None:
        super().__init__(
            f"No room left to write to {store}. Nothing of this call was stored. "
            "Free some space and repeat it; the store needs no repair.",
            store=store,
        )


class ReadOnlyError(StoreError, PermissionError):
    """The store, its folder or its wrapper does not permit writing."""

    def __init__(self, *, store: str, why: str = "it is read-only") -> None:
        super().__init__(f"Cannot write to {store}: {why}. Nothing was stored.", store=store)
        self.why = why


class DamagedStoreError(StoreError):
    """The bytes on disk are not a whole store. Nothing was changed."""

    def __init__(self, *, store: str, detail: str) -> None:
        super().__init__(
            f"{store} is damaged ({detail}). It was left as it is: keep a copy of the file and of "
            "its -wal file before you try anything, then restore a backup or an export.",
            store=store,
        )
        self.detail = detail


class NotAStoreError(StoreError):
    """The file exists and is something else. Nothing was changed."""

    def __init__(self, *, store: str, detail: str) -> None:
        super().__init__(
            f"{store} is not a manent store ({detail}). Give another path; nothing was changed.", store=store
        )
        self.detail = detail


class NewerStoreError(StoreError):
    """A newer manent wrote this store; an older one must not touch it."""

    def __init__(self, *, store: str, found: int, supported: int) -> None:
        super().__init__(
            f"{store} has store format {found}; this manent reads up to {supported}. "
            "Nothing was changed. Install a newer manent to open it.",
            store=store,
        )
        self.found = found
        self.supported = supported


class FaultyEngineError(StoreError):
    """The SQLite library in use can corrupt a store that several processes write."""

    def __init__(self, *, store: str, version: str) -> None:
        super().__init__(
            f"SQLite {version} can lose data when several processes write (the WAL-reset fault, mended in "
            f"3.51.3, 3.50.7 and 3.44.6), so {store} was not opened. Install a newer apsw-sqlite3mc.",
            store=store,
        )
        self.version = version


class FollowResetError(StoreError):
    """A position belongs to another generation of the store: read from the start."""

    def __init__(self, *, store: str, found: str, expected: str) -> None:
        super().__init__(
            f"The position belongs to generation {expected[:8]} of {store}, which is now at {found[:8]} "
            "(the store was copied or restored). Read from the start.",
            store=store,
        )
        self.found = found
        self.expected = expected


class InjectedFaultError(StoreError):
    """A fault that a test asked the `faulty` wrapper for."""


class NotFoundError(ManentError, LookupError):
    """The workspace holds no such thing. A thing of another workspace is equally absent."""

    def __init__(self, what: str, which: str, advice: str = "") -> None:
        super().__init__(f"No {what} {which!r} here. {advice}".rstrip())
        self.what = what
        self.which = which


class AmbiguousPrefixError(ManentError, LookupError):
    """A shortened id fits more than one conversation; `matches` lists their ids."""

    SHOWN_MAX = 5

    def __init__(self, *, prefix: str, matches: Sequence[str]) -> None:
        shown = ", ".join(matches[: self.SHOWN_MAX])
        more = len(matches) - self.SHOWN_MAX
        tail = f" and {more} more" if more > 0 else ""
        super().__init__(
            f"{prefix!r} fits {len(matches)} conversations: {shown}{tail}. Give more characters of the id."
        )
        self.prefix = prefix
        self.matches = tuple(matches)


class AmbiguousAddressError(ManentError, LookupError):
    """Two writers share this seq; `matches` lists the addresses that say which."""

    def __init__(self, *, address: str, matches: Sequence[str]) -> None:
        super().__init__(f"{address} fits {len(matches)} turns: {', '.join(matches)}. Use one of these.")
        self.address = address
        self.matches = tuple(matches)


class AlreadyExistsError(ManentError):
    """An id or a key is taken in this workspace."""

    def __init__(
        self, what: str, which: str, *, where: str = "in this workspace", advice: str = "Choose another one."
    ) -> None:
        super().__init__(f"The {what} {which!r} is taken {where}. {advice}")
        self.what = what
        self.which = which


class ConflictError(ManentError):
    """The conversation has moved past the seq that the caller had seen; nothing was written."""

    def __init__(self, *, conversation_id: str, expected: int, actual: int) -> None:
        super().__init__(
            f"Conversation {conversation_id} is at seq {actual}, not {expected}: somebody wrote in between. "
            "Nothing was written. Read what is new and append with after=" + str(actual) + "."
        )
        self.conversation_id = conversation_id
        self.expected = expected
        self.actual = actual


class IdempotencyError(ManentError):
    """The idempotency key was used before in this conversation, with other content."""

    def __init__(self, *, address: str) -> None:
        super().__init__(
            f"This idempotency key already stands for {address}, with other content. Nothing was written. "
            "Use a new key for a new turn."
        )
        self.address = address


class SparedError(ManentError):
    """A conversation is spared from removal; `reasons` says why: pinned, owned, open_turn."""

    ADVICE: ClassVar[dict[str, str]] = {
        "pinned": "Unpin it",
        "owned": "Wait until its owner has released it",
        "open_turn": "Wait until its turn has ended",
    }
    REMEDY = ", or pass force=True."

    def __init__(self, *, conversation_id: str, reasons: Sequence[str]) -> None:
        advice = " and ".join(self.ADVICE.get(reason, "Wait") for reason in reasons)
        super().__init__(
            f"Conversation {conversation_id} was not removed: {', '.join(reasons)}. Nothing was changed. "
            f"{advice}{self.REMEDY}"
        )
        self.conversation_id = conversation_id
        self.reasons = tuple(reasons)


class HeldError(SparedError):
    """A conversation is on hold; not even `force` removes it."""

    ADVICE: ClassVar[dict[str, str]] = {"held": "Lift the hold first"}
    REMEDY = "."


class ContinuedError(ManentError):
    """Something was said under what an undo would take away; `addresses` says where. Nothing was changed."""

    def __init__(self, *, import_id: str, addresses: Sequence[str]) -> None:
        super().__init__(f"Import {import_id} was continued at {addresses[0]}. Keep it, or force the undo.")
        self.import_id, self.addresses = import_id, tuple(addresses)


class OwnershipLostError(ManentError):
    """An epoch is over: the conversation has another owner now, or none. Nothing was written."""

    def __init__(self, *, conversation_id: str, epoch: int, holder: str | None) -> None:
        who = f"it belongs to {holder} now" if holder else "nobody owns it now"
        super().__init__(
            f"Epoch {epoch} of conversation {conversation_id} is over: {who}. Nothing was written. "
            "Read what is new, then claim it again."
        )
        self.conversation_id = conversation_id
        self.epoch = epoch
        self.holder = holder


class OwnerRequiredError(ManentError):
    """Moving what lies in workspaces is for whoever may see all of them."""

    def __init__(self) -> None:
        super().__init__("This needs the handle over all workspaces. Open the store with workspace=None.")


class WorkspaceRequiredError(ManentError):
    """The owner's handle sees every workspace and so cannot choose one to write a new conversation to."""

    def __init__(self) -> None:
        super().__init__(
            "This is done inside a workspace, and a handle over all of them has none. "
            "Open the store with workspace=…."
        )


class MergeNeededError(ManentError):
    """An import brings another history of something that is here already; nothing was written."""

    def __init__(self, *, what: str) -> None:
        super().__init__(
            f"{what} differs from what this store holds, so importing needs a merge. Nothing was written. "
            "Import into an empty store instead."
        )
        self.what = what


class Change(Protocol):
    """What an error says of a change: its kind, where it is, and what is wrong."""

    @property
    def kind(self) -> str:
        """One of `FindingKind`."""

    @property
    def address(self) -> str:
        """Where it is."""

    @property
    def detail(self) -> str:
        """What is wrong, never what was said."""


class ChainError(ManentError):
    """Something in a conversation was changed behind the store's back; `findings` says what."""

    SHOWN_MAX = 5

    def __init__(self, *, conversation_id: str, findings: Sequence[Change]) -> None:
        shown = "; ".join(
            f"{each.address} ({each.kind}): {each.detail}" for each in findings[: self.SHOWN_MAX]
        )
        more = len(findings) - self.SHOWN_MAX
        tail = f"; and {more} more" if more > 0 else ""
        super().__init__(
            f"Conversation {conversation_id} is not what was written: {shown}{tail}. Nothing was repaired. "
            "Keep a copy of the store, and compare with a backup or an export."
        )
        self.conversation_id = conversation_id
        self.findings = tuple(findings)


class InputError(ManentError, ValueError):
    """An argument that cannot be used; the message says which and why."""


class EmptyQueryError(InputError):
    """Nothing is left to search in a query."""

    def __init__(self) -> None:
        super().__init__("The query holds nothing to search for. Give at least one character of a word.")


class AddressError(InputError):
    """Text that is not an address."""

    def __init__(self, text: str) -> None:
        super().__init__(f"{text[:80]!r} is no address. Write turn:<conversation>#<seq>.")


class FormatError(InputError):
    """A file or one record of it cannot be read; `place` says where (file, or file and line)."""

    def __init__(self, detail: str, *, place: str) -> None:
        super().__init__(f"{place}: {detail}")
        self.detail = detail
        self.place = place


class EncodingError(ManentError):
    """Stored bytes of an event that this release cannot decode."""

    def __init__(self, detail: str, *, event: str) -> None:
        super().__init__(f"Event {event} cannot be decoded: {detail}. Run `manent verify`.")
        self.event = event


class MetadataError(EncodingError):
    """A register whose value is not what this release writes there; `field` and `of` say which."""

    def __init__(self, detail: str, *, field: str, of: str) -> None:
        ManentError.__init__(
            self,
            f"The register {field!r} of {of} cannot be read ({detail.rstrip('.')}). Nothing was changed. "
            "Set it anew, or restore an export.",
        )
        self.event = f"{field} of {of}"
        self.field = field
        self.of = of
