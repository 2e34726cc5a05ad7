"""
Folding: two texts that a reader takes for the same become equal, and every hit leads back to its place.

Case, width, normal form and what no reader can see fall away, as in Unicode's NFKC_Casefold. Beyond it:

- Accents fall off Latin, Greek and Cyrillic letters alike: `é` is `e`, `ά` is `α`, `ё` is `е`, and `й` is
  `и` too, although a letter of its own, since a search had better find too much. So do strokes, the dot of
  `i` and the iota subscript; ligatures are two letters (`ł` `l`, `ı` `i`, `ῳ` `ω`, `œ` `oe`).
- Marks of other scripts stay: `か` is not `が`.
- Hangul is whole syllables, whether it came composed, as conjoining jamo or as half-width jamo. A single
  letter (`ㅋㅋ`, `ㅠㅠ`) stays one, and never joins its neighbour.
- Quotes, apostrophes and dashes that editors put in are those that a keyboard has.

A text is folded cluster by cluster, a cluster being a character with the marks on it. Of the marks on one
character only the first `MARKS_MAX` count, so that no text is slow.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from itertools import chain, groupby, repeat
from unicodedata import category, decomposition, name, normalize

import msgspec

MARKS_MAX = 30
"""As many marks on one character as the Stream-Safe Text Format of UAX #15 permits."""

GRAPHEME_MAX = 64
"""Code points; a longer run of marks is cut, for nobody reads it as one character."""


class Folded(msgspec.Struct, frozen=True):
    """
    A folded text; its character `i` came from `[starts[i], ends[i])` of the original, in code points.

    Both sequences rise, have the length of `text`, and name whole clusters: the two letters that came from
    one ligature have the same place.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]


def fold(text: str) -> str:
    """Return the form of a text in which it is compared; any string has one, it may be empty."""
    if text.isascii():
        return text.lower()
    stretches = _stretches(text)
    return "".join(
        text[start:end].lower() if is_ascii else _fold_run(text[start:end])
        for start, end, is_ascii in stretches
    )


def fold_with_offsets(text: str) -> Folded:
    """Fold a text as `fold` does, and remember where each character came from."""
    if text.isascii():
        return Folded(text.lower(), range(len(text)), range(1, len(text) + 1))
    pieces: list[str] = []
    starts, ends = array("I"), array("I")
    for piece, piece_starts, piece_ends in _placed_pieces(text):
        pieces.append(piece)
        starts.extend(piece_starts)
        ends.extend(piece_ends)
    return Folded("".join(pieces), starts, ends)


def is_grapheme_border(text: str, at: int) -> bool:
    """
    Tell whether a text may be cut before its code point `at`, 0 to `len(text)`.

    This is the part of UAX #29 that decides in real text: marks, joiners and variation selectors stay with
    what they follow, jamo make syllables, emoji keep their modifiers, tags and ZWJ partners, regional
    indicators go in pairs, Indic conjuncts are whole, signs that go before others stay with these, CR LF is
    one, and other controls stand alone. Left out: what the standard decides by characters further off. So
    some odd pairs are kept together that it parts, invisible format characters stay with what they follow,
    and a conjunct may be cut when another mark than a joiner follows its virama.
    """
    if at <= 0 or at >= len(text):
        return True
    if not _classes().joined.match(text, at - 1):
        return True
    return all(map(_is_indicator, text[at - 1 : at + 1])) and _indicators_before(text, at) % 2 == 0


def widen_to_graphemes(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the smallest [start, end) of whole graphemes around a place; beyond `GRAPHEME_MAX`, give up."""
    before = range(start, max(start - GRAPHEME_MAX, -1), -1)
    after = range(end, min(end + GRAPHEME_MAX, len(text) + 1))
    return (
        next((at for at in before if is_grapheme_border(text, at)), start),
        next((at for at in after if is_grapheme_border(text, at)), end),
    )


# ------------------------------------------------------------------------------- from text to clusters

_MIXED = re.compile(r"[^\x00-\x7f]++(?:[\x00-\x7f]{1,32}+[^\x00-\x7f]++)*+")
"""Characters beyond ASCII, and between them ASCII too short to be worth a stretch of its own."""


def _stretches(text: str) -> Iterator[tuple[int, int, bool]]:
    """Start, end and whether it is plain ASCII; the character before a mixed one may bear its first mark."""
    at = 0
    for mixed in _MIXED.finditer(text):
        start = max(mixed.start() - 1, at)
        yield at, start, True
        yield start, mixed.end(), False
        at = mixed.end()
    yield at, len(text), True


def _fold_run(text: str) -> str:
    if not _classes().joiner.search(text):
        return text.translate(_SINGLES)
    return "".join(map(_fold_cluster, _classes().cluster.findall(text)))


def _placed_pieces(text: str) -> Iterator[tuple[str, Iterable[int], Iterable[int]]]:
    """Folded pieces, each with the starts and the ends of its characters in the original."""
    for start, end, is_ascii in _stretches(text):
        if is_ascii or _keeps_count(text[start:end]):
            yield fold(text[start:end]), range(start, end), range(start + 1, end + 1)
            continue
        for cluster in _classes().cluster.finditer(text, start, end):
            piece = _fold_cluster(cluster[1])
            yield piece, repeat(cluster.start(), len(piece)), repeat(cluster.end(), len(piece))


def _keeps_count(text: str) -> bool:
    """Whether each character folds by itself, and to one character: most text does."""
    return not _classes().joiner.search(text) and all(len(_SINGLES[ord(one)]) == 1 for one in set(text))


# ----------------------------------------------------------------------------- from cluster to folded

_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0100-\U000e01ef"
)
"""Unicode's Default_Ignorable_Code_Point, less the tags that tell one flag from another."""

_UNSEEN = re.compile(f"[{_INVISIBLE}\u0345]+")
"""With the iota subscript, which casefolding would turn into a letter."""

_SAME = str.maketrans(
    {
        "ø": "o",
        "ł": "l",
        "đ": "d",
        "ħ": "h",
        "ŧ": "t",
        "ı": "i",
        "ȷ": "j",
        "æ": "ae",
        "œ": "oe",
        "\u2044": "/",
    }
    | dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-")
)

_LEADS = "".join(map(chr, range(0x1100, 0x1113)))
_VOWELS = "".join(map(chr, range(0x1161, 0x1176)))
_FINALS = "".join(map(chr, range(0x11A8, 0x11C3)))
_LEAD_LETTERS = dict(zip(_LEADS, "ㄱㄲㄴㄷㄸㄹㅁㅂㅃㅅㅆㅇㅈㅉㅊㅋㅌㅍㅎ", strict=True))
_LEAD_LETTERS |= {"\u111a": "ㅀ", "\u1121": "ㅄ"}  # never leads today, but NFKC makes leads of these letters
_VOWEL_LETTERS = dict(zip(_VOWELS, "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ", strict=True))
_FINAL_LETTERS = dict(zip(_FINALS, "ㄱㄲㄳㄴㄵㄶㄷㄹㄺㄻㄼㄽㄾㄿㅀㅁㅂㅄㅅㅆㅇㅈㅊㅋㅌㅍㅎ", strict=True))
_JAMO_LETTERS = str.maketrans(_LEAD_LETTERS | _VOWEL_LETTERS | _FINAL_LETTERS)
_FINAL_OF_LETTER = {letter: final for final, letter in _FINAL_LETTERS.items()}

_HALF_CONSONANT = "[\uffa1-\uffbe]"
_HALF_VOWEL = "[\uffc2-\uffc7\uffca-\uffcf\uffd2-\uffd7\uffda-\uffdc]"
_HALF_SYLLABLE = f"{_HALF_CONSONANT}{_HALF_VOWEL}(?:{_HALF_CONSONANT}(?!{_HALF_VOWEL}))?"
"""
A consonant that no vowel follows closes the syllable, as when one types. Not possessive: early releases of
Python 3.11 lose the look-ahead in a possessive group.
"""


class _Singles(dict[int, str]):
    """Code points that stand alone, and what they fold to; bounded, for a hostile text may hold them all."""

    SIZE_MAX = 1 << 16

    def __missing__(self, code: int) -> str:
        if len(self) >= self.SIZE_MAX:
            self.clear()
        folded = self[code] = _fold_cluster(chr(code))
        return folded


_SINGLES = _Singles()


@lru_cache(maxsize=1 << 14)
def _fold_cluster(cluster: str) -> str:
    text = _decompose(_half_to_full(cluster))
    text = "".join(_without_accents(text)).translate(_SAME)
    return normalize("NFC", text).translate(_JAMO_LETTERS)


def _half_to_full(cluster: str) -> str:
    """Compose half-width jamo: their decomposition knows no closing consonants."""
    if not re.match(_HALF_SYLLABLE, cluster):
        return cluster
    jamo = normalize("NFKD", cluster)
    closing = (_FINAL_OF_LETTER.get(one.translate(_JAMO_LETTERS), one) for one in jamo[2:])
    return normalize("NFC", jamo[:2] + "".join(closing))


def _decompose(text: str) -> str:
    """Take case, width and composition away, and what they hid."""
    while (plain := _UNSEEN.sub("", normalize("NFKD", text)).casefold()) != text:
        text = plain
    return text


def _without_accents(text: str) -> Iterator[str]:
    bears_accents = False
    for character in text:
        if not _is_mark(character):
            bears_accents = name(character, "").startswith(("LATIN ", "GREEK ", "CYRILLIC "))
        elif bears_accents:
            continue
        yield character


def _is_mark(character: str) -> bool:
    return category(character)[0] == "M"


# ------------------------------------------------------------------------------ what joins its neighbour

_PICTOGRAPHS = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
_MODIFIERS_AND_TAGS = "\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
_INDICATORS = "\U0001f1e6-\U0001f1ff"
_INDICATORS_SEEN_MAX = 1000

_LEAD_JAMO = "\u1100-\u115f\ua960-\ua97c"
_VOWEL_JAMO = "\u1160-\u11a7\ud7b0-\ud7c6"
_FINAL_JAMO = "\u11a8-\u11ff\ud7cb-\ud7fb"
_SYLLABLES = "\uac00-\ud7a3"

_VIRAMAS = "\u094d\u09cd\u0acd\u0b4d\u0c4d\u0d4d"
_CONSONANTS = (
    "\u0915-\u0939\u0958-\u095f\u0978-\u097f\u0995-\u09b9\u09dc-\u09df\u09f0\u09f1\u0a95-\u0ab9\u0af9"
    "\u0b15-\u0b39\u0b5c-\u0b5f\u0b71\u0c15-\u0c39\u0c58-\u0c5a\u0d15-\u0d3a"
)
"""Of the six scripts whose conjuncts are one grapheme."""

_PREPENDED = (
    "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u0d4e\U000110bd\U000110cd\U000111c2\U000111c3"
    "\U0001193f\U00011941\U00011a3a\U00011a84-\U00011a89\U00011d46\U00011f02"
)

_SCANNED = ((0x80, 0x3400), (0xA000, 0xAC00), (0xF900, 0x17000), (0x18D00, 0x1F000), (0xE0100, 0xE01F0))
"""Where marks may be: all but ideographs, syllables, surrogates, private use and emoji."""
_FAR = "\U00010000-\U0001efff\U000e0100-\U000e01ef"


class _Classes(msgspec.Struct, frozen=True):
    """Patterns that need the Unicode tables of the Python that runs."""

    joiner: re.Pattern[str]
    cluster: re.Pattern[str]
    joined: re.Pattern[str]


@cache
def _classes() -> _Classes:
    """Made when first needed: it takes some ten milliseconds, which a mere import should not cost."""
    mark = _mark_pattern()
    closing = f"[{_FINALS}]"
    syllable = f"[{_LEADS}][{_VOWELS}]{closing}?+|[{_SYLLABLES}]{closing}|{_HALF_SYLLABLE}"
    joined = (
        rf"\r\n|[^\x00-\x1f\x7f-\x9f](?:{mark}|[{_MODIFIERS_AND_TAGS}])"
        rf"|[{_PREPENDED}][^\x00-\x1f\x7f-\x9f]|[{_LEAD_JAMO}][{_LEAD_JAMO}{_VOWEL_JAMO}{_SYLLABLES}]"
        f"|[{_VOWEL_JAMO}{_SYLLABLES}][{_VOWEL_JAMO}{_FINAL_JAMO}]|[{_FINAL_JAMO}][{_FINAL_JAMO}]"
        f"|\u200d[{_PICTOGRAPHS}]|[{_INDICATORS}][{_INDICATORS}]|[{_VIRAMAS}\u200d][{_CONSONANTS}]"
    )
    return _Classes(
        joiner=re.compile(f"{mark}|[{_VOWELS}{_FINALS}]|{_HALF_VOWEL}"),
        cluster=re.compile(f"((?:{syllable}|(?s:.)){mark}{{0,{MARKS_MAX}}}+){mark}*+"),
        joined=re.compile(joined),
    )


def _mark_pattern() -> str:
    """A pattern for one mark. Beyond the BMP a class is searched in order: let few characters get there."""
    codes = sorted(set(_marks()))
    near = "".join(_ranges(code for code in codes if code <= 0xFFFF))
    far = "".join(_ranges(code for code in codes if code > 0xFFFF))
    return f"(?:[{near}]|(?=[{_FAR}])[{far}])"


def _ranges(codes: Iterable[int]) -> Iterator[str]:
    """Rising code points as the ranges of a character class."""
    for _, group in groupby(enumerate(codes), key=lambda item: item[1] - item[0]):
        row = [code for _, code in group]
        yield f"{chr(row[0])}-{chr(row[-1])}"


def _marks() -> Iterator[int]:
    """Whatever joins the character before it in some normal form, and what is not seen."""
    unseen = _UNSEEN.match
    for code in chain.from_iterable(range(*bounds) for bounds in _SCANNED):
        character = chr(code)
        if _is_mark(character) or unseen(character) or _is_mark(normalize("NFKD", character)[0]):
            yield code
        parts = decomposition(character).split()
        if len(parts) == 2 and parts[0][0] != "<":
            yield int(parts[1], 16)


def _is_indicator(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def _indicators_before(text: str, at: int) -> int:
    """How many regional indicators end here; of a longer row, an even number is looked at."""
    first = max(at - _INDICATORS_SEEN_MAX, 0)
    return next((at - 1 - n for n in range(at - 1, first - 1, -1) if not _is_indicator(text[n])), at - first)
