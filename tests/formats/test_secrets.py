"""Secrets: what is one is masked everywhere, what only resembles one stays, and nothing else changes."""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manent.history.secret_patterns import PREFIXED
from manent.history.secrets import (
    Masked,
    collect_secrets,
    find_secrets,
    mask,
    mask_native,
    mask_value,
)
from manent.model.imported import Refusal
from tests.formats.reading import FIXTURES, SAMPLES, needs_fixtures, read_path

patiently = settings(deadline=None)

RANDOM = "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0U1v2"
"""Signs as of a key; no key of anybody."""

HEX = hashlib.sha256(b"an invented key").hexdigest()
JWT = f"eyJ{RANDOM[:20]}.eyJ{RANDOM[:30]}.{RANDOM}"
BEARER = "tok_live_EXAMPLE0123456789abcdef"
BASIC = base64.b64encode(b"ada:invented").decode()
PEM = "MIIEinvented/invented+invented\nAAAAAAAAAAAAAAAA==\n"


# --- recall -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "secret"),
    [
        ("anthropic_key", f"sk-ant-api03-{RANDOM}"),
        ("openai_key", f"sk-proj-{RANDOM[:20]}_{RANDOM[20:]}-x"),
        ("openai_key", f"sk-{RANDOM}"),
        ("openrouter_key", f"sk-or-v1-{HEX}"),
        ("github_token", f"ghp_{RANDOM[:36]}"),
        ("github_token", f"gho_{RANDOM[:36]}"),
        ("github_token", f"ghs_{RANDOM[:36]}"),
        ("github_token", f"github_pat_{RANDOM[:22]}_{RANDOM}"),
        ("gitlab_token", f"glpat-{RANDOM[:20]}"),
        ("aws_key_id", "AKIAIOSFODNN7EXAMPLE"),
        ("aws_key_id", "ASIAIOSFODNN7EXAMPLE"),
        ("google_key", f"AIza{RANDOM[:35]}"),
        ("slack_token", "xoxb-123456789012-Invented0Token"),
        ("slack_token", "xoxp-123456789012-Invented0Token"),
        ("stripe_key", f"sk_live_{RANDOM[:24]}"),
        ("stripe_key", f"rk_live_{RANDOM[:24]}"),
        ("live_token", BEARER),
        ("jwt", JWT),
        ("npm_token", f"npm_{RANDOM[:36]}"),
        ("pypi_token", f"pypi-AgEI{RANDOM}"),
        ("huggingface_token", f"hf_{RANDOM[:34]}"),
    ],
)
@pytest.mark.parametrize(
    "around", ["{}", "use {} now", "열쇠는 {}입니다", "'{}'", "KEY={}\n", r"a\n{}\n", "({})."]
)
def test_a_token_is_known_by_its_first_letters(kind: str, secret: str, around: str) -> None:  # K-1
    assert mask(around.format(secret)) == Masked(around.format(f"[secret:{kind}]"), (kind,))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("bearer_token", f"Authorization: Bearer ~{HEX}~"),
        ("bearer_token", "curl -H 'authorization: bearer ~Invented4711~' https://x"),
        ("bearer_token", f"they sent Bearer ~{HEX[:20]}~."),
        ("live_token", f"Authorization: Bearer ~{BEARER}~"),
        ("basic_auth", f"Authorization: Basic ~{BASIC}~"),
        ("url_password", "postgres://ada:~invented~@localhost:5432/shop"),
        ("url_password", "https://ada:~inv%2Fented~@example.org/x?y=1"),
        ("telegram_token", f"123456789:~AA{RANDOM[:33]}~"),
        ("private_key", f"-----BEGIN RSA PRIVATE KEY-----~\n{PEM}~-----END RSA PRIVATE KEY-----"),
        ("private_key", f"-----BEGIN PRIVATE KEY-----~\n{PEM}~"),
        ("private_key", "-----BEGIN PRIVATE KEY-----~\\nMIIEinventedinvented\\n~-----END PRIVATE KEY-----"),
        ("password", 'password = "~Tr0ub4dor&3~"'),
        ("password", "DB_PASSWORD=~s3cr3tValue9~\nNEXT=1"),
        ("password", "passwd: '~n0t-So-Simple!~'"),
        ("password", r"{\"password\": \"~Tr0ub4dor&3~\"}"),
        ("api_key", f'"api_key": "~{HEX}~"'),
        ("api_key", f"apiKey: '~{HEX[:24]}~',"),
        ("api_key", f"os.environ['OPENAI_API_KEY'] = '~{HEX}~'"),
        ("api_key", "aws_secret_access_key = ~wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY~"),
        ("secret", f"client_secret=~{HEX[:32]}~&grant=1"),
        ("token", f'"access_token":"~{RANDOM}~"'),
        ("token", f"export DEPLOY_TOKEN=~{RANDOM}~"),
    ],
)
def test_a_secret_is_known_by_the_words_before_it_and_only_it_goes(kind: str, text: str) -> None:  # K-1
    before, secret, after = text.split("~")

    assert mask(before + secret + after) == Masked(f"{before}[secret:{kind}]{after}", (kind,))


@pytest.mark.parametrize("rule", PREFIXED, ids=lambda rule: rule.prefix)
def test_every_prefix_of_the_table_is_found(rule: Any) -> None:
    body = {"jwt": JWT[3:], "aws_key_id": "A1B2C3D4E5F6G7H8", "digitalocean_token": HEX}.get(
        rule.kind, RANDOM
    )
    body = body[:35] if rule.kind == "google_key" else body

    assert [secret.kind for secret in find_secrets(f"is {rule.prefix}{body} it")] == [rule.kind]


def test_secrets_come_in_the_order_of_the_text_and_do_not_overlap() -> None:
    text = f'token="{JWT}" then sk-ant-{RANDOM}, https://a:b@c and password="Tr0ub4dor&3"'

    found = find_secrets(text)

    assert [secret.kind for secret in found] == ["jwt", "anthropic_key", "url_password", "password"]
    assert [text[secret.start : secret.end] for secret in found] == [
        JWT,
        f"sk-ant-{RANDOM}",
        "b",
        "Tr0ub4dor&3",
    ]


# --- precision ----------------------------------------------------------------------------------

TEXTS_WITHOUT_SECRETS = [
    hashlib.md5(b"x", usedforsecurity=False).hexdigest(),
    HEX,
    f"commit {HEX[:40]}",
    str(uuid.UUID(int=4711)),
    f"sha256-{base64.b64encode(hashlib.sha256(b'x').digest()).decode()}",
    "data:image/png;base64," + base64.b64encode(bytes(range(256)) * 40).decode(),
    "task-management-system-with-hyphens",
    "sk-learn-compatible-estimators-2024",
    "hf_hub_download_and_cache_the_model_files",
    "pypi-publish-workflow-for-trusted-publishers-of-2026",
    "ASIAPACIFICREGIONNAMES",
    "password = getpass.getpass()",
    "password: str = Field(default=None)",
    "def login(user, password=None, token=None):",
    "api_key = os.environ['OPENAI_API_KEY']",
    "api_key=settings.openai_key2",
    "self.token = tokens[0]",
    "token = sha256(token2).hexdigest()",
    'password="${DB_PASSWORD}"',
    'api_key: "<your-key-here-1>"',
    '"api_key": "YOUR_API_KEY_HERE"',
    '"password": "must-be-at-least-8-characters"',
    '"secret": "****************"',
    '"nextPageToken": "CAUQAA1234567890"',
    "csrf_token=a1b2c3d4e5f6a7b8",
    "max_tokens=100000, token_count: 12345678",
    '"password_hash": "a1b2c3d4e5f6a7b8c9"',
    "PWD=/home/ada/shop2026 OLDPWD=/home/ada1",
    "keyboard: a1b2c3d4e5f6, monkey=a1b2c3d4e5f6",
    '{"key": "a1b2c3d4e5f6a7b8"}',
    "Bearer authentication is required; bearer of bad-news-2026",
    "Basic knowledge, basic understanding12",
    "http://localhost:8080/@scope/package",
    "https://user:password@example.org and git@example.org:a/b.git",
    "ratio 12:34:56, at 2026-01-05T12:32:10, key:value",
    "[secret:password] and password=[secret:password]",
    "비밀번호는 알려 드릴 수 없습니다. パスワードは秘密です。",
]


@pytest.mark.parametrize("text", TEXTS_WITHOUT_SECRETS)
def test_what_only_resembles_a_secret_stays(text: str) -> None:
    assert find_secrets(text) == ()


def test_our_own_code_holds_no_secret() -> None:
    package = Path(__file__).resolve().parents[2] / "src" / "manent"

    text = "\n".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))

    assert [text[secret.start - 20 : secret.end] for secret in find_secrets(text)] == []


@needs_fixtures
def test_the_fixtures_of_other_tools_hold_no_secret() -> None:
    files = sorted((FIXTURES / "claude-code").rglob("*.json*"))

    assert [file.name for file in files if mask_native(file.read_bytes()) != file.read_bytes()] == []


# --- values -------------------------------------------------------------------------------------


def test_all_strings_of_a_value_are_masked_its_keys_too() -> None:  # K-1
    secret = f"sk-ant-{RANDOM}"
    value = {"a": [secret, 1, None, {"b": f"x {secret}"}], secret: True, "c": 1.5}

    masked, secrets = mask_value(value)

    hidden = "[secret:anthropic_key]"
    assert masked == {"a": [hidden, 1, None, {"b": f"x {hidden}"}], hidden: True, "c": 1.5}
    assert list(masked) == ["a", hidden, "c"]
    assert [found.kind for found in secrets] == ["anthropic_key"] * 3


@pytest.mark.parametrize("key", ["password", "DB_PASSWORD", "clientSecret", "x-api-key", "access_token"])
def test_a_string_is_judged_by_its_key(key: str) -> None:
    masked, secrets = mask_value({"headers": {key: "a1B2c3D4e5F6&7"}})

    assert masked == {"headers": {key: f"[secret:{secrets[0].kind}]"}}


def test_a_value_without_secrets_is_given_back_as_it_is() -> None:
    value = {"password": None, "token": "none", "deep": [[{"api_key": "${KEY}"}]]}

    masked, secrets = mask_value(value)

    assert masked is value
    assert secrets == ()


def test_two_keys_that_are_secrets_stay_two() -> None:
    masked, _ = mask_value({f"ghp_{RANDOM[:36]}": 1, f"ghp_{RANDOM[1:37]}": 2})

    assert masked == {"[secret:github_token]": 1, "[secret:github_token] 2": 2}


def test_a_value_of_any_depth_is_walked_without_recursion() -> None:  # I-3
    value: Any = f"ghp_{RANDOM[:36]}"
    for _ in range(50_000):
        value = [value]

    masked, secrets = mask_value(value)

    assert masked is not value
    assert len(secrets) == 1


# --- echoes -------------------------------------------------------------------------------------


def test_a_secret_that_is_known_is_found_where_no_word_gives_it_away() -> None:  # case 51, K-1
    call = {"command": "curl", "headers": {"Authorization": "Bearer invented0123456789"}}

    known = collect_secrets(call)

    assert known == {"invented0123456789": "bearer_token"}
    assert mask("got invented0123456789 back", known).text == "got [secret:bearer_token] back"
    assert mask_value(["invented0123456789"], known)[0] == ["[secret:bearer_token]"]
    assert mask_native(b'["invented0123456789"]', known) == b'["[secret:bearer_token]"]'


def test_a_short_secret_is_not_looked_for_elsewhere() -> None:
    assert mask("ada said so", {"ada": "url_password"}).text == "ada said so"


def test_the_kind_of_a_secret_may_be_unknown() -> None:
    assert mask_native(b'{"a": "x invented-4711 y"}', ["invented-4711"]) == b'{"a": "x [secret:known] y"}'


# --- raw records --------------------------------------------------------------------------------


def test_only_the_secrets_own_bytes_of_a_record_change() -> None:  # K-1
    raw = (
        f'{{ "n":1.50,"a": "caf\\u00e9\\nsk-ant-{RANDOM} \\ud83d\\ude00 \\/",\r\n"a":"b", "x":[1e5,"é"] }}'
    ).encode()

    expected = raw.replace(f"sk-ant-{RANDOM}".encode(), b"[secret:anthropic_key]")
    assert mask_native(raw) == expected


@pytest.mark.parametrize("ensure_ascii", [True, False])
@pytest.mark.parametrize("layers", [1, 2, 3])
def test_no_escape_hides_a_secret(layers: int, ensure_ascii: bool) -> None:  # K-1
    text = json.dumps(
        {"password": "Tr0ub4dor&3", "key": f"é\nsk-ant-{RANDOM}\n한"}, ensure_ascii=ensure_ascii
    )
    for _ in range(layers - 1):
        text = json.dumps({"arguments": text}, ensure_ascii=ensure_ascii)

    masked = mask_native(text.encode()).decode()

    assert "Tr0ub4dor" not in masked
    assert RANDOM not in masked
    assert "[secret:password]" in masked and "[secret:anthropic_key]" in masked


@pytest.mark.parametrize(
    "spell",
    [
        lambda text: "".join(f"\\u{ord(sign):04x}" for sign in text),
        lambda text: "".join(f"\\u{ord(sign):04X}" for sign in text),
        lambda text: text.replace("-", "\\u002d"),
        lambda text: text.replace("=", "\\u003d"),
        lambda text: text.replace("/", "\\/"),
    ],
)
def test_a_secret_spelled_in_escapes_is_found(spell: Callable[[str], str]) -> None:  # K-1
    plain = f"sk-ant-{RANDOM} api_key={HEX} https://ada:invented@example.org/"

    masked = json.loads(mask_native(f'{{"a": "{spell(plain)}"}}'.encode()))

    assert masked == {
        "a": "[secret:anthropic_key] api_key=[secret:api_key] https://ada:[secret:url_password]@example.org/"
    }


def test_a_key_that_is_repeated_hides_nothing() -> None:  # K-1
    raw = f'{{"a": "ghp_{RANDOM[:36]}", "a": "x"}}'.encode()

    assert mask_native(raw) == b'{"a": "[secret:github_token]", "a": "x"}'


def test_several_records_in_one_are_masked_each() -> None:
    line = json.dumps({"password": "Tr0ub4dor&3"}).encode()

    assert (
        mask_native(line + b"\n" + line)
        == b'{"password": "[secret:password]"}\n{"password": "[secret:password]"}'
    )


@pytest.mark.parametrize(
    "raw",
    [
        f'{{"a": "x ghp_{RANDOM[:36]}'.encode(),
        f'{{"a": "x", ghp_{RANDOM[:36]} '.encode(),
        f"not json: ghp_{RANDOM[:36]}".encode(),
        b'\xff\xfe "' + f"ghp_{RANDOM[:36]}".encode() + b"\xed\xa0\xbd",
    ],
)
def test_what_is_no_json_is_masked_as_text(raw: bytes) -> None:  # K-1
    assert mask_native(raw) == raw.replace(f"ghp_{RANDOM[:36]}".encode(), b"[secret:github_token]")


def test_the_secrets_of_the_sample_are_gone_from_every_record_and_nothing_else_is() -> None:  # K-1
    reading = read_path(SAMPLES / "claude-code")
    natives = [message.native for found in reading.conversations for message in found.messages]

    changed = [(native, mask_native(native)) for native in natives if mask_native(native) != native]

    assert len(changed) == 1
    assert changed[0][0].count(b"ghp_INVENTED0invented1INVENTED2invented3") == 2
    assert changed[0][1] == changed[0][0].replace(
        b"ghp_INVENTED0invented1INVENTED2invented3", b"[secret:github_token]"
    ).replace(b"invented-pw-4711", b"[secret:url_password]")


def test_a_refused_record_can_be_masked_too() -> None:
    refusal = Refusal(place="x:1", reason="not JSON", raw=f'{{"a": "sk-ant-{RANDOM}'.encode())

    assert mask_native(refusal.raw) == b'{"a": "[secret:anthropic_key]'


# --- for any text -------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *("sk-ant-", "sk-", "ghp_", "AKIA", "eyJ", ".", "xoxb-", "Bearer ", "Basic ", "Authorization: "),
        *("password", "api_key", "token", "secret", "=", ":", '"', "'", "\\", " ", "\n", "://", "@", "/"),
        *("-----BEGIN PRIVATE KEY-----", "-----END", "[secret:", "]", "A1b2C3d4E5f6G7h8", RANDOM, HEX, BASIC),
        *("é", "한", "\ud83d", "123456789:AA", "{", "}", ",", "\x00"),
    ]
)
TEXTS = st.lists(PIECES | st.text(max_size=3), max_size=14).map("".join)
VALUES = st.recursive(
    TEXTS | st.integers() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS | PIECES, inner, max_size=3),
    max_leaves=6,
)


@patiently
@given(TEXTS)
def test_what_is_masked_holds_no_secret_and_is_not_masked_again(text: str) -> None:  # K-1
    masked = mask(text)

    assert find_secrets(masked.text) == ()
    assert mask(masked.text) == Masked(masked.text, ())


@patiently
@given(VALUES)
def test_a_masked_value_holds_no_secret(value: Any) -> None:  # K-1
    masked, _ = mask_value(value)

    assert mask_value(masked)[1] == ()
    assert collect_secrets(masked) == {}


@patiently
@given(VALUES, st.booleans())
def test_a_masked_record_holds_no_secret_however_it_is_spelled(value: Any, ensure_ascii: bool) -> None:  # K-1
    raw = json.dumps(value, ensure_ascii=ensure_ascii).encode("utf-8", "surrogatepass")

    masked = mask_native(raw)

    assert collect_secrets(json.loads(masked.decode("utf-8", "surrogatepass"))) == {}
    assert mask_native(masked) == masked


@patiently
@given(st.binary(max_size=80))
def test_bytes_that_hold_no_secret_come_back_as_they_are(raw: bytes) -> None:
    assert mask_native(raw) == raw


@pytest.mark.parametrize(
    "run",
    [
        "sk-",
        "sk-ant-",
        "pypi-",
        "eyJ",
        "eyJ-",
        "token=",
        "://a:",
        "Bearer ",
        "-----BEGIN PRIVATE KEY-----",
        '"',
    ],
)
def test_a_run_of_beginnings_takes_time_that_grows_with_its_length_alone(run: str) -> None:  # I-3
    text = run * (400_000 // len(run))

    assert isinstance(mask_native(text.encode()), bytes)
