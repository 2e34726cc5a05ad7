"""Trees of messages as exports hold them: ids and the ids of their parents. No recursion, nothing dropped."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

Parents = dict[str, str | None]
"""Each id, in the source's order, and that of its parent; None is a root."""


def cut_circles(parents: Parents) -> list[str]:
    """Make a root of the first member of each circle of parents, and say which ones those are."""
    order = {name: number for number, name in enumerate(parents)}
    whole: set[str] = set()
    cut: list[str] = []
    for name in parents:
        path: dict[str, None] = {}
        at: str | None = name
        while at is not None and at not in whole and at not in path:
            path[at] = None
            at = parents[at]
        if at in path:
            first = min(_circle(parents, at), key=order.__getitem__)
            parents[first] = None
            cut.append(first)
        whole.update(path)
    return cut


def _circle(parents: Parents, start: str | None) -> Iterable[str]:
    at = start
    while at is not None:
        yield at
        at = parents[at]
        if at == start:
            return


def nearest(parents: Parents, kept: Collection[str]) -> Parents:
    """The kept ids alone: the parent of each is its nearest kept ancestor. There must be no circle."""
    found: Parents = {}
    for name in parents:
        path: list[str] = []
        at: str | None = name
        while at is not None and at not in found:
            path.append(at)
            above = parents[at]
            at = above if above not in kept else None
        answer = found[at] if at is not None else None
        for step in reversed(path):
            above = parents[step]
            answer = above if above in kept else answer
            found[step] = answer
    return {name: found[name] for name in parents if name in kept}


def parents_first(parents: Mapping[str, str | None]) -> list[str]:
    """The ids in the source's order, but none before its parent. There must be no circle."""
    placed: set[str] = set()
    ordered: list[str] = []
    for name in parents:
        line: list[str] = []
        at: str | None = name
        while at is not None and at not in placed:
            line.append(at)
            placed.add(at)
            at = parents[at]
        ordered += reversed(line)
    return ordered


def newest_leaf(parents: Mapping[str, str | None]) -> str | None:
    """The last id, in the source's order, that is nobody's parent."""
    inner = set(parents.values())
    return next((name for name in reversed(list(parents)) if name not in inner), None)
