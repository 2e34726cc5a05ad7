"""`manent show`: read one conversation, or the turn or message of an address."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from manent.cli import options, output, render
from manent.cli.transcript import message_lines

if TYPE_CHECKING:
    from manent.history.conversation import Conversation
    from manent.history.messages import Branch
    from manent.model.ids import Address
    from manent.model.records import StoredMessage


class Wish(NamedTuple):
    """Which messages somebody wants to read."""

    limit: int | None
    before: str | None
    all_branches: bool
    hidden: bool


class Reading(NamedTuple):
    """What is shown of a conversation, and how many hidden messages are not."""

    conversation_id: str
    title: str
    messages: Sequence[StoredMessage]
    previous: str | None
    left_out: int


@click.command(
    "show",
    short_help="Read a conversation.",
    epilog=options.examples(
        "manent show 3f2a91",
        "manent show 3f2a91 --limit 20",
        "manent show 'turn:3f2a91…#7'",
        "manent show 3f2a91 --plain > talk.txt",
    ),
)
@click.argument("named", metavar="[ID|ADDRESS]", required=False, shell_complete=options.complete_id)
@options.key
@click.option("--limit", type=click.IntRange(min=1), help="The newest messages only, at most so many.")
@click.option("--before", metavar="CURSOR", help="Only messages before that.")
@click.option("--all-branches", is_flag=True, help="Edits, other branches and what was removed too.")
@click.option("--hidden", is_flag=True, help="What a program injected too.")
@click.option("--plain", is_flag=True, help="The text as it is, also on a terminal.")
@options.no_pager
@options.shared
@click.pass_obj
def command(
    settings: options.Settings,
    /,
    named: str | None,
    key: str | None,
    plain: bool,
    no_pager: bool,
    **wishes: Any,
) -> None:
    """
    Read a conversation, oldest message first; ID may be the beginning of one.

    Lines at the margin are manent's, indented ones are what was said. An ADDRESS, as `search` and `append`
    print it, shows one turn. A terminal gets Markdown and code drawn, and a pager where that is longer than
    the screen.
    """
    reading = _read(settings, named, key, Wish(**wishes))
    if settings.json:
        output.write_json(_as_json(reading))
        return
    drawn = output.is_terminal() and not plain
    output.write_pages(_lines(reading, drawn=drawn), paged=not no_pager)
    if reading.left_out:
        output.note(f"left out: {render.counted(reading.left_out, 'hidden message')}; --hidden shows them")
    if reading.previous:
        output.note(f"there are earlier messages: --before {reading.previous}")


def _read(settings: options.Settings, named: str | None, key: str | None, wish: Wish) -> Reading:
    address = _address_in(named)
    with options.open_store(settings) as store:
        if address is None:
            conversation = options.find_conversation(store, named, key)
            found, previous = _read_page(conversation, wish)
        else:
            conversation = store.conversation(address.conversation_id)
            found, previous = _read_address(conversation, address), None
        shown = [message for message in found if wish.hidden or not message.hidden]
        title = conversation.title
    return Reading(conversation.id, title, shown, previous, len(found) - len(shown))


def _address_in(named: str | None) -> Address | None:
    from manent.errors import AddressError
    from manent.model.ids import parse_address

    try:
        return parse_address(named or "")
    except AddressError:
        return None


def _read_page(conversation: Conversation, wish: Wish) -> tuple[Sequence[StoredMessage], str | None]:
    branch: Branch = "all" if wish.all_branches else "active"
    page = conversation.messages(limit=wish.limit, before=wish.before, branch=branch)
    return page, page.previous


def _read_address(conversation: Conversation, address: Address) -> Sequence[StoredMessage]:
    if address.kind == "message":
        return [conversation.get_message(address.ref)]
    turn = conversation.get_turn(int(address.ref), address.writer)
    return [conversation.get_message(message_id) for message_id in turn.message_ids]


def _as_json(reading: Reading) -> dict[str, Any]:
    import msgspec

    messages = [{**msgspec.to_builtins(m), "address": str(m.address)} for m in reading.messages]
    return {
        "conversation": {"id": reading.conversation_id, "title": reading.title},
        "messages": messages,
        "previous": reading.previous,
        "hidden_left_out": reading.left_out,
    }


def _lines(reading: Reading, *, drawn: bool) -> Iterator[str]:
    """The whole page: a title, then each message under a heading; drawn for a terminal, or as it is."""
    yield output.bold(f"# {render.one_line(reading.title or '(no title)')}")
    yield render.one_line(reading.conversation_id)
    for message in reading.messages:
        yield ""
        yield from message_lines(message, drawn=drawn)
