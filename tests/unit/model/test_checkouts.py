"""What git says of a folder, without git."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from manent.model.checkouts import FILE_BYTES_MAX, Checkout, find_checkout, is_relative_origin, normal_origin
from tests.unit.model.checkout_layouts import (
    DETACHED,
    URL,
    origin_config,
    write_git,
    write_repository,
    write_worktree,
)


def git(folder: Path, *words: str) -> None:
    """Run git there, with the settings of nobody."""
    nobody = {f"GIT_{role}_{fact}": "ann" for role in ("AUTHOR", "COMMITTER") for fact in ("NAME", "EMAIL")}
    environment = {**os.environ, **nobody, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    settings = ("-c", "init.defaultBranch=main", "-c", "protocol.file.allow=always")
    subprocess.run(["git", *settings, *words], cwd=folder, env=environment, check=True, capture_output=True)


def found_origin(folder: Path, config: str | bytes) -> str | None:
    """The origin of a checkout with that config file."""
    checkout = find_checkout(write_repository(folder, config=config))
    assert checkout is not None
    return checkout.origin


# --- where a checkout is


def test_outside_a_repository_there_is_no_checkout(tmp_path: Path) -> None:
    assert find_checkout(tmp_path) is None


def test_a_checkout_is_found_from_any_folder_below_also_a_missing_one(tmp_path: Path) -> None:
    root = str(write_repository(tmp_path / "shop"))

    assert find_checkout(f"{root}/src/gone") == Checkout(root, root, URL, "main")


def test_a_link_leads_to_the_checkout_that_it_points_into(tmp_path: Path) -> None:
    root = write_repository(tmp_path / "shop")
    (root / "src").mkdir()
    (tmp_path / "link").symlink_to(root / "src")

    assert find_checkout(tmp_path / "link") == Checkout(str(root), str(root), URL, "main")


def test_a_worktree_has_the_shared_origin_and_a_branch_of_its_own(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git")

    assert find_checkout(linked / "src") == Checkout(str(linked), str(main), URL, "sale")


def test_a_worktree_may_be_written_with_relative_paths(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git")
    (linked / ".git").write_text("gitdir: ../shop/.git/worktrees/sale\n", encoding="utf-8")
    (main / ".git/worktrees/sale/gitdir").write_text("../../../../sale/.git\n", encoding="utf-8")

    assert find_checkout(linked) == Checkout(str(linked), str(main), URL, "sale")


def test_a_worktree_whose_repository_is_gone_is_on_its_own(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git")
    main.rename(tmp_path / "store")

    assert find_checkout(linked) == Checkout(str(linked), str(linked), None, None)


@pytest.mark.parametrize("name", ["shop.git", ".bare"])
def test_a_worktree_of_a_bare_repository_is_on_its_own(tmp_path: Path, name: str) -> None:
    bare = write_git(tmp_path / name, config=origin_config().replace("false", "true"))
    linked = write_worktree(tmp_path / "sale", common=bare)

    assert find_checkout(linked) == Checkout(str(linked), str(linked), URL, "sale")


def test_a_bare_repository_may_be_called_like_one_with_files(tmp_path: Path) -> None:
    bare = write_git(tmp_path / "shop/.git", config=origin_config().replace("false", "true"))
    linked = write_worktree(tmp_path / "shop/sale", common=bare)

    assert find_checkout(linked) == Checkout(str(linked), str(linked), URL, "sale")


def test_that_it_is_bare_may_stand_in_a_file_of_the_main_worktree(tmp_path: Path) -> None:
    common = write_git(tmp_path / "shop/.git")
    (common / "config.worktree").write_text("[core]\n\tbare = true\n", encoding="utf-8")
    linked = write_worktree(tmp_path / "shop/sale", common=common)

    assert find_checkout(linked) == Checkout(str(linked), str(linked), URL, "sale")


def test_a_worktree_that_the_repository_does_not_know_is_on_its_own(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git")
    copy = tmp_path / "copy"
    copy.mkdir()
    (copy / ".git").write_bytes((linked / ".git").read_bytes())

    assert find_checkout(copy) == Checkout(str(copy), str(copy), URL, "sale")


def test_a_folder_from_elsewhere_does_not_pass_for_a_worktree(tmp_path: Path) -> None:
    victim = write_repository(tmp_path / "shop")
    (victim / ".git/worktrees").mkdir()
    thief = write_worktree(tmp_path / "thief", common=write_git(tmp_path / "thief-git"))
    (tmp_path / "thief-git/worktrees/thief/commondir").write_text(f"{victim}/.git", encoding="utf-8")

    assert find_checkout(thief) == Checkout(str(thief), str(thief), URL, "sale")


def test_a_repository_from_elsewhere_does_not_pass_for_that_of_another_folder(tmp_path: Path) -> None:
    victim = write_repository(tmp_path / "shop")
    common = write_git(tmp_path / "thief-git", config=f"[core]\nworktree = {victim}\n")
    thief = write_worktree(tmp_path / "thief", common=common)

    assert find_checkout(thief) == Checkout(str(thief), str(thief), None, "sale")


def test_a_submodule_is_a_checkout_of_its_own(tmp_path: Path) -> None:
    main = write_repository(tmp_path / "shop")
    write_git(main / ".git/modules/lib", config=origin_config("https://example.org/ann/lib"))
    (main / "lib").mkdir()
    (main / "lib/.git").write_text("gitdir: ../.git/modules/lib\n", encoding="utf-8")
    root = str(main / "lib")

    assert find_checkout(root) == Checkout(root, root, "https://example.org/ann/lib", "main")


def test_git_itself_lays_out_worktrees_and_submodules_so(tmp_path: Path) -> None:
    shop, lib, sale, lib_sale = (tmp_path / name for name in ("shop", "lib", "sale", "lib-sale"))
    git(tmp_path, "init", "lib")
    git(lib, "commit", "--allow-empty", "-m", "begin")
    git(tmp_path, "init", "shop")
    git(shop, "submodule", "add", str(lib), "lib")
    git(shop, "commit", "-m", "begin")
    git(shop, "remote", "add", "origin", URL)
    git(shop, "worktree", "add", "-b", "sale", str(sale))
    git(sale, "submodule", "update", "--init")
    git(shop / "lib", "worktree", "add", "-b", "lib-sale", str(lib_sale))

    assert [find_checkout(folder) for folder in (shop, sale, shop / "lib", sale / "lib", lib_sale)] == [
        Checkout(str(shop), str(shop), URL, "main"),
        Checkout(str(sale), str(shop), URL, "sale"),
        Checkout(str(shop / "lib"), str(shop / "lib"), str(lib), "main"),
        Checkout(str(sale / "lib"), str(sale / "lib"), str(lib), None),
        Checkout(str(lib_sale), str(shop / "lib"), str(lib), "lib-sale"),
    ]


# --- what is odd about git's files is as good as absent


@pytest.mark.parametrize(
    "dot_git", [b"", b"\n", b"gitdir:", b"gitdir:  \n", b"lost", b"see gitdir: x", b"gitdir: a\0b"]
)
def test_a_dot_git_file_that_leads_nowhere_is_no_checkout(tmp_path: Path, dot_git: bytes) -> None:
    (tmp_path / ".git").write_bytes(dot_git)

    assert find_checkout(tmp_path) is None


@pytest.mark.parametrize("dot_git", [b"gitdir: .git\n", b"gitdir: gone\n", b"gitdir: caf\xe9\n"])
def test_a_dot_git_file_that_leads_to_nothing_has_nothing_to_say(tmp_path: Path, dot_git: bytes) -> None:
    (tmp_path / ".git").write_bytes(dot_git)

    assert find_checkout(tmp_path) == Checkout(str(tmp_path), str(tmp_path), None, None)


def test_an_empty_dot_git_folder_has_nothing_to_say(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()

    assert find_checkout(tmp_path) == Checkout(str(tmp_path), str(tmp_path), None, None)


def test_a_dot_git_that_is_a_link_to_itself_is_passed_by(tmp_path: Path) -> None:
    (tmp_path / ".git").symlink_to(".git")

    assert find_checkout(tmp_path) is None


@pytest.mark.parametrize("pointer", [b"", b"  \n", b".", b"gone", b"a\0b", b"caf\xe9"])
def test_a_strange_commondir_makes_nobody_a_main_worktree(tmp_path: Path, pointer: bytes) -> None:
    main = write_repository(tmp_path / "shop")
    linked = write_worktree(tmp_path / "sale", common=main / ".git")
    (main / ".git/worktrees/sale/commondir").write_bytes(pointer)

    assert find_checkout(linked) == Checkout(str(linked), str(linked), None, "sale")


def test_a_config_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    root = write_repository(tmp_path / "shop")
    (root / ".git/config").unlink()
    os.mkfifo(root / ".git/config")

    assert find_checkout(root) == Checkout(str(root), str(root), None, "main")


def test_a_config_beyond_all_measure_is_not_read(tmp_path: Path) -> None:
    assert found_origin(tmp_path, origin_config() + "#" * FILE_BYTES_MAX) is None


@pytest.mark.parametrize(
    "head", ["", "\n", DETACHED, "ref: refs/tags/v1\n", "ref: refs/heads/\n", "ref: refs/heads/.invalid\n"]
)
def test_a_head_that_is_on_no_branch(tmp_path: Path, head: str) -> None:
    root = str(write_repository(tmp_path, head=head))

    assert find_checkout(root) == Checkout(root, root, URL, None)


def test_a_branch_may_have_slashes_and_any_script(tmp_path: Path) -> None:
    root = str(write_repository(tmp_path, head="ref:  refs/heads/ann/서버 #1\r\n"))

    assert find_checkout(root) == Checkout(root, root, URL, "ann/서버 #1")


def test_a_branch_that_is_no_text_is_none(tmp_path: Path) -> None:
    root = str(write_repository(tmp_path))
    (tmp_path / ".git/HEAD").write_bytes(b"ref: refs/heads/caf\xe9\n")

    assert find_checkout(root) == Checkout(root, root, URL, None)


# --- the origin in a config file


@pytest.mark.parametrize(
    "config",
    [
        f'[remote "origin"]\nurl = {URL}',
        f'[remote "origin"]\r\n\turl={URL}\r\n',
        f'\ufeff[REMOTE   "origin"]\n  URL = {URL} ; mine\n',
        f'[remote "origin"] # mine\nurl = "{URL}" # mine\n',
        f'[remote "origin"] url = {URL}\n',
        f"[remote.Origin]\nurl = {URL}\n",
        f'[remote "origin"]\nurl = {URL[:9]}\\\n{URL[9:]}\n',
        f'[remote "origin"]\nurl = {URL[:9]}"{URL[9:]}"\n',
        f'[remote "origin"]\nurl = \\\n  {URL} \\\n',
        f'[remote "origin"]\n# url = a \\\n; url = b\nurl =\nurl = {URL}\nurl = c\n',
        f'[remote "Origin"]\nurl = a\n[remote "up"]\nurl = b\n[remote "origin"]\nurl = {URL}\n',
        f'[remote "origin"]\npushurl = a\n[remote "origin"]\nurl = {URL}\n',
        f'[remote "origin"\nurl = a\n[remote "origin"]\nurl = "b\nurl = {URL}\n',
        f'[alias "a#b"]\nx = "!f() {{ # }}"\n[remote "origin"]\nurl = {URL}\n',
    ],
)
def test_the_first_url_of_the_remote_origin_is_the_origin(tmp_path: Path, config: str) -> None:
    assert found_origin(tmp_path, config) == URL


@pytest.mark.parametrize(
    "config",
    [
        "",
        "[core]\nbare = false\n",
        '[remote "upstream"]\nurl = a\n',
        '[remote "ORIGIN"]\nurl = a\n',
        '[remotes "origin"]\nurl = a\n',
        '[remote "origin"]\n[core]\nurl = a\n',
        '[remote "origin"]\nurl\n',
        '[remote "origin"]\nurl = # none\n',
        '# [remote "origin"]\nurl = a\n',
    ],
)
def test_a_config_without_an_origin(tmp_path: Path, config: str) -> None:
    assert found_origin(tmp_path, config) is None


def test_escapes_and_signs_in_quotes_are_part_of_the_url(tmp_path: Path) -> None:
    config = '[remote "origin"]\nurl = "C:\\\\my \\"shop\\";#1"\\\\\nurl = b\n'

    assert found_origin(tmp_path, config) == 'C:\\my "shop";#1\\'


def test_bytes_that_are_no_text_hide_only_what_they_stand_in(tmp_path: Path) -> None:
    latin = b"[user]\nname = Ren\xe9\n" + origin_config().encode()

    assert found_origin(tmp_path / "other", latin) == URL
    assert found_origin(tmp_path / "own", origin_config("https://example.org/é").encode("latin-1")) is None


# --- one spelling for an origin


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org/Ann/Shop",
        "https://example.org/Ann/Shop.git",
        "https://example.org/Ann/Shop.git/",
        "https://EXAMPLE.org:443//Ann/Shop/",
        "HTTPS://ann@example.org/Ann/Shop.git",
        "http://example.org:80/Ann/Shop",
        "git://example.org/Ann/Shop.git",
        "git://example.org:9418/Ann/Shop.git",
        "ssh://git@example.org/Ann/Shop.git",
        "ssh://git@example.org:22/Ann/Shop",
        "git+ssh://git@example.org:/Ann/Shop",
        "git@example.org:Ann/Shop.git",
        "git@Example.org:/Ann/Shop/",
        "example.org:Ann/Shop",
        "[git@example.org:22]:Ann/Shop.git",
        " https://example.org/Ann/Shop\n",
    ],
)
def test_every_way_to_one_repository_is_one_spelling(url: str) -> None:
    assert normal_origin(url) == "example.org/Ann/Shop"


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("https://example.org:8443/ann/shop.git", "example.org:8443/ann/shop"),
        ("ssh://git@example.org:2222/ann/shop", "example.org:2222/ann/shop"),
        ("ssh://git@example.org:443/ann/shop", "example.org:443/ann/shop"),
        ("[git@example.org:2222]:ann/shop", "example.org:2222/ann/shop"),
        ("ssh://git@[::1]:2222/ann/shop", "[::1]:2222/ann/shop"),
        ("git@[::1]:ann/shop.git", "[::1]/ann/shop"),
        ("[::1]:ann/shop.git", "[::1]/ann/shop"),
        ("https://example.org/group/sub/shop.git", "example.org/group/sub/shop"),
        ("https://example.org/ann/.git", "example.org/ann"),
        ("host:22/shop", "host/22/shop"),
        ("git@host:@ann/shop", "host/@ann/shop"),
        ("host:ann/shop@v2", "host/ann/shop@v2"),
    ],
)
def test_what_tells_repositories_apart_stays(url: str, normal: str) -> None:
    assert normal_origin(url) == normal


@pytest.mark.parametrize(
    "url",
    [
        "/srv/ann@home/Shop.git",
        "file:///srv/ann@home/Shop.git",
        "../shop.git",
        "C:\\shop.git",
        "C:/shop.git",
        "\\\\server\\shop.git",
        "codecommit::eu-west-1://shop",
        "https://example.org",
        "https://example.org/.git",
        "ftp://example.org/shop.git",
        "",
    ],
)
def test_what_is_not_recognised_stays_as_it_is(url: str) -> None:
    assert normal_origin(url) == url


@pytest.mark.parametrize(
    ("url", "normal"),
    [
        ("https://ann:s3cret@example.org/ann/shop.git", "example.org/ann/shop"),
        ("https://s3cret@example.org/ann/shop", "example.org/ann/shop"),
        ("https://ann:s3cret@example.org:8443/ann/shop", "example.org:8443/ann/shop"),
        ("https://ann:s3@cret@example.org/ann/shop", "example.org/ann/shop"),
        ("https://ann:s3/cret@example.org/ann/shop", "example.org/ann/shop"),
        ("https://ann@firm:s3cret@example.org/ann/shop", "example.org/ann/shop"),
        ("ssh://ann:s3cret@example.org/ann/shop", "example.org/ann/shop"),
        ("ann:s3cret@example.org:ann/shop.git", "example.org/ann/shop"),
        ("ann:s3/cret@example.org:ann/shop.git", "example.org/ann/shop"),
        ("ann:s3cret@example.org/ann/shop.git", "example.org/ann/shop"),
        ("[ann:s3cret@example.org:22]:ann/shop.git", "example.org/ann/shop"),
        ("ann:s3cret@[::1]:ann/shop.git", "[::1]/ann/shop"),
        ("ftp://ann:s3cret@example.org/shop", "ftp://example.org/shop"),
        ("https://ann:s3cret@example.org", "https://example.org"),
        ("https://ann:s3cret@example.org:port/shop", "https://example.org:port/shop"),
        ("helper::https://ann:s3cret@example.org/shop", "helper::https://example.org/shop"),
        ("helper::ann:s3cret@example.org", "helper::example.org"),
        ("ann:s3cret@example.org", "example.org"),
    ],
)
def test_no_user_and_no_password_survives(url: str, normal: str) -> None:
    assert normal_origin(url) == normal


@pytest.mark.parametrize("url", ["../shop", "shop", ".", "./a:b", ""])
def test_a_relative_path_means_something_only_where_the_clone_stands(url: str) -> None:
    assert is_relative_origin(url)


@pytest.mark.parametrize("url", [URL, "git@host:shop", "/srv/shop", "C:\\shop", "\\\\server\\shop", "a::b"])
def test_any_other_origin_means_the_same_everywhere(url: str) -> None:
    assert not is_relative_origin(url)
