"""An environment for each peer, made once beside the benchmarks and left there."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path
from typing import NamedTuple

HOME = Path(__file__).resolve().parents[1] / ".bench"


class Peer(NamedTuple):
    """A contender and the packages that it needs; none means our own environment."""

    module: str
    name: str
    packages: tuple[str, ...] = ()


OURS = (
    Peer("floor_full", "floor, full"),
    Peer("manent_full", "manent, full"),
    Peer("floor_process", "floor, process"),
    Peer("manent_process", "manent, process"),
)
PEERS = (
    Peer("openai_agents_session", "openai-agents SQLiteSession", ("openai-agents",)),
    Peer("llm_log_store", "llm LogStore", ("llm",)),
    Peer(
        "langchain_sql_history",
        "langchain-community SQLChatMessageHistory",
        ("langchain-community", "sqlalchemy[asyncio]"),
    ),
)


def interpreter(peer: Peer) -> str:
    """The Python that runs a contender; makes its environment when there is none."""
    if not peer.packages:
        return sys.executable
    folder = HOME / peer.module
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    if not (folder / "ready").exists():
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *peer.packages], check=True)
        (folder / "ready").write_text("\n".join(peer.packages), encoding="utf-8")
    return str(python)


def versions(peer: Peer) -> str:
    """The versions of a peer's packages, for the table."""
    code = "import importlib.metadata as m, sys; print(' '.join(f'{p} {m.version(p)}' for p in sys.argv[1:]))"
    if not peer.packages:
        return ""
    names = [package.partition("[")[0] for package in peer.packages]
    command = [interpreter(peer), "-c", code, *names]
    return subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout.strip()
