"""The rules that Python modules keep, each a function from a module, or all of them, to what breaks it."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Iterator
from pathlib import PurePosixPath

from tests.tidy.tree import Finding, Module

FUNCTION_LINES_MAX = 40
"""Lines of one function, less those of its docstring: a full docstring is no reason to split."""

MODULE_LINES_MAX = 400
"""Lines of one module, all of them."""

NAMES_THAT_SAY_NOTHING = {"common", "helper", "helpers", "misc", "util", "utils"}

_SQL = re.compile(
    r"\b(?:SELECT|PRAGMA)\s"
    r"|^\s*select\s.+\sfrom\s"
    r"|(?i:\binsert\s+(?:or\s+\w+\s+)?into\s)"
    r"|(?i:\bupdate\s+\S+\s+set\s)"
    r"|(?i:\bdelete\s+from\s)"
    r"|(?i:\bcreate\s+(?:(?:temp|temporary|unique|virtual)\s+)?(?:table|index|trigger|view)\s)"
    r"|(?i:^\s*pragma\s)",
    re.DOTALL,
)

_TEXT_MODE = re.compile(r"[rwax]\+?t?\Z")
_NOT_FILES = {"cls", "manent", "opening", "os", "self", "tarfile", "webbrowser", "zipfile"}
"""What has an `open` that opens no text file, or opens it otherwise."""

_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Named = _Function | ast.ClassDef


def sql_in_python(module: Module) -> Iterator[Finding]:
    """Statements stand in .sql files; settings are made with apsw's pragma(). Docstrings may speak of SQL."""
    for line, text in _strings(module.tree):
        if _SQL.search(text):
            yield Finding(line, f"a statement belongs into a .sql file: {text.strip()[:50]!r}")


def name_that_says_nothing(module: Module) -> Iterator[Finding]:
    """A function lives with its noun."""
    for name in sorted(NAMES_THAT_SAY_NOTHING.intersection(PurePosixPath(module.path).with_suffix("").parts)):
        yield Finding(1, f"{name!r} does not say what is in it")


def missing_module_docstring(module: Module) -> Iterator[Finding]:
    """A module that holds anything says what it is for."""
    if module.tree.body and not ast.get_docstring(module.tree):
        yield Finding(1, "the module has no docstring")


def missing_docstrings(module: Module, *, explained: Collection[str] = ()) -> Iterator[Finding]:
    """What is public is explained, once. The name of a test is its sentence."""
    for name, node in _public(module.tree):
        known = node.name.startswith("test_") or _is_variant(node) or ("." in name and node.name in explained)
        if not known and not ast.get_docstring(node):
            yield Finding(node.lineno, f"{name} has no docstring")


def blind_handlers(module: Module) -> Iterator[Finding]:
    """No error is swallowed unnamed or unseen; `contextlib.suppress` names what may be ignored."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.ExceptHandler) and (node.type is None or _does_nothing(node.body)):
            yield Finding(node.lineno, "an except that names no error, or does nothing about it")
        if isinstance(node, ast.Call) and _suppresses_everything(node):
            yield Finding(node.lineno, "this suppresses every error")


def text_without_encoding(module: Module) -> Iterator[Finding]:
    """A text file, and the output of a program, is read and written as UTF-8 by name (T-2)."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call) and _handles_text(node) and not _names_encoding(node):
            yield Finding(node.lineno, f"name the encoding: {ast.unparse(node)[:60]}")


def explained_in_protocols(modules: Iterable[Module]) -> set[str]:
    """Names of the methods that a protocol explains: what serves a protocol need not say it again."""
    nodes = (node for module in modules for node in ast.walk(module.tree))
    protocols = (node for node in nodes if isinstance(node, ast.ClassDef) and _is_protocol(node))
    methods = (child for protocol in protocols for child in protocol.body if isinstance(child, _Function))
    return {method.name for method in methods if ast.get_docstring(method)}


def long_functions(modules: Iterable[Module]) -> dict[str, int]:
    """`path::qualified.name` of each function that cannot be read at one sight, and its lines."""
    return {
        f"{module.path}::{name}": _size(node)
        for module in modules
        for name, node in _named(module.tree)
        if isinstance(node, _Function) and _size(node) > FUNCTION_LINES_MAX
    }


def long_modules(modules: Iterable[Module]) -> dict[str, int]:
    """Path of each module that cannot be read in one sitting, and its lines."""
    sizes = {module.path: len(module.text.splitlines()) for module in modules}
    return {path: lines for path, lines in sizes.items() if lines > MODULE_LINES_MAX}


def imported_packages(module: Module) -> set[str]:
    """The top-level names that a module imports."""
    names: set[str] = set()
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            names.update(alias.name.split(".")[0] for alias in node.names)
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


def _strings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of each string that is a value; what an f-string fills in reads as `?`."""
    nodes = list(ast.walk(tree))
    templates = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    pieces = {piece for template in templates for piece in template.values}
    prose = {node.value for node in nodes if isinstance(node, ast.Expr)}
    for template in templates:
        yield template.lineno, "".join(_constant_text(piece) or "?" for piece in template.values)
    for node in nodes:
        if isinstance(node, ast.Constant) and node not in pieces and node not in prose:
            yield node.lineno, _constant_text(node)


def _constant_text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _named(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, _Named]]:
    """Each function and class with its qualified name, inner ones after the outer."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _Named):
            yield f"{prefix}{child.name}", child
            yield from _named(child, f"{prefix}{child.name}.")
        else:
            yield from _named(child, prefix)


def _public(tree: ast.Module) -> Iterator[tuple[str, _Named]]:
    """Functions and classes that one can reach by public names alone: none inside a function."""
    inside = tuple(f"{name}." for name, node in _named(tree) if isinstance(node, _Function))
    for name, node in _named(tree):
        hidden = any(part.startswith("_") for part in name.split("."))
        if not hidden and not name.startswith(inside):
            yield name, node


def _is_variant(node: _Named) -> bool:
    """An overload, an override, or a property's setter: explained where it is first defined."""
    decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    return not decorators.isdisjoint({"overload", "override", "setter", "deleter"})


def _is_protocol(node: ast.ClassDef) -> bool:
    return any(ast.unparse(base).rpartition(".")[2].startswith("Protocol") for base in node.bases)


def _size(node: _Function) -> int:
    first = node.body[0]
    docstring = (first.end_lineno or 0) - first.lineno + 1 if ast.get_docstring(node) else 0
    return (node.end_lineno or 0) - node.lineno + 1 - docstring


def _does_nothing(body: list[ast.stmt]) -> bool:
    return all(isinstance(node, ast.Pass) or ast.unparse(node) == "..." for node in body)


def _suppresses_everything(call: ast.Call) -> bool:
    errors = {ast.unparse(argument) for argument in call.args}
    return _called(call) == "suppress" and not errors.isdisjoint({"Exception", "BaseException"})


def _handles_text(call: ast.Call) -> bool:
    if any(keyword.arg in ("text", "universal_newlines") for keyword in call.keywords):
        return _called(call) in ("run", "Popen", "check_output")
    if isinstance(call.func, ast.Name):
        return call.func.id == "open" and _is_text_mode(_mode(call, place=1) or "r")
    if _called(call) == "open" and _receiver(call) not in _NOT_FILES:
        return _is_text_mode(_mode(call, place=0) or ("" if call.args else "r"))
    return _called(call) in ("read_text", "write_text")


def _names_encoding(call: ast.Call) -> bool:
    by_place = {"read_text": 1, "write_text": 2}.get(_called(call), 99)
    return len(call.args) >= by_place or any(keyword.arg == "encoding" for keyword in call.keywords)


def _mode(call: ast.Call, *, place: int) -> str:
    """The mode that a call to `open` gives, empty when it gives none."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
    return "".join(_constant_text(node) for node in (named or call.args[place : place + 1]))


def _is_text_mode(mode: str) -> bool:
    return _TEXT_MODE.match(mode) is not None


def _called(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[2]


def _receiver(call: ast.Call) -> str:
    return ast.unparse(call.func).rpartition(".")[0].rpartition(".")[2]
