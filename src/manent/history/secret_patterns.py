"""
The table of secrets: what they look like, what may stand beside them, and what only resembles one.

One scan finds candidates. Each pattern begins at a sign that is rare in text (a hyphen, an underscore, a
capital) and looks back for the letters before it, so that plain text costs one look a character. What the
scan finds is then judged: its left border, and whether an assigned value could be a secret at all.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections import Counter
from typing import NamedTuple

_TOKEN = r"[A-Za-z0-9_-]"


class Secret(NamedTuple):
    """A secret in a text, from `start` to `end` (excluded)."""

    kind: str
    start: int
    end: int


class Prefixed(NamedTuple):
    """
    A token known by its first letters. `anchor` is the place in them at which the scan stops.

    A token begins at a border: no other sign of a token stands before it, save one that ends an escape.
    """

    kind: str
    prefix: str
    body: str
    anchor: int

    @property
    def sign(self) -> str:
        """The sign at which the scan stops."""
        return self.prefix[self.anchor]

    def as_group(self, name: str) -> str:
        """The pattern behind the sign: a look back at what precedes it, then the rest of the token."""
        start, rest = re.escape(self.prefix[: self.anchor + 1]), re.escape(self.prefix[self.anchor + 1 :])
        border = rf"(?:(?<!{_TOKEN}{start})|(?<=\\[nrtbf]{start})|(?<=\\u[0-9a-fA-F]{{4}}{start}))"
        return f"(?P<{name}>(?<={start}){border}{rest}{self.body})"


def _prefixed(kind: str, body: str, prefixes: str) -> tuple[Prefixed, ...]:
    return tuple(Prefixed(kind, prefix, body, _anchor(prefix)) for prefix in prefixes.split())


def _anchor(prefix: str) -> int:
    """The rarest sign of a prefix: a hyphen or underscore, else a capital."""
    hyphens = [place for place, sign in enumerate(prefix) if sign in "-_"]
    capitals = [place for place, sign in enumerate(prefix) if sign.isupper()]
    return (hyphens or capitals)[0]


PREFIXED: tuple[Prefixed, ...] = (
    *_prefixed("anthropic_key", _TOKEN + "{16,}", "sk-ant-"),
    *_prefixed("openai_key", _TOKEN + "{16,}", "sk-proj- sk-svcacct- sk-admin- sk-None-"),
    *_prefixed("openrouter_key", _TOKEN + "{16,}", "sk-or-"),
    *_prefixed("openai_key", r"[A-Za-z0-9]{20,}", "sk-"),
    *_prefixed("github_token", r"[A-Za-z0-9]{30,}", "ghp_ gho_ ghu_ ghs_ ghr_"),
    *_prefixed("github_token", r"[A-Za-z0-9_]{30,}", "github_pat_"),
    *_prefixed("gitlab_token", _TOKEN + "{20,}", "glpat- gldt- glrt-"),
    *_prefixed("aws_key_id", r"[A-Z0-9]{16}(?![A-Za-z0-9])", "AKIA ASIA"),
    *_prefixed("google_key", _TOKEN + "{35}", "AIza"),
    *_prefixed("google_secret", _TOKEN + "{20,}", "GOCSPX-"),
    *_prefixed("slack_token", r"[A-Za-z0-9-]{10,}", "xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-"),
    *_prefixed("stripe_key", r"[A-Za-z0-9]{10,}", "sk_live_ rk_live_ sk_test_ rk_test_"),
    *_prefixed("live_token", r"[A-Za-z0-9]{16,}", "tok_live_ tok_test_"),
    *_prefixed("webhook_secret", r"[A-Za-z0-9+/]{24,}", "whsec_"),
    *_prefixed("npm_token", r"[A-Za-z0-9]{30,}", "npm_"),
    *_prefixed("pypi_token", _TOKEN + "{40,}", "pypi-"),
    *_prefixed("huggingface_token", r"[A-Za-z0-9]{30,}", "hf_"),
    *_prefixed("groq_key", r"[A-Za-z0-9]{30,}", "gsk_"),
    *_prefixed("xai_key", r"[A-Za-z0-9]{40,}", "xai-"),
    *_prefixed("digitalocean_token", r"[a-f0-9]{40,}", "dop_v1_"),
    *_prefixed("jwt", rf"{_TOKEN}{{10,}}+\.{_TOKEN}{{10,}}+\.{_TOKEN}{{10,}}", "eyJ"),
)

_PEM = (
    r"(?<=-----B)EGIN [A-Z ]{0,24}PRIVATE KEY(?: BLOCK)?-----"
    r"(?P<private_key>(?:[^-\[]|-(?!----)){16,16384}+(?=-----END)|(?:[A-Za-z0-9+/=\s]|\\+[nr]){16,}+)"
)
_BEARER = r"(?:earer|EARER)(?:[ \t]|\\t)+(?P<bearer>[A-Za-z0-9._~+/=-]{8,}+)"
_BASIC = r"(?:asic|ASIC)(?:[ \t]|\\t)+(?P<basic>[A-Za-z0-9+/]{8,}+={0,2})"
_UNICODE = r"\\u[0-9a-fA-F]{4}"
_URL = (
    rf"\\?/\\?/(?:[^\s/:@\"'<>\\\[\]]|{_UNICODE}){{0,256}}+:"
    rf"(?P<url_password>(?:[^\s/@\"'<>\\\[\]]|{_UNICODE}){{1,256}}+)@(?=[A-Za-z0-9\[])"
)
_TELEGRAM = rf"(?<=[0-9]{{8}}:)(?P<telegram_token>AA{_TOKEN}{{33}}(?!{_TOKEN}))"

_KEY_ENDS = "ord|swd|pwd|ase|ret|ken|key|Key|ORD|SWD|PWD|ASE|RET|KEN|KEY"
"""The ends of password, passwd, pwd, passphrase, secret, token and key; `judge` reads the whole word."""

_BEFORE_SIGN = ("", " ", "[\"'\x60]", "[\"'] ", r"\\[\"']", r"\\\\\\[\"']", r"[\"']\]", r"[\"']\] ")
"""What may stand between such a word and its = or : sign."""


def _assigned(sign: str) -> str:
    last_letter = "[detnyDETNY]"
    after_key = "|".join(
        f"(?<={last_letter}{between}{sign})(?<=(?:{_KEY_ENDS}){between}{sign})" for between in _BEFORE_SIGN
    )
    return (
        rf"(?:{after_key})[=>]{{0,2}}(?:[ \t]|\\t){{0,3}}"
        rf"(?:\\*[\"'`](?!\[secret:)(?P<quoted>(?:[^\s\"'`\\]|{_UNICODE}){{8,200}}+)(?=\\*[\"'`])"
        r"|(?P<bare>[A-Za-z0-9_+/=.@#!~^*-]{8,200}+)(?=[\s,;&\"'\\)]|\Z))"
    )


_RULES = {f"p{number}": rule for number, rule in enumerate(PREFIXED)}


def _prefixed_scan(sign: str) -> str:
    """All prefixes that are found at one sign; first of all the two letters before it have to fit."""
    rules = {name: rule for name, rule in _RULES.items() if rule.sign == sign}
    before = sorted({rule.prefix[: rule.anchor][-2:] for rule in rules.values()})
    look_back = f"(?<=(?:{'|'.join(map(re.escape, before))}){re.escape(sign)})" if all(before) else ""
    return f"{re.escape(sign)}{look_back}(?:{'|'.join(rule.as_group(name) for name, rule in rules.items())})"


SCANS: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern)
    for pattern in (
        *(_prefixed_scan(sign) for sign in sorted({rule.sign for rule in PREFIXED})),
        rf"B(?:{_PEM}|{_BEARER}|{_BASIC})",
        rf"b(?:{_BEARER}|{_BASIC})",
        rf":(?:{_URL}|{_TELEGRAM}|{_assigned(':')})",
        f"={_assigned('=')}",
    )
)
"""
One pattern for each sign, which the engine looks for as fast as memory is read. They find every candidate,
and much that is none: each match is for `judge`.
"""


def judge(text: str, match: re.Match[str]) -> Secret | None:
    """Say what a match of `SCANS` is, and how far it reaches; None when it only resembles a secret."""
    name = match.lastgroup or ""
    start, end = match.span(name)
    value = match[name]
    if (rule := _RULES.get(name)) is not None:
        start = match.start() - rule.anchor
        is_one = _is_random(text[start + len(rule.prefix) : end], rule.kind)
        return Secret(rule.kind, start, end) if is_one else None
    if name == "bearer":
        end -= len(value) - len(value.rstrip("."))
        return Secret("bearer_token", start, end) if _is_bearer(text, match.start(), value) else None
    if name == "basic":
        return Secret("basic_auth", start, end) if _is_basic(value) else None
    if name == "url_password":
        return None if _is_placeholder(value) else Secret(name, start, end)
    if name in ("quoted", "bare"):
        kind = kind_of_key(text[max(0, match.start() - 80) : match.start()])
        is_one = kind is not None and could_be_secret(value, kind, quoted=name == "quoted")
        return Secret(kind, start, end) if kind is not None and is_one else None
    return Secret(name, start, end)


def _is_random(body: str, kind: str) -> bool:
    """Not a name made of words; what has no hyphens needs a digit, or both cases."""
    if kind == "aws_key_id":
        return any(sign.isdigit() for sign in body)
    return _is_mixed(body) and not _is_prose(body)


def _is_mixed(text: str) -> bool:
    return any(sign.isdigit() for sign in text) or (text != text.lower() and text != text.upper())


def _is_bearer(text: str, at: int, value: str) -> bool:
    is_header = "uthorization" in text[max(0, at - 24) : at]
    if is_header:
        return _is_mixed(value) and not _is_placeholder(value)
    return len(value) >= 16 and any(sign.isdigit() for sign in value)


def _is_basic(value: str) -> bool:
    """Base64 of `name:password`."""
    try:
        plain = base64.b64decode(value + "=" * (-len(value) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain and plain.isascii() and plain.decode("ascii").isprintable()


_KEY_NAME = re.compile(r"(?:\\[nrtbf]|\\u[0-9a-fA-F]{4})?([A-Za-z0-9_.-]{1,64})(?:\\{0,8}[\"'`])?\]?[ \t]?\Z")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_KINDS = {
    **dict.fromkeys(("password", "passwd", "pwd", "passphrase"), "password"),
    **dict.fromkeys(("secret",), "secret"),
    **dict.fromkeys(("token", "authtoken"), "token"),
    **dict.fromkeys(("apikey", "secretkey", "accesskey"), "api_key"),
}
_KEYS_OF = re.compile("api|access|secret|private|auth|account|encryption|signing|master|license")
_OTHER_TOKENS = re.compile(
    "page|pagination|next|prev|continuation|cursor|sync|csrf|xsrf|start|end|stop|eos|bos|pad|unk|sep|mask"
    "|max|min|num|count|first|last|special|cancellation"
)
"""What makes a token one of a page, a form, a parser or a language model."""


def kind_of_key(before: str) -> str | None:
    """The kind of secret that a name promises, such as `DB_PASSWORD` or `"apiKey"` at the end of a text."""
    found = _KEY_NAME.search(before)
    if found is None:
        return None
    words = re.split(r"[_.-]+", _HUMP.sub("_", found[1]).lower())
    above = words[-2] if len(words) > 1 else ""
    if words[-1] == "key":
        return "api_key" if _KEYS_OF.fullmatch(above) else None
    is_other = words[-1] == "token" and _OTHER_TOKENS.fullmatch(above)
    return None if is_other else _KINDS.get(words[-1])


KINDS: frozenset[str] = frozenset(
    (
        *(rule.kind for rule in PREFIXED),
        *_KINDS.values(),
        *("private_key", "bearer_token", "basic_auth", "url_password", "telegram_token"),
    )
)
"""Every kind that is told apart."""

_PLACEHOLDER = re.compile(
    r"(?i)[<${%].*|(?:your|insert|enter|change|replace)[_-].*|.*(?:\*{3}|x{4}|\.\.\.).*"
    r"|changeme|password|passwd|pass|pwd|secret|token|user|username|(?-i:[A-Z]+(?:_[A-Z]+)+)"
)
_PATH = ("/", "~/", "./", "../")
"""`PWD` is a folder as often as a password."""

_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+\Z")


def _is_placeholder(value: str) -> bool:
    return _PLACEHOLDER.fullmatch(value) is not None


def could_be_secret(value: str, kind: str, *, quoted: bool) -> bool:
    """Whether a value under a name of that kind is random enough; placeholders, names and prose are not."""
    if _is_placeholder(value) or "[secret:" in value or value.startswith(_PATH) or len(value) < 8:
        return False
    digits = sum(sign.isdigit() for sign in value)
    letters = sum(sign.isalpha() for sign in value)
    others = len(value) - digits - letters
    if not letters or not (digits or (kind == "password" and others)):
        return False
    if _is_prose(value) or (not quoted and not _is_no_name(value, digits)):
        return False
    if kind != "password" and (len(value) < 12 or not digits):
        return False
    return _entropy(value) >= (2.5 if kind == "password" else 2.8)


def _is_no_name(value: str, digits: int) -> bool:
    """Whether a value without quotes can be none of a program's own names."""
    has_both_cases = value != value.lower() and value != value.upper()
    return _NAME.match(value) is None and (digits > 1 or (len(value) >= 20 and has_both_cases and digits > 0))


def _is_prose(value: str) -> bool:
    """Words and small numbers between hyphens, dots or slashes."""
    words = [word for word in re.split(r"[-_./:,]+", value) if word]
    return len(words) > 2 and all(word.isalpha() or (word.isdigit() and len(word) < 5) for word in words)


def _entropy(text: str) -> float:
    """Bits a sign."""
    counts = Counter(text).values()
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)
