"""Resolving: which conversation a name stands for, inside the fence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from manent.errors import AmbiguousPrefixError, NotFoundError
from manent.history.runtime import Runtime, Target
from manent.history.workspaces import find_fence, is_there
from manent.model.ids import check_text
from manent.model.log import StreamInfo
from manent.storage.port import Reader

_PAGE = 100


def find_exact(runtime: Runtime, reader: Reader, id: str) -> Sequence[StreamInfo]:
    """The conversations with exactly this id, begun ones only: one in a workspace, more for the owner."""
    if not is_there(runtime, reader):
        return []
    found = reader.find_ids(find_fence(runtime, reader), id)
    return [stream for stream in found if reader.find_row(stream.uid) is not None]


def resolve(runtime: Runtime, reader: Reader, id_or_prefix: str) -> StreamInfo:
    """
    The conversation with this id, else the one whose id begins so, case-sensitive.

    Raises:
        NotFoundError: there is none.
        AmbiguousPrefixError: there are several; lists them in the order of their ids.
    """
    found = find_exact(runtime, reader, check_text(id_or_prefix, "id of a conversation"))
    if not found and id_or_prefix and is_there(runtime, reader):
        found = _find_begun(reader, find_fence(runtime, reader), id_or_prefix)
    if not found:
        raise NotFoundError("conversation", id_or_prefix, "`list` shows what is there.")
    return only_one(id_or_prefix, found)


def resolve_all(runtime: Runtime, reader: Reader, id_or_prefix: str) -> StreamInfo:
    """
    As `resolve`, and also what was said of a conversation that is only reserved, by its whole id.

    Raises:
        NotFoundError, AmbiguousPrefixError.
    """
    try:
        return resolve(runtime, reader, id_or_prefix)
    except NotFoundError:
        found = (
            reader.find_ids(find_fence(runtime, reader), id_or_prefix) if is_there(runtime, reader) else ()
        )
        if not found:
            raise
        return only_one(id_or_prefix, found)


def _find_begun(reader: Reader, fence: str | None, prefix: str) -> Sequence[StreamInfo]:
    """The conversations whose id begins so, however many ids are only reserved: all of them, by id."""
    limit = _PAGE
    while len(found := reader.find_prefix(fence, prefix, limit)) == limit:
        limit *= 4
    return [stream for stream in found if reader.find_row(stream.uid) is not None]


def find_key(runtime: Runtime, reader: Reader, key: str) -> Sequence[StreamInfo]:
    """The conversations with exactly this key."""
    if not is_there(runtime, reader):
        return []
    return reader.find_by_key(find_fence(runtime, reader), key)


def only_one(name: str, found: Sequence[StreamInfo]) -> StreamInfo:
    """
    The one that a name stands for.

    Raises:
        AmbiguousPrefixError: it stands for several.
    """
    if len(found) > 1:
        raise AmbiguousPrefixError(prefix=name, matches=[_full_name(stream, found) for stream in found])
    return found[0]


def to_target(stream: StreamInfo) -> Target:
    """What calls about a conversation go by."""
    return Target(stream.uid, stream.id or stream.uid, workspace=stream.workspace)


def _full_name(stream: StreamInfo, among: Iterable[StreamInfo]) -> str:
    """An id, with its workspace where another one has the same."""
    shared = sum(other.id == stream.id for other in among) > 1
    return f"{stream.id} (workspace {stream.workspace[:8]})" if shared else str(stream.id)
