"""Layouts of git's files, laid out by hand."""

from __future__ import annotations

from pathlib import Path

URL = "https://example.org/ann/shop.git"
ON_MAIN = "ref: refs/heads/main\n"
DETACHED = "a94a8fe5ccb19ba61c4c0873d391e987982fbbd3\n"


def origin_config(url: str = URL) -> str:
    """A config file with an origin, as `git clone` writes it."""
    return f'[core]\n\tbare = false\n[remote "origin"]\n\turl = {url}\n\tfetch = +refs/heads/*\n'


def write_git(git: Path, *, head: str = ON_MAIN, config: str | bytes | None = None) -> Path:
    """A folder of git's own; returns it."""
    git.mkdir(parents=True)
    (git / "HEAD").write_text(head, encoding="utf-8")
    text = origin_config() if config is None else config
    (git / "config").write_bytes(text if isinstance(text, bytes) else text.encode())
    return git


def write_repository(root: Path, *, head: str = ON_MAIN, config: str | bytes | None = None) -> Path:
    """A main worktree; returns its root."""
    write_git(root / ".git", head=head, config=config)
    return root


def write_worktree(root: Path, *, common: Path, head: str = "ref: refs/heads/sale\n") -> Path:
    """A worktree linked to the repository whose folder is `common`; returns its root."""
    own = common / "worktrees" / root.name
    own.mkdir(parents=True)
    root.mkdir(parents=True)
    (own / "HEAD").write_text(head, encoding="utf-8")
    (own / "commondir").write_text("../..\n", encoding="utf-8")
    (own / "gitdir").write_text(f"{root / '.git'}\n", encoding="utf-8")
    (root / ".git").write_text(f"gitdir: {own}\n", encoding="utf-8")
    return root
