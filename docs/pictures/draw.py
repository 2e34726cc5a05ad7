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
import re
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
PARTLY = 3
"""The exit code of an import that named something it could not read."""


class Scene(NamedTuple):
    """
    One picture.

    Args:
        name: the file, without its ending.
        title: what stands in the title bar.
        commands: as somebody types them; `{Word}` stands for the beginning of the id of the conversation
            whose title begins so.
    """

    name: str
    title: str
    commands: Sequence[str]


SCENES: Sequence[Scene] = (
    Scene(
        "first-minute",
        "from years of chats to a hit",
        ("manent import samples", "manent search carnations clean", "manent list --limit 6"),
    ),
    Scene("reading", "reading a conversation", ("manent show {Flowers}",)),
    Scene(
        "context",
        "what a model is told",
        ("manent context {Flowers} 'How often do carnations get water?' --recent 2 --related 3",),
    ),
    Scene("proof", "the record proves itself", ("manent stats", "manent verify", "manent imports list")),
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
        command = re.sub(r"\{(\w+)\}", lambda found: id_of(found[1], environment), line)
        console.print(
            Text("\n" * bool(number) + "$ ", style="bold green"), Text(command, style="bold"), sep=""
        )
        console.print(Text.from_ansi(shown(shlex.split(command), environment)))
    template = SVG.replace("TITLE", escape(scene.title))
    svg = console.export_svg(title="", theme=MONOKAI, code_format=template, unique_id=scene.name)
    return svg.replace("\u00a0", "&#160;")


def id_of(beginning: str, environment: Mapping[str, str]) -> str:
    """The beginning of the id of the conversation whose title begins so."""
    told = subprocess.run(
        ("manent", "list"), env=dict(environment), cwd=ROOT, capture_output=True, check=True
    ).stdout.decode()
    return next(line.split()[0] for line in told.splitlines() if f"  {beginning}" in line)


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
    if process.returncode not in (0, PARTLY):
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
