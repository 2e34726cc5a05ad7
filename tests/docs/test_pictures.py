"""The pictures of the README are there, show something, and lead nowhere."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from docs.pictures.draw import SCENES

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"
SVG = "{http://www.w3.org/2000/svg}"
SHAPES = {"svg", "title", "style", "rect", "g", "text", "defs", "clipPath"}


def words_of(picture: Path) -> str:
    """What is written in a picture, without white space at the ends of its pieces."""
    root = ET.fromstring(picture.read_text(encoding="utf-8"))
    return " ".join((text.text or "").replace("\xa0", " ").strip() for text in root.iter(f"{SVG}text"))


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_picture_shows_each_of_its_commands(scene: object) -> None:
    shown = words_of(PICTURES / f"{scene.name}.svg")  # type: ignore[attr-defined]

    for command in scene.commands:  # type: ignore[attr-defined]
        for word in re.sub(r"\{\w+\}|'", " ", command).split():
            assert word in shown


@pytest.mark.parametrize("picture", sorted(PICTURES.glob("*.svg")), ids=lambda path: path.name)
def test_a_picture_leads_nowhere(picture: Path) -> None:
    root = ET.fromstring(picture.read_text(encoding="utf-8"))

    for element in root.iter():
        assert element.tag.removeprefix(SVG) in SHAPES
        assert not [name for name in element.attrib if "href" in name or name.startswith("on")]
        if element.tag == f"{SVG}style":
            assert not re.search("http|@import", element.text or "")


def test_every_picture_is_shown_on_a_page() -> None:
    pages = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
    written = "\n".join(page.read_text(encoding="utf-8") for page in pages)

    assert [p.name for p in PICTURES.glob("*.svg") if p.name not in written] == []
