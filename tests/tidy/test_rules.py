"""The rules themselves: each finds the faults planted for it, and lets pass what only resembles one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from tests.tidy import source_rules as source
from tests.tidy import text_rules as text
from tests.tidy.tree import File, Finding, Module, planted_file, planted_module

SourceRule = Callable[[Module], Iterable[Finding]]
TextRule = Callable[[File], Iterable[Finding]]

PLANTED_IN_SOURCE: list[tuple[SourceRule, str]] = [
    (source.sql_in_python, 'rows = run("SELECT 1")'),
    (source.sql_in_python, 'rows = run("  select id\\n from events")'),
    (source.sql_in_python, 'rows = run(f"SELECT {columns} FROM events")'),
    (source.sql_in_python, 'run("insert into events values (1)")'),
    (source.sql_in_python, 'run("INSERT OR IGNORE INTO events VALUES (1)")'),
    (source.sql_in_python, 'run(f"UPDATE {table} SET hash = 1")'),
    (source.sql_in_python, 'run("DELETE FROM events")'),
    (source.sql_in_python, 'run("CREATE UNIQUE INDEX i ON events (id)")'),
    (source.sql_in_python, 'run("PRAGMA synchronous=1")'),
    (source.missing_module_docstring, "x = 1"),
    (source.missing_docstrings, "def read(): ..."),
    (source.missing_docstrings, "async def read(): ..."),
    (source.missing_docstrings, "class Store: ..."),
    (source.missing_docstrings, 'class Store:\n    """A."""\n    def read(self): ...'),
    (source.blind_handlers, "try:\n    run()\nexcept:\n    log()"),
    (source.blind_handlers, "try:\n    run()\nexcept OSError:\n    pass"),
    (source.blind_handlers, "try:\n    run()\nexcept OSError:\n    ..."),
    (source.blind_handlers, "with contextlib.suppress(Exception):\n    run()"),
    (source.text_without_encoding, "open(path)"),
    (source.text_without_encoding, 'open(path, "w")'),
    (source.text_without_encoding, 'open(path, mode="a")'),
    (source.text_without_encoding, "path.open()"),
    (source.text_without_encoding, 'path.open("r")'),
    (source.text_without_encoding, "path.read_text()"),
    (source.text_without_encoding, "path.write_text(text)"),
    (source.text_without_encoding, "subprocess.run(words, text=True)"),
]

RESEMBLES_IN_SOURCE: list[tuple[SourceRule, str]] = [
    (source.sql_in_python, '"""SELECT is explained here."""'),
    (source.sql_in_python, 'LIMIT = 1\n"""Rows of one SELECT at most."""'),
    (source.sql_in_python, 'say("Select a conversation from the list.")'),
    (source.sql_in_python, 'route("/c/{id}", methods=["DELETE", "UPDATE"])'),
    (source.sql_in_python, 'connection.pragma("synchronous", "full")'),
    (source.missing_module_docstring, ""),
    (source.missing_module_docstring, '"""Words."""\nx = 1'),
    (source.missing_docstrings, "def _read(): ..."),
    (source.missing_docstrings, "class _Store:\n    def read(self): ..."),
    (source.missing_docstrings, "def test_a_rule_holds(): ..."),
    (source.missing_docstrings, "@overload\ndef read(): ..."),
    (source.missing_docstrings, "class Store:\n    'A.'\n    @x.setter\n    def x(self, to): ..."),
    (source.missing_docstrings, "def read():\n    'Read.'\n    def inner(): ..."),
    (source.blind_handlers, "try:\n    run()\nexcept OSError as error:\n    raise StoreError() from error"),
    (source.blind_handlers, "with contextlib.suppress(FileNotFoundError):\n    run()"),
    (source.text_without_encoding, 'open(path, "rb")'),
    (source.text_without_encoding, 'open(path, encoding="utf-8")'),
    (source.text_without_encoding, 'path.open("rb")'),
    (source.text_without_encoding, 'path.open("w", encoding="utf-8")'),
    (source.text_without_encoding, "manent.open()"),
    (source.text_without_encoding, "archive.open(member)"),
    (source.text_without_encoding, 'path.read_text("utf-8")'),
    (source.text_without_encoding, 'path.write_text(text, encoding="utf-8")'),
    (source.text_without_encoding, "Question(text=words)"),
]

PLANTED_IN_TEXT: list[tuple[TextRule, bytes]] = [
    (text.banned_words, b"see https://py" + b"pi.org/project/manent"),
    (text.banned_words, b"open('/wor" + b"k/main/x')"),
    (text.banned_words, b"the Far" + b"m"),
    (text.banned_words, b"a sub" + b"agent read it"),
    (text.banned_words, b"Clau" + b"de wrote this"),
    (text.unfinished_marks, b"# TO" + b"DO"),
    (text.unfinished_marks, b"raise NotImplemented" + b"Error"),
    (text.unfinished_marks, b"enough for no" + b"w"),
    (text.foreign_encoding, b"caf\xe9\n"),
    (text.foreign_encoding, b"\xef\xbb\xbfx\n"),
    (text.foreign_encoding, b"a\r\nb\n"),
    (text.foreign_encoding, b"no end"),
    (text.unexplained_queries, b"-- name: tick\nUPDATE store SET clock = 1;\n"),
    (text.unexplained_queries, b"-- name: tick\n--\nUPDATE store SET clock = 1;\n"),
    (text.repeated_queries, b"-- name: tick\n-- One.\n-- name: tick\n-- Two.\n"),
]

RESEMBLES_IN_TEXT: list[tuple[TextRule, bytes]] = [
    (text.banned_words, b"import from Claude Code, at /home/ann/work/site, published on PyPI"),
    (text.unfinished_marks, b"`\\udXXX` leads nowhere; what holds for nowadays holds"),
    (text.foreign_encoding, "café, 서버\n".encode()),
    (text.foreign_encoding, b""),
    (text.unexplained_queries, b"-- name: tick\n-- Give out seqs.\nUPDATE store SET clock = 1;\n"),
    (text.repeated_queries, b"-- name: tick\n-- One.\n-- name: tock\n-- Two.\n"),
]


@pytest.mark.parametrize(("rule", "code"), PLANTED_IN_SOURCE)
def test_a_rule_finds_the_fault_planted_in_a_module(rule: SourceRule, code: str) -> None:
    assert len(list(rule(planted_module(code)))) == 1


@pytest.mark.parametrize(("rule", "code"), RESEMBLES_IN_SOURCE)
def test_a_rule_lets_pass_what_resembles_a_fault_in_a_module(rule: SourceRule, code: str) -> None:
    assert list(rule(planted_module(code))) == []


@pytest.mark.parametrize(("rule", "content"), PLANTED_IN_TEXT)
def test_a_rule_finds_the_fault_planted_in_a_file(rule: TextRule, content: bytes) -> None:
    assert len(list(rule(planted_file(content)))) == 1


@pytest.mark.parametrize(("rule", "content"), RESEMBLES_IN_TEXT)
def test_a_rule_lets_pass_what_resembles_a_fault_in_a_file(rule: TextRule, content: bytes) -> None:
    assert list(rule(planted_file(content))) == []


@pytest.mark.parametrize("path", ["src/manent/utils.py", "tests/helpers/texts.py", "src/common/__init__.py"])
def test_a_name_that_says_nothing_is_found_in_any_part_of_a_path(path: str) -> None:
    assert len(list(source.name_that_says_nothing(planted_module("", path)))) == 1


def test_a_name_that_holds_such_a_word_may_say_something() -> None:
    assert list(source.name_that_says_nothing(planted_module("", "src/manent/common_prefixes.py"))) == []


def test_a_fault_is_reported_at_its_line() -> None:
    (found,) = text.unfinished_marks(planted_file(b"one\ntwo FIX" + b"ME\n"))

    assert found.line == 2


@pytest.mark.parametrize("folder", ["samples", "tests/golden", "tests/formats/fixtures"])
def test_files_of_others_keep_their_bytes(folder: str) -> None:
    assert list(text.foreign_encoding(planted_file(b"a\r\n", f"{folder}/session.txt"))) == []


def test_the_lines_of_a_function_are_counted_without_its_docstring() -> None:
    docstring = "    '''One.\n\n    Two.\n    '''\n"
    body = "    x = 1\n" * (source.FUNCTION_LINES_MAX - 1)
    planted = f"class A:\n  def f():\n{docstring}{body}"
    short, long = planted_module(planted), planted_module(f"{planted}    x = 1\n")

    assert source.long_functions([short, long]) == {"planted.py::A.f": source.FUNCTION_LINES_MAX + 1}


def test_a_module_has_at_most_its_lines() -> None:
    planted = "x = 1\n" * source.MODULE_LINES_MAX
    short, long = planted_module(planted), planted_module(f"{planted}x = 1\n")

    assert source.long_modules([short, long]) == {"planted.py": source.MODULE_LINES_MAX + 1}


def test_a_method_is_explained_once_in_the_protocol_that_it_serves() -> None:
    port = planted_module(
        "class Port(View, Protocol):\n    def get(self):\n        'Get.'\n    def put(self): ..."
    )
    backend = planted_module("class Backend:\n    'B.'\n    def get(self): ...\n    def put(self): ...")

    explained = source.explained_in_protocols([port, backend])

    assert [found.line for found in source.missing_docstrings(backend, explained=explained)] == [4]


def test_imports_are_found_wherever_they_stand() -> None:
    code = "import a.b\nfrom c.d import e\nfrom . import f\ndef g():\n    import h"

    assert source.imported_packages(planted_module(code)) == {"a", "c", "h"}
