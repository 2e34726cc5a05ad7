"""Markdown, written: a page that says what was said, and in which nothing that was said acts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import manent
from manent.errors import InputError
from manent.formats.filenames import file_name, slug
from manent.formats.writing_markdown import escaped, fenced
from manent.opening import export_path
from manent.parts import Citation, FilePart, NoticePart, ReasoningPart
from tests.formats.exporting import PICTURE, a_store, attach, call, exported, result, say, unzipped

PAGE = """\
# A \\<b\\>title\\<\\/b\\>

- id: c1
- project: \\/home\\/x
- began: 2026-05-28 20:26:40 UTC
- last: 2026-05-28 20:26:40 UTC

## user \\(Ada\\) · 2026-05-28 20:26:40 UTC

```text
# no heading
<script>alert(1)</script>
```

## assistant · 2026-05-28 20:26:40 UTC

Reasoning

```text
hm
```

````text
```python
x
```
````

Calls ls

```json
{
  "at": "/"
}
```

## tool · 2026-05-28 20:26:40 UTC

Result of ls

```text
a
```

- source: \\[1\\] https\\:\\/\\/x

Notice: cancelled
"""


def test_a_page_says_who_when_and_what() -> None:
    with a_store() as store:
        talk = store.create_with_id("c1", "A <b>title</b>", project="/home/x")
        say(talk, "user", "# no heading\n<script>alert(1)</script>", author="Ada")
        say(talk, "assistant", ReasoningPart("hm"), "```python\nx\n```\n", call("ls", {"at": "/"}, "c"))
        say(talk, "tool", result("a", "c", "ls"), Citation("[1]", "https://x"), NoticePart("cancelled"))

        page, report = exported(store, "markdown")

    assert page.decode() == PAGE
    assert (report.messages, report.left_out) == (3, {"call_ids": 1})


@given(st.text(alphabet=st.sampled_from("`~#<>&\n\r\t -=x*_[]()!|\u2028\x1b\x00\ud83d")))
def test_nothing_in_a_fence_closes_it(text: str) -> None:  # T-3
    page = "".join(fenced(text, "text"))

    lines = page.split("\n")
    fence = lines[1].removesuffix("text")
    assert lines[-2] == fence
    assert not any(fence in line for line in lines[2:-2])
    assert not {"\r", "\x1b", "\x00", "\u2028", "\ud83d"}.intersection(page)


@given(st.text())
def test_a_line_outside_of_fences_is_one_line_of_which_every_sign_is_escaped(text: str) -> None:  # T-3
    line = escaped(text)

    assert len(line.splitlines()) <= 1
    bare = line.replace("\\\\", "")
    for sign in "<>&`*_[]#|!~":
        assert bare.replace(f"\\{sign}", "").count(sign) == 0


def test_attachments_stand_in_a_folder_of_their_own_and_once(tmp_path: Path) -> None:  # N-2
    with a_store() as store:
        for title in ("one", "two/../../three"):
            talk = store.create(title)
            say(talk, "user", attach(store, PICTURE, "../a [b](c).PNG"), FilePart("gone.pdf"))

        files, report = unzipped(store, "markdown", tmp_path)

    names = [name for name in files if not name.endswith(".md")]
    assert len(names) == 1 and files[names[0]] == PICTURE
    assert names[0].startswith("files/") and names[0].endswith("-a-b-c.png")
    page = next(data.decode() for name, data in files.items() if name.startswith("one-"))
    assert f"- file: [\\.\\.\\/a \\[b\\]\\(c\\)\\.PNG](<{names[0]}>)\n" in page
    assert "- file: gone\\.pdf\n" in page
    assert any(name.startswith("two-three-") and "/" not in name for name in files)
    assert (report.attachments, report.left_out["attachments"]) == (1, 2)


def test_a_folder_holds_what_a_zip_holds_and_is_its_owners_alone(tmp_path: Path) -> None:  # N-2
    with a_store() as store:
        say(store.create("one"), "user", attach_to(store), "a")
        say(store.create("two"), "user", "b")
        files, _ = unzipped(store, "markdown", tmp_path)
        folder = tmp_path / "pages"

        export_path(store, folder.as_posix() + "/", format="markdown")

    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    assert {name: path.read_bytes() for name, path in found.items()} == files
    assert {path.stat().st_mode & 0o777 for path in found.values()} == {0o600}
    assert folder.stat().st_mode & 0o777 == 0o700


def attach_to(store: manent.Store) -> FilePart:
    """A picture of a store that has a workspace already."""
    return attach(store, PICTURE, "p.png")


def test_a_folder_with_anything_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")

    with a_store() as store, pytest.raises(FileExistsError):
        say(store.create(), "user", "a")
        export_path(store, tmp_path, format="markdown")

    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_several_conversations_do_not_fit_on_one_page_and_nothing_is_left_behind(tmp_path: Path) -> None:
    with a_store() as store:
        say(store.create(), "user", "a")
        say(store.create(), "user", "b")

        with pytest.raises(InputError, match=r"folder, or a file in \.zip"):
            export_path(store, tmp_path / "one.md", format="markdown")

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("../../etc/passwd", "etc-passwd"),
        ("CON", "CON"),
        ("  회의록: 4월  ", "회의록-4월"),
        ("a\x00b\u202egnp.exe", "a-b-gnp-exe"),
        ("...", ""),
        ("é" * 200, "é" * 40),
    ],
)
def test_a_name_is_made_of_letters_and_digits(text: str, name: str) -> None:  # N-2
    assert slug(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("a b.PDF", "a-b.pdf"),
        ("C:\\x\\y.tar.gz", "y-tar.gz"),
        ("/etc/", "etc"),
        ("./..", "file"),
        (".bashrc", "bashrc"),
        ("x.averyverylong", "x-averyverylong"),
        ("", "file"),
    ],
)
def test_a_file_keeps_a_plain_extension(text: str, name: str) -> None:  # N-2
    assert file_name(text) == name
