"""
Draw the pictures of the README: what the real program shows in a terminal, as SVG.

    python3 dev.py pictures

Each scene is a few commands, run one after the other on one store, in a pseudo-terminal. Nothing is typed by
hand and nothing is edited: what stands in a picture is what came out.
"""

from __future__ import annotations

import io
import os
import pty
import select
import shlex
import struct
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ
from typing import NamedTuple
from xml.sax.saxutils import escape

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
COLUMNS, LINES = 96, 60
TIMEOUT_S = 60


class Scene(NamedTuple):
    """
    One picture.

    Args:
        name: the file, without its ending.
        title: what stands in the title bar.
        commands: as somebody types them; `{id}` is the beginning of the id of the conversation listed first.
    """

    name: str
    title: str
    commands: Sequence[str]


SCENES: Sequence[Scene] = (
    Scene(
        "first-minute",
        "from years of chats to a hit",
        ("manent import samples", "manent search spare key", "manent list --limit 5"),
    ),
    Scene("reading", "reading a conversation", ("manent show {id}",)),
    Scene(
        "context",
        "what a model is told",
        ("manent context {id} 'Where is the spare key?' --recent 2",),
    ),
    Scene("proof", "the record proves itself", ("manent verify", "manent doctor --quick")),
)

SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<title>TITLE</title>
<style>
text {{ font-family: "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: {char_height}px; }}
{styles}
</style>
<rect fill="#1e1f1c" width="{width}" height="{height}" rx="8"/>
<g transform="translate({terminal_x}, {terminal_y})">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def main() -> int:
    """Draw every scene."""
    with tempfile.TemporaryDirectory() as folder:
        environment = environment_in(Path(folder))
        for scene in SCENES:
            picture = draw(scene, environment)
            (HERE / f"{scene.name}.svg").write_text(picture, encoding="utf-8")
            sys.stdout.write(f"docs/pictures/{scene.name}.svg\n")
    return 0


def environment_in(folder: Path) -> Mapping[str, str]:
    """A terminal of a fixed size, a place of its own, and nobody's settings."""
    return {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
        "HOME": str(folder),
        "PYTHONPATH": str(ROOT / "src"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "xterm-256color",
        "COLORTERM": "truecolor",
        "COLUMNS": str(COLUMNS),
        "LINES": str(LINES),
        "MANENT_PAGER": "cat",
        "MANENT_STATE": str(folder / "state"),
        "MANENT_CONFIG": str(folder / "config.toml"),
        "MANENT_STORE": str(folder / "conversations.db"),
    }


def draw(scene: Scene, environment: Mapping[str, str]) -> str:
    """The picture of a scene."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for number, line in enumerate(scene.commands):
        command = line.replace("{id}", first_id(environment)) if "{id}" in line else line
        console.print(
            Text("\n" * bool(number) + "$ ", style="bold green"), Text(command, style="bold"), sep=""
        )
        console.print(Text.from_ansi(shown(shlex.split(command), environment)))
    template = SVG.replace("TITLE", escape(scene.title))
    svg = console.export_svg(title="", theme=MONOKAI, code_format=template, unique_id=scene.name)
    return svg.replace("\u00a0", "&#160;")


def first_id(environment: Mapping[str, str]) -> str:
    """The beginning of the id of the conversation that was active last."""
    told = subprocess.run(
        ("manent", "list", "--limit", "1"), env=dict(environment), cwd=ROOT, capture_output=True, check=True
    )
    return told.stdout.decode().split()[0]


def shown(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """
    What a command shows in a terminal.

    Raises:
        SystemExit: it failed, or did not end.
    """
    ours, theirs = pty.openpty()
    ioctl(theirs, TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    with subprocess.Popen(command, env=dict(environment), cwd=ROOT, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        output = b"".join(iter(lambda: _read(ours), b""))
        os.close(ours)
    if process.returncode:
        sys.exit(f"draw.py: {shlex.join(command)} ended with {process.returncode}")
    lines = output.decode("utf-8").replace("\r\n", "\n").split("\n")
    return "\n".join(line.rpartition("\r")[2] for line in lines).rstrip()


def _read(terminal: int) -> bytes:
    """The next bytes; none at the end, which Linux tells by an error."""
    if not select.select([terminal], [], [], TIMEOUT_S)[0]:
        sys.exit("draw.py: a command did not end")
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


if __name__ == "__main__":
    sys.exit(main())
