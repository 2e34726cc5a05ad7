"""
Contexts: recent messages of a conversation, and older ones on the same matter, within a budget (X-1, X-3).

1. Recent are the newest messages of the active branch, and the newest one of the user whatever its place.
2. Related are older ones that hold keywords of the current message: the rarer the words, the better.
3. A call and its results go together or not at all (X-2). Of a group that reaches out of what is recent,
   nothing is recent.
4. The newest message of the user is taken first, then what is recent from the newest backwards until
   something does not fit, then what is related, the best first, whatever fits.

The same conversation and the same arguments give the same context (X-4).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from math import log
from typing import NamedTuple

from manent.errors import InputError
from manent.history.messages import Window, read_page
from manent.history.pairing import paired
from manent.history.runtime import Target
from manent.model.contexts import Context
from manent.model.parts import ReasoningPart, visible_text
from manent.model.records import StoredMessage
from manent.search.folding import fold
from manent.search.keywords import keywords
from manent.storage.port import Reader

KEYWORDS_MAX = 5
_ALL = Window(None, None, None, "active")


class Wanted(NamedTuple):
    """What a context is asked for; see `Conversation.context`."""

    message: str | None
    recent: int
    related: int
    budget: int | None
    count: Callable[[str], int]

    @classmethod
    def of(
        cls,
        message: str | None,
        recent: int,
        related: int,
        budget: int | None,
        count: Callable[[str], int] | None,
    ) -> Wanted:
        """
        Check a caller's wishes.

        Raises:
            InputError: a number below 0, or something of another type.
        """
        for name, value in (("recent", recent), ("related", related), ("budget", budget)):
            if type(value) is not int and not (value is None and name == "budget"):
                raise InputError(f"{name}= is a whole number, not {type(value).__name__}.")
            if value is not None and value < 0:
                raise InputError(f"{name}= is 0 or more, not {value}.")
        if message is not None and not isinstance(message, str):
            raise InputError(f"The message is a text, not {type(message).__name__}.")
        return cls(message, recent, related, budget, count or utf8_bytes)


def utf8_bytes(text: str) -> int:
    """The bytes of a text in UTF-8. A tokenizer that works on bytes makes no more tokens of it."""
    return len(text.encode("utf-8", "surrogatepass"))


class _Group(NamedTuple):
    """Messages that go together, in the order of the conversation, and what they count."""

    messages: tuple[StoredMessage, ...]
    size: int

    def holds(self, message: StoredMessage | None) -> bool:
        """Whether a message is one of the group's."""
        return message is not None and any(each.id == message.id for each in self.messages)


def build(reader: Reader, target: Target, wanted: Wanted) -> Context:
    """Choose what a model is told of a conversation."""
    shown = [message for message in read_page(reader, target, _ALL) if not message.hidden]
    asked = next((message for message in reversed(shown) if message.role == "user"), None)
    groups = [_Group(each, sum(wanted.count(_told(m)) for m in each)) for each in paired(shown)]
    recent, older = _part(groups, shown[max(0, len(shown) - wanted.recent) :], asked)
    text = wanted.message if wanted.message is not None else asked.text if asked else ""
    ranked, words = _rank(older, keywords(text)) if wanted.related else ([], ())
    related = _first_few(ranked, wanted.related)
    chosen = _fit(recent, related, wanted.budget)
    told = [message for group in chosen for message in group.messages]
    places = {message.id: place for place, message in enumerate(shown)}
    return Context(
        messages=tuple(sorted(told, key=lambda message: places[message.id])),
        related=frozenset(m.id for group in chosen if group in related for m in group.messages),
        keywords=words,
        size=sum(group.size for group in chosen),
        left_out=sum(len(group.messages) for group in (*recent, *related)) - len(told),
    )


def _told(message: StoredMessage) -> str:
    """All of a message that a model reads."""
    reasoning = [part.signature for part in message.parts if isinstance(part, ReasoningPart)]
    return "\n".join([visible_text(message.parts), *filter(None, reasoning)])


def _part(
    groups: Sequence[_Group], window: Sequence[StoredMessage], asked: StoredMessage | None
) -> tuple[list[_Group], list[_Group]]:
    """What is recent, in the order in which it is taken, and what is older, in that of the conversation."""
    inside = {message.id for message in window}
    recent: list[_Group] = []
    older: list[_Group] = []
    for group in groups:
        is_recent = all(message.id in inside for message in group.messages) or (inside and group.holds(asked))
        (recent if is_recent else older).append(group)
    recent.reverse()
    return sorted(recent, key=lambda group: not group.holds(asked)), older


def _rank(groups: Sequence[_Group], words: Sequence[str]) -> tuple[list[_Group], tuple[str, ...]]:
    """The groups that hold a keyword, the best first, and the keywords that count: the rarest that occur."""
    held = [_held(group, words) for group in groups]
    counts = Counter(word for found in held for word in found)
    rarest = sorted(counts, key=lambda word: (counts[word], -len(word), words.index(word)))[:KEYWORDS_MAX]
    weights = {word: log(1 + len(groups) / counts[word]) for word in rarest}
    scores = [sum(weights.get(word, 0.0) for word in found) for found in held]
    best = sorted((-score, -place) for place, score in enumerate(scores) if score)
    return [groups[-place] for _, place in best], tuple(rarest)


def _held(group: _Group, words: Sequence[str]) -> list[str]:
    folded = "\n".join(fold(visible_text(message.parts)) for message in group.messages) if words else ""
    return [word for word in words if word in folded]


def _first_few(ranked: Iterable[_Group], messages_max: int) -> list[_Group]:
    """The best groups, with at most so many messages together."""
    few: list[_Group] = []
    for group in ranked:
        if len(group.messages) <= messages_max:
            few.append(group)
            messages_max -= len(group.messages)
    return few


def _fit(recent: Sequence[_Group], related: Sequence[_Group], budget: int | None) -> list[_Group]:
    """What is taken of both."""
    if budget is None:
        return [*recent, *related]
    chosen: list[_Group] = []
    for group in recent:
        if group.size > budget:
            break
        chosen.append(group)
        budget -= group.size
    for group in related:
        if group.size <= budget:
            chosen.append(group)
            budget -= group.size
    return chosen
