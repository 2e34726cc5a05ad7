"""Keys of an older system, made again from the folder that they stand for."""

from __future__ import annotations

import hashlib
import os
import struct
import uuid
from pathlib import Path

import pytest
from blake3 import blake3

from manent.errors import NotFoundError
from manent.model.old_keys import old_spelling, workspace_key_v1, workspace_key_v2
from tests.unit.model.checkout_layouts import DETACHED, URL, origin_config, write_repository, write_worktree

URL_NAMESPACE = bytes.fromhex("6ba7b8119dad11d180b400c04fd430c8")


def key_of_path(path: Path | str) -> str:
    """Version 2 of a path by its formula."""
    data = os.fsencode(path)
    return blake3(b"newt-workspace-key:v2:path" + struct.pack("<Q", len(data)) + data).hexdigest()


def key_of_git(url: str, branch: str) -> str:
    """Version 2 of an origin and a branch by its formula."""
    fields = b"".join(struct.pack("<Q", len(field.encode())) + field.encode() for field in (url, branch))
    return blake3(b"newt-workspace-key:v2:git" + fields).hexdigest()


# --- version 2


def test_the_root_folder_has_this_key() -> None:
    assert workspace_key_v2("/") == key_of_path("/")
    assert workspace_key_v2("/") == "264dc1ea90382665c9fd371f3a4f574bfa411eceaa339c64729f932d4f8dc409"


def test_an_origin_and_a_branch_have_this_key(tmp_path: Path) -> None:
    root = write_repository(tmp_path)

    assert workspace_key_v2(root) == key_of_git(URL, "main")
    assert workspace_key_v2(root) == "dda540550d59884145940eeba28fda143b2f4008330b11af82a07926ce7256fb"


def test_a_folder_below_has_the_key_of_the_repository(tmp_path: Path) -> None:
    root = write_repository(tmp_path)
    (root / "src").mkdir()

    assert workspace_key_v2(root / "src") == key_of_git(URL, "main")


def test_another_spelling_of_the_origin_is_another_key(tmp_path: Path) -> None:
    root = write_repository(tmp_path, config=origin_config("git@example.org:ann/shop.git"))

    assert workspace_key_v2(root) == key_of_git("git@example.org:ann/shop.git", "main")


def test_a_worktree_has_the_shared_origin_and_its_own_branch(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git")

    assert workspace_key_v2(linked) == key_of_git(URL, "sale")


@pytest.mark.parametrize(
    ("config", "url"),
    [
        ('[Remote "origin"]\n  URL = "https://a/b"  \n', "https://a/b"),
        ('[remote "origin"]\nurl =\nurl = a\nurl = b\n', "a"),
        ('[remote "origin"]\nurl = C:\\\\shop\n', "C:\\\\shop"),
        ('[remote "origin"]\nurl = a # not a comment\n', "a # not a comment"),
        ('[remote "origin"]\n;url = a\nurl = "b\n', '"b'),
        ('[remote "origin" ]\r\nurl=""\r\nurl = b\r\n', "b"),
    ],
)
def test_the_origin_is_read_as_it_was_then(tmp_path: Path, config: str, url: str) -> None:
    assert workspace_key_v2(write_repository(tmp_path, config=config)) == key_of_git(url, "main")


@pytest.mark.parametrize(
    "config",
    [
        "",
        '[remote "origin"]\n',
        '[remote "Origin"]\nurl = a\n',
        '[remote "origin"] # a\nurl = a\n',
        origin_config().encode() + b"# caf\xe9\n",
    ],
)
def test_without_an_origin_the_path_counts(tmp_path: Path, config: str | bytes) -> None:
    assert workspace_key_v2(write_repository(tmp_path, config=config)) == key_of_path(tmp_path)


@pytest.mark.parametrize("head", [DETACHED, "", "ref: refs/tags/v1", "ref: refs/heads/"])
def test_without_a_branch_the_path_counts(tmp_path: Path, head: str) -> None:
    (write_repository(tmp_path, head=head) / "src").mkdir()

    assert workspace_key_v2(tmp_path / "src") == key_of_path(tmp_path / "src")


@pytest.mark.parametrize("dot_git", [b"", b"gitdir:", b"gitdir: gone", b"\xff"])
def test_trouble_with_git_is_no_trouble(tmp_path: Path, dot_git: bytes) -> None:
    (tmp_path / ".git").write_bytes(dot_git)

    assert workspace_key_v2(tmp_path) == key_of_path(tmp_path)


def test_the_path_is_the_true_one(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "link").symlink_to("shop")

    assert workspace_key_v2(f"{tmp_path}/link/.") == key_of_path(tmp_path / "shop")


@pytest.mark.parametrize("name", ["gone", "a\0b", "loop"])
def test_a_folder_that_is_not_there_has_no_key(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to("loop")
    path = f"{tmp_path}/{name}"

    with pytest.raises(NotFoundError) as caught:
        workspace_key_v2(path)

    assert (caught.value.what, caught.value.which) == ("folder", path)


# --- version 1


def test_the_root_folder_has_this_uuid() -> None:
    digest = bytearray(hashlib.sha1(URL_NAMESPACE + b"/").digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x50
    digest[8] = digest[8] & 0x3F | 0x80

    with pytest.warns(DeprecationWarning, match="old rows"):
        key = workspace_key_v1("/")

    assert key == str(uuid.UUID(bytes=bytes(digest)))
    assert key == "d15aacfd-62b6-594e-93cf-85baa5e441ec"


def test_git_plays_no_part_in_version_1(tmp_path: Path) -> None:
    root = write_repository(tmp_path)

    with pytest.warns(DeprecationWarning):
        key = workspace_key_v1(f"{root}/")

    assert key == str(uuid.uuid5(uuid.NAMESPACE_URL, str(root)))


def test_the_warning_points_at_who_asked() -> None:
    with pytest.warns(DeprecationWarning) as warned:
        workspace_key_v1("/")

    assert [warning.filename for warning in warned] == [__file__]


def test_a_folder_that_is_not_there_has_no_uuid(tmp_path: Path) -> None:
    with pytest.warns(DeprecationWarning), pytest.raises(NotFoundError, match="No folder"):
        workspace_key_v1(tmp_path / "gone")


# --- paths


@pytest.mark.parametrize(
    ("folder", "old"),
    [
        ("/srv/shop", "/srv/shop"),
        ("/srv/a\\b", "/srv/a/b"),
        ("C:\\Users\\ann", "//?/C:/Users/ann"),
        ("\\\\server\\share\\shop", "//?/UNC/server/share/shop"),
        ("\\\\?\\C:\\shop", "//?/C:/shop"),
        (os.fsdecode(b"/srv/caf\xe9"), "/srv/caf\ufffd"),
    ],
)
def test_a_path_is_spelled_as_it_was_then(folder: str, old: str) -> None:
    assert old_spelling(folder) == old
