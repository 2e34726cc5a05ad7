"""How a message is shown: a heading at the margin, and what was said below it, indented."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from manent.cli import output, render

if TYPE_CHECKING:
    from manent.model.parts import AnyPart
    from manent.model.records import StoredMessage

COMPACT_COLUMNS = 160
"""How much of a tool call, a result or a reasoning is shown."""

INDENT = "  "
"""Before each line of stored text, so that none can pass for a line of ours."""


def message_lines(message: StoredMessage, *, drawn: bool, flags: Iterable[str] = ()) -> Iterator[str]:
    """A message under its heading; drawn for a terminal, or as it is. `flags` stand in the heading too."""
    yield output.bold(_heading(message, flags))
    for part in message.parts:
        yield from _part_lines(part, drawn=drawn)
    if message.erased:
        yield "[erased]"


def _heading(message: StoredMessage, more: Iterable[str]) -> str:
    who = f"{message.role} ({message.author})" if message.author else message.role
    flags = ["hidden"] * message.hidden + [message.state] * (message.state != "present") + [*more]
    said = [who, render.local_time(message.claim_ns), str(message.address), *(f"({flag})" for flag in flags)]
    return f"## {render.one_line('  '.join(said))}"


def _part_lines(part: AnyPart, *, drawn: bool) -> Iterator[str]:
    """Words indented and whole; everything else on one line at the margin, cut where it is long."""
    from manent.model.parts import TextPart

    if isinstance(part, TextPart):
        yield from (f"{INDENT}{line}".rstrip() for line in _text_lines(render.inert(part.text), drawn=drawn))
    else:
        yield output.faint(render.cut(render.one_line(_compact(part)), COMPACT_COLUMNS))


def _text_lines(text: str, *, drawn: bool) -> Iterable[str]:
    if not drawn:
        return text.split("\n")
    from manent.cli.drawing import draw

    return draw(text, output.columns() - len(INDENT))


def _compact(part: AnyPart) -> str:
    """A part that is no text, in one line."""
    from manent.model import parts

    match part:
        case parts.ReasoningPart(text=text):
            return f"[reasoning] {text or '(kept by the provider)'}"
        case parts.ToolCallPart(name=name, arguments=arguments):
            return f"[call] {name} {_value(arguments)}"
        case parts.ToolResultPart(name=name, content=content, is_error=is_error):
            return " ".join(filter(None, ["[error]" if is_error else "[result]", name, _value(content)]))
        case parts.FilePart(name=name, media_type=media_type, state=state):
            return " ".join(filter(None, ["[file]", name, media_type, f"({state})"]))
        case parts.Citation(marker=marker, target=target, title=title):
            return " ".join(filter(None, ["[citation]", marker, target, title]))
        case parts.NoticePart(kind=kind, text=text):
            return f"[notice] {kind}: {text}"
        case parts.OpaquePart(data=data, origin=origin):
            return f"[unknown part] {origin} {_value(data)}"
        case _:
            raise TypeError(f"a part without a display: {type(part).__name__}")


def _value(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
