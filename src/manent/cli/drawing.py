"""
Markdown and code for a person at a terminal, drawn by rich. Loaded there only.

Drawing hides no word: links and pictures show where they lead, HTML and what else a browser would not show
stands as it was typed, and where a letter of the text were missing from the picture, the text itself is
shown. Whatever comes in is inert before rich sees it, and what comes out is made so again; no hyperlink of
the terminal is made of it.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator, Sequence

from markdown_it import MarkdownIt
from markdown_it.token import Token
from rich.cells import chop_cells
from rich.color import ColorSystem
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Heading, Markdown, MarkdownContext, TableElement
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from manent.cli import output, render
from manent.cli.graphemes import Standing, stand_in

CHARACTERS_MAX = 100_000
"""A longer text is shown as it is: colouring it would take longer than reading its first page."""

WIDTH_MIN = 16
"""In less columns nothing is drawn."""

TABLE_COLUMN_MIN = 6
"""A table whose columns would be narrower than this stands as it was typed."""

_HIDES = ("entity", "autolink", "html_inline", "html_block", "reference")
"""Rules of Markdown after which something that was typed is not seen, or something else is."""


class _Heading(Heading):
    """At the left, with the signs that make it one."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        level = int(self.tag.removeprefix("h"))
        yield Text.assemble(Text(f"{'#' * level} ", style="bold"), self.text)

    def on_enter(self, context: MarkdownContext) -> None:
        self.text = Text(style="bold")
        context.enter_style("bold")


class _Code(CodeBlock):
    """With what stood behind the fence."""

    info = ""

    @classmethod
    def create(cls, markdown: Markdown, token: Token) -> CodeBlock:
        made = super().create(markdown, token)
        assert isinstance(made, _Code)
        made.info = token.info
        return made

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.info.strip():
            yield Text(self.info.strip(), style="dim")
        yield from super().__rich_console__(console, options)


class _Table(TableElement):
    """A word that is longer than its column goes on in the next line."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if isinstance(table, Table):
                for column in table.columns:
                    column.overflow = "fold"
            yield table


class _Picture(Markdown):
    """A text as Markdown, whose parts are ours where rich's would hide something."""

    elements = {  # noqa: RUF012 - as rich has it
        **Markdown.elements,
        "heading_open": _Heading,
        "fence": _Code,
        "code_block": _Code,
        "table_open": _Table,
    }


def draw(text: str, columns: int) -> Iterator[str]:
    """
    Draw a text in lines of so many columns.

    Args:
        text: inert, as `render.inert` gives it.
        columns: how wide the lines may be.
    """
    if columns < WIDTH_MIN:
        return iter(text.split("\n"))
    standing = stand_in(text)
    lines = _lines(standing.text, columns) if len(text) <= CHARACTERS_MAX else []
    if not lines or not _shows_all(standing, lines):
        return map(standing.restored, _as_it_is(standing.text, columns))
    return (standing.restored(_coloured(line)) for line in lines)


def _as_it_is(text: str, columns: int) -> Iterator[str]:
    """A text without drawing, its lines folded."""
    for line in text.split("\n"):
        yield from chop_cells(line.expandtabs(4), columns) if line else ("",)


def _lines(text: str, columns: int) -> list[list[Segment]]:
    console = Console(
        file=io.StringIO(), width=columns, force_terminal=True, color_system="standard", legacy_windows=False
    )
    picture = _Picture("", hyperlinks=False, code_theme="ansi_dark")
    picture.parsed = _parse(text, columns)
    lines = console.render_lines(picture, console.options, pad=False)
    return _trimmed([[Segment(render.inert(one.text), one.style) for one in line] for line in lines])


def _trimmed(lines: list[list[Segment]]) -> list[list[Segment]]:
    """Lines without the empty ones at the end."""
    while lines and not "".join(one.text for one in lines[-1]).strip():
        lines.pop()
    return lines


def _parse(text: str, columns: int) -> list[Token]:
    """The tokens of Markdown, with every line break that was typed."""
    parser = MarkdownIt().enable(["strikethrough", "table"]).disable(list(_HIDES))
    for name in ("normalizeLink", "normalizeLinkText"):
        setattr(parser, name, _unchanged)  # so that addresses are shown as they were typed
    tokens = parser.parse(text)
    if _widest_table(tokens) * TABLE_COLUMN_MIN > columns:
        tokens = parser.disable("table").parse(text)
    for token in tokens:
        token.children = token.children and [_as_typed(child) for child in token.children]
    return tokens


def _unchanged(url: str) -> str:
    return url


def _widest_table(tokens: Sequence[Token]) -> int:
    """How many columns the widest table has."""
    widest = here = 0
    for token in tokens:
        here = 0 if token.type == "tr_open" else here + (token.type in ("td_open", "th_open"))
        widest = max(widest, here)
    return widest


def _as_typed(token: Token) -> Token:
    """A line break stays one; a picture is text that says where it is; a title of a link is not lost."""
    match token.type:
        case "softbreak":
            return token.copy(type="hardbreak")
        case "image":
            return Token("text", "", 0, content=f"![{token.content}]({_target(token, 'src')})")
        case "link_open":
            return token.copy(attrs={"href": _target(token, "href")})
        case _:
            return token


def _target(token: Token, name: str) -> str:
    """Where a link or a picture leads, and the title that a browser shows on demand."""
    title = token.attrs.get("title")
    return f'{token.attrs.get(name, "")} "{title}"' if title else str(token.attrs.get(name, ""))


def _shows_all(standing: Standing, lines: Sequence[Sequence[Segment]]) -> bool:
    """Whether every letter, figure and grapheme of several characters is in the picture."""

    def counted(text: str) -> Counter[str]:
        return Counter(sign for sign in text if sign.isalnum() or sign in standing.graphemes)

    return not counted(standing.text) - counted("".join(one.text for line in lines for one in line))


def _coloured(line: Sequence[Segment]) -> str:
    """A line with its emphasis, where that can be seen."""
    if not output.has_colour():
        return "".join(one.text for one in line).rstrip()
    system = ColorSystem.STANDARD
    return "".join(
        one.style.render(one.text, color_system=system) if one.style else one.text for one in line
    ).rstrip()
