"""What the README and the docs show is run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.reader import follow

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted(path for path in (ROOT / "README.md", *ROOT.glob("docs/**/*.md")) if path.is_file())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_shows_works(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    desk = tmp_path / "desk"
    desk.mkdir()
    monkeypatch.chdir(desk)
    monkeypatch.setenv("MANENT_STATE", str(tmp_path / "state"))

    follow(page)
