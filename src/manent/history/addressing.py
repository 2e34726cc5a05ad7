"""Reading by address: one turn or message of any conversation inside the fence."""

from __future__ import annotations

from manent.errors import NotFoundError
from manent.history import messages, turns
from manent.history.resolving import resolve, to_target
from manent.history.runtime import Runtime
from manent.model.ids import Address, parse_address
from manent.model.records import StoredMessage, Turn
from manent.storage.port import Reader


def get(runtime: Runtime, reader: Reader, address: Address | str) -> Turn | StoredMessage:
    """
    What stands at an address; the conversation may be shortened to the beginning of its id.

    Raises:
        AddressError: text that is no address.
        NotFoundError: nothing there, or in another workspace.
        AmbiguousPrefixError, AmbiguousAddressError: it fits several; lists them.
    """
    wanted = address if isinstance(address, Address) else parse_address(address)
    if wanted.kind != "message":
        wanted = parse_address(str(wanted))  # one that was put together by hand may name no turn
    try:
        target = to_target(resolve(runtime, reader, wanted.conversation_id))
    except NotFoundError:
        raise NotFoundError(wanted.kind, str(wanted)) from None
    if wanted.kind == "message":
        return messages.get_message(reader, target, wanted.ref)
    return turns.get_turn(reader, target, int(wanted.ref), wanted.writer)
